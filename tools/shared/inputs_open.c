/* SPDX-License-Identifier: MIT */
/* Makes one problem for attend_forward() of files and options. */
#include "inputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

attend_dtype input_dtype(enum io_dtype dtype)
{
    static const attend_dtype known[IO_DTYPE_COUNT] = {[IO_F64] = ATTEND_F64,
                                                       [IO_F32] = ATTEND_F32,
                                                       [IO_F16] = ATTEND_F16,
                                                       [IO_BF16] = ATTEND_BF16,
                                                       [IO_BOOL] = ATTEND_BOOL};

    return known[dtype];
}

const char *input_dtype_name(enum io_dtype dtype)
{
    const attend_dtype known = input_dtype(dtype);

    return known ? attend_dtype_name(known) : io_dtype_name(dtype);
}

struct shape_text shape_text(const int64_t *size, int ndim)
{
    struct shape_text shape = {.text = "("};
    size_t used = 1;

    for (int a = 0; a < ndim; a++) {
        if (used > sizeof shape.text - 32) {
            used += (size_t)sprintf(shape.text + used, "...");
            break;
        }
        used += (size_t)sprintf(shape.text + used, "%" PRId64 "%s", size[a],
                                a + 1 < ndim ? ", " : (ndim == 1 ? "," : ""));
    }
    strcpy(shape.text + used, ")");
    return shape;
}

int inputs_check_float(const struct inputs *p, enum input which)
{
    const struct io_tensor *const tensor = &p->tensor[which];
    const attend_dtype dtype = input_dtype(tensor->dtype);

    if (dtype && dtype != ATTEND_BOOL)
        return TOOL_OK;
    return tool_fail(p->command, TOOL_USAGE,
                     "--%s: %s: dtype %s: f64, f32, f16 or bf16 is needed",
                     input_name[which], tensor->name, input_dtype_name(tensor->dtype));
}

/* Where the axes b, h, l, d are in a tensor of the rank; -1: not there. */
static void find_axes(int rank, int is_blhd, int axis[4])
{
    const int lead = rank - 4; /* -1 without b, -2 without b and h */

    axis[0] = lead == 0 ? 0 : -1;
    axis[1] = rank == 2 ? -1 : (is_blhd ? 2 : 1) + lead;
    axis[2] = rank == 2 ? 0 : (is_blhd ? 1 : 2) + lead;
    axis[3] = rank - 1;
}

static attend_view to_view(const struct io_tensor *tensor, int is_blhd)
{
    attend_view view = {.data = tensor->data, .dtype = input_dtype(tensor->dtype)};
    int axis[4];

    find_axes(tensor->ndim, is_blhd, axis);
    for (int a = 0; a < 4; a++) {
        view.size[a] = axis[a] < 0 ? 1 : tensor->size[axis[a]];
        view.stride[a] = axis[a] < 0 ? 0 : tensor->stride[axis[a]];
    }
    return view;
}

/* dtype and rank of q, k and v. */
static int check_kind(const struct inputs *p, enum input which)
{
    const struct io_tensor *const t = &p->tensor[which], *const q = &p->tensor[INPUT_Q];
    const int status = inputs_check_float(p, which);

    if (status)
        return status;
    if ((t->dtype == IO_F64) != (q->dtype == IO_F64))
        return tool_fail(p->command, TOOL_USAGE,
                         "--%s: %s: dtype is %s but %s has %s: f64 does not mix",
                         input_name[which], t->name, input_dtype_name(t->dtype), q->name,
                         input_dtype_name(q->dtype));
    if (t->ndim < 2 || t->ndim > 4)
        return INPUTS_FAIL_SHAPE(p, which, "2, 3 or 4 dimensions are needed, not %d",
                                 t->ndim);
    if (t->ndim != q->ndim)
        return INPUTS_FAIL_SHAPE(p, which, "%d dimensions, but %s has %d: %s", t->ndim,
                                 q->name, q->ndim, shape_text(q->size, q->ndim).text);
    return TOOL_OK;
}

/* One axis that two tensors share. */
static int check_axis(const struct inputs *p, enum input which, enum input other,
                      const attend_view *view, const attend_view *other_view, int axis,
                      const char *name)
{
    if (view->size[axis] == other_view->size[axis])
        return TOOL_OK;
    return INPUTS_FAIL_SHAPE(p, which, "%s is %" PRId64 " but %s has %s %" PRId64, name,
                             view->size[axis], p->tensor[other].name, name,
                             other_view->size[axis]);
}

static int open_qk(const struct inputs_args *args, struct inputs *p)
{
    int status;

    if ((status = check_kind(p, INPUT_Q)) || (status = check_kind(p, INPUT_K)))
        return status;
    const attend_view q = to_view(&p->tensor[INPUT_Q], args->is_blhd);
    const attend_view k = to_view(&p->tensor[INPUT_K], args->is_blhd);
    if ((status = check_axis(p, INPUT_K, INPUT_Q, &k, &q, 0, "b")) ||
        (status = check_axis(p, INPUT_K, INPUT_Q, &k, &q, 3, "d")))
        return status;
    const int64_t hq = q.size[1], hkv = k.size[1];
    if (hkv == 0 ? hq != 0 : hq % hkv != 0)
        return INPUTS_FAIL_SHAPE(p, INPUT_K,
                                 "hq %" PRId64 " of %s is not a multiple of hkv %" PRId64,
                                 hq, p->tensor[INPUT_Q].name, hkv);
    p->rank = p->tensor[INPUT_Q].ndim;
    p->io.q = q;
    p->io.k = k;
    return TOOL_OK;
}

static int open_v(const struct inputs_args *args, struct inputs *p)
{
    const attend_view *const k = &p->io.k;
    int status;

    if (!args->file[INPUT_V]) {
        p->io.v = *k;
        p->io.v.size[3] = 0;
        return TOOL_OK;
    }
    if ((status = check_kind(p, INPUT_V)))
        return status;
    const attend_view v = to_view(&p->tensor[INPUT_V], args->is_blhd);
    if ((status = check_axis(p, INPUT_V, INPUT_K, &v, k, 0, "b")) ||
        (status = check_axis(p, INPUT_V, INPUT_K, &v, k, 1, "hkv")) ||
        (status = check_axis(p, INPUT_V, INPUT_K, &v, k, 2, "nk")))
        return status;
    p->io.v = v;
    return TOOL_OK;
}

/* A mask or bias: its axes are the last of (b, hq, nq, nk), each equal or 1. */
static int broadcast(const struct inputs *p, enum input which, attend_view *view)
{
    const struct io_tensor *const t = &p->tensor[which];
    const int64_t full[4] = {p->io.q.size[0], p->io.q.size[1], p->io.q.size[2],
                             p->io.k.size[2]};
    int fits = t->ndim <= 4;

    *view = (attend_view){.data = t->data, .dtype = input_dtype(t->dtype)};
    for (int a = 0; a < 4 && fits; a++) {
        const int axis = a - (4 - t->ndim);
        view->size[a] = axis < 0 ? 1 : t->size[axis];
        view->stride[a] = axis < 0 ? 0 : t->stride[axis];
        fits = view->size[a] == full[a] || view->size[a] == 1;
    }
    if (!fits)
        return INPUTS_FAIL_SHAPE(p, which, "does not broadcast to (b, hq, nq, nk) = %s",
                                 shape_text(full, 4).text);
    return TOOL_OK;
}

static int open_mask_and_bias(const struct inputs_args *args, struct inputs *p)
{
    int status = TOOL_OK;

    if (args->file[INPUT_MASK]) {
        const struct io_tensor *const mask = &p->tensor[INPUT_MASK];
        if (mask->dtype != IO_BOOL)
            return tool_fail(p->command, TOOL_USAGE, "--mask: %s: dtype is %s, not bool",
                             mask->name, input_dtype_name(mask->dtype));
        status = broadcast(p, INPUT_MASK, &p->rule.mask);
    }
    if (!status && args->file[INPUT_BIAS]) {
        status = inputs_check_float(p, INPUT_BIAS);
        if (!status)
            status = broadcast(p, INPUT_BIAS, &p->rule.bias);
    }
    return status;
}

static int check_list(const struct inputs *p, const char *flag,
                      const struct inputs_list *list)
{
    const int64_t nb = p->io.q.size[0];

    if (!list->value || list->count == nb)
        return TOOL_OK;
    return tool_fail(p->command, TOOL_USAGE,
                     "%s: %" PRId64 " value%s given, but b is %" PRId64, flag,
                     list->count, list->count == 1 ? " is" : "s are", nb);
}

static int check_lists(const struct inputs_args *args, const struct inputs *p)
{
    const int64_t nk = p->io.k.size[2];
    int status = check_list(p, "--causal", &args->causal_offset);

    if (!status)
        status = check_list(p, "--key-lengths", &args->key_lengths);
    for (int64_t b = 0; !status && b < args->key_lengths.count; b++) {
        const int64_t length = args->key_lengths.value[b];
        if (length < 0 || length > nk)
            status = tool_fail(p->command, TOOL_USAGE,
                               "--key-lengths: %" PRId64 " is outside 0..%" PRId64
                               " (nk) for batch %" PRId64,
                               length, nk, b);
    }
    return status;
}

static int open_inputs(const struct inputs_args *args, struct inputs *p)
{
    int status;

    *p = (struct inputs){.command = args->command,
                         .rule = attend_rule_default(),
                         .io = attend_io_default()};
    for (int i = 0; i < INPUTS; i++) {
        struct io_error err;
        if (args->file[i] &&
            io_tensor_open(&p->tensor[i], args->file[i], args->v2_is_bf16, &err))
            return tool_fail(p->command, TOOL_USAGE, "--%s: %s", input_name[i],
                             err.message);
    }
    if ((status = open_qk(args, p)) || (status = open_v(args, p)) ||
        (status = open_mask_and_bias(args, p)) || (status = inputs_open_heads(args, p)) ||
        (status = check_lists(args, p)))
        return status;
    p->rule.scale_is_set = !isnan(args->scale);
    if (p->rule.scale_is_set)
        p->rule.scale = args->scale;
    p->rule.softcap = args->softcap;
    p->rule.causal = args->causal;
    p->rule.causal_offset = args->causal_offset.value;
    p->rule.window_left = args->window_left;
    p->rule.window_right = args->window_right;
    p->rule.key_lengths = args->key_lengths.value;
    return TOOL_OK;
}

static void close_inputs(struct inputs *p)
{
    for (int i = 0; i < INPUTS; i++)
        io_tensor_close(&p->tensor[i]);
    free(p->alibi);
    free(p->sinks);
}

int inputs_perform(const struct inputs_args *args, const void *user,
                   int (*work)(const void *user, struct inputs *inputs,
                               attend_context *ctx, struct progress_line *line))
{
    attend_options options = attend_options_default();
    struct progress_line line;
    struct inputs inputs;
    attend_context *ctx;

    options.threads = args->threads;
    options.isa = args->isa;
    options.device = args->device;
    options.host_tensors = args->device != NULL;
    options.progress = progress_line_update;
    options.progress_user = &line;
    int status = tool_create_context(args->command, &options, &ctx);
    if (status)
        return status;
    status = ranks_agree(open_inputs(args, &inputs));
    if (!status)
        status = work(user, &inputs, ctx, &line);
    close_inputs(&inputs);
    attend_context_destroy(ctx);
    return status;
}
