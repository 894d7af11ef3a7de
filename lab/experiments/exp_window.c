/* SPDX-License-Identifier: MIT */
/*
 * Isotropic key noise and the order of limits: the scale C must be large enough to shut
 * the other keys out and small enough not to amplify the noise of the pair (T7, T8).
 */
#include "attend/theory.h"
#include "lab/experiments/runner.h"

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

enum { N, C, ALPHA, SIGMA2, EPS, TAU }; /* flags */
/* Values of a trial. */
enum { WEIGHT, LEAK, SHARE, SHARE_DEV, SHARE_OUTSIDE, GAP, ERROR, VALUES };

static const struct lab_observable rows[] = {
    {"mean_w", WEIGHT, LAB_MEAN_WITHIN, 1},
    {"var_w", WEIGHT, LAB_VARIANCE_WITHIN, 1},
    {"mean_leak", LEAK, LAB_MEAN_WITHIN, 1},
    {"mse", ERROR, LAB_SQUARE, LAB_PAIR_ERROR_MAX},
    {"var_share", SHARE, LAB_VARIANCE_WITHIN, 1},
    {"abs_dev_share", SHARE_DEV, LAB_DISTANCE, 0.5},
    {"p_share_outside_10_90", SHARE_OUTSIDE, LAB_PROBABILITY, 1},
    {"var_score_gap", GAP, LAB_VARIANCE, 0},
};
enum { MEAN_W, VAR_W, MEAN_LEAK, MSE, VAR_SHARE, ABS_DEV_SHARE, P_OUTSIDE, VAR_GAP };

static struct lab_scene scene_of(const struct lab_setting *p)
{
    return LAB_SCENE(p->at[N], 1, p->at[SIGMA2], p->at[ALPHA], p->at[TAU],
                     .noisy = LAB_NOISY_A, .query = {{p->at[C], p->at[C]}}, .scores = 1);
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    const struct lab_scene scene = scene_of(p);
    const attend_theory_output head = lab_scene_theory(&scene, 0);
    /* The law of p_a / (p_a + p_b). */
    const attend_theory_law law =
        attend_theory_law_pair(p->at[TAU] * p->at[C], p->at[SIGMA2], p->at[ALPHA]);

    theory[MEAN_W] = head.mean[ATTEND_THEORY_A];
    theory[VAR_W] = head.variance[ATTEND_THEORY_A];
    theory[MEAN_LEAK] = (p->at[N] - 2) * head.mean[ATTEND_THEORY_REST];
    theory[MSE] = head.mse;
    theory[VAR_SHARE] = attend_theory_weight_variance(law);
    theory[ABS_DEV_SHARE] = attend_theory_weight_abs_deviation(law);
    theory[P_OUTSIDE] = attend_theory_weight_outside(law, 0.1);
    theory[VAR_GAP] = law.sd * law.sd;
}

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    /* If both weights underflow, their share follows from the scores. */
    const double gap = outcome->score[0][0] - outcome->score[0][1];
    const double share = attend_theory_logistic(gap);

    (void)arg;
    values[WEIGHT] = outcome->weight[0][0];
    values[LEAK] = outcome->others[0];
    values[SHARE] = share;
    values[SHARE_DEV] = fabs(share - 0.5);
    values[SHARE_OUTSIDE] = share < 0.1 || share > 0.9;
    values[GAP] = gap;
    values[ERROR] = lab_pair_error(outcome->coefficient[0], outcome->coefficient[1],
                                   outcome->others_squared);
}

/* The scores, of whose size the gap is a difference, are of size 1. */
static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    struct lab_moments gap = sample->moments[GAP];

    (void)p;
    gap.size = 1;
    sample->found[VAR_GAP] =
        lab_exact(sample->found[VAR_GAP].theory, lab_estimate_variance(&gap));
}

static const struct lab_model model = {LAB_ROWS(rows),     .theory = theory_of,
                                       .values = VALUES,   .scene = scene_of,
                                       .observe = observe, .finish = finish};

/* The least C without noise at which eps leaks among n keys; 0: nothing leaks. */
static double least_scale(const struct lab_setting *p)
{
    return p->at[N] > 2
               ? attend_theory_window_scale_min(p->at[N], p->at[EPS]) / p->at[TAU]
               : 0;
}

/* The C at which the noise of the score difference is 1. */
static double scale_of_noise(const struct lab_setting *p)
{
    return 1 / (p->at[TAU] * sqrt(4 * p->at[ALPHA] + p->at[SIGMA2]));
}

/* Both ends of the window at the run's parameters, and the conclusion. */
static void conclude(struct lab_run *run, const struct lab_setting *p,
                     const struct lab_moments *moments)
{
    char lower[120] = "Of two keys nothing leaks at any C", upper[120];

    if (moments[WEIGHT].count == 0)
        return;
    if (p->at[N] > 2)
        snprintf(lower, sizeof lower, "Without noise at most %g leaks from C = %.3g on",
                 p->at[EPS], least_scale(p));
    if (p->at[ALPHA] + p->at[SIGMA2] > 0)
        snprintf(upper, sizeof upper,
                 "and the noise of the score difference is small while C << %.3g",
                 scale_of_noise(p));
    else
        snprintf(upper, sizeof upper, "and nothing is noisy, however large C");
    lab_conclude(run,
                 "%s, %s.  At C = %g the mean leak is %.3g, and Var w = %.3g, that of a "
                 "fair coin 0.25.",
                 lower, upper, p->at[C], moments[LEAK].mean,
                 lab_moments_variance(&moments[WEIGHT]));
}

/* The two ends of the window: the leak at the lower, the variance at the upper one. */
static int window_ends(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    const double alpha = p.at[ALPHA], least = least_scale(&p);
    struct lab_sample sample = {.histogram = NULL};

    if (alpha > 0) {
        p.at[C] = attend_theory_window_scale_limit(alpha) / p.at[TAU];
        if (lab_measure_at(run, &model, &p, 2, run->trials / 4 + 1, &sample))
            return -1;
    }
    const struct lab_setting upper = p;
    const struct lab_found share = sample.found[VAR_SHARE];
    p.at[C] = least;
    p.at[ALPHA] = p.at[SIGMA2] = 0;
    if (least > 0 && lab_measure_at(run, &model, &p, 1, 1, &sample))
        return -1;
    if (least > 0)
        lab_emit(run, "leak_at_lower_end", &p,
                 lab_sure(p.at[EPS], sample.found[MEAN_LEAK].measured));
    if (alpha > 0)
        lab_emit(run, "var_share_at_upper_end", &upper, share);
    return 0;
}

/* ---- the map ------------------------------------------------------------- */

/* alpha 1e-6 .. 1 and C 1 .. 100, by equal factors. */
enum { ALPHAS = 10, SCALES = 10 };

static double alpha_at(int column) { return pow(10, -6 + column / 1.5); }
static double scale_at(int row) { return pow(10, row / 4.5); }

/* The run's setting with few keys: every entry of every key of the map is drawn. */
static struct lab_setting map_setting(const struct lab_run *run)
{
    struct lab_setting p = lab_own(run);

    p.at[N] = fmin(p.at[N], 16);
    return p;
}

static int measure_map(struct lab_run *run, struct lab_estimate *variance)
{
    struct lab_setting p = map_setting(run);
    const int64_t trials = run->trials / 50 + 50;
    struct lab_sample sample = {.histogram = NULL};
    const struct lab_found *const found = &sample.found[VAR_W];

    for (int cell = 0; cell < ALPHAS * SCALES && !lab_stopped(&run->session); cell++) {
        p.at[ALPHA] = alpha_at(cell % ALPHAS);
        p.at[C] = scale_at(cell / ALPHAS);
        if (lab_measure_at(run, &model, &p, 3 + (uint64_t)cell, trials, &sample))
            return -1;
        variance[cell] = (struct lab_estimate){found->measured, .se = found->se};
        lab_emit(run, "var_w", &p, *found);
    }
    return 0;
}

static void describe_map(const struct lab_setting *p, struct lab_figure *figure,
                         double least)
{
    const double tau = p->at[TAU];
    const double most = (1 / (least * least * tau * tau) - p->at[SIGMA2]) / 4;
    char lower[160] = "Nothing leaks.", upper[160] = "";

    if (least > 0)
        snprintf(lower, sizeof lower,
                 "Without noise the leak is at most %g from C = %.3g on.", p->at[EPS],
                 least);
    if (least > 0 && most > 0)
        snprintf(upper, sizeof upper, "  For alpha above %.2g no C is both.", most);
    else if (least > 0)
        snprintf(upper, sizeof upper, "  At this sigma2 no C is both, at any alpha.");
    lab_figure_describe(figure, LAB_LOG_X | LAB_LOG_Y,
                        "n = %.0f, sigma2 = %g. %s  Usable is what lies well below the "
                        "line of noise, where that of the score difference is 1.%s",
                        p->at[N], p->at[SIGMA2], lower, upper);
}

static void draw_map(struct lab_run *run, const struct lab_estimate *variance)
{
    struct lab_setting p = map_setting(run);
    const double least = least_scale(&p);
    struct lab_figure *const figure =
        lab_plot(run, "map", "Variance of the weight: where averaging works",
                 "alpha (key noise)", "C (query scale)", LAB_LOG_X | LAB_LOG_Y, "%s", "");
    struct lab_heat *const heat =
        lab_heat_set(figure, ALPHAS, SCALES, "Var w, measured (0.25: a coin toss)");

    if (!heat)
        return;
    describe_map(&p, figure, least);
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
        p.at[ALPHA] = pow(10, -6 + x / 10.0);
        const double noise = scale_of_noise(&p);
        if (noise >= 1 && noise <= 100)
            lab_series_point(line, p.at[ALPHA], noise, 0);
    }
}

/* Columns of the map that are drawn as curves. */
static const int columns[] = {3, 6, 9};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static struct lab_figure *plot_curves(struct lab_run *run)
{
    const struct lab_setting p = map_setting(run);
    double limit[COLUMNS];

    for (int k = 0; k < COLUMNS; k++) {
        const double wins =
            attend_theory_window_limit(p.at[N], alpha_at(columns[k]), p.at[SIGMA2])
                .mean[ATTEND_THEORY_A];
        limit[k] = wins * (1 - wins);
    }
    return lab_plot(
        run, "fixed-noise", "At any fixed noise a large C destroys the average",
        "C (query scale)", "Var w", LAB_LOG_X,
        "n = %.0f. \"alpha vanishing\" must mean alpha C^2 << 1: as C grows at fixed "
        "alpha one key takes all the weight, and the variance of that of v_a tends to "
        "%.3g, %.3g and %.3g for alpha = %.0e, %.0e and %.0e.",
        p.at[N], limit[0], limit[1], limit[2], alpha_at(columns[0]), alpha_at(columns[1]),
        alpha_at(columns[2]));
}

/* The measurements are those of the map. */
static int draw_curves(struct lab_run *run, const struct lab_estimate *variance)
{
    const struct lab_sweep over_C = {.flag = C, .line = {0, 2, 24, LAB_BY_POWERS, 0, 0}};
    struct lab_figure *const figure = plot_curves(run);
    struct lab_setting p = map_setting(run);

    for (int k = 0; k < COLUMNS; k++) {
        p.at[ALPHA] = alpha_at(columns[k]);
        const struct lab_plotted drawn = {
            VAR_W, lab_curve_add(figure, "alpha = %.0e", p.at[ALPHA])};
        if (lab_sweep(run, &model, &over_C, p, &drawn, 1))
            return -1;
        for (int y = 0; y < SCALES; y++)
            lab_series_estimate(drawn.curve.measured, scale_at(y),
                                variance[y * ALPHAS + columns[k]]);
    }
    return 0;
}

static int perform(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    struct lab_sample sample = {.histogram = NULL};

    if (lab_rows_at(run, &model, &p, 0, run->trials, &sample))
        return -1;
    conclude(run, &p, sample.moments);
    return 0;
}

static int sweep(struct lab_run *run)
{
    struct lab_estimate variance[ALPHAS * SCALES];

    for (int cell = 0; cell < ALPHAS * SCALES; cell++)
        variance[cell] = (struct lab_estimate){.value = NAN, .se = NAN};
    if (window_ends(run) || measure_map(run, variance))
        return -1;
    draw_map(run, variance);
    return draw_curves(run, variance);
}

const struct lab_experiment lab_experiment_window = {
    .name = "window",
    .title = "Isotropic noise and the order of limits",
    .shows = "One head averages two of many values only while ln n < C << 1/(2 sqrt "
             "alpha): noise that vanishes before C grows is harmless, at any fixed noise "
             "a large enough C hands all the weight to one key.",
    .answers = "1c-i",
    .headline = "var_w",
    LAB_FLAGS(flags),
    .trials = 200000,
    .perform = perform,
    .sweep = sweep,
};
