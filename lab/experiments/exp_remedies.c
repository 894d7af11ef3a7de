/* SPDX-License-Identifier: MIT */
/*
 * What helps against noisy keys: normalised keys, a query that suppresses the others, a
 * cap on the logits, two heads; under magnitude noise of one key, of all keys, and
 * isotropic noise (T18, T19).
 */
#include "attend/theory.h"
#include "lab/experiments/experiment.h"
#include "lab/setups/scene.h"
#include "theory/score_law.h"

#include <math.h>
#include <stdio.h>

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 10, 3, 1024, "keys"),
    LAB_FLAG_REAL("C", 10, 0, 1000, "scale of the queries"),
    LAB_FLAG_REAL("sigma2", 0.5, 1e-6, 100, "magnitude noise of the noisy keys"),
    LAB_FLAG_REAL("alpha", 0, 0, 100, "isotropic noise of every key"),
    LAB_FLAG_REAL("cap", 5, 1e-3, 1000, "softcap of the remedy 'cap'"),
    LAB_FLAG_CHOICE("remedy", "plain",
                    LAB_5("plain", "qk-norm", "suppression", "cap", "two-heads"),
                    "what is done about the noise"),
    LAB_FLAG_CHOICE("noisy", "a", LAB_4("none", "a", "both", "all"),
                    "keys that carry magnitude noise"),
};

enum remedy { PLAIN, QK_NORM, SUPPRESSION, CAP, TWO_HEADS, REMEDIES };
static const char *const remedy_names[REMEDIES] = {"plain", "qk-norm", "suppression",
                                                   "cap", "two-heads"};

enum { NOISES = 4 };
static const char *const noise_names[NOISES] = {"none", "a", "both", "all"};

struct setting {
    double n, C, sigma2, alpha, cap;
    enum remedy remedy;
    int noisy; /* index of noise_names, which are in the order of enum lab_noisy */
};

static struct setting setting_of(const struct lab_run *run)
{
    return (struct setting){.n = lab_real(run, "n"),
                            .C = lab_real(run, "C"),
                            .sigma2 = lab_real(run, "sigma2"),
                            .alpha = lab_real(run, "alpha"),
                            .cap = lab_real(run, "cap"),
                            .remedy = (enum remedy)lab_choice(run, "remedy"),
                            .noisy = lab_choice(run, "noisy")};
}

/* The queries of a remedy; returns the number of heads. */
static int make_queries(const struct setting *s, attend_theory_query query[2])
{
    if (s->remedy == TWO_HEADS) {
        query[0] = (attend_theory_query){.a = s->C};
        query[1] = (attend_theory_query){.b = s->C};
        return 2;
    }
    query[0] = s->remedy == SUPPRESSION ? attend_theory_suppression_query(s->C)
                                        : (attend_theory_query){.a = s->C, .b = s->C};
    return 1;
}

/* ---- theory -------------------------------------------------------------- */

static attend_theory_scene scene_of(const struct setting *s)
{
    attend_theory_scene scene = attend_theory_scene_exercise(s->n, 0, 0);

    scene.alpha = s->alpha;
    scene.softcap = s->remedy == CAP ? s->cap : 0;
    for (int x = 0; x < s->noisy; x++)
        scene.sigma2[x] = s->sigma2;
    return scene;
}

static attend_theory_output theory_of(const struct setting *s)
{
    const attend_theory_scene scene = scene_of(s);
    attend_theory_query query[2];
    const int heads = make_queries(s, query);

    return s->remedy == QK_NORM ? attend_theory_unit_keys(&scene, query[0])
                                : attend_theory_heads(&scene, query, heads);
}

/* The class of one kind of key in one head, alpha = 0; key a points backwards. */
static struct attendi_theory_score_kind lost_class(const struct setting *s,
                                                   const attend_theory_scene *scene,
                                                   double coefficient, int kind)
{
    const double count = kind == ATTEND_THEORY_REST ? s->n - 2 : 1;
    struct attendi_theory_score_kind class = attendi_theory_plain_kind(
        count, coefficient, fabs(coefficient) * sqrt(scene->sigma2[kind]));

    class.softcap = scene->softcap;
    if (kind == ATTEND_THEORY_A && coefficient > 0)
        class.hi = 0;
    if (kind == ATTEND_THEORY_A && coefficient < 0)
        class.lo = 0;
    return class;
}

/*
 * E coefficient of v_b and of all other values given <k_a, mu_a> < 0, alpha = 0.  Keys of
 * unit norm with noisy others would be mixtures of signs: not computed.
 */
static void lost_theory(const struct setting *s, double *b, double *others)
{
    const attend_theory_scene scene = scene_of(s);
    attend_theory_query query[2];
    const int heads = make_queries(s, query);

    *b = *others = 0;
    for (int h = 0; h < heads; h++) {
        double mean[3], square[3];
        struct attendi_theory_score_kind classes[3] = {
            lost_class(s, &scene, query[h].a, ATTEND_THEORY_A),
            lost_class(s, &scene, query[h].b, ATTEND_THEORY_B),
            lost_class(s, &scene, query[h].rest, ATTEND_THEORY_REST)};
        if (s->remedy == QK_NORM && s->noisy == LAB_NOISY_A)
            classes[0] = attendi_theory_plain_kind(1, -s->C, 0);
        else if (s->remedy == QK_NORM)
            classes[0].keys = NAN;
        if (s->alpha > 0 || attendi_theory_score_moments(classes, 3, mean, square))
            mean[1] = mean[2] = NAN;
        *b += mean[1] / heads;
        *others += (s->n - 2) * mean[2] / heads;
    }
}

/* ---- measurement --------------------------------------------------------- */

enum { COEFF_A, COEFF_B, MSE, LOST_B, LOST_OTHERS, VALUES };

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const double a = outcome->coefficient[0], b = outcome->coefficient[1];
    const int heads = *(const int *)arg, is_lost = outcome->gamma[0] < 0;
    double others = 0;

    for (int h = 0; h < heads; h++)
        others += outcome->others[h] / heads;
    values[COEFF_A] = a;
    values[COEFF_B] = b;
    values[MSE] = lab_pair_error(a, b, outcome->others_squared);
    values[LOST_B] = is_lost ? b : NAN;
    values[LOST_OTHERS] = is_lost ? others : NAN;
}

static int measure(struct lab_run *run, const struct setting *s, uint64_t stream,
                   int64_t trials, struct lab_moments m[VALUES])
{
    attend_theory_query query[2];
    struct lab_scene scene = {.n = (int64_t)s->n,
                              .wanted = 2,
                              .heads = make_queries(s, query),
                              .sigma2 = s->sigma2,
                              .alpha = s->alpha,
                              .tau = 1,
                              .noisy = (enum lab_noisy)s->noisy,
                              .unit_keys = s->remedy == QK_NORM,
                              .softcap = s->remedy == CAP ? s->cap : 0};

    lab_scene_set_queries(&scene, query, scene.heads);
    return lab_scene_measure(&run->session, &scene, stream, trials, observe, &scene.heads,
                             VALUES, m, NULL);
}

/* Spreads below this are rounding, not chance: such a number counts as sure. */
#define ROUNDING 1e-12

static void emit(struct lab_run *run, const struct setting *s, const char *quantity,
                 double theory, struct lab_estimate measured)
{
    if (!(measured.se > ROUNDING) && !measured.rare)
        measured.se = 0;
    lab_emit_at(run, quantity,
                LAB_CHANGES(LAB_IS("C", s->C), LAB_IS("alpha", s->alpha),
                            LAB_IS_TEXT("remedy", remedy_names[s->remedy]),
                            LAB_IS_TEXT("noisy", noise_names[s->noisy])),
                lab_exact(theory, measured));
}

struct found {
    double theory;
    struct lab_estimate measured;
};

/* How far a coefficient is from 1/2 on the mean. */
static struct lab_estimate bias_of(const struct lab_moments *coefficient)
{
    struct lab_estimate bias = lab_estimate_mean_within(coefficient, 0, 1);

    bias.value -= 0.5;
    bias.low -= 0.5;
    bias.high -= 0.5;
    return bias;
}

/* All rows of a setting; what a figure shows of it: the mse and Var coefficient_a. */
static int rows(struct lab_run *run, const struct setting *s, uint64_t stream,
                int64_t trials, struct found *mse, struct found *variance)
{
    const attend_theory_output theory = theory_of(s);
    struct lab_moments m[VALUES];

    if (measure(run, s, stream, trials, m))
        return -1;
    *mse =
        (struct found){theory.mse, lab_estimate_square(&m[MSE], 0, LAB_PAIR_ERROR_MAX)};
    *variance = (struct found){theory.variance[ATTEND_THEORY_A],
                               lab_estimate_variance_within(&m[COEFF_A], 0, 1)};
    emit(run, s, "var_a", variance->theory, variance->measured);
    emit(run, s, "bias_a", theory.mean[ATTEND_THEORY_A] - 0.5, bias_of(&m[COEFF_A]));
    emit(run, s, "bias_b", theory.mean[ATTEND_THEORY_B] - 0.5, bias_of(&m[COEFF_B]));
    emit(run, s, "mse", mse->theory, mse->measured);
    if (s->noisy != LAB_NOISY_NONE) {
        double lost_b, lost_others;
        lost_theory(s, &lost_b, &lost_others);
        emit(run, s, "fallback_b", lost_b, lab_estimate_mean_within(&m[LOST_B], 0, 1));
        emit(run, s, "fallback_others", lost_others,
             lab_estimate_mean_within(&m[LOST_OTHERS], 0, 1));
    }
    return 0;
}

/* ---- sweeps -------------------------------------------------------------- */

/* The three kinds of noise; the last has no magnitude noise and this alpha. */
enum { MODELS = 3 };
static const int model_noisy[MODELS] = {LAB_NOISY_A, LAB_NOISY_ALL, LAB_NOISY_NONE};
static const char *const model_names[MODELS] = {"noise of a", "noise of all",
                                                "isotropic"};
#define MODEL_ALPHA 0.001

static int compare(struct lab_run *run)
{
    const double given = lab_real(run, "alpha");
    struct lab_figure *const figure =
        lab_plot(run, "Error of each remedy under three kinds of noise", "remedy",
                 "E|c - (v_a + v_b)/2|^2", LAB_LOG_Y, "%s", "");
    struct found mse, variance;
    char text[400];
    int used = snprintf(text, sizeof text, "C = %g, n = %g. Dashes: theory.",
                        lab_real(run, "C"), lab_real(run, "n"));

    lab_figure_names(figure, "plain|qk-norm|suppression|cap|two heads");
    for (int model = 0; model < MODELS; model++) {
        struct found found[REMEDIES];
        for (int remedy = 0; remedy < REMEDIES; remedy++) {
            struct setting s = setting_of(run);
            if (lab_stopped(&run->session))
                return 0;
            s.remedy = (enum remedy)remedy;
            s.noisy = model_noisy[model];
            if (s.noisy == LAB_NOISY_NONE && !(given > 0))
                s.alpha = MODEL_ALPHA;
            if (rows(run, &s, 10 + (uint64_t)(model * REMEDIES + remedy),
                     run->trials / 10 + 100, &mse, &variance))
                return -1;
            found[remedy] = mse;
        }
        const struct lab_curve curve = lab_curve_add(figure, "%s", model_names[model]);
        for (int remedy = 0; remedy < REMEDIES; remedy++)
            lab_series_point(curve.theory, remedy, found[remedy].theory, 0);
        int best = 0, worst = 0;
        for (int remedy = 0; remedy < REMEDIES; remedy++) {
            const double value = found[remedy].measured.value;
            lab_series_estimate(curve.measured, remedy, found[remedy].measured);
            best = value < found[best].measured.value ? remedy : best;
            worst = value > found[worst].measured.value ? remedy : worst;
        }
        used +=
            snprintf(text + used, sizeof text - (size_t)used,
                     "  %s: least with %s (%.2g), most with %s (%.2g).",
                     model_names[model], remedy_names[best], found[best].measured.value,
                     remedy_names[worst], found[worst].measured.value);
    }
    lab_figure_describe(figure, LAB_LOG_Y, "%s  Isotropic: alpha = %g.", text,
                        given > 0 ? given : MODEL_ALPHA);
    return 0;
}

/* The x-th of 41 values of alpha, or of C. */
static double swept(int by_alpha, int x)
{
    return pow(10, by_alpha ? -6 + x / 10.0 : x / 20.0);
}

/* Var coefficient_a over C or alpha, for every remedy; every tenth value is measured. */
static int curves(struct lab_run *run, struct lab_figure *figure, int by_alpha)
{
    struct found mse, variance;

    for (int remedy = 0; remedy < REMEDIES; remedy++) {
        struct setting s = setting_of(run);
        double *const at = by_alpha ? &s.alpha : &s.C;
        const struct lab_curve curve = lab_curve_add(figure, "%s", remedy_names[remedy]);
        s.remedy = (enum remedy)remedy;
        for (int x = 0; x <= 40 && curve.theory; x++) {
            *at = swept(by_alpha, x);
            lab_series_point(curve.theory, *at, theory_of(&s).variance[ATTEND_THEORY_A],
                             0);
        }
        for (int x = 0; x < 5 && !lab_stopped(&run->session); x++) {
            const uint64_t stream = 100 + (uint64_t)(50 * by_alpha + 5 * remedy + x);
            *at = swept(by_alpha, 10 * x);
            if (rows(run, &s, stream, run->trials / 20 + 100, &mse, &variance))
                return -1;
            lab_series_estimate(curve.measured, *at, variance.measured);
        }
    }
    return 0;
}

static int sweep_scale(struct lab_run *run)
{
    const double sigma2 = lab_real(run, "sigma2"), alpha = lab_real(run, "alpha");
    const double flips = attend_theory_normal_cdf(-1 / sqrt(sigma2));
    const int has_limit = alpha <= 0 && lab_choice(run, "noisy") == LAB_NOISY_A;
    char end[160] = "";

    if (has_limit)
        snprintf(
            end, sizeof end,
            "  Two heads and normalised keys both settle at p (1 - p)/4 = %.3g, p the "
            "chance that k_a points forwards.",
            flips * (1 - flips) / 4);
    struct lab_figure *const figure =
        lab_plot(run, "Remedies as the scale grows", "C (query scale)",
                 "variance of the coefficient of v_a", LAB_LOG_X | LAB_LOG_Y,
                 "sigma2 = %g, alpha = %g, noisy: %s.%s", sigma2, alpha,
                 lab_text(run, "noisy"), end);

    return curves(run, figure, 0);
}

static int sweep_alpha(struct lab_run *run)
{
    struct lab_figure *const figure = lab_plot(
        run, "Remedies as isotropic noise grows", "alpha (isotropic noise)",
        "variance of the coefficient of v_a", LAB_LOG_X | LAB_LOG_Y,
        "C = %g, n = %g. The suppression query does not see the magnitude of k_a, but "
        "its scores vary by alpha C^2 (n - 2), those of the plain query by 2 alpha C^2; "
        "normalised keys have no formula above alpha = 0.",
        lab_real(run, "C"), lab_real(run, "n"));

    return curves(run, figure, 1);
}

/* Every remedy at the run's parameters, by theory where there is one. */
static void conclude(struct lab_run *run, const struct setting *given,
                     const struct found *variance)
{
    char text[200] = "";
    int used = 0;

    for (int remedy = 0; remedy < REMEDIES; remedy++) {
        struct setting s = *given;
        s.remedy = (enum remedy)remedy;
        const double theory = theory_of(&s).variance[ATTEND_THEORY_A];
        if (isfinite(theory))
            used += snprintf(text + used, sizeof text - (size_t)used, "%s %s %.3g",
                             used ? "," : "  By theory:", remedy_names[remedy], theory);
    }
    lab_conclude(run,
                 "n = %g, C = %g, noisy: %s, remedy %s: the variance of the coefficient "
                 "of v_a is %.3g.%s%s",
                 given->n, given->C, noise_names[given->noisy],
                 remedy_names[given->remedy], variance->measured.value, text,
                 used ? "." : "");
}

static int perform(struct lab_run *run)
{
    const struct setting s = setting_of(run);
    struct found mse, variance;

    if (rows(run, &s, 1, run->trials, &mse, &variance))
        return -1;
    conclude(run, &s, &variance);
    return 0;
}

static int sweep(struct lab_run *run)
{
    return compare(run) || sweep_scale(run) || sweep_alpha(run);
}

const struct lab_experiment lab_experiment_remedies = {
    .name = "remedies",
    .title = "Remedies against noisy keys",
    .shows =
        "Where only k_a varies in length, normalised keys are at large C as steady as "
        "two heads and fall back to v_b; a query that suppresses the others is blind to "
        "the noise of k_a but fragile to "
        "noise in the other keys, and a cap on the logits trades noise for leak.",
    .answers = "1e",
    LAB_FLAGS(flags),
    .trials = 200000,
    .perform = perform,
    .sweep = sweep,
};
