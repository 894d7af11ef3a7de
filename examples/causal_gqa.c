/* SPDX-License-Identifier: MIT */
/*
 * A decoder layer with q, k and v side by side in one projection of shape (batch, length,
 * (hq + 2 hkv) d), used in place.  Causal, four query heads on two key/value heads, LSE
 * as a second output.
 */
#include <attend/attend.h>

#include <math.h>
#include <stdio.h>

enum { NB = 2, L = 5, HQ = 4, HKV = 2, D = 8, WIDTH = (HQ + 2 * HKV) * D };

static float qkv[NB][L][WIDTH];
static float out[NB][L][HQ][D];
static float lse[NB][HQ][L];

/* A view of `heads` heads that start at `column` of every row of the projection. */
static attend_view heads_at(int column, int heads)
{
    return (attend_view){
        &qkv[0][0][column], ATTEND_F32, {NB, heads, L, D}, {L * WIDTH, D, WIDTH, 1}};
}

/* The definition, for one row: ln of the sum of exp(score), and O. */
static double row(int b, int h, int i, double o[D])
{
    const float *q = &qkv[b][i][h * D];
    const int g = h / (HQ / HKV);
    double sum = 0;

    for (int c = 0; c < D; c++)
        o[c] = 0;
    for (int j = 0; j <= i; j++) {
        const float *k = &qkv[b][j][(HQ + g) * D];
        const float *v = &qkv[b][j][(HQ + HKV + g) * D];
        double score = 0;
        for (int c = 0; c < D; c++)
            score += (double)q[c] * (double)k[c];
        const double weight = exp(score / sqrt((double)D));
        sum += weight;
        for (int c = 0; c < D; c++)
            o[c] += weight * (double)v[c];
    }
    for (int c = 0; c < D; c++)
        o[c] /= sum;
    return log(sum);
}

static int check(void)
{
    for (int b = 0; b < NB; b++)
        for (int h = 0; h < HQ; h++)
            for (int i = 0; i < L; i++) {
                double o[D];
                const double expected = row(b, h, i, o);
                if (!(fabs((double)lse[b][h][i] - expected) <= 1e-5))
                    return 1;
                for (int c = 0; c < D; c++)
                    if (!(fabs((double)out[b][i][h][c] - o[c]) <= 1e-5))
                        return 1;
            }
    return 0;
}

int main(void)
{
    for (int b = 0; b < NB; b++)
        for (int i = 0; i < L; i++)
            for (int c = 0; c < WIDTH; c++)
                qkv[b][i][c] = (float)sin(1.0 + b + 7 * i + 3 * c);

    attend_rule rule = attend_rule_default();
    rule.causal = ATTEND_CAUSAL_TOP_LEFT;

    attend_io io = attend_io_default();
    io.q = heads_at(0, HQ);
    io.k = heads_at(HQ * D, HKV);
    io.v = heads_at((HQ + HKV) * D, HKV);
    io.out = attend_tensor_dense_blhd(out, ATTEND_F32, NB, L, HQ, D);
    io.lse = attend_tensor_dense(lse, ATTEND_F32, NB, HQ, L, 1);

    attend_context *ctx = NULL;
    attend_error err;
    if (attend_context_create(&ctx, NULL, &err) != ATTEND_OK ||
        attend_forward(ctx, &rule, &io, &err) != ATTEND_OK) {
        fprintf(stderr, "causal_gqa: %s\n", err.message);
        attend_context_destroy(ctx);
        return 1;
    }
    attend_context_destroy(ctx);
    /* The first row sees only itself: it copies its own value. */
    printf("O[0][0][0][0] = %.4f, V = %.4f; last LSE = %.4f\n", (double)out[0][0][0][0],
           (double)qkv[0][0][(HQ + HKV) * D], (double)lse[NB - 1][HQ - 1][L - 1]);
    return check();
}
