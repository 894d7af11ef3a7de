/* SPDX-License-Identifier: MIT */
/* Two heads (T13 - T16), with queries of published answers; keys of noisy length. */
#include "lab/experiments/output_cloud.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/setups/queries.h"

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

/* Values of a trial: over all trials, and again over those of positive length. */
enum {
    W1,
    LOSES,
    SPREAD1, /* |c1 - m1|^2, m1 a fixed point near the mean of c1 */
    SPREAD2,
    PRODUCT, /* <c1 - m1, c2 - m2> */
    FROM1,   /* c1 - m1 by coordinates: a, b, all others together */
    FROM2 = FROM1 + 3,
    COEFFICIENT_A = FROM2 + 3,
    COEFFICIENT_B,
    ERROR_TWO,
    COEFFICIENT_ONE,
    ERROR_ONE,
    VALUES
};

/* Rows over the same trials. */
enum {
    MEAN_W1,
    VAR_W1,
    HEAD1_LOSES,
    VAR_C1, /* E|c1 - E c1|^2 */
    VAR_C2,
    COV_C1_C2, /* E<c1 - E c1, c2 - E c2> */
    COEFF_A,
    COEFF_B,
    COEFF_VAR_ONE,
    COEFF_VAR_TWO,
    MSE_ONE,
    MSE_TWO,
    ROWS
};

#define ROWS_OVER(trials, first)                                                         \
    {"mean_w1" trials, (first) + W1, LAB_MEAN_WITHIN, 1},                                \
        {"var_w1" trials, (first) + W1, LAB_VARIANCE_WITHIN, 1},                         \
        {"p_head1_loses" trials, (first) + LOSES, LAB_PROBABILITY, 1},                   \
        {"var_c1" trials, (first) + SPREAD1, LAB_SQUARE, 2},                             \
        {"var_c2" trials, (first) + SPREAD2, LAB_SQUARE, 2},                             \
        {"cov_c1_c2" trials, (first) + PRODUCT, LAB_SQUARE, 2},                          \
        {"coeff_a" trials, (first) + COEFFICIENT_A, LAB_MEAN_WITHIN, 1},                 \
        {"coeff_b" trials, (first) + COEFFICIENT_B, LAB_MEAN_WITHIN, 1},                 \
        {"coeff_var_one" trials, (first) + COEFFICIENT_ONE, LAB_VARIANCE_WITHIN, 1},     \
        {"coeff_var_two" trials, (first) + COEFFICIENT_A, LAB_VARIANCE_WITHIN, 1},       \
        {"mse_one" trials, (first) + ERROR_ONE, LAB_SQUARE, LAB_PAIR_ERROR_MAX},         \
    {                                                                                    \
        "mse_two" trials, (first) + ERROR_TWO, LAB_SQUARE, LAB_PAIR_ERROR_MAX            \
    }
static const struct lab_observable rows[2 * ROWS] = {
    ROWS_OVER("", 0), ROWS_OVER("_given_positive", VALUES)};

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

/* ---- theory -------------------------------------------------------------- */

static void theory_of(const struct lab_setting *p, double *theory)
{
    const struct lab_scene scene = scene_of(p);
    const attend_theory_query query[LAB_QUERIES] = {lab_scene_query(&scene, 0),
                                                    lab_scene_query(&scene, 1)};

    for (int positive = 0; positive < 2; positive++, theory += ROWS) {
        const attend_theory_scene law = lab_scene_law(&scene, positive);
        const attend_theory_output first = attend_theory_head(&law, query[0]);
        const attend_theory_output second = attend_theory_head(&law, query[1]);
        const attend_theory_output one =
            attend_theory_head(&law, lab_scene_query(&scene, LAB_QUERIES));
        const attend_theory_output two = lab_scene_theory(&scene, positive);
        const double mean = first.mean[ATTEND_THEORY_A];
        theory[MEAN_W1] = mean;
        theory[VAR_W1] = first.variance[ATTEND_THEORY_A];
        /* P(w1 < 1/2), not <=: they differ where w1 is sure. */
        theory[HEAD1_LOSES] = first.variance[ATTEND_THEORY_A] == 0
                                  ? mean < 0.5
                                  : attend_theory_head_cdf(&law, query[0], 0.5);
        theory[VAR_C1] = first.total_variance;
        theory[VAR_C2] = second.total_variance;
        theory[COV_C1_C2] = attend_theory_heads_covariance(&law, query[0], query[1]);
        theory[COEFF_A] = (mean + second.mean[ATTEND_THEORY_A]) / 2;
        theory[COEFF_B] =
            (first.mean[ATTEND_THEORY_B] + second.mean[ATTEND_THEORY_B]) / 2;
        theory[COEFF_VAR_ONE] = one.variance[ATTEND_THEORY_A];
        theory[COEFF_VAR_TWO] = two.variance[ATTEND_THEORY_A];
        theory[MSE_ONE] = one.mse;
        theory[MSE_TWO] = two.mse;
    }
}

/* ---- measurement --------------------------------------------------------- */

/*
 * E|c|^2 - |E c|^2 = E|c - m|^2 - |E(c - m)|^2 for any m; m near the mean keeps the
 * digits, and makes the standard error that of the first term.
 */
struct centres {
    double n;
    double m[2][LAB_QUERIES][3]; /* by condition and head: of a, of b, of one other */
};

static struct centres centres_of(const struct lab_scene *scene)
{
    struct centres centres = {.n = (double)scene->n};

    for (int positive = 0; positive < 2; positive++)
        for (int h = 0; h < LAB_QUERIES; h++) {
            const attend_theory_scene law = lab_scene_law(scene, positive);
            const attend_theory_output head =
                attend_theory_head(&law, lab_scene_query(scene, h));
            for (int c = 0; c < 3; c++)
                centres.m[positive][h][c] = isfinite(head.mean[c]) ? head.mean[c] : 0;
        }
    return centres;
}

static void observe_from(const double m[LAB_QUERIES][3], double n,
                         const struct lab_outcome *o, double *values)
{
    const double rest = n - 2;
    double from[LAB_QUERIES][3];

    for (int h = 0; h < LAB_QUERIES; h++) {
        from[h][0] = o->weight[h][0] - m[h][0];
        from[h][1] = o->weight[h][1] - m[h][1];
        from[h][2] = o->others[h] - rest * m[h][2];
        values[SPREAD1 + h] = from[h][0] * from[h][0] + from[h][1] * from[h][1] +
                              o->squares[h] - 2 * m[h][2] * o->others[h] +
                              rest * m[h][2] * m[h][2];
        for (int c = 0; c < 3; c++)
            values[FROM1 + 3 * h + c] = from[h][c];
    }
    /* Over the other keys, of the products of the two heads' weights. */
    const double crossed = (4 * o->others_squared - o->squares[0] - o->squares[1]) / 2;
    values[PRODUCT] = from[0][0] * from[1][0] + from[0][1] * from[1][1] + crossed -
                      m[1][2] * o->others[0] - m[0][2] * o->others[1] +
                      rest * m[0][2] * m[1][2];
    values[W1] = o->weight[0][0];
    values[LOSES] = o->weight[0][0] < o->weight[0][1] + o->others[0];
    values[COEFFICIENT_A] = o->coefficient[0];
    values[COEFFICIENT_B] = o->coefficient[1];
    values[ERROR_TWO] =
        lab_pair_error(o->coefficient[0], o->coefficient[1], o->others_squared);
    values[COEFFICIENT_ONE] = o->weight[2][0];
    values[ERROR_ONE] = lab_pair_error(o->weight[2][0], o->weight[2][1], o->squares[2]);
}

static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    const struct centres *const centres = arg;

    observe_from(centres->m[0], centres->n, outcome, values);
    if (outcome->gamma[0] > 0)
        observe_from(centres->m[1], centres->n, outcome, values + VALUES);
    else
        for (int v = 0; v < VALUES; v++)
            values[VALUES + v] = NAN;
}

static int perform_trials(struct lab_run *run, const struct lab_setting *p,
                          uint64_t stream, int64_t trials, struct lab_sample *sample)
{
    const struct lab_scene scene = scene_of(p);
    struct lab_histogram *const histograms[2 * VALUES] = {[W1] = sample->histogram};
    struct centres centres = centres_of(&scene);

    return lab_scene_measure(&run->session, &scene, stream, trials, observe, &centres,
                             2 * VALUES, sample->moments,
                             sample->histogram ? histograms : NULL);
}

/* |m_g| |m_h| of two heads' centres. */
static double size_of(const double *m, const double *other, double n)
{
    return sqrt(
        (m[0] * m[0] + m[1] * m[1] + (n - 2) * m[2] * m[2]) *
        (other[0] * other[0] + other[1] * other[1] + (n - 2) * other[2] * other[2]));
}

/* Variances and covariance of the outputs, from the moments about m. */
static void set_spreads(const struct lab_moments *moments, double n,
                        const double m[LAB_QUERIES][3], struct lab_found *found)
{
    const double size[3] = {size_of(m[0], m[0], n), size_of(m[1], m[1], n),
                            size_of(m[0], m[1], n)};
    double product[3] = {0};

    /* <E(c_g - m_g), E(c_h - m_h)> for (g, h) = (1, 1), (2, 2), (1, 2). */
    for (int c = 0; c < 3; c++) {
        const double share = c < 2 ? 1 : n > 2 ? 1 / (n - 2) : 0;
        const double x = moments[FROM1 + c].mean, y = moments[FROM2 + c].mean;
        product[0] += share * x * x;
        product[1] += share * y * y;
        product[2] += share * x * y;
    }
    for (int x = 0; x < 3; x++) {
        /* Two outputs are at most sqrt(2) apart, and so from any point between. */
        struct lab_moments squares = moments[SPREAD1 + x];
        if (squares.m2 <= 0 && fabs(squares.mean) <= 1e-15 * size[x])
            squares.mean = 0;
        struct lab_estimate spread = lab_estimate_square(&squares, x < 2 ? 0 : -2, 2);
        /* Scatter of the size of rounding is not chance. */
        if (!spread.rare && !(spread.se > 1e-15 * size[x]))
            spread =
                (struct lab_estimate){.value = spread.value, .allowed = spread.allowed};
        spread.value -= product[x];
        spread.low -= product[x];
        spread.high -= product[x];
        if (x < 2) {
            spread.value = fmax(spread.value, 0);
            spread.low = fmax(spread.low, 0);
        }
        found[VAR_C1 + x] = lab_exact(found[VAR_C1 + x].theory, spread);
    }
}

static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    const struct lab_scene scene = scene_of(p);
    const struct centres centres = centres_of(&scene);

    for (int positive = 0; positive < 2; positive++) {
        const struct lab_moments *const moments = sample->moments + positive * VALUES;
        struct lab_found *const found = sample->found + positive * ROWS;
        if (moments[W1].count > 0)
            set_spreads(moments, centres.n, centres.m[positive], found);
        for (int r = 0; r < ROWS && moments[W1].count == 0; r++)
            found[r] = lab_exact(found[r].theory,
                                 (struct lab_estimate){.value = NAN, .se = NAN});
    }
}

static const struct lab_model model = {LAB_ROWS(rows),           .theory = theory_of,
                                       .values = 2 * VALUES,     .scene = scene_of,
                                       .trials = perform_trials, .finish = finish};

/* ---- crossover ----------------------------------------------------------- */

static void observe_difference(void *arg, const struct lab_outcome *o, double *values)
{
    (void)arg;
    values[0] = lab_pair_error(o->weight[2][0], o->weight[2][1], o->squares[2]) -
                lab_pair_error(o->coefficient[0], o->coefficient[1], o->others_squared);
}

/* mse_one - mse_two at this scale, with its standard error. */
static int difference(struct lab_run *run, struct lab_setting p, double scale,
                      int64_t trials, double *mean, double *se)
{
    struct lab_moments moments;

    p.at[SCALE] = scale;
    const struct lab_scene scene = scene_of(&p);
    if (lab_scene_measure(&run->session, &scene, 1, trials, observe_difference, NULL, 1,
                          &moments, NULL))
        return -1;
    *mean = moments.count > 0 ? moments.mean : NAN;
    *se = lab_moments_mean_se(&moments);
    return 0;
}

/*
 * The scale above which two heads have the smaller mse, found with the same keys at every
 * scale; NaN where there is none up to 64.  0, or -1 after lab_fail().
 */
static int find_crossover(struct lab_run *run, const struct lab_setting *p,
                          int64_t trials, double *scale, double *se)
{
    enum { HALVINGS = 12 };
    const double ratio = 1.25;
    double lo = 0, hi = 64, below = 0, above = 0, mean;

    *scale = *se = NAN;
    /* Downwards, for the last crossing of several. */
    for (; hi > 0.2 && lo == 0; hi /= ratio) {
        if (difference(run, *p, hi, trials, &mean, se))
            return -1;
        if (isnan(mean))
            return 0;
        if (mean < 0) {
            lo = hi;
            hi *= ratio * ratio;
            below = mean;
        } else {
            above = mean;
        }
    }
    if (lo == 0 || above == 0)
        return 0;
    for (int x = 0; x < HALVINGS; x++) {
        const double middle = (lo + hi) / 2;
        if (difference(run, *p, middle, trials, &mean, se))
            return -1;
        if (isnan(mean))
            return 0;
        if (mean < 0) {
            lo = middle;
            below = mean;
        } else {
            hi = middle;
            above = mean;
        }
    }
    *scale = lo - below * (hi - lo) / (above - below);
    *se *= (hi - lo) / (above - below);
    return 0;
}

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

static int emit_crossover(struct lab_run *run, const struct lab_setting *p,
                          int64_t trials)
{
    double measured, se;

    if (!has_crossover(run, p))
        return 0;
    if (find_crossover(run, p, trials, &measured, &se))
        return -1;
    lab_emit_own(
        run, "crossover_C",
        lab_exact(crossover_of(p), (struct lab_estimate){.value = measured, .se = se}));
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
        lab_text(run, "queries"), p->at[SCALE], p->at[N], sample->found[MEAN_W1].measured,
        100 * sample->found[HEAD1_LOSES].measured);
    const struct head head = {lab_scene_law(&scene, 0), lab_scene_query(&scene, 0)};
    /* The law of w1 is drawn where there is a formula for it. */
    const int has_law = p->at[SIGMA2] > 0 && !isnan(weight_cdf(&head, 0.5));

    lab_plot_histogram(figure, sample->histogram, has_law ? "" : NULL, weight_cdf, &head);
}

static const double scales[] = {0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50};
enum { CURVES = 7, FIGURES = 4 };

static const struct {
    const char *id, *title, *y_label;
} plots[FIGURES] = {
    {"head-1", "Head 1: its weight of v_a, and how often it loses", "E w1, P(w1 < 1/2)"},
    {"head-1-variance", "Variance of head 1's weight", "Var w1"},
    {"coefficient", "Variance of the coefficient of v_a", "Var"},
    {"error", "Mean squared distance from the average", "E|c - (v_a + v_b)/2|^2"},
};

/* Captions: the formulas for C mu_a and C mu_b without isotropic noise, at this run. */
static void describe(struct lab_run *run, const struct lab_setting *p,
                     struct lab_figure *const figures[FIGURES])
{
    const double flips = attend_theory_normal_cdf(-1 / sqrt(p->at[SIGMA2]));
    const double end = flips * (1 - flips);
    const double crossover = crossover_of(p);

    for (int f = 0; f < FIGURES; f++)
        lab_caption(figures[f],
                    "Queries %s, n = %g, sigma2 = %g (noisy: %s), alpha = %g.",
                    lab_text(run, "queries"), p->at[N], p->at[SIGMA2],
                    lab_text(run, "noisy"), p->at[ALPHA]);
    if (!has_crossover(run, p))
        return;
    lab_caption(figures[0],
                "A head must beat n - 1 rivals by itself: it loses when the "
                "length of k_a is below ln(n-1)/(tau C), here %.3g/C.",
                log(p->at[N] - 1) / p->at[TAU]);
    lab_caption(figures[1],
                "It does not end at 0: k_a points away in %.3g%% of the samples, "
                "and the variance tends to %.3g.",
                100 * flips, end);
    lab_caption(figures[2],
                "As C grows two heads tend to %.3g, one head to 1/4: %.3g times more.",
                end / 4, 1 / end);
    if (crossover == 0)
        lab_caption(figures[3], "Two heads are nearer at every C.");
    else if (isfinite(crossover))
        lab_caption(figures[3],
                    "Two heads are nearer above C = %.3g.  Just below they lose: "
                    "each must alone beat all the other keys.",
                    crossover);
}

/* The rows drawn, each with its figure and its name there. */
static const struct {
    int row, figure;
    const char *name;
} curves[CURVES] = {
    {MEAN_W1, 0, "E w1"},
    {HEAD1_LOSES, 0, "P(head 1 loses)"},
    {VAR_W1, 1, "Var w1"},
    {COEFF_VAR_ONE, 2, "one head"},
    {COEFF_VAR_TWO, 2, "two heads"},
    {MSE_ONE, 3, "one head"},
    {MSE_TWO, 3, "two heads"},
};

static int sweep(struct lab_run *run, const struct lab_setting *p, int64_t trials,
                 const struct lab_sample *own)
{
    const struct lab_sweep over_C =
        LAB_SWEEP(SCALE, scales, .line = {0.5, 50, 80, LAB_BY_FACTORS, 0, 0}, .stream = 2,
                  .trials = trials, .only_drawn = 1, .own = own);
    struct lab_figure *figures[FIGURES];
    struct lab_plotted drawn[CURVES];

    for (int f = 0; f < FIGURES; f++)
        figures[f] = lab_plot(run, plots[f].id, plots[f].title, "C (query scale)",
                              plots[f].y_label, LAB_LOG_X, "%s", "");
    if (run->figures)
        describe(run, p, figures);
    for (int c = 0; c < CURVES; c++) {
        drawn[c].row = curves[c].row;
        drawn[c].curve.theory = lab_theory_add(figures[curves[c].figure], curves[c].name);
    }
    for (int c = 0; c < CURVES; c++)
        drawn[c].curve.measured =
            lab_measured_add(figures[curves[c].figure], curves[c].name);
    return lab_sweep(run, &model, &over_C, *p, drawn, CURVES);
}

/* ---- the run ------------------------------------------------------------- */

/* Which was nearer to the average, where the difference exceeds 4 se. */
static void conclude(struct lab_run *run, const struct lab_setting *p,
                     const struct lab_found *found)
{
    const struct lab_found one = found[MSE_ONE], two = found[MSE_TWO];
    const int is_clear = fabs(one.measured - two.measured) > 4 * hypot(one.se, two.se);

    lab_conclude(
        run,
        "Queries %s, n = %g, C = %g: %s.  Mean squared distance from the average %.3g "
        "with two heads, %.3g with one; variance of the coefficient of v_a %.3g and "
        "%.3g.  Head 1 loses v_a (w1 < 1/2) in %.3g%% of the samples.",
        lab_text(run, "queries"), p->at[N], p->at[SCALE],
        !is_clear ? "two heads and one are equally near, as far as this shows"
        : two.measured < one.measured
            ? "two heads come nearer to the average than one"
            : "two heads come less near to the average than one",
        two.measured, one.measured, found[COEFF_VAR_TWO].measured,
        found[COEFF_VAR_ONE].measured, 100 * found[HEAD1_LOSES].measured);
}

static int perform(struct lab_run *run)
{
    const int64_t part = run->trials > 16000 ? run->trials / 16 : 1000;
    struct lab_histogram histogram = {.lo = 0, .hi = 1};
    struct lab_sample sample = {.histogram = &histogram};
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
        emit_crossover(run, &p, part))
        return -1;
    conclude(run, &p, sample.found);
    draw_histogram(run, &p, &sample);
    const struct lab_scene scene = scene_of(&p);
    if (lab_output_cloud(run, &scene))
        return -1;
    return run->sweeps ? sweep(run, &p, part, &sample) : 0;
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
