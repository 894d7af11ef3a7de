/* SPDX-License-Identifier: MIT */
#include "lab/setups/encodings.h"

#include <math.h>
#include <stdlib.h>

#include "attend/layer.h"
#include "attend/theory.h"
#include "lab/measure/forward.h"
#include "lab/setups/tokens.h"

void lab_encode(const struct lab_encodings *e, int64_t first, int64_t count, double *phi)
{
    int64_t positions[LAB_ENCODINGS_MAX];
    const attend_tensor rows = {phi, ATTEND_F64, {1, 1, count, e->d}, {0, 0, e->d, 1}};

    for (int64_t i = 0; i < count; i++)
        positions[i] = first + i;
    if (e->kind == LAB_SINUSOID) {
        attend_layer_sinusoids(ATTEND_F64, count, e->d, ATTEND_LAYER_BASE, positions, phi,
                               NULL);
        return;
    }
    for (int64_t i = 0; i < count * e->d; i++)
        phi[i] = i % e->d % 2 == 0;
    attend_layer_rotate(ATTEND_LAYER_ROTARY_PAIRS, ATTEND_LAYER_BASE, positions, &rows,
                        NULL);
}

int lab_encodings_dot(const struct lab_encodings *e, int64_t count, const double *a,
                      const double *b, double *dot)
{
    return lab_measure(e->session, e->ctx,
                       &LAB_PROBLEM(1, e->d, a, b, 1.0, .nb = count, .lse = dot));
}

int lab_encodings_open(struct lab_session *session, enum lab_positions kind, int64_t d,
                       struct lab_encodings *e)
{
    const size_t count = (size_t)(LAB_ENCODINGS_MAX * d);
    *e = (struct lab_encodings){
        .session = session,
        .kind = kind,
        .d = d,
        .a = malloc((2 * count + LAB_ENCODINGS_MAX) * sizeof *e->a)};
    if (e->a == NULL)
        return lab_fail(session, "out of memory for %d encodings", LAB_ENCODINGS_MAX);
    e->b = e->a + count;
    e->dot = e->b + count;
    /* Many small problems: more threads would mostly wait for each other. */
    e->ctx = lab_context(session, 1);
    return e->ctx ? 0 : -1;
}

void lab_encodings_close(struct lab_encodings *e)
{
    attend_context_destroy(e->ctx);
    free(e->a);
}

/* |phi_t - phi_0|, from the difference itself: no digits are lost where it is small. */
static int distance_to(struct lab_encodings *e, int64_t t, double *distance)
{
    double *const zero = e->b + e->d;

    lab_encode(e, t, 1, e->b);
    lab_encode(e, 0, 1, zero);
    for (int64_t c = 0; c < e->d; c++)
        e->b[c] -= zero[c];
    if (lab_encodings_dot(e, 1, e->b, e->b, distance))
        return -1;
    *distance = sqrt(*distance);
    return 0;
}

int lab_encodings_dot_first(struct lab_encodings *e, int64_t first, int64_t count)
{
    lab_encode(e, first, count, e->a);
    lab_encode(e, 0, 1, e->b);
    return lab_measure(
        e->session, e->ctx,
        &LAB_PROBLEM(1, e->d, e->a, e->b, 1.0, .nq = count, .lse = e->dot));
}

/*
 * Encodings have equal norms: the nearest has the largest product.  Those that are as
 * large but for rounding are compared by their distances.
 */
int64_t lab_encodings_nearest(struct lab_encodings *e, int64_t T, double *distance)
{
    const double rounding = 1e-14 * (double)e->d;
    double largest = -INFINITY;
    int64_t best = 1;

    *distance = INFINITY;
    for (int64_t first = 1; first < T && !lab_stopped(e->session);
         first += LAB_ENCODINGS_MAX) {
        const int64_t count =
            T - first < LAB_ENCODINGS_MAX ? T - first : LAB_ENCODINGS_MAX;
        if (lab_encodings_dot_first(e, first, count))
            return -1;
        for (int64_t i = 0; i < count; i++) {
            double here;
            if (e->dot[i] < largest - rounding)
                continue;
            largest = fmax(largest, e->dot[i]);
            if (distance_to(e, first + i, &here))
                return -1;
            if (here < *distance) {
                *distance = here;
                best = first + i;
            }
        }
    }
    return best;
}

/* ---- attention ----------------------------------------------------------------- */

/* Attention on x with positions shift, shift + 1, ...; `moved` (t, d) is scratch. */
static int attend_at(struct lab_session *session, attend_context *ctx,
                     enum lab_positions kind, const struct lab_tokens *tokens,
                     const double *x, int64_t shift, double *moved, double *h)
{
    const int64_t t = tokens->t, count = t * tokens->d;
    int64_t positions[LAB_POSITIONS_MAX];

    for (int64_t i = 0; i < t; i++)
        positions[i] = i + shift;
    if (kind == LAB_SINUSOID) {
        attend_layer_sinusoids(ATTEND_F64, t, tokens->d, ATTEND_LAYER_BASE, positions,
                               moved, NULL);
        for (int64_t i = 0; i < count; i++)
            moved[i] += x[i];
    }
    return lab_tokens_layer(
        session, ctx, tokens, NULL,
        kind == LAB_ROPE ? ATTEND_LAYER_ROTARY_PAIRS : ATTEND_LAYER_ROTARY_NONE,
        positions, kind == LAB_SINUSOID ? moved : x, &(struct lab_layer_out){.h = h});
}

int lab_positions_defects(struct lab_session *session, attend_context *ctx,
                          enum lab_positions kind, int64_t t, int64_t d, int64_t offset,
                          double *permuted, double *shifted)
{
    struct lab_tokens tokens = {.t = t, .d = d, .heads = 1, .dtype = ATTEND_F64};
    const int64_t count = t * d;
    double *const px = malloc((size_t)(5 * count) * sizeof *px), *const h = px + count;
    double *const got = h + count, *const expect = got + count;
    double *const scratch = expect + count;
    int64_t order[LAB_POSITIONS_MAX];

    int failed = px == NULL || lab_tokens_open(session, &tokens);
    if (failed)
        lab_fail(session, "out of memory for %lld tokens", (long long)t);
    else {
        lab_tokens_order(session->seed, t, order);
        attend_theory_permute_rows(tokens.x, t, d, order, px);
        failed = attend_at(session, ctx, kind, &tokens, tokens.x, 0, scratch, h) ||
                 attend_at(session, ctx, kind, &tokens, px, 0, scratch, got);
    }
    if (!failed) {
        attend_theory_permute_rows(h, t, d, order, expect);
        *permuted = lab_most_apart(got, expect, count);
        failed = attend_at(session, ctx, kind, &tokens, tokens.x, offset, scratch, got);
        *shifted = lab_most_apart(got, h, count);
    }
    lab_tokens_close(&tokens);
    free(px);
    return failed ? -1 : 0;
}
