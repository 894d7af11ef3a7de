/* SPDX-License-Identifier: MIT */
/*
 * Keys in pieces, as from disk or from other machines: attention over each piece, then
 * merging by (O, LSE).  The result is that of one call over all keys; memory holds one
 * piece of K and V at a time.
 *
 * The rule of a piece counts keys from the piece's own first key: positions are given by
 * ATTEND_CAUSAL_OFFSET, less that key.  A sink logit belongs to one piece only, since the
 * LSE of every piece that has it includes it.
 */
#include <attend/attend.h>

#include <math.h>
#include <stdio.h>

enum { NQ = 3, NK = 100, D = 16, PARTS = 4 };

static float q[NQ][D], k[NK][D], v[NK][D];
static const double sink[1] = {1.5};

static attend_tensor matrix(float *data, int rows, int columns)
{
    return attend_tensor_dense(data, ATTEND_F32, 1, 1, rows, columns);
}

/* Attention over the keys first .. first + count - 1. */
static attend_status forward(attend_context *ctx, int first, int count, attend_tensor out,
                             attend_tensor lse, attend_error *err)
{
    /* The queries are the last of the sequence. */
    const int64_t position[1] = {NK - NQ - first};
    attend_rule rule = attend_rule_default();
    attend_io io = attend_io_default();

    rule.causal = ATTEND_CAUSAL_OFFSET;
    rule.causal_offset = position;
    rule.sinks = first == 0 ? sink : NULL;
    io.q = attend_view_dense(q, ATTEND_F32, 1, 1, NQ, D);
    io.k = attend_view_dense(k[first], ATTEND_F32, 1, 1, count, D);
    io.v = attend_view_dense(v[first], ATTEND_F32, 1, 1, count, D);
    io.out = out;
    io.lse = lse;
    return attend_forward(ctx, &rule, &io, err);
}

static attend_status run(attend_context *ctx, float *joined, float *whole,
                         attend_error *err)
{
    static float out[PARTS][NQ][D], lse[PARTS][NQ], lse_joined[NQ], lse_whole[NQ];
    attend_part parts[PARTS];

    for (int p = 0; p < PARTS; p++) {
        const int first = p * NK / PARTS, next = (p + 1) * NK / PARTS;
        const attend_tensor o = matrix(&out[p][0][0], NQ, D), l = matrix(lse[p], NQ, 1);
        const attend_status status = forward(ctx, first, next - first, o, l, err);
        if (status != ATTEND_OK)
            return status;
        parts[p] = (attend_part){attend_view_of(&o), attend_view_of(&l)};
    }
    const attend_tensor o = matrix(joined, NQ, D), l = matrix(lse_joined, NQ, 1);
    const attend_status status = attend_merge(parts, PARTS, &o, &l, err);
    if (status != ATTEND_OK)
        return status;
    return forward(ctx, 0, NK, matrix(whole, NQ, D), matrix(lse_whole, NQ, 1), err);
}

int main(void)
{
    static float joined[NQ * D], whole[NQ * D];

    for (int n = 0; n < NQ * D; n++)
        joined[n] = whole[n] = NAN;
    for (int c = 0; c < D; c++) {
        for (int i = 0; i < NQ; i++)
            q[i][c] = (float)cos(1.0 + 5 * i + 3 * c);
        for (int j = 0; j < NK; j++) {
            k[j][c] = (float)sin(2.0 + 7 * j + 3 * c);
            v[j][c] = (float)sin(3.0 + 11 * j + c);
        }
    }

    attend_context *ctx = NULL;
    attend_error err;
    if (attend_context_create(&ctx, NULL, &err) != ATTEND_OK ||
        run(ctx, joined, whole, &err) != ATTEND_OK) {
        fprintf(stderr, "merge_parts: %s\n", err.message);
        attend_context_destroy(ctx);
        return 1;
    }
    attend_context_destroy(ctx);

    double worst = 0;
    for (int n = 0; n < NQ * D; n++) {
        const double difference = fabs((double)joined[n] - (double)whole[n]);
        if (!(difference <= 1e-6))
            return 1;
        worst = fmax(worst, difference);
    }
    printf("%d parts joined; largest difference from one call: %.1e\n", PARTS, worst);
    return 0;
}
