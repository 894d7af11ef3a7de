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
    "Each F is FILE.npy or FILE.safetensors:NAME.  q, k and v have one dtype of f64,\n"
    "f32, f16, bf16 and the same number of dimensions; query head h reads key head\n"
    "h / (hq / hkv).\n"
    "\n"
    "tensors:\n"
    "  --q F               queries (b, hq, nq, d)\n"
    "  --k F               keys    (b, hkv, nk, d)\n"
    "  --v F               values  (b, hkv, nk, dv)\n"
    "  --out F             write the output here, in the layout and rank of q\n"
    "  --lse F             write ln sum exp(score), sinks included: (b, hq, nq), f32\n"
    "                      (f64 for f64)\n"
    "  --weights F         write the softmax: (b, hq, nq, nk), f32 (f64 for f64)\n"
    "  --force             write weights of more than 2^28 elements all the same\n"
    "  --layout bhld|blhd  order of the axes of q, k, v and out (default bhld); without\n"
    "                      b, 3-D tensors are (h, l, d) or (l, h, d); without h too,\n"
    "                      2-D tensors are (l, d); LSE and weights lack the same axes\n"
    "  --dtype bf16        read 'V2' in .npy files as bf16\n"
    "  --out-dtype same|f32  dtype of the output (default same); .npy cannot hold bf16\n"
    "\n"
    "scores:\n"
    "  --scale X           default 1 / sqrt(d)\n"
    "  --softcap X         cap(x) = X tanh(x / X); 0, the default, for none\n"
    "  --bias F            added to the scores; any of the four dtypes\n"
    "  --alibi F|auto      slopes (hq,), or 2^(-8 (h + 1) / n) with the usual extension\n"
    "                      where hq is no power of two\n"
    "  --sinks F           logits (hq,) that join the denominator\n"
    "\n"
    "who sees whom:\n"
    "  --causal none|top-left|bottom-right|offset:N[,N...]\n"
    "                      key j is seen if j <= position(i) = i, i + nk - nq or i + N,\n"
    "                      an N per batch; none, the default: all are seen, and\n"
    "                      position(i) = i\n"
    "  --window-left N     keys from position(i) - N on; -1, the default: all\n"
    "  --window-right N    keys up to position(i) + N; -1, the default: all\n"
    "  --key-lengths N[,N...]  only keys j < N, an N per batch\n"
    "  --mask F            boolean, true where a key is seen\n"
    "Masks and biases broadcast to (b, hq, nq, nk) as NumPy does, in either layout.\n"
    "\n"
    "running:\n"
    "  --threads N         default: OMP_NUM_THREADS, else every core; the result is the\n"
    "                      same, bit for bit\n"
    "  --isa NAME          kernel set, see 'attend info'; default: ATTEND_ISA, else the\n"
    "                      best that runs here; 'ref' is the definition in double\n"
    "  --device NAME       cuda or cuda:N: a GPU computes, on copies of the inputs\n"
    "  --json              report as one JSON object on standard output\n"
    "  --help              this text\n"
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
