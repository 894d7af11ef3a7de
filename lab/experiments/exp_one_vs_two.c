/* SPDX-License-Identifier: MIT */
/*
 * One head C (mu_a + mu_b) against two, C mu_a and C mu_b: mean squared distance of the
 * output from (v_a + v_b)/2, the scale from which two win, the best scale (T14, T15).
 */
#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/setups/pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 10, 3, 1e9, "keys; at most 1024 with --alpha"),
    LAB_FLAG_REAL("C", 10, 0, 1000, "scale of the queries"),
    LAB_FLAG_REAL("sigma2", 0.5, 1e-6, 100, "magnitude noise of key a"),
    LAB_FLAG_REAL("alpha", 0, 0, 100, "isotropic noise of every key"),
};

enum { N, SCALE, SIGMA2, ALPHA, HEADS }; /* flags, and 1 or 2 heads */
enum { KEYS_DRAWN_MAX = 1024 };

/* Values of a trial. */
enum { ERROR, COEFF, ERROR_POSITIVE, COEFF_POSITIVE, VALUES };
enum { MSE, COEFF_VAR, MSE_POSITIVE, COEFF_VAR_POSITIVE, ROWS };

/* Rows of one head, or of two, over all trials and over those of positive length. */
#define ROWS_OF(word)                                                                    \
    {                                                                                    \
        {"mse_" word, ERROR, LAB_SQUARE, LAB_PAIR_ERROR_MAX},                            \
            {"coeff_var_" word, COEFF, LAB_VARIANCE_WITHIN, 1},                          \
            {"mse_" word "_given_positive", ERROR_POSITIVE, LAB_SQUARE,                  \
             LAB_PAIR_ERROR_MAX},                                                        \
            {"coeff_var_" word "_given_positive", COEFF_POSITIVE, LAB_VARIANCE_WITHIN,   \
             1},                                                                         \
    }
static const struct lab_observable rows[2][ROWS] = {ROWS_OF("one"), ROWS_OF("two")};

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const double a = outcome->coefficient[0], b = outcome->coefficient[1];
    const int is_positive = outcome->gamma[0] > 0;

    (void)arg;
    values[ERROR] = lab_pair_error(a, b, outcome->others_squared);
    values[COEFF] = a;
    values[ERROR_POSITIVE] = is_positive ? values[ERROR] : NAN;
    values[COEFF_POSITIVE] = is_positive ? a : NAN;
}

static struct lab_scene scene_of(const struct lab_setting *p)
{
    struct lab_scene scene = LAB_SCENE(p->at[N], (int)p->at[HEADS], p->at[SIGMA2],
                                       p->at[ALPHA], 1, .noisy = LAB_NOISY_A);

    lab_scene_set_pair(&scene, p->at[SCALE]);
    return scene;
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    const struct lab_scene scene = scene_of(p);

    for (int positive = 0; positive < 2; positive++) {
        const attend_theory_output output = lab_scene_theory(&scene, positive);
        theory[positive ? MSE_POSITIVE : MSE] = output.mse;
        theory[positive ? COEFF_VAR_POSITIVE : COEFF_VAR] =
            output.variance[ATTEND_THEORY_A];
    }
}

#define MODEL(table)                                                                     \
    {                                                                                    \
        LAB_ROWS(table), .theory = theory_of, .values = VALUES, .scene = scene_of,       \
                         .observe = observe                                              \
    }
static const struct lab_model models[2] = {MODEL(rows[0]), MODEL(rows[1])};
static const char *const head_names[2] = {"one head", "two heads"};

/* The closer of the two at the run's parameters, and their limits where there is a
 * formula. */
static void conclude(struct lab_run *run, const struct lab_found *one,
                     const struct lab_found *two)
{
    const struct lab_setting p = lab_own(run);
    const double gap = one->measured - two->measured;
    const int is_close = !(fabs(gap) > 4 * hypot(one->se, two->se));
    char limits[120] = "";

    if (isnan(gap))
        return;
    if (p.at[ALPHA] <= 0 && p.at[SIGMA2] > 0)
        snprintf(limits, sizeof limits,
                 "  As C grows they tend to %.3g with one head and %.3g with two.",
                 attend_theory_one_head_limit(p.at[SIGMA2], 0).mse,
                 attend_theory_two_heads_limit(p.at[N], p.at[SIGMA2], 0).mse);
    lab_conclude(
        run,
        "n = %g, C = %g, sigma2 = %g, alpha = %g: %s.  Mean squared distances from it: "
        "%.3g with one head, %.3g with two.%s",
        p.at[N], p.at[SCALE], p.at[SIGMA2], p.at[ALPHA],
        is_close
            ? "one head and two are equally near to the average, within 4 standard errors"
        : gap > 0 ? "two heads come closer to the average than one"
                  : "one head comes closer to the average than two",
        one->measured, two->measured, limits);
}

/* ---- best scale and crossover, found on the engine ------------------------ */

/* Scales that are searched, by equal factors. */
#define SCALE_LO 0.25
#define SCALE_HI 100.0
#define FACTOR 1.5
/* Accuracy of a search on numbers with errors of 1e-15. */
#define SEARCH_ERROR 1e-6

/* Slope of the one-head mse in ln C, to fourth order. */
static int slope(struct lab_run *run, double n, double C, double sigma2, double *value)
{
    static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    const double step = 0.003;
    struct lab_pair_mse mse;

    *value = 0;
    for (int x = 0; x < 4; x++) {
        if (lab_pair_measure_mse(&run->session, run->ctx, n, C * exp(step * at[x]),
                                 sigma2, &mse))
            return -1;
        *value += weight[x] * mse.one / (12 * step);
    }
    return 0;
}

static int difference(struct lab_run *run, double n, double C, double sigma2,
                      double *value)
{
    struct lab_pair_mse mse;
    const int failed = lab_pair_measure_mse(&run->session, run->ctx, n, C, sigma2, &mse);

    *value = mse.one - mse.two;
    return failed;
}

typedef int (*function_of_scale)(struct lab_run *run, double n, double C, double sigma2,
                                 double *value);

/*
 * The root of f between lo, where it is f_lo <= 0, and hi, where it is f_hi > 0: regula
 * falsi, halving the value of an end that stays.
 */
static int root_between(struct lab_run *run, function_of_scale f, double n, double sigma2,
                        double lo, double f_lo, double hi, double f_hi, double *C)
{
    int last = 0;

    for (int step = 0; step < 60 && hi - lo > 1e-10 * hi; step++) {
        double value;
        *C = hi - f_hi * (hi - lo) / (f_hi - f_lo);
        if (f(run, n, *C, sigma2, &value))
            return -1;
        if (fabs(value) < 1e-15)
            break;
        const int side = value > 0 ? 1 : -1;
        *(value > 0 ? &hi : &lo) = *C;
        *(value > 0 ? &f_hi : &f_lo) = value;
        if (side == last)
            *(value > 0 ? &f_lo : &f_hi) /= 2;
        last = side;
    }
    return 0;
}

/* The largest C where f turns from negative to positive; NaN when it does not. */
static int last_rise(struct lab_run *run, function_of_scale f, double n, double sigma2,
                     double *C)
{
    double hi = SCALE_HI, f_hi;

    *C = NAN;
    if (f(run, n, hi, sigma2, &f_hi))
        return -1;
    while (f_hi > 0 && hi / FACTOR > SCALE_LO) {
        const double lo = hi / FACTOR;
        double f_lo;
        if (f(run, n, lo, sigma2, &f_lo))
            return -1;
        if (!(f_lo > 0))
            return root_between(run, f, n, sigma2, lo, f_lo, hi, f_hi, C);
        hi = lo;
        f_hi = f_lo;
    }
    return 0;
}

/* A scale that was searched. */
static struct lab_found found_scale(double theory, double measured)
{
    return lab_about(theory, measured, SEARCH_ERROR * fmax(1, fabs(theory)));
}

static int find_scales(struct lab_run *run, double n, double sigma2)
{
    double best, least, crossover;
    const double best_theory = attend_theory_best_scale_one(n, sigma2, 0, &least);
    struct lab_setting p = lab_own(run);
    struct lab_pair_mse mse;

    p.at[N] = n;
    p.at[ALPHA] = 0;
    if (last_rise(run, slope, n, sigma2, &best) ||
        last_rise(run, difference, n, sigma2, &crossover))
        return -1;
    if (isfinite(best) && isfinite(best_theory)) {
        if (lab_pair_measure_mse(&run->session, run->ctx, n, best, sigma2, &mse))
            return -1;
        lab_emit(run, "best_C_one", &p, found_scale(best_theory, best));
        lab_emit(run, "best_mse_one", &p, lab_sure(least, mse.one));
    }
    lab_emit(run, "crossover_C", &p,
             found_scale(attend_theory_crossover_scale(n, sigma2, 0), crossover));
    return 0;
}

/* ---- sweeps -------------------------------------------------------------- */

/* A C at which the limits of T14 are near. */
#define SCALE_LIMIT 1e4

static int limits(struct lab_run *run)
{
    struct lab_setting p = lab_own(run);
    const double n = p.at[N], sigma2 = p.at[SIGMA2];
    const attend_theory_output limit[2] = {attend_theory_one_head_limit(sigma2, 0),
                                           attend_theory_two_heads_limit(n, sigma2, 0)};
    struct lab_sample sample = {.histogram = NULL};
    struct lab_found *const mse = &sample.found[MSE];

    p.at[SCALE] = SCALE_LIMIT;
    for (int h = 0; h < 2 && p.at[ALPHA] <= 0; h++) {
        p.at[HEADS] = h + 1;
        if (lab_measure_at(run, &models[h], &p, 11 + (uint64_t)h, run->trials / 4 + 1,
                           &sample))
            return -1;
        mse->kind = LAB_ASYMPTOTIC;
        mse->theory = limit[h].mse;
        lab_emit(run, h ? "mse_two_limit" : "mse_one_limit", &p, *mse);
    }
    return 0;
}

static struct lab_figure *plot_curves(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    const double n = p.at[N], sigma2 = p.at[SIGMA2];
    double least;
    const double best = attend_theory_best_scale_one(n, sigma2, 0, &least);
    char limits_text[240] = "";

    if (p.at[ALPHA] <= 0)
        snprintf(limits_text, sizeof limits_text,
                 "  As C grows one head tends to %.3g and two heads to %.3g.",
                 attend_theory_one_head_limit(sigma2, 0).mse,
                 attend_theory_two_heads_limit(n, sigma2, 0).mse);
    if (p.at[ALPHA] <= 0 && isfinite(best))
        snprintf(limits_text + strlen(limits_text),
                 sizeof limits_text - strlen(limits_text),
                 "  One head is best at C = %.3g, with %.3g.", best, least);
    return lab_plot(run, "error", "Error of one head and of two", "C (query scale)",
                    "E|c - (v_a + v_b)/2|^2", LAB_LOG_X,
                    "n = %g, sigma2 = %g, alpha = %g.%s", n, sigma2, p.at[ALPHA],
                    limits_text);
}

static int curves(struct lab_run *run)
{
    static const double scales[] = {1, 2, 3, 5, 7, 10, 20, 50};
    struct lab_figure *const figure = plot_curves(run);
    struct lab_setting p = lab_own(run);

    for (int h = 0; h < 2; h++) {
        const struct lab_sweep over_C =
            LAB_SWEEP(SCALE, scales, .line = {0.5, 100, 80, LAB_BY_FACTORS, 0, 0},
                      .stream = 21 + (uint64_t)h, .stride = 2,
                      .trials = run->trials / 20 + 50, .only_drawn = 1);
        const struct lab_plotted drawn = {MSE,
                                          lab_curve_add(figure, "%s", head_names[h])};
        p.at[HEADS] = h + 1;
        if (lab_sweep(run, &models[h], &over_C, p, &drawn, 1))
            return -1;
    }
    return 0;
}

enum { MAP_SCALES = 13, MAP_STEPS = 10 };

static double map_scale(int y) { return 0.5 * pow(10, y / 6.0); }

/* Heat map of log10(mse_two / mse_one) over C and n (by_n) or sigma2. */
static int map(struct lab_run *run, int by_n)
{
    struct lab_figure *const figure = lab_plot(
        run, by_n ? "wins-by-n" : "wins-by-noise",
        by_n ? "Where two heads win, by number of keys" : "Where two heads win, by noise",
        by_n ? "n (keys)" : "sigma2 (magnitude noise)", "C (query scale)",
        LAB_LOG_X | LAB_LOG_Y,
        "Computed by the engine, %s = %g, alpha = 0. Negative: two heads are closer to "
        "the average, as they are above the line; just below it each head alone cannot "
        "beat its n - 1 rivals yet.",
        by_n ? "sigma2" : "n", lab_real(run, by_n ? "sigma2" : "n"));
    struct lab_heat *const heat = lab_heat_set(figure, MAP_STEPS, MAP_SCALES,
                                               "log10 (mse two / mse one), cut at ±2");
    struct lab_pair_mse mse;

    if (!heat)
        return 0;
    struct lab_series *line = lab_series_about(
        lab_series_add(figure, LAB_LINE, "crossover, theory"), "crossover");
    for (int x = 0; x < MAP_STEPS; x++) {
        const double n = by_n ? round(3 * pow(10, x / 1.8)) : lab_real(run, "n");
        const double sigma2 = by_n ? lab_real(run, "sigma2") : 0.005 * pow(10, x / 3.6);
        heat->x[x] = by_n ? n : sigma2;
        for (int y = 0; y < MAP_SCALES; y++) {
            heat->y[y] = map_scale(y);
            if (lab_pair_measure_mse(&run->session, run->ctx, n, heat->y[y], sigma2,
                                     &mse))
                return -1;
            heat->value[y * MAP_STEPS + x] = fmax(-2, fmin(2, log10(mse.two / mse.one)));
        }
        lab_series_point(line, heat->x[x], attend_theory_crossover_scale(n, sigma2, 0),
                         0);
    }
    line = lab_series_about(lab_series_add(figure, LAB_POINTS, "crossover, measured"),
                            "crossover");
    for (int x = 0; x < MAP_STEPS; x += 3) {
        double crossover;
        if (last_rise(run, difference, by_n ? heat->x[x] : lab_real(run, "n"),
                      by_n ? lab_real(run, "sigma2") : heat->x[x], &crossover))
            return -1;
        lab_series_point(line, heat->x[x], crossover, 0);
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
