/* SPDX-License-Identifier: MIT */
/*
 * One head q = C (mu_a + mu_b) on keys of which k_a varies in length: the weight of v_a
 * is logit-normal, and at a C that keeps the others out it is hardly ever near 1/2 (T9 -
 * T12).
 */
#include "lab/experiments/experiment.h"

#include <math.h>

#include "attend/theory.h"
#include "lab/measure/moments.h"
#include "lab/setups/pair.h"
#include "lab/setups/scene.h"
#include "theory/quadrature.h"

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 10, 2, 1e6, "keys"),
    LAB_FLAG_INTEGER("d", NAN, 2, 1e6, "columns of a key, n or more (default n)"),
    LAB_FLAG_REAL("C", 10, 0, 1000, "scale of the query C (mu_a + mu_b)"),
    LAB_FLAG_REAL("sigma2", 0.5, 0, 100, "variance of the length of k_a"),
    LAB_FLAG_REAL("alpha", 0, 0, 100,
                  "isotropic noise of every key; above 0, theory is known of mean_w and "
                  "var_w only, and of all at n = 2"),
    LAB_FLAG_REAL("tau", 1, 1e-6, 1000, "scores are tau <q, k>"),
};

enum { MEAN_W, MEAN_ABS, OUTSIDE, COPY, ERROR, LEAK, LOGIT, OFF_SEGMENT, VALUES };

/* Logits beyond this are lost: the smallest weights of a double. */
#define LOGIT_MAX 745.0
/* |v_a - v_b| of orthonormal values. */
static const double value_distance = 1.41421356237309504880;

/* What the theory of a run says of w; NaN where there is none. */
struct magnitude_theory {
    double n;
    attend_theory_law law; /* of p_a; sd NaN where it is not logit-normal */
    double mean, variance, mean_abs, outside, modes;
    double copy;    /* P(p_a > 0.9 or p_b > 0.9) */
    double share_b; /* of v_b in u, the other end of the segment that c lies on */
};

struct parameters {
    double n, C, sigma2, alpha, tau;
};

static struct parameters read_parameters(const struct lab_run *run)
{
    return (struct parameters){
        .n = lab_real(run, "n"),
        .C = lab_real(run, "C"),
        .sigma2 = lab_real(run, "sigma2"),
        .alpha = lab_real(run, "alpha"),
        .tau = lab_real(run, "tau"),
    };
}

/* P(x < `below`), x normal; a sure x is a step. */
static double chance_below(double below, double mean, double sd)
{
    return sd > 0 ? attend_theory_normal_cdf((below - mean) / sd) : below > mean;
}

/*
 * alpha = 0: p_a > 0.9 when its score leads ln(e^C + n - 2) by ln 9, p_b > 0.9 when
 * e^(score of a) < e^C / 9 - (n - 2), which may be negative.
 */
static double copy_chance(const struct parameters *p)
{
    const double scale = p->C * p->tau, sd = fabs(scale) * sqrt(p->sigma2);
    const double others = (p->n - 2) * exp(-scale);
    const double least = scale + log1p(others) + log(9);
    const double room = 1.0 / 9 - others;

    return 1 - chance_below(least, scale, sd) +
           (room > 0 ? chance_below(scale + log(room), scale, sd) : 0);
}

static struct magnitude_theory theory_of(const struct parameters *p)
{
    attend_theory_scene scene = attend_theory_scene_exercise(p->n, p->sigma2, 0);
    const double scale = p->C * p->tau;
    double modes[2];

    scene.tau = p->tau;
    scene.alpha = p->alpha;
    const attend_theory_output head =
        attend_theory_head(&scene, (attend_theory_query){.a = p->C, .b = p->C});
    struct magnitude_theory theory = {.n = p->n,
                                      .law = {NAN, NAN, -INFINITY},
                                      .mean = head.mean[ATTEND_THEORY_A],
                                      .variance = head.variance[ATTEND_THEORY_A],
                                      .mean_abs = NAN,
                                      .outside = NAN,
                                      .copy = NAN,
                                      .modes = NAN,
                                      .share_b = NAN};
    if (p->alpha == 0) {
        theory.law = attend_theory_law_one_head(p->n, scale, p->sigma2);
        theory.share_b = 1 / (1 + (p->n - 2) * exp(-scale));
    } else if (p->n == 2) {
        theory.law = attend_theory_law_pair(scale, p->sigma2, p->alpha);
    } else {
        return theory;
    }
    theory.mean_abs = attend_theory_weight_abs_deviation(theory.law);
    theory.outside = attend_theory_weight_outside(theory.law, 0.1);
    theory.copy = p->alpha == 0 ? copy_chance(p) : theory.outside;
    if (theory.law.sd > 0)
        theory.modes = attend_theory_weight_modes(theory.law, modes);
    return theory;
}

/* |c - (v_a + v_b)/2| where the score of a leads the others' sum by y; alpha = 0. */
struct distance {
    double keys, leak; /* leak: (n - 2) e^-C, the others beside b */
};

static void distance_at(void *arg, double y, double *f)
{
    const struct distance *const d = arg;
    const double half = 0.5 * tanh(0.5 * y); /* p_a - 1/2 */
    const double b = -(half + 0.5 * d->leak) / (1 + d->leak);
    const double others = attend_theory_logistic(-y) * d->leak / (1 + d->leak);

    f[0] = sqrt(half * half + b * b + (d->keys > 0 ? others * others / d->keys : 0));
}

/* E|c - (v_a + v_b)/2| where that is known, to about 1e-12. */
static double mean_error(const struct parameters *p,
                         const struct magnitude_theory *theory)
{
    const struct attendi_theory_accuracy accuracy = {1e-13, 0};
    struct distance distance = {p->n - 2, (p->n - 2) * exp(-p->C * p->tau)};
    /* Hardly any leak makes a kink at y = 0, rounded on the scale of the leak. */
    const struct attendi_theory_transition turns[] = {{0, 1},
                                                      {0, fmin(1, distance.leak)}};
    double error;

    if (p->alpha > 0 || p->n <= 2 || isnan(theory->mean_abs))
        return value_distance * theory->mean_abs; /* n = 2, or NaN */
    attendi_theory_normal_mean(distance_at, &distance, 1, theory->law.mean,
                               theory->law.sd, -INFINITY, turns, 2, accuracy, &error);
    return error;
}

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const struct magnitude_theory *const theory = arg;
    const double w = outcome->weight[0][0], b = outcome->weight[0][1];
    const double others = outcome->others[0];
    const double not_w = b + others; /* 1 - w, also where w rounds to 1 */
    /* Without isotropic noise the others share what leaks equally. */
    const double squares = theory->n > 2 ? others * others / (theory->n - 2) : 0;

    values[MEAN_W] = w;
    values[MEAN_ABS] = fabs(w - 0.5);
    values[OUTSIDE] = w < 0.1 || not_w < 0.1;
    values[LEAK] = others;
    values[COPY] = not_w < 0.1 || w + others < 0.1;
    values[ERROR] = isnan(theory->mean_abs) ? NAN : sqrt(lab_pair_error(w, b, squares));
    values[LOGIT] = fmax(-LOGIT_MAX, fmin(LOGIT_MAX, log(w / not_w)));
    values[OFF_SEGMENT] = fabs(b - not_w * theory->share_b);
}

/*
 * Modes of the density of w when logit w is normal with the moments that were measured:
 * the modes themselves lie where no sample falls, at logits of +-T^2.  The density of w
 * rises where -(L - mean) / T^2 + tanh(L / 2) > 0.
 */
static double count_modes(const struct lab_moments *logit)
{
    enum { STEPS = 20000 };
    const double variance = lab_moments_variance(logit);
    const double reach = fabs(logit->mean) + variance + 1;
    int count = 0, rising = 1;

    if (!(variance > 0))
        return NAN;
    for (int x = 1; x <= STEPS; x++) {
        const double L = reach * (2.0 * x / STEPS - 1);
        const int rises = tanh(L / 2) - (L - logit->mean) / variance > 0;
        count += rising && !rises;
        rising = rises;
    }
    return count;
}

static int measure(struct lab_run *run, const struct parameters *p,
                   const struct magnitude_theory *theory, uint64_t stream, int64_t trials,
                   struct lab_moments *moments, struct lab_histogram *histogram)
{
    const struct lab_scene scene = {.n = (int64_t)p->n,
                                    .d = lab_integer(run, "d"),
                                    .wanted = 2,
                                    .heads = 1,
                                    .sigma2 = p->sigma2,
                                    .alpha = p->alpha,
                                    .tau = p->tau,
                                    .noisy = LAB_NOISY_A,
                                    .query = {{p->C, p->C}},
                                    .plain = 1};
    struct lab_histogram *const histograms[VALUES] = {[MEAN_W] = histogram};

    return lab_scene_measure(&run->session, &scene, stream, trials, observe,
                             (void *)(uintptr_t)theory, VALUES, moments,
                             histogram ? histograms : NULL);
}

static void emit(struct lab_run *run, const struct parameters *p, const char *quantity,
                 double theory, struct lab_estimate measured)
{
    lab_emit_at(run, quantity,
                LAB_CHANGES(LAB_IS("C", p->C), LAB_IS("sigma2", p->sigma2)),
                lab_exact(theory, measured));
}

/* The most that |c - (v_a + v_b)/2| can be: of two keys c lies between the values. */
static double error_most(const struct parameters *p)
{
    return p->n > 2 ? sqrt(LAB_PAIR_ERROR_MAX) : value_distance / 2;
}

static void emit_rows(struct lab_run *run, const struct parameters *p,
                      const struct magnitude_theory *theory,
                      const struct lab_moments *moments)
{
    const struct lab_moments *const w = &moments[MEAN_W];
    const double modes = w->count > 0 ? count_modes(&moments[LOGIT]) : NAN;

    emit(run, p, "mean_w", theory->mean, lab_estimate_mean_within(w, 0, 1));
    emit(run, p, "var_w", theory->variance, lab_estimate_variance_within(w, 0, 1));
    emit(run, p, "mean_abs_dev", theory->mean_abs,
         lab_estimate_distance(&moments[MEAN_ABS], 0.5));
    emit(run, p, "p_outside_10_90", theory->outside,
         lab_estimate_probability(&moments[OUTSIDE]));
    emit(run, p, "modes", theory->modes, (struct lab_estimate){.value = modes});
    emit(run, p, "p_copy_90", theory->copy, lab_estimate_probability(&moments[COPY]));
    if (!isnan(theory->mean_abs))
        emit(run, p, "mean_error", mean_error(p, theory),
             lab_estimate_distance(&moments[ERROR], error_most(p)));
}

/* The same question without noise of magnitude, and where c lies. */
static int emit_without_noise(struct lab_run *run, const struct parameters *given,
                              const struct lab_moments *moments)
{
    struct parameters p = *given;
    struct lab_moments still[VALUES];

    if (p.alpha == 0 && moments[OFF_SEGMENT].count > 0)
        lab_emit_at(run, "off_segment", NULL, lab_zero(moments[OFF_SEGMENT].mean, 1e-14));
    p.sigma2 = 0;
    const struct magnitude_theory theory = theory_of(&p);
    if (measure(run, &p, &theory, 1, run->trials, still, NULL))
        return -1;
    if (still[MEAN_W].count == 0)
        return 0;
    emit(run, &p, "mean_w_part_i", theory.mean,
         lab_estimate_mean_within(&still[MEAN_W], 0, 1));
    emit(run, &p, "var_w_part_i", theory.variance,
         lab_estimate_variance_within(&still[MEAN_W], 0, 1));
    emit(run, &p, "mean_abs_dev_part_i", theory.mean_abs,
         lab_estimate_distance(&still[MEAN_ABS], 0.5));
    return 0;
}

static double weight_cdf(const void *law, double w)
{
    return attend_theory_weight_cdf(*(const attend_theory_law *)law, w);
}

static void draw_histogram(struct lab_run *run, const struct magnitude_theory *theory,
                           const struct lab_moments *moments,
                           const struct lab_histogram *histogram)
{
    const double copies = moments[COPY].mean;
    struct lab_figure *const figure = lab_plot(
        run, "The weight of v_a over samples", "w = p_a", "density", 0,
        "%s: one of v_a and v_b holds more than 90%% in %.1f%% of the samples, and w "
        "lies "
        "between 0.1 and 0.9 in %.1f%%.%s",
        copies > 0.5 ? "A sampler, not an average" : "Rarely one value alone",
        100 * copies, 100 * (1 - moments[OUTSIDE].mean),
        theory->law.sd > 0 ? "  Theory is the logit-normal law, averaged over each bin."
                           : "");

    lab_plot_histogram(figure, histogram,
                       theory->law.sd > 0 ? "theory, logit-normal" : NULL, weight_cdf,
                       &theory->law);
}

/* Points of the sweep over C. */
static const double scales[] = {0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50};
enum { SCALES = sizeof scales / sizeof scales[0], LINE = 120 };

/* The x-th of the scales at which theory is drawn. */
static double line_scale(int x)
{
    return scales[0] * pow(scales[SCALES - 1] / scales[0], (double)x / LINE);
}

/* Figures over C, each of one number, and the form of that number for n = 2. */
enum { VARIANCE, DEVIATION, NEAR_COPY, FIGURES };
static const struct {
    const char *title, *y_label;
    const char *form_label;
    double (*form)(double T);
} plots[FIGURES] = {
    {"Variance of the weight", "Var w", "arcsin form, n = 2",
     attend_theory_weight_variance_arcsin},
    {"Distance from one half", "E|w - 1/2|", "arctan form, n = 2",
     attend_theory_weight_abs_deviation_arctan},
    {"One value holds more than 90%", "P(p_a > 0.9 or p_b > 0.9)", NULL, NULL},
};

static double theory_in(const struct magnitude_theory *theory, int plot)
{
    return plot == VARIANCE    ? theory->variance
           : plot == DEVIATION ? theory->mean_abs
                               : theory->copy;
}

/* What the plot shows at these parameters. */
static void describe(struct lab_figure *figure, int plot, const struct parameters *given)
{
    const double wins = lab_pair_wins(given->n, given->alpha, given->sigma2);
    struct parameters p = *given;

    p.C = scales[0];
    const struct magnitude_theory theory = theory_of(&p);
    if (plot == VARIANCE && given->alpha + given->sigma2 > 0)
        lab_figure_describe(figure, LAB_LOG_X,
                            "As C grows the score of a is the largest with probability "
                            "%.3g, and the variance tends to that of such a coin, %.3g.",
                            wins, wins * (1 - wins));
    else if (plot == VARIANCE)
        lab_figure_describe(figure, LAB_LOG_X, "Nothing is noisy: w does not vary.");
    else if (plot == DEVIATION && isnan(theory.mean_abs))
        lab_figure_describe(figure, LAB_LOG_X, "n = %g, alpha = %g, sigma2 = %g.", p.n,
                            p.alpha, p.sigma2);
    else if (plot == DEVIATION)
        lab_figure_describe(
            figure, LAB_LOG_X,
            "Where nothing leaks the mean error of c is |v_a - v_b| times "
            "this.  A leak adds to it: at C = %g the error is %.3g, and "
            "the product %.3g.",
            p.C, mean_error(&p, &theory), value_distance * theory.mean_abs);
    else
        lab_figure_describe(figure, LAB_LOG_X,
                            "How often the output is almost a copy of v_a or of v_b.  "
                            "Weight that leaks to the others is no copy.");
}

/* Draws the lines of a plot; returns the series of its measurements. */
static struct lab_series *draw_plot(struct lab_run *run, int plot,
                                    const struct magnitude_theory theory[LINE + 1])
{
    struct parameters p = read_parameters(run);
    struct lab_figure *const figure = lab_plot(run, plots[plot].title, "C (query scale)",
                                               plots[plot].y_label, LAB_LOG_X, "%s", "");
    struct lab_series *line = lab_series_add(figure, LAB_LINE, "theory");

    if (!figure)
        return NULL;
    describe(figure, plot, &p);
    for (int x = 0; x <= LINE; x++)
        lab_series_point(line, line_scale(x), theory_in(&theory[x], plot), 0);
    if (plots[plot].form)
        line = lab_series_add(figure, LAB_LINE, "%s", plots[plot].form_label);
    for (int x = 0; x <= LINE && plots[plot].form; x++) {
        const double C = line_scale(x);
        const double T = C * p.tau * sqrt(4 * p.alpha + p.sigma2);
        lab_series_point(line, C, plots[plot].form(T), 0);
    }
    return lab_series_add(figure, LAB_POINTS, "measured");
}

static int sweep(struct lab_run *run, const struct lab_moments *given)
{
    const int64_t trials = run->trials > 16000 ? run->trials / 16 : 1000;
    struct lab_series *points[FIGURES];
    struct magnitude_theory line[LINE + 1];
    struct parameters p = read_parameters(run);
    const double C = p.C;

    for (int x = 0; x <= LINE && run->figures; x++) {
        p.C = line_scale(x);
        line[x] = theory_of(&p);
    }
    for (int f = 0; f < FIGURES; f++)
        points[f] = run->figures ? draw_plot(run, f, line) : NULL;
    for (int x = 0; x < SCALES && !lab_stopped(&run->session); x++) {
        struct lab_moments own[VALUES];
        const struct lab_moments *const moments = scales[x] == C ? given : own;
        p.C = scales[x];
        const struct magnitude_theory theory = theory_of(&p);
        if (moments == own) {
            if (measure(run, &p, &theory, 2 + (uint64_t)x, trials, own, NULL))
                return -1;
            if (own[MEAN_W].count == 0)
                break;
            emit_rows(run, &p, &theory, own);
        }
        lab_series_estimate(points[VARIANCE], p.C,
                            lab_estimate_variance_within(&moments[MEAN_W], 0, 1));
        lab_series_estimate(points[DEVIATION], p.C,
                            lab_estimate_distance(&moments[MEAN_ABS], 0.5));
        lab_series_estimate(points[NEAR_COPY], p.C,
                            lab_estimate_probability(&moments[COPY]));
    }
    return 0;
}

static int perform(struct lab_run *run)
{
    struct lab_histogram histogram = {.lo = 0, .hi = 1};
    struct lab_moments moments[VALUES];

    if (lab_settle_d(run))
        return -1;
    const struct parameters p = read_parameters(run);
    const struct magnitude_theory theory = theory_of(&p);
    if (measure(run, &p, &theory, 0, run->trials, moments, &histogram))
        return -1;
    emit_rows(run, &p, &theory, moments);
    if (emit_without_noise(run, &p, moments))
        return -1;
    lab_conclude(
        run,
        "n = %g, C = %g: one of v_a and v_b holds more than 90%% of the weight in "
        "%.1f%% of the samples, and the mean weight of all other keys is %.3g.  "
        "Var w = %.3g, that of a fair coin 0.25%s.",
        p.n, p.C, 100 * moments[COPY].mean, moments[LEAK].mean,
        lab_moments_variance(&moments[MEAN_W]),
        theory.law.sd > 0 ? "; w is logit-normal" : "");
    draw_histogram(run, &theory, moments, &histogram);
    return run->sweeps ? sweep(run, moments) : 0;
}

const struct lab_experiment lab_experiment_magnitude = {
    .name = "magnitude",
    .title = "Noise in the length of one key, one head",
    .shows = "With one head and a C that keeps the other keys out, the output is not the "
             "average of v_a and v_b but mostly one of them: w is logit-normal, and the "
             "larger C, the more w is like a coin.",
    .answers = "1c-i, 1c-ii",
    .headline = "var_w",
    LAB_FLAGS(flags),
    .trials = 100000,
    .perform = perform,
};
