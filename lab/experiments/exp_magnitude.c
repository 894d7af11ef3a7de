/* SPDX-License-Identifier: MIT */
/*
 * One head q = C (mu_a + mu_b) on keys of which k_a varies in length: the weight of v_a
 * is logit-normal, and at a C that keeps the others out it is hardly ever near 1/2 (T9 -
 * T12).
 */
#include "lab/experiments/runner.h"

#include <math.h>

#include "attend/theory.h"
#include "lab/setups/scene_laws.h"

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

enum { N, D, C, SIGMA2, ALPHA, TAU }; /* flags */
/* Values of a trial: those of the pair, and these. */
enum { ABS = LAB_PAIR_VALUES, OUTSIDE, COPY, DISTANCE, LOGIT, OFF_SEGMENT, VALUES };

static const struct lab_observable rows[] = {
    {"mean_w", LAB_WEIGHT_A, LAB_MEAN_WITHIN, 1},
    {"var_w", LAB_WEIGHT_A, LAB_VARIANCE_WITHIN, 1},
    {"mean_abs_dev", ABS, LAB_DISTANCE, 0.5},
    {"p_outside_10_90", OUTSIDE, LAB_PROBABILITY, 1},
    {"modes", LOGIT, LAB_MEAN, 0},
    {"p_copy_90", COPY, LAB_PROBABILITY, 1},
    {"mean_error", DISTANCE, LAB_DISTANCE, 0},
};
enum { VAR_W = 1, MEAN_ABS_DEV, P_OUTSIDE, MODES, P_COPY, MEAN_ERROR };

/* The same question without noise of magnitude: the first rows again. */
static const struct lab_observable rows_part_i[] = {
    {"mean_w_part_i", LAB_WEIGHT_A, LAB_MEAN_WITHIN, 1},
    {"var_w_part_i", LAB_WEIGHT_A, LAB_VARIANCE_WITHIN, 1},
    {"mean_abs_dev_part_i", ABS, LAB_DISTANCE, 0.5},
};

/* Logits beyond this are lost: the smallest weights of a double. */
#define LOGIT_MAX 745.0
/* |v_a - v_b| of orthonormal values. */
static const double value_distance = 1.41421356237309504880;

static double scale_of(const struct lab_setting *p) { return p->at[C] * p->at[TAU]; }

/* The law of p_a; NaN where it is not logit-normal. */
static attend_theory_law law_of(const struct lab_setting *p)
{
    if (p->at[ALPHA] == 0)
        return attend_theory_law_one_head(p->at[N], scale_of(p), p->at[SIGMA2]);
    if (p->at[N] == 2)
        return attend_theory_law_pair(scale_of(p), p->at[SIGMA2], p->at[ALPHA]);
    return (attend_theory_law){NAN, NAN, -INFINITY};
}

static struct lab_scene scene_of(const struct lab_setting *p)
{
    return LAB_SCENE(p->at[N], 1, p->at[SIGMA2], p->at[ALPHA], p->at[TAU],
                     .d = (int64_t)p->at[D], .noisy = LAB_NOISY_A,
                     .query = {{p->at[C], p->at[C]}}, .plain = 1);
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    const attend_theory_law law = law_of(p);
    double modes[2];

    for (int row = MEAN_ABS_DEV; row <= MEAN_ERROR; row++)
        theory[row] = NAN;
    if (isnan(law.mean))
        return;
    theory[MEAN_ABS_DEV] = attend_theory_weight_abs_deviation(law);
    theory[P_OUTSIDE] = attend_theory_weight_outside(law, 0.1);
    theory[P_COPY] = p->at[ALPHA] == 0
                         ? lab_one_head_copies(p->at[N], scale_of(p), p->at[SIGMA2])
                         : theory[P_OUTSIDE];
    if (law.sd > 0)
        theory[MODES] = attend_theory_weight_modes(law, modes);
}

/* E|c - (v_a + v_b)/2| where that is known; of two keys, by the theory of E|w - 1/2|. */
static double mean_error(const struct lab_setting *p, double mean_abs)
{
    return p->at[ALPHA] > 0 || p->at[N] <= 2 || isnan(mean_abs)
               ? value_distance * mean_abs
               : lab_one_head_distance(p->at[N], scale_of(p), law_of(p));
}

static void observe(const struct lab_setting *p, const struct lab_outcome *outcome,
                    double *values)
{
    const double w = outcome->weight[0][0], b = outcome->weight[0][1];
    const double n = p->at[N], others = outcome->others[0];
    const double not_w = b + others; /* 1 - w, also where w rounds to 1 */
    /* Without isotropic noise the others have equal parts of the leak. */
    const double squares = n > 2 ? others * others / (n - 2) : 0;
    const int is_known = p->at[ALPHA] == 0 || n == 2;
    /* The coefficient of v_b in u, the other end of the segment that c lies on. */
    const double share_b = 1 / (1 + (n - 2) * exp(-scale_of(p)));

    values[ABS] = fabs(w - 0.5);
    values[OUTSIDE] = w < 0.1 || not_w < 0.1;
    values[COPY] = not_w < 0.1 || w + others < 0.1;
    values[DISTANCE] = is_known ? sqrt(lab_pair_error(w, b, squares)) : NAN;
    values[LOGIT] = fmax(-LOGIT_MAX, fmin(LOGIT_MAX, log(w / not_w)));
    values[OFF_SEGMENT] = p->at[ALPHA] == 0 ? fabs(b - not_w * share_b) : NAN;
}

static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    struct lab_found *const found = sample->found;
    const struct lab_moments *const logit = &sample->moments[LOGIT];
    const double mean_abs = found[MEAN_ABS_DEV].theory;
    /* The most that |c - (v_a + v_b)/2| can be: of two keys c lies between the values. */
    const double most = p->at[N] > 2 ? sqrt(LAB_PAIR_ERROR_MAX) : value_distance / 2;

    /* The modes themselves lie where no sample falls, at logits of +-T^2. */
    found[MODES] =
        lab_sure(found[MODES].theory,
                 lab_logit_normal_modes(logit->mean, lab_moments_variance(logit)));
    found[MEAN_ERROR] = lab_exact(
        mean_error(p, mean_abs), lab_estimate_distance(&sample->moments[DISTANCE], most));
    found[MEAN_ERROR].is_absent = isnan(mean_abs);
}

static const struct lab_model model = {
    LAB_ROWS(rows),    .theory = theory_of, .values = VALUES, .pair_values = ABS,
    .scene = scene_of, .observe = observe,  .finish = finish};
static const struct lab_model part_i = {LAB_ROWS(rows_part_i), .theory = theory_of,
                                        .values = VALUES,      .pair_values = ABS,
                                        .scene = scene_of,     .observe = observe};

/* ---- figures --------------------------------------------------------------- */

static double weight_cdf(const void *law, double w)
{
    return attend_theory_weight_cdf(*(const attend_theory_law *)law, w);
}

static void draw_histogram(struct lab_run *run, const attend_theory_law *law,
                           const struct lab_sample *sample)
{
    const double copies = sample->moments[COPY].mean;
    struct lab_figure *const figure = lab_plot(
        run, "weight-density", "The weight of v_a over samples", "w = p_a", "density", 0,
        "%s: one of v_a and v_b holds more than 90%% in %.1f%% of the samples, and w "
        "lies between 0.1 and 0.9 in %.1f%%.%s",
        copies > 0.5 ? "A sampler, not an average" : "Rarely one value alone",
        100 * copies, 100 * (1 - sample->moments[OUTSIDE].mean),
        law->sd > 0 ? "  Theory is the logit-normal law, averaged over each bin." : "");

    lab_plot_histogram(figure, sample->histogram, law->sd > 0 ? "logit-normal" : NULL,
                       weight_cdf, law);
}

static const double scales[] = {0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50};

/* Their forms for n = 2. */
static double noise_of(const struct lab_setting *p)
{
    return scale_of(p) * sqrt(4 * p->at[ALPHA] + p->at[SIGMA2]);
}

static double arcsin_form(const struct lab_setting *p)
{
    return attend_theory_weight_variance_arcsin(noise_of(p));
}

static double arctan_form(const struct lab_setting *p)
{
    return attend_theory_weight_abs_deviation_arctan(noise_of(p));
}

static const struct lab_chart charts[] = {
    {"variance", "Variance of the weight", "C (query scale)", "Var w", LAB_LOG_X,
     .curves = {{VAR_W, ""}}, .label = "arcsin form, n = 2", .value = arcsin_form},
    {"deviation", "Distance from one half", "C (query scale)", "E|w - 1/2|", LAB_LOG_X,
     .curves = {{MEAN_ABS_DEV, ""}}, .label = "arctan form, n = 2", .value = arctan_form},
    {"copies", "One value holds more than 90%", "C (query scale)",
     "P(p_a > 0.9 or p_b > 0.9)", LAB_LOG_X, .curves = {{P_COPY, ""}}},
};

static int sweep(struct lab_run *run, const struct lab_sample *sample)
{
    const struct lab_sweep over_C =
        LAB_SWEEP(C, scales, .line = {0.5, 50, 120, LAB_BY_FACTORS, 0, 0}, .stream = 2,
                  .trials = run->trials > 16000 ? run->trials / 16 : 1000, .own = sample);
    struct lab_setting p = lab_own(run);
    const double wins = attend_theory_window_limit(p.at[N], p.at[ALPHA], p.at[SIGMA2])
                            .mean[ATTEND_THEORY_A];
    struct lab_figure *figures[3];
    double theory[MEAN_ERROR + 1];

    if (lab_charts(run, &model, &over_C, p, charts, 3, figures))
        return -1;
    if (p.at[ALPHA] + p.at[SIGMA2] > 0)
        lab_caption(figures[0],
                    "As C grows the score of a is the largest with probability %.3g, and "
                    "the variance tends to that of such a coin, %.3g.",
                    wins, wins * (1 - wins));
    else
        lab_caption(figures[0], "Nothing is noisy: w does not vary.");
    p.at[C] = scales[0];
    theory_of(&p, theory);
    const double mean_abs = theory[MEAN_ABS_DEV];
    if (isnan(mean_abs))
        lab_caption(figures[1], "n = %g, alpha = %g, sigma2 = %g.", p.at[N], p.at[ALPHA],
                    p.at[SIGMA2]);
    else
        lab_caption(figures[1],
                    "Where nothing leaks the mean error of c is |v_a - v_b| times this.  "
                    "A leak adds to it: at C = %g the error is %.3g, and the product "
                    "%.3g.",
                    p.at[C], mean_error(&p, mean_abs), value_distance * mean_abs);
    lab_caption(figures[2], "How often the output is almost a copy of v_a or of v_b.  "
                            "Weight that leaks to the others is no copy.");
    return 0;
}

/* ---- the run --------------------------------------------------------------- */

static int perform(struct lab_run *run)
{
    struct lab_histogram histogram = {.lo = 0, .hi = 1};
    struct lab_sample sample = {.histogram = &histogram};
    const struct lab_moments *const moments = sample.moments;

    if (lab_settle_d(run))
        return -1;
    struct lab_setting p = lab_own(run);
    const attend_theory_law law = law_of(&p);
    if (lab_rows_at(run, &model, &p, 0, run->trials, &sample))
        return -1;
    if (moments[OFF_SEGMENT].count > 0)
        lab_emit(run, "off_segment", &p, lab_zero(moments[OFF_SEGMENT].mean, 1e-14));
    p.at[SIGMA2] = 0;
    if (lab_rows_at(run, &part_i, &p, 1, run->trials, NULL))
        return -1;
    lab_conclude(run,
                 "n = %g, C = %g: one of v_a and v_b holds more than 90%% of the weight "
                 "in %.1f%% of the samples, and the mean weight of all other keys is "
                 "%.3g.  The weight w of v_a has the variance %.3g over the samples; a "
                 "fair coin between 0 and 1 has 0.25%s.",
                 p.at[N], p.at[C], 100 * moments[COPY].mean, moments[LAB_LEAK].mean,
                 lab_moments_variance(&moments[LAB_WEIGHT_A]),
                 law.sd > 0 ? "; w is logit-normal" : "");
    draw_histogram(run, &law, &sample);
    return run->sweeps ? sweep(run, &sample) : 0;
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
