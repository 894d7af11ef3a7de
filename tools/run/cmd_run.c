/* SPDX-License-Identifier: MIT */
/* `attend run`: attention of tensors in files. */
#include "run_tool.h"

#include <string.h>

#include "shared/commands.h"
#include "shared/output_files.h"
#include "shared/ranks.h"

static const char help_text[] =
    "usage: attend run --q F --k F --v F --out F [OPTION]...\n"
    "\n"
    "Computes exact softmax attention.  For batch b, query head h and query i, the\n"
    "score of key j is\n"
    "  cap(scale * <q[i], k[j]>) + bias[i][j] + alibi[h] * (j - position(i)),\n"
    "and the output is the mean of the values under the softmax of the scores of the\n"
    "keys that query i sees.  A query that sees no key gives 0, and an LSE of -inf.\n"
    "\n"
    "Each F is FILE.npy or FILE.safetensors:NAME.  Each of q, k and v is f32, f16 or\n"
    "bf16, or all are f64; they have the same number of dimensions, and query head h\n"
    "reads key head h / (hq / hkv).\n"
    "\n"
    "tensors:\n"
    "@22 q k v out lse weights force layout dtype out-dtype\n"
    "\n"
    "scores:\n"
    "@22 scale softcap bias alibi sinks\n"
    "\n"
    "who sees whom:\n"
    "@22 causal window-left window-right key-lengths mask\n"
    "Masks and biases broadcast to (b, hq, nq, nk) as NumPy does, in either layout.\n"
    "\n"
    "running:\n"
    "@22 threads isa device json help\n"
    "\n"
    "Outputs appear whole or not at all, replace older files, and may share a new\n"
    ".safetensors file.\n"
    "\n"
    "Under mpirun, each rank reads its slice of the files and writes its slice of the\n"
    "outputs; the result is the same, bit for bit, for any number of ranks.\n"
    "\n"
    "example: a causal prefill with a window of 1024 keys, from a checkpoint\n"
    "  attend run --q x.safetensors:q --k x.safetensors:k --v x.safetensors:v \\\n"
    "      --layout blhd --causal top-left --window-left 1023 \\\n"
    "      --out y.safetensors:out --lse y.safetensors:lse\n";

static int forward(const struct inputs *inputs, attend_context *ctx)
{
    attend_error err;

    if (ranks.mpi)
        return run_compute_on_ranks(inputs, ctx);
    return ranks_status("run", attend_forward(ctx, &inputs->rule, &inputs->io, &err),
                        &err);
}

static int compute(const void *user, struct inputs *inputs, attend_context *ctx,
                   struct progress_line *line)
{
    const struct run_args *const args = user;

    int failed = run_check_weights(args, inputs);
    if (failed)
        return failed;
    struct run_outputs outputs = run_list_outputs(args, inputs);
    if (outputs.output[0].dtype == IO_BF16 &&
        !strstr(args->output[RUN_OUT], ".safetensors:"))
        return tool_fail(
            "run", TOOL_USAGE,
            "--out: %s: .npy cannot hold bf16: add --out-dtype f32 or write to "
            "FILE.safetensors:NAME",
            args->output[RUN_OUT]);
    failed = output_files_prepare("run", outputs.output, outputs.count);
    if (failed)
        return failed;
    inputs->io.force_weights = args->is_forced;
    run_set_outputs(args, inputs, &outputs);

    const double start = tool_seconds();
    progress_line_start(line, "attend run", NULL);
    failed = forward(inputs, ctx);
    progress_line_clear(line);
    const double seconds = tool_seconds() - start;
    /* Files get their names last: a report that cannot be written leaves none. */
    if (!failed)
        failed = run_report(args, inputs, &outputs, ctx, seconds);
    return output_files_commit("run", failed);
}

int cmd_run(int argc, char **argv)
{
    struct run_args args;

    int status = run_args_read(argc, argv, &args, help_text);
    if (!status)
        status = inputs_perform(&args.inputs, &args, compute);
    inputs_args_free(&args.inputs);
    return status;
}
