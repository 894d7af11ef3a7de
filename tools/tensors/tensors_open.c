/* SPDX-License-Identifier: MIT */
/* Tensors of files as arrays of doubles: inputs of a task, and a student's result. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "shared/inputs.h"
#include "tensors/tensors_tool.h"

/* A number of an input is below it, so that no sum overflows. */
#define LARGEST_INPUT 0x1p100

__attribute__((format(printf, 2, 3))) static int refuse(char *why, const char *format,
                                                        ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, TENSORS_WHY, format, args);
    va_end(args);
    return -1;
}

/* A tensor of the folder, of a floating type; 0, or -1 with the reason. */
static int open_floats(const char *folder, const char *spec, int takes_bool,
                       struct io_tensor *tensor, char *why)
{
    char path[4096 + TENSORS_WHY];
    struct io_error err;

    *tensor = (struct io_tensor){0};
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, spec) >= sizeof path)
        return refuse(why, "%.100s...: the name is too long", spec);
    if (io_tensor_open(tensor, path, 1, &err))
        return refuse(why, "%s", err.message);
    const attend_dtype dtype = input_dtype(tensor->dtype);
    if (takes_bool ? dtype != ATTEND_BOOL : !dtype || dtype == ATTEND_BOOL)
        return refuse(why, "%s: dtype %s: %s is needed", path,
                      input_dtype_name(tensor->dtype),
                      takes_bool ? "bool" : "f64, f32, f16 or bf16");
    return 0;
}

/* All values, contiguous in the order of the axes. */
static double *values_of(const struct io_tensor *tensor, int64_t *count)
{
    *count = 1;
    for (int a = 0; a < tensor->ndim; a++)
        *count *= tensor->size[a];
    double *const values = check_memory((size_t)*count, sizeof *values);
    for (int64_t at = 0; at < *count; at++) {
        int64_t rest = at, offset = 0;
        for (int a = tensor->ndim - 1; a >= 0; a--) {
            offset += rest % tensor->size[a] * tensor->stride[a];
            rest /= tensor->size[a];
        }
        values[at] = input_read_value(tensor, offset);
    }
    return values;
}

/* ---- a student's result --------------------------------------------------------- */

int tensors_given_open(const char *folder, const char *spec, struct tensors_given *given,
                       char *why)
{
    struct io_tensor tensor;
    int status = open_floats(folder, spec, 0, &tensor, why);
    double count = 1.0;

    *given = (struct tensors_given){0};
    for (int a = 0; !status && a < tensor.ndim; a++) {
        count *= (double)tensor.size[a];
        if (count > TENSORS_MOST)
            status = refuse(why, "%s: shape %s: too large", tensor.name,
                            shape_text(tensor.size, tensor.ndim).text);
    }
    /* Axes of size 1 are left out, down to one axis. */
    for (int a = 0; !status && a < tensor.ndim; a++)
        if (tensor.size[a] != 1) {
            if (given->ndim == 4)
                status = refuse(why, "%s: shape %s: more than 4 axes", tensor.name,
                                shape_text(tensor.size, tensor.ndim).text);
            else
                given->size[given->ndim++] = tensor.size[a];
        }
    if (!status) {
        given->dtype = input_dtype(tensor.dtype);
        given->value = values_of(&tensor, &given->count);
    }
    io_tensor_close(&tensor);
    return status;
}

/* ---- inputs --------------------------------------------------------------------- */

/* The axes b, h, l and d of a tensor in b h l d; heads is that of PACKED. */
static int take_axes(const struct io_tensor *tensor, const struct tensors_task *task,
                     int64_t heads, int64_t size[4], char *why)
{
    const int is_packed = task->layout == TENSORS_PACKED, rank = tensor->ndim;
    const int most = is_packed ? 3 : 4;
    const int64_t *const s = tensor->size;

    if (rank < 2 || rank > most)
        return refuse(why, "%s: shape %s: 2 to %d axes are needed", tensor->name,
                      shape_text(s, rank).text, most);
    if (is_packed && s[rank - 1] % heads)
        return refuse(
            why, "%s: shape %s: %" PRId64 " columns are not those of %" PRId64 " heads",
            tensor->name, shape_text(s, rank).text, s[rank - 1], heads);
    const int l = rank == 2                                   ? 0
                  : is_packed || task->layout == TENSORS_BHLD ? rank - 2
                                                              : rank - 3;
    const int h = rank == 2 ? -1 : task->layout == TENSORS_BHLD ? rank - 3 : rank - 2;
    size[0] = rank == most ? s[0] : 1;
    size[1] = is_packed ? heads : h < 0 ? 1 : s[h];
    size[2] = s[l];
    size[3] = is_packed ? s[rank - 1] / heads : s[rank - 1];
    for (int a = 0; a < 4; a++)
        if (size[a] < 1)
            return refuse(why, "%s: shape %s: an axis is empty", tensor->name,
                          shape_text(s, rank).text);
    return 0;
}

/* The values of q, k or v in b h l d. */
static int take_operand(const char *folder, const char *spec,
                        const struct tensors_task *task, int64_t heads, int64_t size[4],
                        double **values, struct tensors_problem *problem, char *why)
{
    struct io_tensor tensor;
    int status = open_floats(folder, spec, 0, &tensor, why);
    int64_t count = 0;

    if (!status)
        status = take_axes(&tensor, task, heads, size, why);
    if (!status && (double)size[0] * (double)size[1] * (double)size[2] * (double)size[3] >
                       TENSORS_MOST)
        status = refuse(why, "%s: shape %s: too large", tensor.name,
                        shape_text(tensor.size, tensor.ndim).text);
    if (!status)
        *values = values_of(&tensor, &count);
    for (int64_t at = 0; !status && at < count; at++)
        if (!(fabs((*values)[at]) <= LARGEST_INPUT))
            status = refuse(why,
                            "%s: number %" PRId64 " is %g: inputs are finite, and at "
                            "most 2^100",
                            tensor.name, at, (*values)[at]);
    if (!status && task->layout != TENSORS_BHLD) {
        double *const blhd = *values;
        *values = tensors_permuted(blhd, (int64_t[4]){size[0], size[2], size[1], size[3]},
                                   (int[4]){0, 2, 1, 3});
        free(blhd);
    }
    if (!status && !problem->dtype) { /* q is the first */
        problem->dtype = input_dtype(tensor.dtype);
        problem->rank = tensor.ndim;
    }
    io_tensor_close(&tensor);
    return status;
}

/* A mask of bool, whose axes are the last of (b, hq, nq, nk), each of its size or 1. */
static int take_mask(const char *folder, const char *spec, struct check_problem *p,
                     char *why)
{
    const int64_t full[4] = {p->nb, p->hq, p->nq, p->nk};
    struct io_tensor tensor;
    int status = open_floats(folder, spec, 1, &tensor, why), fits = tensor.ndim <= 4;
    int64_t count;

    for (int a = 0; !status && a < 4 && fits; a++) {
        const int axis = a - (4 - tensor.ndim);
        p->mask_size[a] = axis < 0 ? 1 : tensor.size[axis];
        fits = p->mask_size[a] == full[a] || p->mask_size[a] == 1;
    }
    if (!status && !fits)
        status = refuse(why, "%s: shape %s: it does not broadcast to (b, h, nq, nk) = %s",
                        tensor.name, shape_text(tensor.size, tensor.ndim).text,
                        shape_text(full, 4).text);
    if (!status)
        p->mask = values_of(&tensor, &count);
    io_tensor_close(&tensor);
    return status;
}

/* Sizes that q, k and v share. */
static int match(const int64_t q[4], const int64_t k[4], const int64_t v[4],
                 const struct tensors_task *task, char *why)
{
    const struct {
        const char *what;
        int64_t a, b;
    } pairs[] = {
        {"b of q and k", q[0], k[0]}, {"b of k and v", k[0], v[0]},
        {"h of k and v", k[1], v[1]}, {"the number of rows of k and v", k[2], v[2]},
        {"d of q and k", q[3], k[3]},
    };

    for (size_t x = 0; x < sizeof pairs / sizeof *pairs; x++)
        if (pairs[x].a != pairs[x].b)
            return refuse(why, "%s, %s, %s: %s: %" PRId64 " and %" PRId64, task->q,
                          task->k, task->v, pairs[x].what, pairs[x].a, pairs[x].b);
    if (q[1] % k[1])
        return refuse(why,
                      "%s: %" PRId64 " heads are not a multiple of the %" PRId64 " of %s",
                      task->q, q[1], k[1], task->k);
    if (task->rotary && q[3] % 2)
        return refuse(why, "%s: d is %" PRId64 ": rotary positions need an even one",
                      task->q, q[3]);
    const double rows = (double)q[0] * (double)q[1] * (double)q[2];
    if (rows * (double)k[2] > TENSORS_MOST || rows * (double)v[3] > TENSORS_MOST)
        return refuse(why, "%s: more than %d scores or numbers of the result", task->q,
                      TENSORS_MOST);
    return 0;
}

int tensors_problem_open(const char *folder, const struct tensors_task *task,
                         struct tensors_problem *problem)
{
    struct check_problem *const p = &problem->p;
    char why[TENSORS_WHY];
    int64_t q[4], k[4], v[4];

    *problem = (struct tensors_problem){
        .layout = task->layout, .rotary = task->rotary, .base = task->base};
    if (take_operand(folder, task->q, task, task->heads, q, &p->q, problem, why) ||
        take_operand(folder, task->k, task, task->kv_heads, k, &p->k, problem, why) ||
        take_operand(folder, task->v, task, task->kv_heads, v, &p->v, problem, why) ||
        match(q, k, v, task, why))
        return tool_fail("grade", TOOL_USAGE, "%s: %s", task->name, why);
    p->dtype = p->out_dtype = p->bias_dtype = ATTEND_F64;
    p->stats.dtype = ATTEND_F32;
    p->nb = q[0];
    p->hq = q[1];
    p->hkv = k[1];
    p->nq = q[2];
    p->nk = k[2];
    p->d = q[3];
    p->dv = v[3];
    p->causal = task->causal;
    p->window_left = p->window_right = -1;
    p->scale_is_set = 1;
    p->scale = isnan(task->scale) ? 1.0 / sqrt((double)p->d) : task->scale;
    problem->is_usual_scale = fabs(p->scale * sqrt((double)p->d) - 1.0) < 1e-6;
    if (task->mask && take_mask(folder, task->mask, p, why))
        return tool_fail("grade", TOOL_USAGE, "%s: %s", task->name, why);
    return TOOL_OK;
}

void tensors_problem_free(struct tensors_problem *problem)
{
    check_problem_free(&problem->p);
}
