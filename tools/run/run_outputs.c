/* SPDX-License-Identifier: MIT */
/* The outputs of `attend run`: their shapes, and the report about them. */
#include "run_tool.h"

#include <inttypes.h>
#include <stdio.h>

#include "shared/json_line.h"

/* Refused here as well as in the library, before a file of that size is made. */
int run_check_weights(const struct run_args *args, const struct inputs *p)
{
    const int64_t size[4] = {p->io.q.size[0], p->io.q.size[1], p->io.q.size[2],
                             p->io.k.size[2]};
    int64_t count = size[0];

    if (!args->output[RUN_WEIGHTS] || args->is_forced)
        return TOOL_OK;
    if (!__builtin_mul_overflow(count, size[1], &count) &&
        !__builtin_mul_overflow(count, size[2], &count) &&
        !__builtin_mul_overflow(count, size[3], &count) && count <= ATTEND_WEIGHTS_MAX)
        return TOOL_OK;
    return tool_fail("run", TOOL_USAGE,
                     "--weights: %s: %s has more than %" PRId64
                     " elements: add --force to write it all the same",
                     args->output[RUN_WEIGHTS], shape_text(size, 4).text,
                     ATTEND_WEIGHTS_MAX);
}

static int64_t last_axis(const struct inputs *p, enum run_output which)
{
    const int64_t last[RUN_OUTPUTS] = {p->io.v.size[3], 1, p->io.k.size[2]};

    return last[which];
}

/*
 * `out` has the layout of q, LSE and weights are (b, hq, nq[, nk]).  Input without b, or
 * without b and h, gives outputs without them.
 */
static void add_output(const struct run_args *args, const struct inputs *p,
                       enum run_output which, struct run_outputs *outputs)
{
    const int is_blhd = which == RUN_OUT && args->inputs.is_blhd;
    const int order[4] = {0, is_blhd ? 2 : 1, is_blhd ? 1 : 2, 3};
    const attend_dtype dtype = p->io.q.dtype;
    const int is_f32 = which == RUN_OUT ? args->out_is_f32 : dtype != ATTEND_F64;
    struct io_output *const output = &outputs->output[outputs->count];

    outputs->which[outputs->count++] = which;
    *output = (struct io_output){.spec = args->output[which],
                                 .dtype = is_f32 ? IO_F32 : p->tensor[INPUT_Q].dtype};
    for (int a = 0; a < (which == RUN_LSE ? 3 : 4); a++)
        if (order[a] >= 4 - p->rank)
            output->size[output->ndim++] =
                order[a] < 3 ? p->io.q.size[order[a]] : last_axis(p, which);
}

struct run_outputs run_list_outputs(const struct run_args *args, const struct inputs *p)
{
    struct run_outputs outputs = {.count = 0};

    for (int x = 0; x < RUN_OUTPUTS; x++)
        if (args->output[x])
            add_output(args, p, (enum run_output)x, &outputs);
    return outputs;
}

void run_set_outputs(const struct run_args *args, struct inputs *p,
                     const struct run_outputs *outputs)
{
    attend_tensor *const targets[RUN_OUTPUTS] = {&p->io.out, &p->io.lse, &p->io.weights};
    const int64_t *const q = p->io.q.size;

    for (int x = 0; x < outputs->count; x++) {
        const enum run_output which = outputs->which[x];
        void *const data = outputs->output[x].data;
        const attend_dtype dtype = input_dtype(outputs->output[x].dtype);
        const int64_t last = last_axis(p, which);
        *targets[which] =
            which == RUN_OUT && args->inputs.is_blhd
                ? attend_tensor_dense_blhd(data, dtype, q[0], q[2], q[1], last)
                : attend_tensor_dense(data, dtype, q[0], q[1], q[2], last);
    }
}

static int report_json(const struct run_args *args, const struct inputs *p,
                       const struct run_outputs *outputs, const attend_context *ctx,
                       double seconds)
{
    const int64_t *const q = p->io.q.size, *const k = p->io.k.size;
    struct lab_json json;

    tool_open_json(&json);
    lab_json_put(&json, "inputs:{");
    for (int i = 0; i < INPUTS; i++)
        if (args->inputs.file[i]) {
            lab_json_key(&json, input_name[i]);
            lab_json_text(&json, args->inputs.file[i]);
        }
    lab_json_put(&json,
                 "} shape:{ nb:l hq:l hkv:l nq:l nk:l d:l dv:l } dtype:s isa:s threads:i "
                 "seconds:r outputs:[",
                 q[0], q[1], k[1], q[2], k[2], q[3], p->io.v.size[3],
                 attend_dtype_name(p->io.q.dtype), attend_context_isa(ctx),
                 attend_context_threads(ctx), seconds);
    for (int x = 0; x < outputs->count; x++) {
        const struct io_output *const output = &outputs->output[x];
        lab_json_put(&json, "{ name:s file:s dtype:s shape:[",
                     run_output_name[outputs->which[x]], output->spec,
                     input_dtype_name(output->dtype));
        for (int a = 0; a < output->ndim; a++)
            lab_json_whole(&json, output->size[a]);
        lab_json_put(&json, "] }");
    }
    lab_json_end(&json, ']');
    return tool_print_json("run", &json);
}

int run_report(const struct run_args *args, const struct inputs *p,
               const struct run_outputs *outputs, const attend_context *ctx,
               double seconds)
{
    if (args->wants_json)
        return report_json(args, p, outputs, ctx, seconds);
    for (int x = 0; x < outputs->count; x++) {
        const struct io_output *const output = &outputs->output[x];
        printf("%s: %s %s; ", output->spec, shape_text(output->size, output->ndim).text,
               input_dtype_name(output->dtype));
    }
    tool_print_timing(seconds, ctx);
    return tool_finish_output("run", TOOL_OK);
}
