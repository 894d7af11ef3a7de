/* SPDX-License-Identifier: MIT */
/*
 * Remedies against noisy keys: normalised keys, a query that suppresses the others, a
 * cap on the logits, two heads; under magnitude noise of one key, of all keys, and
 * isotropic noise (T18, T19).
 */
#include "attend/theory.h"
#include "lab/experiments/runner.h"
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

enum { N, SCALE, SIGMA2, ALPHA, CAP, REMEDY, NOISY }; /* flags */
enum { PLAIN, QK_NORM, SUPPRESSION, SOFTCAP, TWO_HEADS, REMEDIES };
static const char *const remedy_names[REMEDIES] = {"plain", "qk-norm", "suppression",
                                                   "cap", "two-heads"};

/* Values of a trial. */
enum { COEFF_A, COEFF_B, ERROR, LOST_B, LOST_OTHERS, VALUES };

static const struct lab_observable rows[] = {
    {"var_a", COEFF_A, LAB_VARIANCE_WITHIN, 1},
    {"bias_a", COEFF_A, LAB_MEAN_WITHIN, 1},
    {"bias_b", COEFF_B, LAB_MEAN_WITHIN, 1},
    {"mse", ERROR, LAB_SQUARE, LAB_PAIR_ERROR_MAX},
    {"fallback_b", LOST_B, LAB_MEAN_WITHIN, 1},
    {"fallback_others", LOST_OTHERS, LAB_MEAN_WITHIN, 1},
};
enum { VAR_A, BIAS_A, BIAS_B, MSE, FALLBACK_B, FALLBACK_OTHERS };

static struct lab_scene scene_of(const struct lab_setting *p)
{
    const int remedy = (int)p->at[REMEDY];
    struct lab_scene scene =
        LAB_SCENE(p->at[N], remedy == TWO_HEADS ? 2 : 1, p->at[SIGMA2], p->at[ALPHA], 1,
                  .noisy = (enum lab_noisy)p->at[NOISY], .unit_keys = remedy == QK_NORM,
                  .softcap = remedy == SOFTCAP ? p->at[CAP] : 0);
    const attend_theory_query suppression = attend_theory_suppression_query(p->at[SCALE]);

    lab_scene_set_pair(&scene, p->at[SCALE]);
    if (remedy == SUPPRESSION)
        lab_scene_set_queries(&scene, &suppression, 1);
    return scene;
}

/* ---- theory -------------------------------------------------------------- */

/* The class of one kind of key in one head, alpha = 0; key a points backwards. */
static struct attendi_theory_score_kind lost_class(const attend_theory_scene *law,
                                                   double coefficient, int kind)
{
    const double count = kind == ATTEND_THEORY_REST ? law->n - 2 : 1;
    struct attendi_theory_score_kind class = attendi_theory_plain_kind(
        count, coefficient, fabs(coefficient) * sqrt(law->sigma2[kind]));

    class.softcap = law->softcap;
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
static void lost_theory(const struct lab_scene *scene, double *b, double *others)
{
    const attend_theory_scene law = lab_scene_law(scene, 0);
    const int heads = scene->heads;

    *b = *others = 0;
    for (int h = 0; h < heads; h++) {
        const attend_theory_query query = lab_scene_query(scene, h);
        double mean[3], square[3];
        struct attendi_theory_score_kind classes[3] = {
            lost_class(&law, query.a, ATTEND_THEORY_A),
            lost_class(&law, query.b, ATTEND_THEORY_B),
            lost_class(&law, query.rest, ATTEND_THEORY_REST)};
        if (scene->unit_keys && scene->noisy == LAB_NOISY_A)
            classes[0] = attendi_theory_plain_kind(1, -query.a, 0);
        else if (scene->unit_keys)
            classes[0].keys = NAN;
        if (law.alpha > 0 || attendi_theory_score_moments(classes, 3, mean, square))
            mean[1] = mean[2] = NAN;
        *b += mean[1] / heads;
        *others += (law.n - 2) * mean[2] / heads;
    }
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    const struct lab_scene scene = scene_of(p);
    const attend_theory_output output = lab_scene_theory(&scene, 0);

    theory[VAR_A] = output.variance[ATTEND_THEORY_A];
    theory[BIAS_A] = output.mean[ATTEND_THEORY_A] - 0.5;
    theory[BIAS_B] = output.mean[ATTEND_THEORY_B] - 0.5;
    theory[MSE] = output.mse;
    lost_theory(&scene, &theory[FALLBACK_B], &theory[FALLBACK_OTHERS]);
}

/* ---- measurement --------------------------------------------------------- */

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const struct lab_setting *const p = arg;
    const double a = outcome->coefficient[0], b = outcome->coefficient[1];
    const int heads = p->at[REMEDY] == TWO_HEADS ? 2 : 1;
    const int is_lost = outcome->gamma[0] < 0;
    double others = 0;

    for (int h = 0; h < heads; h++)
        others += outcome->others[h] / heads;
    values[COEFF_A] = a;
    values[COEFF_B] = b;
    values[ERROR] = lab_pair_error(a, b, outcome->others_squared);
    values[LOST_B] = is_lost ? b : NAN;
    values[LOST_OTHERS] = is_lost ? others : NAN;
}

/* A bias is how far a coefficient is from 1/2 on the mean. */
static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    struct lab_found *const found = sample->found;

    for (int row = BIAS_A; row <= BIAS_B; row++) {
        found[row].measured -= 0.5;
        found[row].low -= 0.5;
        found[row].high -= 0.5;
    }
    found[FALLBACK_B].is_absent = found[FALLBACK_OTHERS].is_absent =
        p->at[NOISY] == LAB_NOISY_NONE;
}

static const struct lab_model model = {
    LAB_ROWS(rows),     .theory = theory_of, .values = VALUES, .scene = scene_of,
    .observe = observe, .finish = finish,    .rounding = 1e-12};

/* ---- sweeps -------------------------------------------------------------- */

/* The three kinds of noise; the last has no magnitude noise and this alpha. */
enum { MODELS = 3 };
static const int model_noisy[MODELS] = {LAB_NOISY_A, LAB_NOISY_ALL, LAB_NOISY_NONE};
static const char *const model_names[MODELS] = {"noise of a", "noise of all",
                                                "isotropic"};
#define MODEL_ALPHA 0.001

static int compare(struct lab_run *run)
{
    const struct lab_setting own = lab_own(run);
    const double alpha = own.at[ALPHA] > 0 ? own.at[ALPHA] : MODEL_ALPHA;
    struct lab_figure *const figure =
        lab_plot(run, "remedies", "Error of each remedy under three kinds of noise",
                 "remedy", "E|c - (v_a + v_b)/2|^2", LAB_LOG_Y, "%s", "");
    char text[400];
    int used = snprintf(text, sizeof text, "C = %g, n = %g. Dashes: theory.",
                        own.at[SCALE], own.at[N]);

    lab_figure_names(figure, "plain|qk-norm|suppression|cap|two heads");
    for (int m = 0; m < MODELS; m++) {
        struct lab_sample sample[REMEDIES];
        struct lab_setting p = own;
        p.at[NOISY] = model_noisy[m];
        if (model_noisy[m] == LAB_NOISY_NONE)
            p.at[ALPHA] = alpha;
        for (int remedy = 0; remedy < REMEDIES; remedy++) {
            if (lab_stopped(&run->session))
                return 0;
            p.at[REMEDY] = remedy;
            sample[remedy].histogram = NULL;
            if (lab_rows_at(run, &model, &p, 10 + (uint64_t)(m * REMEDIES + remedy),
                            run->trials / 10 + 100, &sample[remedy]))
                return -1;
        }
        const struct lab_curve curve = lab_curve_add(figure, "%s", model_names[m]);
        int best = 0, worst = 0;
        for (int remedy = 0; remedy < REMEDIES; remedy++) {
            const struct lab_found *const mse = &sample[remedy].found[MSE];
            lab_series_point(curve.theory, remedy, mse->theory, 0);
            lab_series_point(curve.measured, remedy, mse->measured, mse->se);
            best = mse->measured < sample[best].found[MSE].measured ? remedy : best;
            worst = mse->measured > sample[worst].found[MSE].measured ? remedy : worst;
        }
        used +=
            snprintf(text + used, sizeof text - (size_t)used,
                     "  %s: least with %s (%.2g), most with %s (%.2g).", model_names[m],
                     remedy_names[best], sample[best].found[MSE].measured,
                     remedy_names[worst], sample[worst].found[MSE].measured);
    }
    lab_figure_describe(figure, LAB_LOG_Y, "%s  Isotropic: alpha = %g.", text, alpha);
    return 0;
}

/* Var coefficient_a over C or alpha, for every remedy. */
static int curves(struct lab_run *run, struct lab_figure *figure, int flag,
                  struct lab_line line)
{
    struct lab_setting p = lab_own(run);
    double steps[5];

    for (int x = 0; x < 5; x++)
        steps[x] = flag == ALPHA ? pow(10, x - 6) : pow(10, 0.5 * x);
    for (int remedy = 0; remedy < REMEDIES; remedy++) {
        const struct lab_sweep sweep =
            LAB_SWEEP(flag, steps, .line = line,
                      .stream = 100 + (uint64_t)(50 * (flag == ALPHA) + 5 * remedy),
                      .trials = run->trials / 20 + 100);
        const struct lab_plotted drawn = {
            VAR_A, lab_curve_add(figure, "%s", remedy_names[remedy])};
        p.at[REMEDY] = remedy;
        if (lab_sweep(run, &model, &sweep, p, &drawn, 1))
            return -1;
    }
    return 0;
}

static int sweep_scale(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    const double flips = attend_theory_normal_cdf(-1 / sqrt(p.at[SIGMA2]));
    const int has_limit = p.at[ALPHA] <= 0 && p.at[NOISY] == LAB_NOISY_A;
    char end[160] = "";

    if (has_limit)
        snprintf(end, sizeof end,
                 "  Two heads and normalised keys both settle at p (1 - p)/4 = %.3g, p "
                 "the chance that k_a points forwards.",
                 flips * (1 - flips) / 4);
    struct lab_figure *const figure =
        lab_plot(run, "scale", "Remedies as the scale grows", "C (query scale)",
                 "variance of the coefficient of v_a", LAB_LOG_X | LAB_LOG_Y,
                 "sigma2 = %g, alpha = %g, noisy: %s.%s", p.at[SIGMA2], p.at[ALPHA],
                 lab_text(run, "noisy"), end);

    return curves(run, figure, SCALE, (struct lab_line){0, 2, 40, LAB_BY_POWERS, 0, 0});
}

static int sweep_alpha(struct lab_run *run)
{
    struct lab_figure *const figure = lab_plot(
        run, "alpha", "Remedies as isotropic noise grows", "alpha (isotropic noise)",
        "variance of the coefficient of v_a", LAB_LOG_X | LAB_LOG_Y,
        "C = %g, n = %g. The suppression query does not see the magnitude of k_a, but "
        "its scores vary by alpha C^2 (n - 2), those of the plain query by 2 alpha C^2; "
        "normalised keys have no formula above alpha = 0.",
        lab_real(run, "C"), lab_real(run, "n"));

    return curves(run, figure, ALPHA, (struct lab_line){-6, -2, 40, LAB_BY_POWERS, 0, 0});
}

/* Every remedy at the run's parameters, by theory where there is one. */
static void conclude(struct lab_run *run, double variance)
{
    const struct lab_setting own = lab_own(run);
    struct lab_setting p = own;
    char text[200] = "";
    int used = 0;

    for (int remedy = 0; remedy < REMEDIES; remedy++) {
        p.at[REMEDY] = remedy;
        const struct lab_scene scene = scene_of(&p);
        const double theory = lab_scene_theory(&scene, 0).variance[ATTEND_THEORY_A];
        if (isfinite(theory))
            used += snprintf(text + used, sizeof text - (size_t)used, "%s %s %.3g",
                             used ? "," : "  By theory:", remedy_names[remedy], theory);
    }
    lab_conclude(run,
                 "n = %g, C = %g, noisy: %s, remedy %s.  Apart from the bias, which only "
                 "mse includes: the variance of the coefficient of v_a is %.3g.%s%s",
                 own.at[N], own.at[SCALE], lab_text(run, "noisy"),
                 lab_text(run, "remedy"), variance, text, used ? "." : "");
}

static int perform(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    struct lab_sample sample = {.histogram = NULL};

    if (lab_rows_at(run, &model, &p, 1, run->trials, &sample))
        return -1;
    conclude(run, sample.found[VAR_A].measured);
    return 0;
}

static int sweep(struct lab_run *run)
{
    return compare(run) || sweep_scale(run) || sweep_alpha(run);
}

const struct lab_experiment lab_experiment_remedies = {
    .name = "remedies",
    .title = "Remedies against noisy keys",
    .shows = "Where only k_a varies in length, normalised keys are at large C as steady "
             "as two heads and fall back to v_b; a query that suppresses the others is "
             "blind to the noise of k_a but fragile to noise in the other keys, and a "
             "cap on the logits trades noise for leak.",
    .answers = "1e",
    LAB_FLAGS(flags),
    .trials = 200000,
    .perform = perform,
    .sweep = sweep,
};
