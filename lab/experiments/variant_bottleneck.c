/* SPDX-License-Identifier: MIT */
/* A bottleneck: n tokens to m latents and back, 2 n m scores instead of n n. */
#include <math.h>

#include "attend/theory.h"
#include "lab/measure/forward.h"
#include "lab/experiments/experiment_parts.h"

enum { N, LATENTS, BETA }; /* flags */

/* What a map of n tokens to n outputs is worth; values are the axes. */
struct map {
    double error; /* |I - R|^2, the sum of squares */
    double rank;
    double scores; /* weights that the engine made for it */
};

/* Complete pivoting; what is below 1e-9 of the largest entry counts as 0. */
static double rank_of(double *matrix, int64_t n)
{
    double first = 0;

    for (int64_t step = 0; step < n; step++) {
        int64_t row = step, column = step;
        for (int64_t i = step; i < n; i++)
            for (int64_t j = step; j < n; j++)
                if (fabs(matrix[i * n + j]) > fabs(matrix[row * n + column])) {
                    row = i;
                    column = j;
                }
        const double pivot = matrix[row * n + column];
        if (step == 0)
            first = fabs(pivot);
        if (!(fabs(pivot) > 1e-9 * first))
            return (double)step;
        for (int64_t j = 0; j < n; j++) {
            const double swap = matrix[step * n + j];
            matrix[step * n + j] = matrix[row * n + j];
            matrix[row * n + j] = swap;
        }
        for (int64_t i = 0; i < n; i++) {
            const double swap = matrix[i * n + step];
            matrix[i * n + step] = matrix[i * n + column];
            matrix[i * n + column] = swap;
        }
        for (int64_t i = step + 1; i < n; i++) {
            const double factor = matrix[i * n + step] / pivot;
            for (int64_t j = step; j < n; j++)
                matrix[i * n + j] -= factor * matrix[step * n + j];
        }
    }
    return (double)n;
}

static void judge(double *matrix, int64_t n, struct map *map)
{
    map->error = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double off = matrix[i * n + j] - (i == j);
            map->error += off * off;
        }
    map->rank = rank_of(matrix, n);
}

/* Entries of `weights` that a call has written over NaN. */
static double written(const double *weights, int64_t count)
{
    double sum = 0;

    for (int64_t x = 0; x < count; x++)
        sum += !isnan(weights[x]);
    return sum;
}

static void reset(double *weights, int64_t count)
{
    for (int64_t x = 0; x < count; x++)
        weights[x] = NAN;
}

/*
 * Every token looks for itself: directly, or by way of m latents that each look for one
 * of the first m tokens and are then looked up.
 */
static int measure_map(struct lab_run *run, const struct lab_setting *p, int64_t latents,
                       struct map *map)
{
    const int64_t n = (int64_t)p->at[N];
    double *const room = lab_room(run, 4 * n * n);
    if (!room)
        return -1;
    double *const token = room, *const weights = room + n * n;
    double *const latent = room + 2 * n * n, *const out = room + 3 * n * n;
    struct lab_problem problem = {.nq = latents ? latents : n,
                                  .nk = n,
                                  .d = n,
                                  .dv = n,
                                  .q = token,
                                  .k = token,
                                  .v = token,
                                  .scale = p->at[BETA],
                                  .out = latents ? latent : out,
                                  .weights = weights};

    for (int64_t i = 0; i < n; i++)
        token[i * n + i] = 1;
    reset(weights, n * n);
    if (lab_measure(&run->session, run->ctx, &problem))
        return -1;
    map->scores = written(weights, n * n);
    if (latents) {
        problem.nq = n;
        problem.nk = latents;
        problem.v = latent;
        problem.out = out;
        reset(weights, n * n);
        if (lab_measure(&run->session, run->ctx, &problem))
            return -1;
        map->scores += written(weights, n * n);
    }
    judge(out, n, map);
    return 0;
}

/*
 * The error of that bottleneck.  A latent puts p on its token and r on each other; one
 * of the first m tokens puts u on its latent and w on each other; the rest, 1/m.
 */
static double bottleneck_error(const struct lab_setting *at)
{
    const double n = at->at[N], m = at->at[LATENTS], beta = at->at[BETA];
    const double p = attend_theory_copy_weight(n, beta), r = (1 - p) / (n - 1);
    const double u = attend_theory_copy_weight(m, beta);
    const double w = m > 1 ? (1 - u) / (m - 1) : 0;
    const double self = u * p + (1 - u) * r - 1, peer = w * p + (1 - w) * r;
    const double mean = (p + (m - 1) * r) / m;
    const double first = self * self + (m - 1) * peer * peer + (n - m) * r * r;
    const double rest = m * mean * mean + (r - 1) * (r - 1) + (n - m - 1) * r * r;

    return m * first + (n - m) * rest;
}

static double attention_error(const struct lab_setting *p)
{
    const double error = attend_theory_copy_error(p->at[N], p->at[BETA]);

    return p->at[N] * error * error;
}

/* At most m. */
static void emit_bound(struct lab_run *run, const char *quantity,
                       const struct lab_setting *p, double measured)
{
    lab_emit(run, quantity, p,
             (struct lab_found){
                 .theory = p->at[LATENTS], .measured = measured, .kind = LAB_BOUND});
}

int lab_bottleneck_rows(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    const double n = p.at[N], m = p.at[LATENTS];
    struct map map;

    if (measure_map(run, &p, 0, &map))
        return -1;
    lab_emit_exact(run, "attention_scores", n * n, map.scores, 0);
    lab_emit_exact(run, "attention_error", attention_error(&p), map.error, 0);
    if (measure_map(run, &p, (int64_t)m, &map))
        return -1;
    lab_emit_exact(run, "bottleneck_scores", 2 * n * m, map.scores, 0);
    lab_emit_exact(run, "bottleneck_error", bottleneck_error(&p), map.error, 0);
    emit_bound(run, "bottleneck_rank", &p, map.rank);
    /* A map of rank m misses the identity by n - m at least, that of all 0 by n. */
    emit_bound(run, "bottleneck_copied", &p, fmax(0, n - map.error));
    return 0;
}

int lab_bottleneck_sweep(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    double *const m = &p.at[LATENTS];
    const double n = p.at[N], step = n > 16 ? floor(n / 16) : 1;
    struct lab_figure *const figure =
        lab_plot(run, "bottleneck", "Bottleneck: what m latents can hand through",
                 "m (latents)", "|I - R|² (tokens not copied)", 0,
                 "n = %.0f tokens look for themselves through m latents: %.0f·2m scores "
                 "instead of %.0f, and never more than m tokens copied.",
                 n, n, n * n);
    struct lab_series *const theory =
        lab_series_add(figure, LAB_LINE, "theory, this design");
    struct lab_series *const least =
        lab_series_add(figure, LAB_LINE, "least of any, n - m");
    struct lab_series *const measured =
        lab_series_add(figure, LAB_POINTS, "measured, this design");

    for (*m = 1; *m <= n; *m += step) {
        lab_series_point(theory, *m, bottleneck_error(&p), 0);
        lab_series_point(least, *m, n - *m, 0);
    }
    for (*m = 1; *m <= n && !lab_stopped(&run->session); *m += step) {
        struct map map;
        if (measure_map(run, &p, (int64_t)*m, &map))
            return -1;
        lab_emit(run, "bottleneck_error", &p, lab_sure(bottleneck_error(&p), map.error));
        emit_bound(run, "bottleneck_rank", &p, map.rank);
        lab_series_point(measured, *m, map.error, 0);
    }
    return 0;
}
