/* SPDX-License-Identifier: MIT */
/* Two heads (T13 - T16), with queries of published answers; keys of noisy length. */
#include "lab/experiments/parts.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/setups/queries.h"
#include "lab/setups/two_heads.h"

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 10, 2, 1e6, "keys"),
    LAB_FLAG_INTEGER("d", NAN, 2, 1e6, "columns of a key, n or more (default n)"),
    LAB_FLAG_REAL(
        "C", 10, 0, 1000,
        "scale of the queries, and of the one head C (mu_a + mu_b) beside them"),
    LAB_FLAG_REAL("sigma2", 0.5, 0, 100, "variance of the length of a noisy key"),
    LAB_FLAG_REAL("alpha", 0, 0, 100,
                  "isotropic noise of every key; above 0 not every theory is known"),
    LAB_FLAG_REAL("tau", 1, 1e-6, 1000, "scores are tau <q, k>"),
    LAB_FLAG_TEXT(
        "queries", "means",
        "means (C mu_a, C mu_b), plus-minus (C (mu_a + mu_b), C (mu_a - mu_b)), unscaled "
        "(mu_a, mu_b), or your own: \"2a-b,3b\", \"Ca+b,3Cb\""),
    LAB_FLAG_CHOICE("noisy", "a", LAB_3("a", "both", "all"),
                    "the keys whose length varies: k_a, k_a and k_b, or every one"),
};

enum { N, D, SCALE, SIGMA2, ALPHA, TAU, QUERIES, NOISY }; /* flags */

#define ROWS_OVER(trials, first)                                                         \
    {"mean_w1" trials, (first) + LAB_TWO_W1, LAB_MEAN_WITHIN, 1},                        \
        {"var_w1" trials, (first) + LAB_TWO_W1, LAB_VARIANCE_WITHIN, 1},                 \
        {"p_head1_loses" trials, (first) + LAB_TWO_LOSES, LAB_PROBABILITY, 1},           \
        {"var_c1" trials, (first) + LAB_TWO_SPREAD1, LAB_SQUARE, 2},                     \
        {"var_c2" trials, (first) + LAB_TWO_SPREAD2, LAB_SQUARE, 2},                     \
        {"cov_c1_c2" trials, (first) + LAB_TWO_PRODUCT, LAB_SQUARE, 2},                  \
        {"coeff_a" trials, (first) + LAB_TWO_COEFFICIENT_A, LAB_MEAN_WITHIN, 1},         \
        {"coeff_b" trials, (first) + LAB_TWO_COEFFICIENT_B, LAB_MEAN_WITHIN, 1},         \
        {"coeff_var_one" trials, (first) + LAB_TWO_COEFFICIENT_ONE, LAB_VARIANCE_WITHIN, \
         1},                                                                             \
        {"coeff_var_two" trials, (first) + LAB_TWO_COEFFICIENT_A, LAB_VARIANCE_WITHIN,   \
         1},                                                                             \
        {"mse_one" trials, (first) + LAB_TWO_ERROR_ONE, LAB_SQUARE, LAB_PAIR_ERROR_MAX}, \
    {                                                                                    \
        "mse_two" trials, (first) + LAB_TWO_ERROR_TWO, LAB_SQUARE, LAB_PAIR_ERROR_MAX    \
    }
static const struct lab_observable rows[] = {
    ROWS_OVER("", 0), ROWS_OVER("_given_positive", LAB_TWO_VALUES)};

/* Heads 0 and 1 are the two, head 2 is the single one; a setting has its queries in
 * `with`. */
static struct lab_scene scene_of(const struct lab_setting *p)
{
    const double scale = p->at[SCALE];
    struct lab_scene scene = LAB_SCENE(
        p->at[N], LAB_QUERIES + 1, p->at[SIGMA2], p->at[ALPHA], p->at[TAU],
        .d = (int64_t)p->at[D], .noisy = LAB_NOISY_A + (enum lab_noisy)p->at[NOISY],
        .query = {[LAB_QUERIES] = {scale, scale}}, .averaged = LAB_QUERIES);
    const attend_theory_query query[LAB_QUERIES] = {lab_query_at(p->with, 0, scale),
                                                    lab_query_at(p->with, 1, scale)};

    lab_scene_set_queries(&scene, query, LAB_QUERIES);
    return scene;
}

static void theory_of(const struct lab_setting *p, double *theory)
{
    const struct lab_scene scene = scene_of(p);

    lab_two_theory(&scene, theory);
}

static int perform_trials(struct lab_run *run, const struct lab_setting *p,
                          uint64_t stream, int64_t trials, struct lab_sample *sample)
{
    const struct lab_scene scene = scene_of(p);

    return lab_two_measure(&run->session, &scene, stream, trials, sample->moments,
                           sample->histogram);
}

static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    const struct lab_scene scene = scene_of(p);
    struct lab_estimate spreads[3];

    for (int positive = 0; positive < 2; positive++) {
        struct lab_found *const found = sample->found + positive * LAB_TWO_ROWS;
        if (sample->moments[positive * LAB_TWO_VALUES].count == 0)
            continue;
        lab_two_spreads(&scene, positive, sample->moments, spreads);
        for (int r = LAB_TWO_VAR_C1; r <= LAB_TWO_COV_C1_C2; r++)
            found[r] = lab_exact(found[r].theory, spreads[r - LAB_TWO_VAR_C1]);
    }
}

static const struct lab_model model = {LAB_ROWS(rows), .theory = theory_of,
                                       .values = 2 * LAB_TWO_VALUES,
                                       .trials = perform_trials, .finish = finish};

/* ---- crossover ----------------------------------------------------------- */

/* Nonzero if the formula of the crossover applies. */
static int has_crossover(const struct lab_run *run, const struct lab_setting *p)
{
    return !strcmp(lab_text(run, "queries"), "means") && p->at[ALPHA] == 0 &&
           p->at[NOISY] == 0 && p->at[N] >= 3 && p->at[SIGMA2] > 0;
}

static double crossover_of(const struct lab_setting *p)
{
    return attend_theory_crossover_scale(p->at[N], p->at[SIGMA2], 0) / p->at[TAU];
}

static int emit_crossover(struct lab_run *run, struct lab_setting p, int64_t trials)
{
    struct lab_estimate found;

    if (!has_crossover(run, &p))
        return 0;
    p.at[SCALE] = 1;
    const struct lab_scene scene = scene_of(&p);
    if (lab_two_crossover(&run->session, &scene, trials, &found))
        return -1;
    lab_emit_own(run, "crossover_C", lab_exact(crossover_of(&p), found));
    return 0;
}

/* ---- figures ------------------------------------------------------------ */

struct head {
    attend_theory_scene scene;
    attend_theory_query query;
};

static double weight_cdf(const void *arg, double w)
{
    const struct head *const head = arg;

    return attend_theory_head_cdf(&head->scene, head->query, w);
}

static void draw_histogram(struct lab_run *run, const struct lab_setting *p,
                           const struct lab_sample *sample)
{
    const struct lab_scene scene = scene_of(p);
    struct lab_figure *const figure = lab_plot(
        run, "weight-density", "The weight of v_a in head 1", "w1", "density", 0,
        "Queries %s, C = %g, n = %g. E w1 = %.3g, and head 1 loses v_a (w1 < 1/2) in "
        "%.3g%% of the samples.",
        lab_text(run, "queries"), p->at[SCALE], p->at[N],
        sample->found[LAB_TWO_MEAN_W1].measured,
        100 * sample->found[LAB_TWO_HEAD1_LOSES].measured);
    const struct head head = {lab_scene_law(&scene, 0), lab_scene_query(&scene, 0)};
    /* The law of w1 is drawn where there is a formula for it. */
    const int has_law = p->at[SIGMA2] > 0 && !isnan(weight_cdf(&head, 0.5));

    lab_plot_histogram(figure, sample->histogram, has_law ? "" : NULL, weight_cdf, &head);
}

static const struct lab_chart charts[] = {
    {"head-1", "Head 1: its weight of v_a, and how often it loses", "C (query scale)",
     "E w1, P(w1 < 1/2)", LAB_LOG_X,
     .curves = {{LAB_TWO_MEAN_W1, "E w1"}, {LAB_TWO_HEAD1_LOSES, "P(head 1 loses)"}}},
    {"head-1-variance", "Variance of head 1's weight", "C (query scale)", "Var w1",
     LAB_LOG_X, .curves = {{LAB_TWO_VAR_W1, "Var w1"}}},
    {"coefficient", "Variance of the coefficient of v_a", "C (query scale)", "Var",
     LAB_LOG_X,
     .curves = {{LAB_TWO_COEFF_VAR_ONE, "one head"},
                {LAB_TWO_COEFF_VAR_TWO, "two heads"}}},
    {"error", "Mean squared distance from the average", "C (query scale)",
     "E|c - (v_a + v_b)/2|^2", LAB_LOG_X,
     .curves = {{LAB_TWO_MSE_ONE, "one head"}, {LAB_TWO_MSE_TWO, "two heads"}}},
};
enum { CHARTS = sizeof charts / sizeof *charts };

/* Captions: the formulas for C mu_a and C mu_b without isotropic noise, at this run. */
static void describe(struct lab_run *run, const struct lab_setting *p,
                     struct lab_figure *const figures[CHARTS])
{
    const double flips = attend_theory_normal_cdf(-1 / sqrt(p->at[SIGMA2]));
    const double end = flips * (1 - flips);
    const double crossover = has_crossover(run, p) ? crossover_of(p) : NAN;

    for (int f = has_crossover(run, p) ? 3 : 0; f < CHARTS && !isfinite(crossover); f++)
        lab_caption(figures[f],
                    "Queries %s, n = %g, sigma2 = %g (noisy: %s), alpha = %g.",
                    lab_text(run, "queries"), p->at[N], p->at[SIGMA2],
                    lab_text(run, "noisy"), p->at[ALPHA]);
    if (!has_crossover(run, p))
        return;
    lab_caption(figures[0],
                "A head must beat n - 1 rivals by itself: it loses when the length of "
                "k_a is below ln(n-1)/(tau C), here %.3g/C.",
                log(p->at[N] - 1) / p->at[TAU]);
    lab_caption(figures[1],
                "It does not end at 0: k_a points away in %.3g%% of the samples, and the "
                "variance tends to %.3g.",
                100 * flips, end);
    lab_caption(figures[2],
                "As C grows two heads tend to %.3g, one head to 1/4: %.3g times more.",
                end / 4, 1 / end);
    if (crossover == 0)
        lab_caption(figures[3], "Two heads are nearer at every C.");
    else if (isfinite(crossover))
        lab_caption(figures[3],
                    "Two heads are nearer above C = %.3g.  Just below they lose: each "
                    "must alone beat all the other keys.",
                    crossover);
}

/* ---- the run ------------------------------------------------------------- */

/* Which was nearer to the average, where the difference exceeds 4 se. */
static void conclude(struct lab_run *run, const struct lab_setting *p,
                     const struct lab_found *found)
{
    const struct lab_found one = found[LAB_TWO_MSE_ONE], two = found[LAB_TWO_MSE_TWO];
    const int is_clear = fabs(one.measured - two.measured) > 4 * hypot(one.se, two.se);

    lab_conclude(
        run,
        "Queries %s, n = %g, C = %g: %s.  Mean squared distance from the average %.3g "
        "with two heads, %.3g with one, 1/2 - 1/n with equal weights on all keys; "
        "variance of the coefficient of v_a %.3g and "
        "%.3g.  Head 1 loses v_a (w1 < 1/2) in %.3g%% of the samples.",
        lab_text(run, "queries"), p->at[N], p->at[SCALE],
        !is_clear ? "two heads and one are equally near, within 4 standard errors"
        : two.measured < one.measured
            ? "two heads come nearer to the average than one"
            : "two heads come less near to the average than one",
        two.measured, one.measured, found[LAB_TWO_COEFF_VAR_TWO].measured,
        found[LAB_TWO_COEFF_VAR_ONE].measured, 100 * found[LAB_TWO_HEAD1_LOSES].measured);
}

static int perform(struct lab_run *run)
{
    static const double scales[] = {0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50};
    const int64_t part = run->trials > 16000 ? run->trials / 16 : 1000;
    struct lab_histogram histogram = {.lo = 0, .hi = 1};
    struct lab_sample sample = {.histogram = &histogram};
    const struct lab_sweep over_C =
        LAB_SWEEP(SCALE, scales, .line = {0.5, 50, 80, LAB_BY_FACTORS, 0, 0}, .stream = 2,
                  .trials = part, .only_drawn = 1, .own = &sample);
    struct lab_figure *figures[CHARTS];
    struct lab_queries queries;
    char why[80];

    if (lab_settle_d(run))
        return -1;
    if (lab_queries_parse(lab_text(run, "queries"), &queries, why, sizeof why))
        return lab_misuse(&run->session,
                          "--queries: '%.60s': %s; allowed are means, plus-minus, "
                          "unscaled, or two sums such as 2a-b,3b",
                          lab_text(run, "queries"), why);
    struct lab_setting p = lab_own(run);
    p.with = &queries;
    if (lab_rows_at(run, &model, &p, 0, run->trials, &sample) ||
        emit_crossover(run, p, part))
        return -1;
    conclude(run, &p, sample.found);
    draw_histogram(run, &p, &sample);
    const struct lab_scene scene = scene_of(&p);
    if (lab_output_cloud(run, &scene) ||
        (run->sweeps && lab_charts(run, &model, &over_C, p, charts, CHARTS, figures)))
        return -1;
    if (run->sweeps)
        describe(run, &p, figures);
    return 0;
}

const struct lab_experiment lab_experiment_heads = {
    .name = "heads",
    .title = "Two heads on keys of noisy length",
    .shows = "Two heads that each want one key, C mu_a and C mu_b, are steadier than one "
             "head that wants both, once C is above a crossover, but not perfectly "
             "steady: head 1 loses v_a when k_a is short or points away.",
    .answers = "1d-i, 1d-ii",
    .headline = "coeff_var_two",
    LAB_FLAGS(flags),
    .trials = 100000,
    .perform = perform,
};
