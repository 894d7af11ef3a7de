/* SPDX-License-Identifier: MIT */
/*
 * Remedies against noisy keys: normalised keys, a query that suppresses the others, a
 * cap on the logits, two heads; under magnitude noise of one key, of all keys, and
 * isotropic noise (T18, T19).
 */
#include "attend/theory.h"
#include "lab/experiments/runner.h"
#include "lab/setups/scene_laws.h"

#include <math.h>

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
static const struct lab_member remedies[REMEDIES] = {{PLAIN, "plain"},
                                                     {QK_NORM, "qk-norm"},
                                                     {SUPPRESSION, "suppression"},
                                                     {SOFTCAP, "cap"},
                                                     {TWO_HEADS, "two-heads"}};

/* Values of a trial: those of the pair, and those of the trials that lose key a. */
enum { LOST_B = LAB_PAIR_VALUES, LOST_OTHERS, VALUES };

static const struct lab_observable rows[] = {
    {"var_a", LAB_COEFFICIENT_A, LAB_VARIANCE_WITHIN, 1},
    {"bias_a", LAB_COEFFICIENT_A, LAB_MEAN_WITHIN, 1},
    {"bias_b", LAB_COEFFICIENT_B, LAB_MEAN_WITHIN, 1},
    {"mse", LAB_ERROR, LAB_SQUARE, LAB_PAIR_ERROR_MAX},
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

static void theory_of(const struct lab_setting *p, double *theory)
{
    const struct lab_scene scene = scene_of(p);

    theory[BIAS_A] -= 0.5;
    theory[BIAS_B] -= 0.5;
    lab_scene_lost(&scene, &theory[FALLBACK_B], &theory[FALLBACK_OTHERS]);
}

static void observe(const struct lab_setting *p, const struct lab_outcome *outcome,
                    double *values)
{
    const int heads = p->at[REMEDY] == TWO_HEADS ? 2 : 1;
    const int is_lost = outcome->gamma[0] < 0;
    double others = 0;

    for (int h = 0; h < heads; h++)
        others += outcome->others[h] / heads;
    values[LOST_B] = is_lost ? outcome->coefficient[1] : NAN;
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
    LAB_ROWS(rows),    .theory = theory_of, .values = VALUES, .pair_values = LOST_B,
    .scene = scene_of, .observe = observe,  .finish = finish, .rounding = 1e-12};

/* ---- sweeps -------------------------------------------------------------- */

/* The kinds of noise; the last has no magnitude noise and this alpha. */
static const struct lab_member kinds[] = {{LAB_NOISY_A, "noise of a"},
                                          {LAB_NOISY_ALL, "noise of all"},
                                          {LAB_NOISY_NONE, "isotropic"}};
enum { KINDS = sizeof kinds / sizeof *kinds };
#define KIND_ALPHA 0.001

static int compare(struct lab_run *run)
{
    const struct lab_setting own = lab_own(run);
    const double alpha = own.at[ALPHA] > 0 ? own.at[ALPHA] : KIND_ALPHA;
    struct lab_figure *const figure =
        lab_plot(run, "remedies", "Error of each remedy under three kinds of noise",
                 "remedy", "E|c - (v_a + v_b)/2|^2", LAB_LOG_Y,
                 "C = %g, n = %g. Dashes: theory.", own.at[SCALE], own.at[N]);

    lab_figure_names(figure, "plain|qk-norm|suppression|cap|two heads");
    for (int m = 0; m < KINDS; m++) {
        struct lab_sample sample[REMEDIES];
        struct lab_setting p = own;
        p.at[NOISY] = kinds[m].value;
        if (p.at[NOISY] == LAB_NOISY_NONE)
            p.at[ALPHA] = alpha;
        const struct lab_curve curve = lab_curve_add(figure, "%s", kinds[m].name);
        int best = 0, worst = 0;
        for (int x = 0; x < REMEDIES; x++) {
            const struct lab_found *const mse = &sample[x].found[MSE];
            if (lab_stopped(&run->session))
                return 0;
            p.at[REMEDY] = x;
            sample[x].histogram = NULL;
            if (lab_rows_at(run, &model, &p, 10 + (uint64_t)(m * REMEDIES + x),
                            run->trials / 10 + 100, &sample[x]))
                return -1;
            lab_series_point(curve.theory, x, mse->theory, 0);
            lab_series_point(curve.measured, x, mse->measured, mse->se);
            best = mse->measured < sample[best].found[MSE].measured ? x : best;
            worst = mse->measured > sample[worst].found[MSE].measured ? x : worst;
        }
        lab_caption(figure, "  %s: least with %s (%.2g), most with %s (%.2g).",
                    kinds[m].name, remedies[best].name, sample[best].found[MSE].measured,
                    remedies[worst].name, sample[worst].found[MSE].measured);
    }
    lab_caption(figure, "  Isotropic: alpha = %g.", alpha);
    return 0;
}

/* Var coefficient_a over C or alpha, for every remedy. */
static int curves(struct lab_run *run, struct lab_figure *figure, int flag,
                  struct lab_line line)
{
    const struct lab_family family = {VAR_A, REMEDY, 0, LAB_MEMBERS(remedies),
                                      .stride = 5};
    double steps[5];

    for (int x = 0; x < 5; x++)
        steps[x] = flag == ALPHA ? pow(10, x - 6) : pow(10, 0.5 * x);
    const struct lab_sweep sweep =
        LAB_SWEEP(flag, steps, .line = line, .stream = flag == ALPHA ? 150 : 100,
                  .trials = run->trials / 20 + 100);
    return lab_curves(run, &model, &sweep, lab_own(run), figure, &family);
}

static int sweep_scale(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    const double flips = attend_theory_normal_cdf(-1 / sqrt(p.at[SIGMA2]));
    struct lab_figure *const figure =
        lab_plot(run, "scale", "Remedies as the scale grows", "C (query scale)",
                 "variance of the coefficient of v_a", LAB_LOG_X | LAB_LOG_Y,
                 "sigma2 = %g, alpha = %g, noisy: %s.", p.at[SIGMA2], p.at[ALPHA],
                 lab_text(run, "noisy"));

    if (p.at[ALPHA] <= 0 && p.at[NOISY] == LAB_NOISY_A)
        lab_caption(figure,
                    "  Two heads and normalised keys both settle at p (1 - p)/4 = %.3g, "
                    "p the chance that k_a points forwards.",
                    flips * (1 - flips) / 4);
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
    struct lab_setting p = lab_own(run);
    int known = 0;

    lab_conclude(run,
                 "n = %g, C = %g, noisy: %s, remedy %s.  Apart from the bias, which only "
                 "mse includes: the variance of the coefficient of v_a is %.3g.",
                 p.at[N], p.at[SCALE], lab_text(run, "noisy"), lab_text(run, "remedy"),
                 variance);
    for (int x = 0; x < REMEDIES; x++) {
        p.at[REMEDY] = x;
        const struct lab_scene scene = scene_of(&p);
        const double theory = lab_scene_theory(&scene, 0).variance[ATTEND_THEORY_A];
        if (isfinite(theory))
            lab_conclude(run, "%s %s %.3g",
                         known++ ? "," : "  By theory:", remedies[x].name, theory);
    }
    lab_conclude(run, "%s", known ? "." : "");
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
