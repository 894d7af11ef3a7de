/* SPDX-License-Identifier: MIT */
/*
 * Attention in one call.  Three keys, two queries, no batch, one head:
 *
 *     cc simple.c $(pkg-config --cflags --libs attend)
 */
#include <attend/attend.h>

#include <math.h>
#include <stdio.h>

enum { NQ = 2, NK = 3, D = 2 };

int main(void)
{
    const float q[NQ][D] = {{4, 0}, {0, 0}};
    const float k[NK][D] = {{1, 0}, {0, 1}, {-1, 0}};
    const float v[NK][D] = {{3, 0}, {0, 3}, {0, 0}};
    float out[NQ][D];

    /* Sizes and strides are in the order batch, head, row, column. */
    attend_io io = attend_io_default();
    io.q = attend_view_dense(q, ATTEND_F32, 1, 1, NQ, D);
    io.k = attend_view_dense(k, ATTEND_F32, 1, 1, NK, D);
    io.v = attend_view_dense(v, ATTEND_F32, 1, 1, NK, D);
    io.out = attend_tensor_dense(out, ATTEND_F32, 1, 1, NQ, D);

    attend_context *ctx = NULL;
    attend_error err;
    if (attend_context_create(&ctx, NULL, &err) != ATTEND_OK ||
        attend_forward(ctx, NULL, &io, &err) != ATTEND_OK) {
        fprintf(stderr, "simple: %s\n", err.message);
        attend_context_destroy(ctx);
        return 1;
    }
    for (int i = 0; i < NQ; i++)
        printf("query %d: %.4f %.4f\n", i, (double)out[i][0], (double)out[i][1]);
    attend_context_destroy(ctx);

    /*
     * The first query's scores are 4 / sqrt(2), 0 and -4 / sqrt(2), so it mostly
     * copies the first value.  The second query is 0: all scores are equal and it
     * averages.
     */
    const double e = exp(4 / sqrt(2.0)), sum = e + 1 + 1 / e;
    const double expected[NQ][D] = {{3 * e / sum, 3 / sum}, {1, 1}};
    for (int i = 0; i < NQ; i++)
        for (int c = 0; c < D; c++)
            if (!(fabs((double)out[i][c] - expected[i][c]) <= 1e-6))
                return 1;
    return 0;
}
