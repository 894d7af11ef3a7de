/* SPDX-License-Identifier: MIT */
/* `attend run` on the ranks of a launcher: each computes its slice of the outputs. */
#include "run_tool.h"

#include "shared/inputs_ranks.h"

static int compute(struct inputs_slice *slice, const struct inputs *inputs,
                   attend_context *ctx)
{
    const attend_tensor *const all[] = {&inputs->io.out, &inputs->io.lse,
                                        &inputs->io.weights};
    attend_tensor *const own[] = {&slice->io.out, &slice->io.lse, &slice->io.weights};
    attend_error err;
    int failed = TOOL_OK;

    for (int x = 0; x < 3; x++)
        *own[x] = inputs_slice_output(slice, "run", all[x], &failed);
    failed = ranks_agree(failed);
    if (failed)
        return failed;
    failed = ranks_status(
        "run", ranks.mpi->forward(ctx, &slice->rule, &slice->io, &slice->dist, &err),
        &err);
    for (int x = 0; x < 3 && !failed; x++)
        inputs_slice_put(slice, own[x], all[x]);
    return failed;
}

int run_compute_on_ranks(const struct inputs *inputs, attend_context *ctx)
{
    struct inputs_slice slice;
    int failed = inputs_slice_make(&slice, inputs);

    if (!failed)
        failed = compute(&slice, inputs, ctx);
    inputs_slice_free(&slice);
    return failed;
}
