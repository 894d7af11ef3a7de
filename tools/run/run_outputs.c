/* SPDX-License-Identifier: MIT */
/* The outputs of `attend run`: their shapes, and the report about them. */
#include "run_tool.h"

#include <inttypes.h>
#include <stdio.h>

#include "shared/json_line.h"

static enum io_dtype to_io(attend_dtype dtype)
{
    switch (dtype) {
    case ATTEND_F64:
        return IO_F64;
    case ATTEND_F32:
        return IO_F32;
    case ATTEND_F16:
        return IO_F16;
    case ATTEND_BF16:
        return IO_BF16;
    case ATTEND_BOOL:
        return IO_BOOL;
    }
    __builtin_unreachable(); /* inputs are of one of these */
}

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

/*
 * `out` has the layout of q, LSE and weights are (b, hq, nq[, nk]).  Input without b, or
 * without b and h, gives outputs without them.
 */
static void add_output(const struct run_args *args, const struct inputs *p,
                       enum run_output which, struct run_outputs *outputs)
{
    const int is_blhd = which == RUN_OUT && args->inputs.is_blhd;
    const int order[4] = {0, is_blhd ? 2 : 1, is_blhd ? 1 : 2, 3};
    const int64_t last[RUN_OUTPUTS] = {p->io.v.size[3], 1, p->io.k.size[2]};
    const attend_dtype dtype = p->io.q.dtype;
    attend_tensor *const t = &outputs->tensor[outputs->count];
    struct io_output *const output = &outputs->output[outputs->count];
    int64_t stride = 1;

    outputs->which[outputs->count++] = which;
    t->dtype = which == RUN_OUT && !args->out_is_f32     ? dtype
               : which != RUN_OUT && dtype == ATTEND_F64 ? ATTEND_F64
                                                         : ATTEND_F32;
    for (int a = 0; a < 4; a++)
        t->size[a] = a < 3 ? p->io.q.size[a] : last[which];
    for (int a = 3; a >= 0; a--) {
        t->stride[order[a]] = stride;
        stride *= t->size[order[a]] > 0 ? t->size[order[a]] : 1;
    }
    *output = (struct io_output){.spec = args->output[which], .dtype = to_io(t->dtype)};
    for (int a = 0; a < (which == RUN_LSE ? 3 : 4); a++)
        if (order[a] >= 4 - p->rank)
            output->size[output->ndim++] = t->size[order[a]];
}

struct run_outputs run_list_outputs(const struct run_args *args, const struct inputs *p)
{
    struct run_outputs outputs = {.count = 0};

    for (int x = 0; x < RUN_OUTPUTS; x++)
        if (args->output[x])
            add_output(args, p, (enum run_output)x, &outputs);
    return outputs;
}

void run_set_outputs(struct inputs *p, const struct run_outputs *outputs)
{
    attend_tensor *const targets[RUN_OUTPUTS] = {&p->io.out, &p->io.lse, &p->io.weights};

    for (int x = 0; x < outputs->count; x++) {
        *targets[outputs->which[x]] = outputs->tensor[x];
        targets[outputs->which[x]]->data = outputs->output[x].data;
    }
}

static int report_json(const struct run_args *args, const struct inputs *p,
                       const struct run_outputs *outputs, const attend_context *ctx,
                       double seconds)
{
    const attend_io *const io = &p->io;
    json_t *const inputs = json_object(), *const written = json_array();

    for (int i = 0; i < INPUTS; i++)
        if (args->inputs.file[i])
            json_object_set_new(inputs, input_name[i],
                                tool_json_string(args->inputs.file[i]));
    for (int x = 0; x < outputs->count; x++) {
        const struct io_output *const output = &outputs->output[x];
        json_t *const shape = json_array();
        for (int a = 0; a < output->ndim; a++)
            json_array_append_new(shape, json_integer(output->size[a]));
        json_array_append_new(written,
                              json_pack("{s:s, s:o, s:s, s:o}", "name",
                                        run_output_name[outputs->which[x]], "file",
                                        tool_json_string(output->spec), "dtype",
                                        input_dtype_name(output->dtype), "shape", shape));
    }
    json_t *const shape =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "nb", (json_int_t)io->q.size[0],
                  "hq", (json_int_t)io->q.size[1], "hkv", (json_int_t)io->k.size[1], "nq",
                  (json_int_t)io->q.size[2], "nk", (json_int_t)io->k.size[2], "d",
                  (json_int_t)io->q.size[3], "dv", (json_int_t)io->v.size[3]);
    return tool_print_json(
        "run", json_pack("{s:o, s:o, s:s, s:s, s:i, s:o, s:o}", "inputs", inputs, "shape",
                         shape, "dtype", attend_dtype_name(io->q.dtype), "isa",
                         attend_context_isa(ctx), "threads", attend_context_threads(ctx),
                         "seconds", tool_json_real(seconds), "outputs", written));
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
