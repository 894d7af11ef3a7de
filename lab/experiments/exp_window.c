/* SPDX-License-Identifier: MIT */
/*
 * Isotropic key noise and the order of limits: the scale C must be large enough to shut
 * the other keys out and small enough not to amplify the noise of the pair (T7, T8).
 */
#include "attend/theory.h"
#include "lab/experiments/runner.h"

#include <math.h>

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 10, 2, 1024, "keys"),
    LAB_FLAG_REAL("C", 10, 0, 1000, "scale of the query C (mu_a + mu_b)"),
    LAB_FLAG_REAL("alpha", 0.01, 0, 100, "isotropic noise of every key"),
    LAB_FLAG_REAL("sigma2", 0, 0, 100, "magnitude noise of key a"),
    LAB_FLAG_REAL("eps", 0.01, 1e-12, 0.5, "leak that is small enough"),
    LAB_FLAG_REAL("tau", 1, 1e-6, 1000, "factor of the scores"),
};

enum { N, C, ALPHA, SIGMA2, EPS, TAU }; /* flags */
/* Values of a trial: those of the pair, and the share p_a / (p_a + p_b). */
enum { SHARE = LAB_PAIR_VALUES, SHARE_DEV, SHARE_OUTSIDE, GAP, VALUES };

static const struct lab_observable rows[] = {
    {"mean_w", LAB_WEIGHT_A, LAB_MEAN_WITHIN, 1},
    {"var_w", LAB_WEIGHT_A, LAB_VARIANCE_WITHIN, 1},
    {"mean_leak", LAB_LEAK, LAB_MEAN_WITHIN, 1},
    {"mse", LAB_ERROR, LAB_SQUARE, LAB_PAIR_ERROR_MAX},
    {"var_share", SHARE, LAB_VARIANCE_WITHIN, 1},
    {"abs_dev_share", SHARE_DEV, LAB_DISTANCE, 0.5},
    {"p_share_outside_10_90", SHARE_OUTSIDE, LAB_PROBABILITY, 1},
    {"var_score_gap", GAP, LAB_VARIANCE_OF_GAP, 0},
};
enum { VAR_W = 1, MEAN_LEAK, VAR_SHARE = 4, ABS_DEV_SHARE, P_OUTSIDE, VAR_GAP };

static struct lab_scene scene_of(const struct lab_setting *p)
{
    return LAB_SCENE(p->at[N], 1, p->at[SIGMA2], p->at[ALPHA], p->at[TAU],
                     .noisy = LAB_NOISY_A, .query = {{p->at[C], p->at[C]}}, .scores = 1);
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    const attend_theory_law share =
        attend_theory_law_pair(p->at[TAU] * p->at[C], p->at[SIGMA2], p->at[ALPHA]);

    theory[VAR_SHARE] = attend_theory_weight_variance(share);
    theory[ABS_DEV_SHARE] = attend_theory_weight_abs_deviation(share);
    theory[P_OUTSIDE] = attend_theory_weight_outside(share, 0.1);
    theory[VAR_GAP] = share.sd * share.sd;
}

static void observe(const struct lab_setting *p, const struct lab_outcome *outcome,
                    double *values)
{
    /* If both weights underflow, their share follows from the scores. */
    const double gap = outcome->score[0][0] - outcome->score[0][1];
    const double share = attend_theory_logistic(gap);

    (void)p;
    values[SHARE] = share;
    values[SHARE_DEV] = fabs(share - 0.5);
    values[SHARE_OUTSIDE] = share < 0.1 || share > 0.9;
    values[GAP] = gap;
}

static const struct lab_model model = {LAB_ROWS(rows),    .theory = theory_of,
                                       .values = VALUES,  .pair_values = SHARE,
                                       .scene = scene_of, .observe = observe};

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
    if (moments[LAB_WEIGHT_A].count == 0)
        return;
    if (p->at[N] > 2)
        lab_conclude(run, "Without noise at most %g leaks from C = %.3g on, ", p->at[EPS],
                     least_scale(p));
    else
        lab_conclude(run, "Of two keys nothing leaks at any C, ");
    if (p->at[ALPHA] + p->at[SIGMA2] > 0)
        lab_conclude(run,
                     "and the noise of the score difference is small while C << %.3g",
                     scale_of_noise(p));
    else
        lab_conclude(run, "and nothing is noisy, however large C");
    lab_conclude(run,
                 ".  At C = %g the mean leak is %.3g, and Var w = %.3g, that of a fair "
                 "coin 0.25.",
                 p->at[C], moments[LAB_LEAK].mean,
                 lab_moments_variance(&moments[LAB_WEIGHT_A]));
}

/* The two ends of the window: the leak at the lower, the variance at the upper one. */
static int window_ends(struct lab_run *run)
{
    struct lab_setting p = lab_own(run), upper = p;
    struct lab_sample lower = {.histogram = NULL}, sample = lower;

    upper.at[C] = attend_theory_window_scale_limit(p.at[ALPHA]) / p.at[TAU];
    if (p.at[ALPHA] > 0 &&
        lab_measure_at(run, &model, &upper, 2, run->trials / 4 + 1, &sample))
        return -1;
    p.at[C] = least_scale(&p);
    p.at[ALPHA] = p.at[SIGMA2] = 0;
    if (p.at[C] > 0 && lab_measure_at(run, &model, &p, 1, 1, &lower))
        return -1;
    if (p.at[C] > 0)
        lab_emit(run, "leak_at_lower_end", &p,
                 lab_sure(p.at[EPS], lower.found[MEAN_LEAK].measured));
    if (upper.at[ALPHA] > 0)
        lab_emit(run, "var_share_at_upper_end", &upper, sample.found[VAR_SHARE]);
    return 0;
}

/* ---- the map ------------------------------------------------------------- */

/* alpha 1e-6 .. 1 and C 1 .. 100, by equal factors. */
enum { ALPHAS = 10, SCALES = 10 };

static double alpha_at(int column) { return pow(10, -6 + column / 1.5); }
static double scale_at(int row) { return pow(10, row / 4.5); }

static void describe_map(const struct lab_setting *p, struct lab_figure *figure)
{
    const double least = least_scale(p), tau = p->at[TAU];
    const double most = (1 / (least * least * tau * tau) - p->at[SIGMA2]) / 4;

    lab_caption(figure, "n = %.0f, sigma2 = %g. ", p->at[N], p->at[SIGMA2]);
    if (least > 0)
        lab_caption(figure, "Without noise the leak is at most %g from C = %.3g on.",
                    p->at[EPS], least);
    else
        lab_caption(figure, "Nothing leaks.");
    lab_caption(figure, "  Usable is what lies well below the line of noise, where that "
                        "of the score difference is 1.");
    if (least > 0 && most > 0)
        lab_caption(figure, "  For alpha above %.2g no C is both.", most);
    else if (least > 0)
        lab_caption(figure, "  At this sigma2 no C is both, at any alpha.");
}

/* The lines within the map: the least C, and that of the noise. */
static void draw_ends(struct lab_setting p, struct lab_figure *figure)
{
    const double least = least_scale(&p);
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

/* Measures the map, cell by cell, and draws it. */
static int map(struct lab_run *run, struct lab_setting p, struct lab_found *found)
{
    struct lab_figure *const figure =
        lab_plot(run, "map", "Variance of the weight: where averaging works",
                 "alpha (key noise)", "C (query scale)", LAB_LOG_X | LAB_LOG_Y, "%s", "");
    struct lab_heat *const heat =
        lab_heat_set(figure, ALPHAS, SCALES, "Var w, measured (0.25: a coin toss)");
    struct lab_sample sample = {.histogram = NULL};

    describe_map(&p, figure);
    draw_ends(p, figure);
    for (int cell = 0; cell < ALPHAS * SCALES; cell++) {
        const int x = cell % ALPHAS, y = cell / ALPHAS;
        p.at[ALPHA] = alpha_at(x);
        p.at[C] = scale_at(y);
        found[cell] = lab_sure(NAN, NAN);
        if (!lab_stopped(&run->session)) {
            if (lab_measure_at(run, &model, &p, 3 + (uint64_t)cell, run->trials / 50 + 50,
                               &sample))
                return -1;
            found[cell] = sample.found[VAR_W];
            lab_emit(run, "var_w", &p, found[cell]);
        }
        if (heat) {
            heat->x[x] = p.at[ALPHA];
            heat->y[y] = p.at[C];
            heat->value[cell] = found[cell].measured;
        }
    }
    return 0;
}

/* Columns of the map as curves, measured there. */
static int columns(struct lab_run *run, struct lab_setting p,
                   const struct lab_found *found)
{
    enum { COLUMNS = 3 };
    static const int column[COLUMNS] = {3, 6, 9};
    const struct lab_sweep over_C = {.flag = C, .line = {0, 2, 24, LAB_BY_POWERS, 0, 0}};
    double limit[COLUMNS];

    for (int k = 0; k < COLUMNS; k++) {
        const double wins =
            attend_theory_window_limit(p.at[N], alpha_at(column[k]), p.at[SIGMA2])
                .mean[ATTEND_THEORY_A];
        limit[k] = wins * (1 - wins);
    }
    struct lab_figure *const figure = lab_plot(
        run, "fixed-noise", "At any fixed noise a large C destroys the average",
        "C (query scale)", "Var w", LAB_LOG_X,
        "n = %.0f. \"alpha vanishing\" must mean alpha C^2 << 1: as C grows at fixed "
        "alpha one key takes all the weight, and the variance of that of v_a tends to "
        "%.3g, %.3g and %.3g for alpha = %.0e, %.0e and %.0e.",
        p.at[N], limit[0], limit[1], limit[2], alpha_at(column[0]), alpha_at(column[1]),
        alpha_at(column[2]));
    for (int k = 0; k < COLUMNS; k++) {
        p.at[ALPHA] = alpha_at(column[k]);
        const struct lab_plotted drawn = {
            VAR_W, lab_curve_add(figure, "alpha = %.0e", p.at[ALPHA])};
        if (lab_sweep(run, &model, &over_C, p, &drawn, 1))
            return -1;
        for (int y = 0; y < SCALES; y++) {
            const struct lab_found *const at = &found[y * ALPHAS + column[k]];
            lab_series_point(drawn.curve.measured, scale_at(y), at->measured, at->se);
        }
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
    struct lab_setting few = lab_own(run);
    struct lab_found variance[ALPHAS * SCALES];

    /* Every entry of every key of the map is drawn. */
    few.at[N] = fmin(few.at[N], 16);
    return window_ends(run) || map(run, few, variance) || columns(run, few, variance);
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
