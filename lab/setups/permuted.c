/* SPDX-License-Identifier: MIT */
#include "lab/setups/permuted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attend/theory.h"

int lab_permuted_open(struct lab_session *session, attend_context *ctx,
                      struct lab_tokens tokens, struct lab_permuted *p)
{
    const int64_t T = tokens.t, d = tokens.d, pairs = tokens.heads * T * T;
    double **const matrices[] = {&p->moved,    &p->expect,   &p->out[0].h,
                                 &p->out[0].z, &p->out[1].h, &p->out[1].z};
    double **const maps[] = {&p->out[0].scores, &p->out[0].weights, &p->out[1].scores,
                             &p->out[1].weights};
    enum { MATRICES = sizeof matrices / sizeof *matrices };
    enum { MAPS = sizeof maps / sizeof *maps };

    *p = (struct lab_permuted){
        .session = session,
        .ctx = ctx,
        .tokens = tokens,
        .order = malloc((size_t)(T + d) * sizeof *p->order),
        .moved_mask = malloc((size_t)(T * T)),
        .memory = malloc((size_t)(MATRICES * T * d + MAPS * pairs) * sizeof *p->memory)};
    if (!p->order || !p->moved_mask || !p->memory)
        return lab_fail(session, "out of memory for %lld tokens", (long long)T);
    if (lab_tokens_open(session, &p->tokens))
        return -1;
    for (int m = 0; m < MATRICES; m++)
        *matrices[m] = p->memory + m * T * d;
    for (int m = 0; m < MAPS; m++)
        *maps[m] = p->memory + MATRICES * T * d + m * pairs;
    p->feature_order = p->order + T;
    lab_tokens_order(session->seed, T, p->order);
    lab_tokens_order(session->seed + 1, d, p->feature_order);
    attend_theory_permute_rows(p->tokens.x, T, d, p->order, p->moved);
    return 0;
}

void lab_permuted_close(struct lab_permuted *p)
{
    lab_tokens_close(&p->tokens);
    free(p->order);
    free(p->moved_mask);
    free(p->memory);
}

static int layer(const struct lab_permuted *p, const attend_rule *rule, const double *x,
                 struct lab_layer_out out)
{
    return lab_tokens_layer(p->session, p->ctx, &p->tokens, rule,
                            ATTEND_LAYER_ROTARY_NONE, NULL, x, &out);
}

/* max|to - P from|, (T, d). */
static double rows_apart(const struct lab_permuted *p, const double *from,
                         const double *to)
{
    const int64_t T = p->tokens.t, d = p->tokens.d;

    attend_theory_permute_rows(from, T, d, p->order, p->expect);
    return lab_most_apart(to, p->expect, T * d);
}

/*
 * max|to - P from P^T|, (h, T, T); with `largest` also max|to|, for scores, of which NaN
 * are skipped.
 */
static double maps_apart(const struct lab_permuted *p, const double *from,
                         const double *to, double *largest)
{
    const int64_t T = p->tokens.t;
    double apart = 0;

    for (int64_t h = 0; h < p->tokens.heads; h++, from += T * T, to += T * T)
        for (int64_t i = 0; i < T; i++)
            for (int64_t j = 0; j < T; j++) {
                const double x = from[p->order[i] * T + p->order[j]];
                const double off = fabs(to[i * T + j] - x);
                if (isnan(off) && !largest)
                    return off;
                if (isnan(off))
                    continue;
                apart = fmax(apart, off);
                if (largest)
                    *largest = fmax(*largest, fabs(to[i * T + j]));
            }
    return apart;
}

static double equal_rows(const double *a, const double *b, int64_t count, int64_t columns)
{
    int64_t equal = 0;

    for (int64_t r = 0; r < count; r++)
        equal +=
            memcmp(a + r * columns, b + r * columns, (size_t)columns * sizeof *a) == 0;
    return (double)equal / (double)count;
}

/* The largest sum of |w| over a column: max|x W| <= this * max|x|. */
static double column_norm(const double *w, int64_t count, int64_t columns)
{
    double largest = 0.0;

    for (int64_t c = 0; c < columns; c++) {
        double sum = 0.0;
        for (int64_t r = 0; r < count; r++)
            sum += fabs(w[r * columns + c]);
        largest = fmax(largest, sum);
    }
    return largest;
}

int lab_permuted_tokens(struct lab_permuted *p, const attend_rule *rule,
                        const attend_rule *open, struct lab_moved *moved)
{
    const struct lab_tokens *const tokens = &p->tokens;
    const struct lab_layer_out *const out = p->out;
    double score = 1;

    for (int m = 0; m < 2; m++) {
        const double *const x = m ? p->moved : tokens->x;
        if (layer(p, rule, x,
                  (struct lab_layer_out){
                      .h = out[m].h, .z = out[m].z, .weights = out[m].weights}) ||
            layer(p, open, x, (struct lab_layer_out){.scores = out[m].scores}))
            return -1;
    }
    moved->z = rows_apart(p, out[0].z, out[1].z);
    moved->h = rows_apart(p, out[0].h, out[1].h);
    moved->same_bits = equal_rows(out[1].h, p->expect, tokens->t, tokens->d);
    moved->scores = maps_apart(p, out[0].scores, out[1].scores, &score);
    moved->weights = maps_apart(p, out[0].weights, out[1].weights, NULL);
    /*
     * The same sums in two orders: each is within the accuracy that the engine states for
     * scores and values of size 1, here of values below 8 and scores up to max|S|.
     */
    const double stated = tokens->dtype == ATTEND_F64 ? 1e-12 : 2e-6;
    moved->allowed = 2.0 * stated * 8.0 * score;
    /* A bound on the factor by which the feed-forward enlarges a difference. */
    const double stretch = column_norm(tokens->w1, tokens->d, tokens->f) *
                           column_norm(tokens->w2, tokens->f, tokens->d);
    moved->allowed_z = stretch * moved->allowed;
    return 0;
}

int lab_permuted_mask(struct lab_permuted *p, attend_rule rule, int64_t width, double *h)
{
    const int64_t T = p->tokens.t;

    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) {
            const int64_t from = p->order[i], to = p->order[j];
            p->moved_mask[i * T + j] = width < 0 ? to <= from : llabs(to - from) <= width;
        }
    rule.mask = (attend_view){p->moved_mask, ATTEND_BOOL, {1, 1, T, T}, {0, 0, T, 1}};
    if (layer(p, &rule, p->moved, (struct lab_layer_out){.h = p->out[1].h}))
        return -1;
    *h = rows_apart(p, p->out[0].h, p->out[1].h);
    return 0;
}

int lab_permuted_features(struct lab_permuted *p, const attend_rule *rule, double *h)
{
    const int64_t T = p->tokens.t, d = p->tokens.d;
    double *const got = p->out[1].h;

    attend_theory_permute_columns(p->tokens.x, T, d, p->feature_order, p->expect);
    if (layer(p, rule, p->expect, (struct lab_layer_out){.h = got}))
        return -1;
    attend_theory_permute_columns(p->out[0].h, T, d, p->feature_order, p->expect);
    *h = lab_most_apart(got, p->expect, T * d);
    return 0;
}
