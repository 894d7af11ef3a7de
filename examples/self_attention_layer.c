/* SPDX-License-Identifier: MIT */
/*
 * A layer of self-attention from its weights: projections, rotary positions, a causal
 * mask, four query heads on two key/value heads, the output projection.  The weights are
 * random; it checks two identities that hold for all weights: the first token sees only
 * itself, so its row is x W_V W_O; and a shift of all positions changes nothing.
 */
#include <attend/layer.h>

#include <math.h>
#include <stdio.h>

enum { T = 6, E = 16, HQ = 4, HKV = 2, D = 4 };

static double x[T][E], wq[E][HQ * D], wk[E][HKV * D], wv[E][HKV * D], wo[HQ * D][E];
static double out[T][E], shifted[T][E];

static void fill(double *to, int count, double phase)
{
    for (int i = 0; i < count; i++)
        to[i] = sin(phase + 1.7 * i + 0.3 * i * i);
}

/* The first token's row: every head copies its value. */
static double first_row_error(void)
{
    double worst = 0;

    for (int e = 0; e < E; e++) {
        double sum = 0;
        for (int c = 0; c < HQ * D; c++) {
            const int value = c / D / (HQ / HKV) * D + c % D;
            for (int i = 0; i < E; i++)
                sum += x[0][i] * wv[i][value] * wo[c][e];
        }
        worst = fmax(worst, fabs(out[0][e] - sum));
    }
    return worst;
}

int main(void)
{
    fill(&x[0][0], T * E, 1);
    fill(&wq[0][0], E * HQ * D, 2);
    fill(&wk[0][0], E * HKV * D, 3);
    fill(&wv[0][0], E * HKV * D, 4);
    fill(&wo[0][0], HQ * D * E, 5);

    attend_rule rule = attend_rule_default();
    rule.causal = ATTEND_CAUSAL_TOP_LEFT;

    attend_layer_self self = attend_layer_self_default();
    self.t = T;
    self.e = E;
    self.hq = HQ;
    self.hkv = HKV;
    self.d = D;
    self.x = x;
    self.wq = wq;
    self.wk = wk;
    self.wv = wv;
    self.wo = wo;
    self.rotary = ATTEND_LAYER_ROTARY_PAIRS;
    self.out = out;

    const int64_t later[T] = {100, 101, 102, 103, 104, 105};
    attend_layer_self moved = self;
    moved.positions = later;
    moved.out = shifted;

    attend_context *ctx = NULL;
    attend_error err;
    if (attend_context_create(&ctx, NULL, &err) != ATTEND_OK ||
        attend_layer_self_attention(ctx, &rule, &self, &err) != ATTEND_OK ||
        attend_layer_self_attention(ctx, &rule, &moved, &err) != ATTEND_OK) {
        fprintf(stderr, "lab_self_attention: %s\n", err.message);
        attend_context_destroy(ctx);
        return 1;
    }
    attend_context_destroy(ctx);

    double change = 0;
    for (int i = 0; i < T; i++)
        for (int e = 0; e < E; e++)
            change = fmax(change, fabs(out[i][e] - shifted[i][e]));
    printf("first row off by %.1e, shift of 100 positions by %.1e\n", first_row_error(),
           change);
    return !(first_row_error() <= 1e-12 && change <= 1e-10);
}
