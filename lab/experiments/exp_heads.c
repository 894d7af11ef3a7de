/* SPDX-License-Identifier: MIT */
/* Two heads (T13 - T16) and the queries people give them, on keys of noisy length. */
#include "lab/experiments/experiment.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/experiments/experiment_parts.h"
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

/* Over all trials, and over those with a positive length. */
static const char *const names[LAB_TWO_HEADS_QUANTITIES][2] = {
    [LAB_MEAN_W1] = {"mean_w1", "mean_w1_given_positive"},
    [LAB_VAR_W1] = {"var_w1", "var_w1_given_positive"},
    [LAB_HEAD1_LOSES] = {"p_head1_loses", "p_head1_loses_given_positive"},
    [LAB_VAR_C1] = {"var_c1", "var_c1_given_positive"},
    [LAB_VAR_C2] = {"var_c2", "var_c2_given_positive"},
    [LAB_COV_C1_C2] = {"cov_c1_c2", "cov_c1_c2_given_positive"},
    [LAB_COEFF_A] = {"coeff_a", "coeff_a_given_positive"},
    [LAB_COEFF_B] = {"coeff_b", "coeff_b_given_positive"},
    [LAB_COEFF_VAR_ONE] = {"coeff_var_one", "coeff_var_one_given_positive"},
    [LAB_COEFF_VAR_TWO] = {"coeff_var_two", "coeff_var_two_given_positive"},
    [LAB_MSE_ONE] = {"mse_one", "mse_one_given_positive"},
    [LAB_MSE_TWO] = {"mse_two", "mse_two_given_positive"},
};

static int read_setup(struct lab_run *run, struct lab_two_heads *setup)
{
    static const enum lab_noisy noisy[] = {LAB_NOISY_A, LAB_NOISY_WANTED, LAB_NOISY_ALL};
    char why[80];

    if (lab_settle_d(run))
        return -1;
    *setup = (struct lab_two_heads){
        .n = lab_real(run, "n"),
        .C = lab_real(run, "C"),
        .sigma2 = lab_real(run, "sigma2"),
        .alpha = lab_real(run, "alpha"),
        .tau = lab_real(run, "tau"),
        .d = lab_integer(run, "d"),
        .noisy = noisy[lab_choice(run, "noisy")],
    };
    if (lab_queries_parse(lab_text(run, "queries"), &setup->queries, why, sizeof why))
        return lab_misuse(&run->session,
                          "--queries: '%.60s': %s; allowed are means, plus-minus, "
                          "unscaled, or two sums such as 2a-b,3b",
                          lab_text(run, "queries"), why);
    return 0;
}

static void emit(struct lab_run *run, double C, int positive, int quantity,
                 const struct lab_two_heads_numbers *theory,
                 const struct lab_two_heads_numbers *measured)
{
    lab_emit_at(run, names[quantity][positive], LAB_CHANGES(LAB_IS("C", C)),
                lab_exact(theory->of[quantity].value, measured->of[quantity]));
}

/* Whether two heads do what the known crossover is about. */
static int has_crossover(const struct lab_run *run, const struct lab_two_heads *setup)
{
    return !strcmp(lab_text(run, "queries"), "means") && setup->alpha == 0 &&
           setup->noisy == LAB_NOISY_A && setup->n >= 3 && setup->sigma2 > 0;
}

static int emit_crossover(struct lab_run *run, const struct lab_two_heads *setup,
                          int64_t trials)
{
    double measured, se;

    if (!has_crossover(run, setup))
        return 0;
    if (lab_two_heads_crossover(&run->session, setup, 1, trials, &measured, &se))
        return -1;
    lab_emit_exact(run, "crossover_C",
                   attend_theory_crossover_scale(setup->n, setup->sigma2, 0) / setup->tau,
                   measured, se);
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

static void draw_histogram(struct lab_run *run, const struct lab_two_heads *setup,
                           const struct lab_two_heads_numbers *measured,
                           const struct lab_histogram *histogram)
{
    struct lab_figure *const figure = lab_plot(
        run, "The weight of v_a in head 1", "w1", "density", 0,
        "Queries %s, C = %g, n = %g. E w1 = %.3g, and head 1 loses v_a (w1 < 1/2) in "
        "%.3g%% of the samples.",
        lab_text(run, "queries"), setup->C, setup->n, measured->of[LAB_MEAN_W1].value,
        100 * measured->of[LAB_HEAD1_LOSES].value);
    const struct head head = {lab_two_heads_scene(setup, 0),
                              lab_query_at(&setup->queries, 0, setup->C)};

    /* Where no law of w1 is known there is nothing to draw. */
    lab_plot_histogram(figure, histogram,
                       setup->sigma2 > 0 && !isnan(weight_cdf(&head, 0.5)) ? "theory"
                                                                           : NULL,
                       weight_cdf, &head);
}

static const double scales[] = {0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50};
enum { SCALES = sizeof scales / sizeof scales[0], LINE = 80, CURVES = 7, FIGURES = 4 };

static const struct {
    const char *title, *y_label;
} plots[FIGURES] = {
    {"Head 1: its weight of v_a, and how often it loses", "E w1, P(w1 < 1/2)"},
    {"Variance of head 1's weight", "Var w1"},
    {"Variance of the coefficient of v_a", "Var"},
    {"Mean squared distance from the average", "E|c - (v_a + v_b)/2|^2"},
};

/* What is known of C mu_a and C mu_b without isotropic noise, in numbers of this run. */
static void describe(struct lab_run *run, const struct lab_two_heads *setup,
                     struct lab_figure *const figures[FIGURES])
{
    const double flips = attend_theory_normal_cdf(-1 / sqrt(setup->sigma2));
    const double end = flips * (1 - flips);
    const double crossover =
        attend_theory_crossover_scale(setup->n, setup->sigma2, 0) / setup->tau;

    for (int f = 0; f < FIGURES; f++)
        lab_figure_describe(figures[f], LAB_LOG_X,
                            "Queries %s, n = %g, sigma2 = %g (noisy: %s), alpha = %g.",
                            lab_text(run, "queries"), setup->n, setup->sigma2,
                            lab_text(run, "noisy"), setup->alpha);
    if (!has_crossover(run, setup))
        return;
    lab_figure_describe(
        figures[0], LAB_LOG_X,
        "A head must beat n - 1 rivals by itself: it loses when the length "
        "of k_a is below ln(n-1)/(tau C), here %.3g/C.",
        log(setup->n - 1) / setup->tau);
    lab_figure_describe(figures[1], LAB_LOG_X,
                        "It does not end at 0: k_a points away in %.3g%% of the samples, "
                        "and the variance tends to %.3g.",
                        100 * flips, end);
    lab_figure_describe(figures[2], LAB_LOG_X,
                        "As C grows two heads tend to %.3g, one head to 1/4: %.3g times "
                        "more.",
                        end / 4, 1 / end);
    if (crossover == 0)
        lab_figure_describe(figures[3], LAB_LOG_X, "Two heads are nearer at every C.");
    else if (isfinite(crossover))
        lab_figure_describe(figures[3], LAB_LOG_X,
                            "Two heads are nearer above C = %.3g.  Just below they lose: "
                            "each must alone beat all the other keys.",
                            crossover);
}

/* Which quantity is drawn in which figure, under which name. */
static const struct {
    int quantity, figure;
    const char *name;
} curves[CURVES] = {
    {LAB_MEAN_W1, 0, "E w1"},
    {LAB_HEAD1_LOSES, 0, "P(head 1 loses)"},
    {LAB_VAR_W1, 1, "Var w1"},
    {LAB_COEFF_VAR_ONE, 2, "one head"},
    {LAB_COEFF_VAR_TWO, 2, "two heads"},
    {LAB_MSE_ONE, 3, "one head"},
    {LAB_MSE_TWO, 3, "two heads"},
};

/* Theory as lines, and what was measured at the first `count` scales as points. */
static void draw_curves(struct lab_run *run, const struct lab_two_heads *setup,
                        const struct lab_two_heads_numbers *measured, int count)
{
    struct lab_figure *figures[FIGURES];
    struct lab_two_heads_numbers theory[LINE + 1];
    struct lab_two_heads at = *setup;
    double C[LINE + 1];

    if (!run->figures)
        return;
    for (int f = 0; f < FIGURES; f++)
        figures[f] = lab_plot(run, plots[f].title, "C (query scale)", plots[f].y_label,
                              LAB_LOG_X, "%s", "");
    describe(run, setup, figures);
    for (int x = 0; x <= LINE; x++) {
        C[x] = at.C = scales[0] * pow(scales[SCALES - 1] / scales[0], (double)x / LINE);
        theory[x] = lab_two_heads_theory(&at, 0);
    }
    for (int c = 0; c < CURVES; c++) {
        struct lab_series *const line = lab_series_add(
            figures[curves[c].figure], LAB_LINE, "theory, %s", curves[c].name);
        for (int x = 0; x <= LINE; x++)
            lab_series_point(line, C[x], theory[x].of[curves[c].quantity].value, 0);
    }
    for (int c = 0; c < CURVES; c++) {
        struct lab_series *const points = lab_series_add(
            figures[curves[c].figure], LAB_POINTS, "measured, %s", curves[c].name);
        for (int x = 0; x < count; x++)
            lab_series_estimate(points, scales[x], measured[x].of[curves[c].quantity]);
    }
}

/* ---- the run ------------------------------------------------------------ */

static int sweep(struct lab_run *run, const struct lab_two_heads *setup, int64_t trials,
                 const struct lab_two_heads_numbers *given)
{
    struct lab_two_heads_numbers measured[SCALES], both[2];
    struct lab_two_heads at = *setup;
    int x = 0;

    for (; x < SCALES && !lab_stopped(&run->session); x++) {
        at.C = scales[x];
        measured[x] = *given;
        if (at.C == setup->C)
            continue;
        if (lab_two_heads_measure(&run->session, &at, 2 + (uint64_t)x, trials, both,
                                  NULL))
            return -1;
        if (isnan(both[0].of[LAB_MEAN_W1].value))
            break;
        measured[x] = both[0];
        const struct lab_two_heads_numbers theory = lab_two_heads_theory(&at, 0);
        for (int c = 0; c < CURVES; c++)
            emit(run, at.C, 0, curves[c].quantity, &theory, &measured[x]);
    }
    draw_curves(run, setup, measured, x);
    return 0;
}

/* Which was nearer to the average, and whether the sample can tell. */
static void conclude(struct lab_run *run, const struct lab_two_heads *setup,
                     const struct lab_two_heads_numbers *measured)
{
    const struct lab_estimate one = measured->of[LAB_MSE_ONE];
    const struct lab_estimate two = measured->of[LAB_MSE_TWO];
    const int is_clear = fabs(one.value - two.value) > 4 * hypot(one.se, two.se);

    lab_conclude(
        run,
        "Queries %s, n = %g, C = %g: %s.  Mean squared distance from the average %.3g "
        "with "
        "two heads, %.3g with one; variance of the coefficient of v_a %.3g and %.3g.  "
        "Head 1 loses v_a (w1 < 1/2) in %.3g%% of the samples.",
        lab_text(run, "queries"), setup->n, setup->C,
        !is_clear ? "two heads and one are equally near, as far as this shows"
        : two.value < one.value ? "two heads come nearer to the average than one"
                                : "two heads come less near to the average than one",
        two.value, one.value, measured->of[LAB_COEFF_VAR_TWO].value,
        measured->of[LAB_COEFF_VAR_ONE].value, 100 * measured->of[LAB_HEAD1_LOSES].value);
}

static int perform(struct lab_run *run)
{
    struct lab_histogram histogram = {.lo = 0, .hi = 1};
    struct lab_two_heads_numbers measured[2];
    struct lab_two_heads setup;

    if (read_setup(run, &setup))
        return -1;
    const int64_t part = run->trials > 16000 ? run->trials / 16 : 1000;
    if (lab_two_heads_measure(&run->session, &setup, 0, run->trials, measured,
                              &histogram))
        return -1;
    for (int positive = 0; positive < 2; positive++) {
        const struct lab_two_heads_numbers theory =
            lab_two_heads_theory(&setup, positive);
        for (int q = 0; q < LAB_TWO_HEADS_QUANTITIES; q++)
            emit(run, setup.C, positive, q, &theory, &measured[positive]);
    }
    if (emit_crossover(run, &setup, part))
        return -1;
    conclude(run, &setup, &measured[0]);
    draw_histogram(run, &setup, &measured[0], &histogram);
    if (lab_output_cloud(run, &setup))
        return -1;
    return run->sweeps ? sweep(run, &setup, part, &measured[0]) : 0;
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
