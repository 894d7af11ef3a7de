/* SPDX-License-Identifier: MIT */
/* Speed of the module: prefill in f32, as the case prefill-d64 of `attend bench`. */
#include "page.h"

#include <stdlib.h>

#include "attend/attend.h"
#include "lab/measure/random.h"

static double time_calls(const attend_io *io, int calls)
{
    attend_options options = attend_options_default();
    attend_rule rule = attend_rule_default();
    attend_context *ctx;
    attend_error err;
    double best = -1;

    options.threads = 1;
    rule.causal = ATTEND_CAUSAL_TOP_LEFT;
    if (attend_context_create(&ctx, &options, &err) != ATTEND_OK)
        return -1;
    for (int x = 0; x < calls; x++) {
        const double began = emscripten_get_now() / 1000;

        if (attend_forward(ctx, &rule, io, &err) != ATTEND_OK)
            break;
        const double seconds = emscripten_get_now() / 1000 - began;
        if (best < 0 || seconds < best)
            best = seconds;
    }
    attend_context_destroy(ctx);
    return best;
}

double page_prefill(int heads, int n, int d, int calls)
{
    const int64_t count = (int64_t)heads * n * d;
    float *const memory = malloc(sizeof *memory * (size_t)(4 * count));
    attend_io io = attend_io_default();
    double seconds = -1;

    if (memory) {
        lab_random_normals(1, 0, 0, memory, 3 * count);
        io.q = attend_view_dense(memory, ATTEND_F32, 1, heads, n, d);
        io.k = attend_view_dense(memory + count, ATTEND_F32, 1, heads, n, d);
        io.v = attend_view_dense(memory + 2 * count, ATTEND_F32, 1, heads, n, d);
        io.out = attend_tensor_dense(memory + 3 * count, ATTEND_F32, 1, heads, n, d);
        seconds = time_calls(&io, calls);
    }
    free(memory);
    return seconds;
}
