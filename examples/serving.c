/* SPDX-License-Identifier: MIT */
/*
 * A step of a server: one sequence with a new prompt, two that decode one token, each
 * with a bf16 cache of its own length, in one call.
 */
#include <attend/attend.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SEQUENCES = 3, HQ = 4, HKV = 2, D = 8, CAPACITY = 64, ROWS = 6 + 1 + 1 };

static const int new_rows[SEQUENCES] = {6, 1, 1};
static const int lengths[SEQUENCES] = {6, 40, 17}; /* of the caches, new rows included */

static uint16_t cache[SEQUENCES][2][HKV][CAPACITY][D]; /* K and V */
static float q[ROWS][HQ][D], out[ROWS][HQ][D], alone[ROWS][HQ][D];

/* The nearest bf16 below in magnitude. */
static uint16_t to_bf16(double x)
{
    const float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static void fill(void)
{
    for (int x = 0; x < SEQUENCES * 2 * HKV * CAPACITY * D; x++)
        (&cache[0][0][0][0][0])[x] = to_bf16(sin(0.7 * x));
    for (int x = 0; x < ROWS * HQ * D; x++)
        (&q[0][0][0])[x] = (float)cos(0.3 * x);
}

int main(void)
{
    attend_rule rule = attend_rule_default();
    attend_io io[SEQUENCES];
    const attend_io *ios[SEQUENCES];
    const attend_rule *rules[SEQUENCES];
    attend_context *ctx = NULL;
    attend_error err;

    fill();
    /* The last new row of a sequence sees the last row of its cache. */
    rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    for (int x = 0, row = 0; x < SEQUENCES; row += new_rows[x++]) {
        io[x] = attend_io_default();
        io[x].q = attend_view_slice(attend_view_dense_blhd(q, ATTEND_F32, 1, ROWS, HQ, D),
                                    2, row, new_rows[x]);
        io[x].k =
            attend_view_cache(cache[x][0], ATTEND_BF16, 1, HKV, lengths[x], CAPACITY, D);
        io[x].v =
            attend_view_cache(cache[x][1], ATTEND_BF16, 1, HKV, lengths[x], CAPACITY, D);
        io[x].out =
            attend_tensor_slice(attend_tensor_dense_blhd(out, ATTEND_F32, 1, ROWS, HQ, D),
                                2, row, new_rows[x]);
        ios[x] = &io[x];
        rules[x] = &rule;
    }
    if (attend_context_create(&ctx, NULL, &err) != ATTEND_OK ||
        attend_forward_many(ctx, SEQUENCES, rules, ios, &err) != ATTEND_OK) {
        fprintf(stderr, "serving: %s\n", err.message);
        attend_context_destroy(ctx);
        return 1;
    }
    for (int x = 0, row = 0; x < SEQUENCES; row += new_rows[x++])
        printf("sequence %d: %d new rows, %d keys, first output %.4f\n", x, new_rows[x],
               lengths[x], (double)out[row][0][0]);

    /* Each sequence alone has the same bits. */
    for (int x = 0, row = 0; x < SEQUENCES; row += new_rows[x++]) {
        io[x].out.data = alone[row];
        if (attend_forward(ctx, &rule, &io[x], &err) != ATTEND_OK) {
            fprintf(stderr, "serving: %s\n", err.message);
            attend_context_destroy(ctx);
            return 1;
        }
    }
    attend_context_destroy(ctx);
    return memcmp(out, alone, sizeof out) != 0;
}
