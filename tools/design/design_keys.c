/* SPDX-License-Identifier: MIT */
/* The keys of `attend design`: generated, or from a file. */
#include "design_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shared/inputs.h"

static double *allocate(const struct design_args *args)
{
    double *const keys = tool_zeros(args->n * args->d, sizeof *keys);

    if (!keys)
        tool_fail("design", TOOL_FAILED,
                  "out of memory for %" PRId64 " keys of %" PRId64 " entries", args->n,
                  args->d);
    return keys;
}

static int make_keys(const struct design_args *args, double **keys)
{
    *keys = allocate(args);
    if (!*keys)
        return TOOL_FAILED;
    if (!strcmp(args->keys, "random")) {
        lab_design_random_keys(args->request.session.seed, args->n, args->d, *keys);
        return TOOL_OK;
    }
    for (int64_t i = 0; i < args->n; i++)
        (*keys)[i * args->d + i] = 1;
    return TOOL_OK;
}

static int copy_keys(struct design_args *args, const struct io_tensor *tensor,
                     double **keys)
{
    const attend_dtype dtype = input_dtype(tensor->dtype);

    if (!dtype || dtype == ATTEND_BOOL)
        return tool_fail("design", TOOL_USAGE,
                         "--keys: %s: dtype %s: f64, f32, f16 or bf16 is needed",
                         tensor->name, input_dtype_name(tensor->dtype));
    if (tensor->ndim != 2 || tensor->size[0] < 1 || tensor->size[1] < 1)
        return tool_fail("design", TOOL_USAGE,
                         "--keys: %s: shape %s: a matrix (n, d) is needed", tensor->name,
                         shape_text(tensor->size, tensor->ndim).text);
    if (tensor->size[0] > DESIGN_ENTRIES_MAX / tensor->size[1])
        return tool_fail("design", TOOL_USAGE,
                         "--keys: %s: shape %s: more than %" PRId64 " numbers",
                         tensor->name, shape_text(tensor->size, tensor->ndim).text,
                         DESIGN_ENTRIES_MAX);
    args->n = tensor->size[0];
    args->d = tensor->size[1];
    *keys = allocate(args);
    if (!*keys)
        return TOOL_FAILED;
    for (int64_t i = 0; i < args->n; i++)
        for (int64_t c = 0; c < args->d; c++) {
            const double value =
                input_read_value(tensor, i * tensor->stride[0] + c * tensor->stride[1]);
            (*keys)[i * args->d + c] = value;
            if (!isfinite(value))
                return tool_fail("design", TOOL_USAGE,
                                 "--keys: %s: element (%" PRId64 ", %" PRId64
                                 ") is not finite",
                                 tensor->name, i, c);
        }
    return TOOL_OK;
}

static int read_keys(struct design_args *args, double **keys)
{
    struct io_tensor tensor;
    struct io_error err;

    if (io_tensor_open(&tensor, args->keys, 0, &err))
        return tool_fail("design", TOOL_USAGE, "--keys: %s", err.message);
    const int status = copy_keys(args, &tensor, keys);
    io_tensor_close(&tensor);
    return status;
}

int design_keys_open(struct design_args *args, double **keys)
{
    struct lab_design_request *const request = &args->request;
    int status = args->is_file ? read_keys(args, keys) : make_keys(args, keys);

    for (int x = 0; x < args->m && !status; x++)
        if (args->items[x] >= args->n)
            status = tool_fail("design", TOOL_USAGE,
                               "--items: %" PRId64 " is outside 0..%" PRId64 " (n - 1)",
                               args->items[x], args->n - 1);
    if (status) {
        free(*keys);
        *keys = NULL;
        return status;
    }
    request->keys = *keys;
    request->n = args->n;
    request->d = args->d;
    request->items = args->items;
    request->m = args->m;
    request->weights = args->weight_count ? args->weights : NULL;
    if (!request->trials)
        request->trials = lab_design_trials(args->n, args->d);
    if (args->tau_is_sqrt)
        request->tau = 1 / sqrt((double)args->d);
    return TOOL_OK;
}
