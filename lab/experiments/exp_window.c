/* SPDX-License-Identifier: MIT */
/*
 * Isotropic key noise and the order of limits: the scale C must be large enough to shut
 * the other keys out and small enough not to amplify the noise of the pair (T7, T8).
 */
#include "attend/theory.h"
#include "lab/experiments/experiment.h"
#include "lab/setups/pair.h"
#include "lab/setups/scene.h"

#include <math.h>
#include <stdio.h>

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 10, 2, 1024, "keys"),
    LAB_FLAG_REAL("C", 10, 0, 1000, "scale of the query C (mu_a + mu_b)"),
    LAB_FLAG_REAL("alpha", 0.01, 0, 100, "isotropic noise of every key"),
    LAB_FLAG_REAL("sigma2", 0, 0, 100, "magnitude noise of key a"),
    LAB_FLAG_REAL("eps", 0.01, 1e-12, 0.5, "leak that is small enough"),
    LAB_FLAG_REAL("tau", 1, 1e-6, 1000, "factor of the scores"),
};

enum { MEAN_W, MEAN_LEAK, SHARE, SHARE_DEV, SHARE_OUTSIDE, GAP, MSE, VALUES };

static struct lab_scene make_scene(const struct lab_run *run, int64_t n, double C,
                                   double alpha)
{
    struct lab_scene scene = {.n = n,
                              .wanted = 2,
                              .heads = 1,
                              .sigma2 = lab_real(run, "sigma2"),
                              .alpha = alpha,
                              .tau = lab_real(run, "tau"),
                              .noisy = LAB_NOISY_A,
                              .scores = 1};

    scene.query[0][0] = scene.query[0][1] = C;
    return scene;
}

static attend_theory_output theory_of(const struct lab_scene *scene)
{
    const attend_theory_scene theory = {.n = (double)scene->n,
                                        .tau = scene->tau,
                                        .alpha = scene->alpha,
                                        .sigma2 = {scene->sigma2, 0, 0}};

    return attend_theory_head(
        &theory, (attend_theory_query){scene->query[0][0], scene->query[0][1], 0});
}

/* The law of p_a / (p_a + p_b). */
static attend_theory_law pair_law(const struct lab_scene *scene)
{
    return attend_theory_law_pair(scene->tau * scene->query[0][0], scene->sigma2,
                                  scene->alpha);
}

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    /* Of two weights that both underflow the share is known by their scores alone. */
    const double gap = outcome->score[0][0] - outcome->score[0][1];
    const double share = attend_theory_logistic(gap);

    (void)arg;
    values[MEAN_W] = outcome->weight[0][0];
    values[MEAN_LEAK] = outcome->others[0];
    values[SHARE] = share;
    values[SHARE_DEV] = fabs(share - 0.5);
    values[SHARE_OUTSIDE] = share < 0.1 || share > 0.9;
    values[GAP] = gap;
    values[MSE] = lab_pair_error(outcome->coefficient[0], outcome->coefficient[1],
                                 outcome->others_squared);
}

/* Both ends of the window at the run's parameters, and what was seen. */
static void conclude(struct lab_run *run, const struct lab_moments *w,
                     const struct lab_moments *leak)
{
    const double n = lab_real(run, "n"), eps = lab_real(run, "eps");
    const double tau = lab_real(run, "tau");
    const double noise = 4 * lab_real(run, "alpha") + lab_real(run, "sigma2");
    char lower[120] = "Of two keys nothing leaks at any C", upper[120];

    if (w->count == 0)
        return;
    if (n > 2)
        snprintf(lower, sizeof lower, "Without noise at most %g leaks from C = %.3g on",
                 eps, attend_theory_window_scale_min(n, eps) / tau);
    if (noise > 0)
        snprintf(upper, sizeof upper,
                 "and the noise of the score difference is small while C << %.3g",
                 1 / (tau * sqrt(noise)));
    else
        snprintf(upper, sizeof upper, "and nothing is noisy, however large C");
    lab_conclude(run,
                 "%s, %s.  At C = %g the mean leak is %.3g, and Var w = %.3g, that of a "
                 "fair coin 0.25.",
                 lower, upper, lab_real(run, "C"), leak->mean, lab_moments_variance(w));
}

static int headline(struct lab_run *run, const struct lab_scene *scene)
{
    const attend_theory_output theory = theory_of(scene);
    const attend_theory_law law = pair_law(scene);
    struct lab_moments m[VALUES];

    if (lab_scene_measure(&run->session, scene, 0, run->trials, observe, NULL, VALUES, m,
                          NULL))
        return -1;
    m[GAP].size = 1; /* of two scores, in units of which rounding is told */
    lab_emit_estimate(run, "mean_w", theory.mean[ATTEND_THEORY_A],
                      lab_estimate_mean_within(&m[MEAN_W], 0, 1));
    lab_emit_estimate(run, "var_w", theory.variance[ATTEND_THEORY_A],
                      lab_estimate_variance_within(&m[MEAN_W], 0, 1));
    lab_emit_estimate(run, "mean_leak",
                      (double)(scene->n - 2) * theory.mean[ATTEND_THEORY_REST],
                      lab_estimate_mean_within(&m[MEAN_LEAK], 0, 1));
    lab_emit_estimate(run, "mse", theory.mse,
                      lab_estimate_square(&m[MSE], 0, LAB_PAIR_ERROR_MAX));
    lab_emit_estimate(run, "var_share", attend_theory_weight_variance(law),
                      lab_estimate_variance_within(&m[SHARE], 0, 1));
    lab_emit_estimate(run, "abs_dev_share", attend_theory_weight_abs_deviation(law),
                      lab_estimate_distance(&m[SHARE_DEV], 0.5));
    lab_emit_estimate(run, "p_share_outside_10_90",
                      attend_theory_weight_outside(law, 0.1),
                      lab_estimate_probability(&m[SHARE_OUTSIDE]));
    lab_emit_estimate(run, "var_score_gap", law.sd * law.sd,
                      lab_estimate_variance(&m[GAP]));
    conclude(run, &m[MEAN_W], &m[MEAN_LEAK]);
    return 0;
}

/* The two ends of the window: the leak at the lower, the variance at the upper one. */
static int window_ends(struct lab_run *run)
{
    const int64_t n = lab_integer(run, "n");
    const double eps = lab_real(run, "eps"), alpha = lab_real(run, "alpha");
    const double tau = lab_real(run, "tau");
    const double least = n > 2 ? attend_theory_window_scale_min((double)n, eps) / tau : 0;
    struct lab_moments m[VALUES];

    if (least > 0) {
        struct lab_scene scene = make_scene(run, n, least, 0);
        scene.sigma2 = 0;
        if (lab_scene_measure(&run->session, &scene, 1, 1, observe, NULL, VALUES, m,
                              NULL))
            return -1;
        lab_emit_at(
            run, "leak_at_lower_end",
            LAB_CHANGES(LAB_IS("C", least), LAB_IS("alpha", 0), LAB_IS("sigma2", 0)),
            lab_sure(eps, m[MEAN_LEAK].mean));
    }
    if (alpha > 0) {
        const double most = attend_theory_window_scale_limit(alpha) / tau;
        const struct lab_scene scene = make_scene(run, n, most, alpha);
        if (lab_scene_measure(&run->session, &scene, 2, run->trials / 4 + 1, observe,
                              NULL, VALUES, m, NULL))
            return -1;
        lab_emit_at(run, "var_share_at_upper_end", LAB_CHANGES(LAB_IS("C", most)),
                    lab_exact(attend_theory_weight_variance(pair_law(&scene)),
                              lab_estimate_variance_within(&m[SHARE], 0, 1)));
    }
    return 0;
}

/* ---- the map ------------------------------------------------------------- */

/* alpha 1e-6 .. 1 and C 1 .. 100, by equal factors. */
enum { ALPHAS = 10, SCALES = 10 };

static double alpha_at(int column) { return pow(10, -6 + column / 1.5); }
static double scale_at(int row) { return pow(10, row / 4.5); }

/* Keys of the map: every entry of every key is drawn, so they must be few. */
static int64_t map_keys(const struct lab_run *run)
{
    const int64_t n = lab_integer(run, "n");

    return n < 16 ? n : 16;
}

static int measure_map(struct lab_run *run, struct lab_estimate *variance)
{
    const int64_t n = map_keys(run);
    const int64_t trials = run->trials / 50 + 50;
    struct lab_moments m[VALUES];

    for (int cell = 0; cell < ALPHAS * SCALES && !lab_stopped(&run->session); cell++) {
        const double alpha = alpha_at(cell % ALPHAS), C = scale_at(cell / ALPHAS);
        const struct lab_scene scene = make_scene(run, n, C, alpha);
        if (lab_scene_measure(&run->session, &scene, 3 + (uint64_t)cell, trials, observe,
                              NULL, VALUES, m, NULL))
            return -1;
        variance[cell] = lab_estimate_variance_within(&m[MEAN_W], 0, 1);
        lab_emit_at(
            run, "var_w",
            LAB_CHANGES(LAB_IS("n", n), LAB_IS("C", C), LAB_IS("alpha", alpha)),
            lab_exact(theory_of(&scene).variance[ATTEND_THEORY_A], variance[cell]));
    }
    return 0;
}

/* C at which the noise of the score difference is 1. */
static double scale_of_noise(const struct lab_run *run, double alpha)
{
    return 1 / (lab_real(run, "tau") * sqrt(4 * alpha + lab_real(run, "sigma2")));
}

static void describe_map(const struct lab_run *run, struct lab_figure *figure,
                         double least)
{
    const double sigma2 = lab_real(run, "sigma2"), tau = lab_real(run, "tau");
    const double most = (1 / (least * least * tau * tau) - sigma2) / 4;
    char lower[160] = "Nothing leaks.", upper[160] = "";

    if (least > 0)
        snprintf(lower, sizeof lower,
                 "Without noise the leak is at most %g from C = %.3g on.",
                 lab_real(run, "eps"), least);
    if (least > 0 && most > 0)
        snprintf(upper, sizeof upper, "  For alpha above %.2g no C is both.", most);
    else if (least > 0)
        snprintf(upper, sizeof upper, "  At this sigma2 no C is both, at any alpha.");
    lab_figure_describe(
        figure, LAB_LOG_X | LAB_LOG_Y,
        "n = %lld, sigma2 = %g. %s  Usable is what lies well below the line "
        "of noise, where that of the score difference is 1.%s",
        (long long)map_keys(run), sigma2, lower, upper);
}

static void draw_map(struct lab_run *run, const struct lab_estimate *variance)
{
    const double n = (double)map_keys(run);
    const double least = n > 2 ? attend_theory_window_scale_min(n, lab_real(run, "eps")) /
                                     lab_real(run, "tau")
                               : 0;
    struct lab_figure *const figure =
        lab_plot(run, "Variance of the weight: where averaging works",
                 "alpha (key noise)", "C (query scale)", LAB_LOG_X | LAB_LOG_Y, "%s", "");
    struct lab_heat *const heat =
        lab_heat_set(figure, ALPHAS, SCALES, "Var w, measured (0.25: a coin toss)");

    if (!heat)
        return;
    describe_map(run, figure, least);
    for (int x = 0; x < ALPHAS; x++)
        heat->x[x] = alpha_at(x);
    for (int y = 0; y < SCALES; y++)
        heat->y[y] = scale_at(y);
    for (int cell = 0; cell < ALPHAS * SCALES; cell++)
        heat->value[cell] = variance[cell].value;
    struct lab_series *line = lab_series_add(figure, LAB_LINE, "least C (leak)");
    for (int x = 0; x < ALPHAS && least >= 1 && least <= 100; x++)
        lab_series_point(line, alpha_at(x), least, 0);
    line = lab_series_add(figure, LAB_LINE, "noise of the score difference is 1");
    for (int x = 0; x <= 60; x++) {
        const double alpha = pow(10, -6 + x / 10.0), C = scale_of_noise(run, alpha);
        if (C >= 1 && C <= 100)
            lab_series_point(line, alpha, C, 0);
    }
}

/* Columns of the map that are drawn as curves. */
static const int columns[] = {3, 6, 9};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static struct lab_figure *plot_curves(struct lab_run *run)
{
    double limit[COLUMNS];

    for (int k = 0; k < COLUMNS; k++) {
        const double wins = lab_pair_wins((double)map_keys(run), alpha_at(columns[k]),
                                          lab_real(run, "sigma2"));
        limit[k] = wins * (1 - wins);
    }
    return lab_plot(
        run, "At any fixed noise a large C destroys the average", "C (query scale)",
        "Var w", LAB_LOG_X,
        "n = %lld. \"alpha vanishing\" must mean alpha C^2 << 1: as C grows at fixed "
        "alpha one key takes all the weight, and the variance of that of a tends to "
        "%.3g, "
        "%.3g and %.3g for alpha = %.0e, %.0e and %.0e.",
        (long long)map_keys(run), limit[0], limit[1], limit[2], alpha_at(columns[0]),
        alpha_at(columns[1]), alpha_at(columns[2]));
}

static void draw_curves(struct lab_run *run, const struct lab_estimate *variance)
{
    struct lab_figure *const figure = plot_curves(run);

    if (!figure)
        return;
    for (int k = 0; k < COLUMNS; k++) {
        const double alpha = alpha_at(columns[k]);
        const struct lab_curve curve = lab_curve_add(figure, "alpha = %.0e", alpha);
        for (int x = 0; x <= 24; x++) {
            const double C = pow(10, x / 12.0);
            const struct lab_scene scene = make_scene(run, map_keys(run), C, alpha);
            lab_series_point(curve.theory, C, theory_of(&scene).variance[ATTEND_THEORY_A],
                             0);
        }
        for (int y = 0; y < SCALES; y++)
            lab_series_estimate(curve.measured, scale_at(y),
                                variance[y * ALPHAS + columns[k]]);
    }
}

static int perform(struct lab_run *run)
{
    const struct lab_scene scene = make_scene(run, lab_integer(run, "n"),
                                              lab_real(run, "C"), lab_real(run, "alpha"));

    return headline(run, &scene);
}

static int sweep(struct lab_run *run)
{
    struct lab_estimate variance[ALPHAS * SCALES];

    for (int cell = 0; cell < ALPHAS * SCALES; cell++)
        variance[cell] = (struct lab_estimate){.value = NAN, .se = NAN};
    if (window_ends(run) || measure_map(run, variance))
        return -1;
    draw_map(run, variance);
    draw_curves(run, variance);
    return 0;
}

const struct lab_experiment lab_experiment_window = {
    .name = "window",
    .title = "Isotropic noise and the order of limits",
    .shows = "One head averages two of many values only while ln n < C << 1/(2 sqrt "
             "alpha): "
             "noise that vanishes before C grows is harmless, at any fixed noise a large "
             "enough C hands all the weight to one key.",
    .answers = "1c-i",
    .headline = "var_w",
    LAB_FLAGS(flags),
    .trials = 200000,
    .perform = perform,
    .sweep = sweep,
};
