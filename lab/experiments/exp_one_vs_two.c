/* SPDX-License-Identifier: MIT */
/*
 * One head C (mu_a + mu_b) against two, C mu_a and C mu_b: mean squared distance of the
 * output from (v_a + v_b)/2, the scale from which two win, the best scale (T14, T15).
 */
#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/setups/pair.h"

#include <math.h>

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 10, 3, 1e9, "keys; at most 1024 with --alpha"),
    LAB_FLAG_REAL("C", 10, 0, 1000, "scale of the queries"),
    LAB_FLAG_REAL("sigma2", 0.5, 1e-6, 100, "magnitude noise of key a"),
    LAB_FLAG_REAL("alpha", 0, 0, 100, "isotropic noise of every key"),
};

enum { N, SCALE, SIGMA2, ALPHA, HEADS }; /* flags, and 1 or 2 heads */
enum { KEYS_DRAWN_MAX = 1024 };

/* Rows of one head, or of two, over all trials and over those of positive length. */
#define ROWS_OF(word)                                                                    \
    {                                                                                    \
        {"mse_" word, LAB_ERROR, LAB_SQUARE, LAB_PAIR_ERROR_MAX},                        \
            {"coeff_var_" word, LAB_COEFFICIENT_A, LAB_VARIANCE_WITHIN, 1},              \
            {"mse_" word "_given_positive", LAB_GIVEN_POSITIVE(LAB_ERROR), LAB_SQUARE,   \
             LAB_PAIR_ERROR_MAX},                                                        \
            {"coeff_var_" word "_given_positive", LAB_GIVEN_POSITIVE(LAB_COEFFICIENT_A), \
             LAB_VARIANCE_WITHIN, 1},                                                    \
    }
static const struct lab_observable rows[2][4] = {ROWS_OF("one"), ROWS_OF("two")};
enum { MSE };

static struct lab_scene scene_of(const struct lab_setting *p)
{
    struct lab_scene scene = LAB_SCENE(p->at[N], (int)p->at[HEADS], p->at[SIGMA2],
                                       p->at[ALPHA], 1, .noisy = LAB_NOISY_A);

    lab_scene_set_pair(&scene, p->at[SCALE]);
    return scene;
}

#define MODEL(table)                                                                     \
    {                                                                                    \
        LAB_ROWS(table), .scene = scene_of, .pair_values = 2 * LAB_PAIR_VALUES,          \
                         .values = 2 * LAB_PAIR_VALUES                                   \
    }
static const struct lab_model models[2] = {MODEL(rows[0]), MODEL(rows[1])};

/* Where the errors tend as C grows; alpha = 0. */
static double limit_of(const struct lab_setting *p, int heads)
{
    return heads == 1 ? attend_theory_one_head_limit(p->at[SIGMA2], 0).mse
                      : attend_theory_two_heads_limit(p->at[N], p->at[SIGMA2], 0).mse;
}

/* The closer of the two at the run's parameters, and their limits where there is a
 * formula. */
static void conclude(struct lab_run *run, const struct lab_found *one,
                     const struct lab_found *two)
{
    const struct lab_setting p = lab_own(run);
    const double gap = one->measured - two->measured;
    const int is_close = !(fabs(gap) > 4 * hypot(one->se, two->se));

    if (isnan(gap))
        return;
    lab_conclude(
        run,
        "n = %g, C = %g, sigma2 = %g, alpha = %g: %s.  Mean squared distances from it: "
        "%.3g with one head, %.3g with two.",
        p.at[N], p.at[SCALE], p.at[SIGMA2], p.at[ALPHA],
        is_close
            ? "one head and two are equally near to the average, within 4 standard errors"
        : gap > 0 ? "two heads come closer to the average than one"
                  : "one head comes closer to the average than two",
        one->measured, two->measured);
    if (p.at[ALPHA] <= 0 && p.at[SIGMA2] > 0)
        lab_conclude(run,
                     "  As C grows they tend to %.3g with one head and %.3g with two.",
                     limit_of(&p, 1), limit_of(&p, 2));
}

/* ---- best scale and crossover, found on the engine ------------------------ */

static struct lab_found found_scale(double theory, double measured)
{
    return lab_about(theory, measured, LAB_SCALE_ERROR * fmax(1, fabs(theory)));
}

static int find_scales(struct lab_run *run, double n, double sigma2)
{
    const struct lab_exact_pair pair = {&run->session, run->ctx, n, sigma2};
    double best, least, crossover;
    const double best_theory = attend_theory_best_scale_one(n, sigma2, 0, &least);
    struct lab_setting p = lab_own(run);
    struct lab_pair_mse mse;

    p.at[N] = n;
    p.at[ALPHA] = 0;
    if (lab_pair_best_scale(&pair, &best) || lab_pair_crossover(&pair, &crossover))
        return -1;
    if (isfinite(best) && isfinite(best_theory)) {
        if (lab_pair_measure_mse(&pair, best, &mse))
            return -1;
        lab_emit(run, "best_C_one", &p, found_scale(best_theory, best));
        lab_emit(run, "best_mse_one", &p, lab_sure(least, mse.one));
    }
    lab_emit(run, "crossover_C", &p,
             found_scale(attend_theory_crossover_scale(n, sigma2, 0), crossover));
    return 0;
}

/* ---- sweeps -------------------------------------------------------------- */

/* The limits of T14, measured at a C that is near them. */
static int limits(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    struct lab_sample sample = {.histogram = NULL};
    struct lab_found *const mse = &sample.found[MSE];

    p.at[SCALE] = 1e4;
    for (int h = 0; h < 2 && p.at[ALPHA] <= 0; h++) {
        p.at[HEADS] = h + 1;
        if (lab_measure_at(run, &models[h], &p, 11 + (uint64_t)h, run->trials / 4 + 1,
                           &sample))
            return -1;
        mse->kind = LAB_ASYMPTOTIC;
        mse->theory = limit_of(&p, h + 1);
        lab_emit(run, h ? "mse_two_limit" : "mse_one_limit", &p, *mse);
    }
    return 0;
}

static int curves(struct lab_run *run)
{
    static const double scales[] = {1, 2, 3, 5, 7, 10, 20, 50};
    struct lab_setting p = lab_own(run);
    double least;
    const double best = attend_theory_best_scale_one(p.at[N], p.at[SIGMA2], 0, &least);
    struct lab_figure *const figure =
        lab_plot(run, "error", "Error of one head and of two", "C (query scale)",
                 "E|c - (v_a + v_b)/2|^2", LAB_LOG_X, "n = %g, sigma2 = %g, alpha = %g.",
                 p.at[N], p.at[SIGMA2], p.at[ALPHA]);

    if (p.at[ALPHA] <= 0)
        lab_caption(figure, "  As C grows one head tends to %.3g and two heads to %.3g.",
                    limit_of(&p, 1), limit_of(&p, 2));
    if (p.at[ALPHA] <= 0 && isfinite(best))
        lab_caption(figure, "  One head is best at C = %.3g, with %.3g.", best, least);
    for (int h = 0; h < 2; h++) {
        const struct lab_sweep over_C =
            LAB_SWEEP(SCALE, scales, .line = {0.5, 100, 80, LAB_BY_FACTORS, 0, 0},
                      .stream = 21 + (uint64_t)h, .stride = 2,
                      .trials = run->trials / 20 + 50, .only_drawn = 1);
        const struct lab_family heads = {
            MSE, HEADS, 0, &(struct lab_member){h + 1, h ? "two heads" : "one head"},
            1,   0};
        if (lab_curves(run, &models[h], &over_C, p, figure, &heads))
            return -1;
    }
    return 0;
}

enum { MAP_SCALES = 13, MAP_STEPS = 10 };

/* Heat map of log10(mse_two / mse_one) over C and n (by_n) or sigma2. */
static int map(struct lab_run *run, int by_n)
{
    const struct lab_setting p = lab_own(run);
    struct lab_figure *const figure = lab_plot(
        run, by_n ? "wins-by-n" : "wins-by-noise",
        by_n ? "Where two heads win, by number of keys" : "Where two heads win, by noise",
        by_n ? "n (keys)" : "sigma2 (magnitude noise)", "C (query scale)",
        LAB_LOG_X | LAB_LOG_Y,
        "Computed by the engine, %s = %g, alpha = 0. Negative: two heads are closer to "
        "the average, as they are above the line; just below it each head alone cannot "
        "beat its n - 1 rivals yet.",
        by_n ? "sigma2" : "n", p.at[by_n ? SIGMA2 : N]);
    struct lab_heat *const heat = lab_heat_set(figure, MAP_STEPS, MAP_SCALES,
                                               "log10 (mse two / mse one), cut at ±2");
    struct lab_series *const line = lab_series_about(
        lab_series_add(figure, LAB_LINE, "crossover, theory"), "crossover");
    struct lab_series *const points = lab_series_about(
        lab_series_add(figure, LAB_POINTS, "crossover, measured"), "crossover");
    struct lab_pair_mse mse;
    double crossover;

    for (int x = 0; x < MAP_STEPS && heat; x++) {
        const struct lab_exact_pair pair = {
            &run->session, run->ctx, by_n ? round(3 * pow(10, x / 1.8)) : p.at[N],
            by_n ? p.at[SIGMA2] : 0.005 * pow(10, x / 3.6)};
        heat->x[x] = by_n ? pair.n : pair.sigma2;
        for (int y = 0; y < MAP_SCALES; y++) {
            heat->y[y] = 0.5 * pow(10, y / 6.0);
            if (lab_pair_measure_mse(&pair, heat->y[y], &mse))
                return -1;
            heat->value[y * MAP_STEPS + x] = fmax(-2, fmin(2, log10(mse.two / mse.one)));
        }
        lab_series_point(line, heat->x[x],
                         attend_theory_crossover_scale(pair.n, pair.sigma2, 0), 0);
        if (x % 3 == 0 && lab_pair_crossover(&pair, &crossover))
            return -1;
        if (x % 3 == 0)
            lab_series_point(points, heat->x[x], crossover, 0);
    }
    return 0;
}

static int sweep(struct lab_run *run)
{
    static const double keys[] = {10, 100, 1000, 10000};
    const double n = lab_real(run, "n"), sigma2 = lab_real(run, "sigma2");

    if (find_scales(run, n, sigma2))
        return -1;
    for (size_t x = 0; x < sizeof keys / sizeof keys[0]; x++)
        if ((keys[x] < n || keys[x] > n) && find_scales(run, keys[x], sigma2))
            return -1;
    return limits(run) || curves(run) || map(run, 1) || map(run, 0);
}

static int perform(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    struct lab_sample sample[2] = {{.histogram = NULL}};

    if (p.at[ALPHA] > 0 && p.at[N] > KEYS_DRAWN_MAX)
        return lab_misuse(&run->session,
                          "--n: %.0f with --alpha %g: at most %d when every entry of "
                          "every key is drawn",
                          p.at[N], p.at[ALPHA], KEYS_DRAWN_MAX);
    for (int h = 0; h < 2; h++) {
        p.at[HEADS] = h + 1;
        if (lab_rows_at(run, &models[h], &p, 1 + (uint64_t)h, run->trials, &sample[h]))
            return -1;
    }
    conclude(run, &sample[0].found[MSE], &sample[1].found[MSE]);
    return 0;
}

const struct lab_experiment lab_experiment_one_vs_two = {
    .name = "one-vs-two",
    .title = "One head against two",
    .shows = "Where only k_a varies in length, two heads come closer to the average than "
             "one above a crossover C that grows with n: as C grows their mean squared "
             "error tends to Phi(-1/sigma)/4 (1 + 1/(n-1)), that of one head to 1/2.  "
             "Just below it they lose.",
    .answers = "1d-ii, 1e",
    .headline = "mse_two",
    LAB_FLAGS(flags),
    .trials = 200000,
    .perform = perform,
    .sweep = sweep,
};
