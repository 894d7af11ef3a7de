/* SPDX-License-Identifier: MIT */
/* The laboratory's runtime: rows, queries, scenes; the experiments magnitude and heads.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/performed.h"
#include "lab/setups/queries.h"
#include "lab/setups/tokens.h"
#include "lab/setups/scene.h"

/* ---- rows --------------------------------------------------------------- */

static const struct lab_flag flags[] = {
    {.name = "n", .type = LAB_INTEGER, .preset = 4, .min = 2, .max = 9, .help = ""},
    {.name = "d", .type = LAB_INTEGER, .preset = NAN, .min = 2, .max = 9, .help = ""},
    LAB_FLAG_CHOICE("w", "a", LAB_2("a", "b"), ""),
};
static const struct lab_experiment some_experiment = {
    .name = "x", .flags = flags, .flag_count = 3};

static void keep_row(void *user, const struct lab_row *row)
{
    *(struct lab_row *)user = *row;
}

TEST(runs_start_from_the_presets)
{
    struct lab_run run;

    lab_run_init(&run, &some_experiment);
    CHECK(lab_integer(&run, "n") == 4 && !strcmp(lab_text(&run, "w"), "a"), "presets");
    CHECK(lab_settle_d(&run) == 0 && lab_integer(&run, "d") == 4, "d follows n");
    lab_set(&run, "d", 3);
    CHECK(lab_settle_d(&run) == -1 && run.session.refused, "d < n");
    CHECK(strstr(run.session.error, "--d") && strstr(run.session.error, "4 or more"),
          "%s", run.session.error);
    struct lab_row row = {.param_count = 0};
    run.row = keep_row;
    run.session.user = &row;
    struct lab_setting at = lab_own(&run);
    at.at[0] = 8;
    at.at[2] = 1;
    lab_emit(&run, "x", &at, (struct lab_found){.theory = 1, .measured = 1});
    CHECK(!row.is_own && row.params[0].differs && !row.params[1].differs, "differences");
    CHECK(row.param_count == 3 && row.params[0].number == 8 &&
              !strcmp(row.params[2].text, "b") && !row.params[1].text,
          "params");
}

static struct lab_row row_of(enum lab_kind kind, double theory, double measured,
                             double se, double allowed)
{
    return (struct lab_row){.kind = kind,
                            .theory = theory,
                            .measured = measured,
                            .se = se,
                            .allowed = allowed};
}

TEST(rows_are_judged_by_their_kind)
{
    const struct {
        struct lab_row row;
        enum lab_standing standing;
    } cases[] = {
        {row_of(LAB_EXACT, 1, 1.39, 0.1, 0), LAB_WITHIN},
        {row_of(LAB_EXACT, 1, 1.41, 0.1, 0), LAB_OUTSIDE},
        {row_of(LAB_EXACT, 1, 0.59, 0.1, 0), LAB_OUTSIDE},
        {row_of(LAB_EXACT, 1, 1 + 1e-11, 0, 0), LAB_WITHIN},
        {row_of(LAB_EXACT, 1, 1 + 1e-9, 0, 0), LAB_OUTSIDE},
        {row_of(LAB_EXACT, 1e-6, 1.5e-6, 0, 0), LAB_OUTSIDE},
        {row_of(LAB_EXACT, 1e-9, 1.5e-9, 0, 0), LAB_OUTSIDE},
        /* The difference is below rounding: neither agreement nor disagreement. */
        {row_of(LAB_EXACT, 1e-9, 1.5e-9, 0, 1e-9), LAB_UNJUDGED},
        {row_of(LAB_EXACT, 0, 1e-17, 0, 0), LAB_UNJUDGED},
        {row_of(LAB_EXACT, 0, 0, 0, 0), LAB_UNJUDGED},
        {row_of(LAB_EXACT, INFINITY, INFINITY, 0, 0), LAB_UNJUDGED},
        {row_of(LAB_BOUND, 1, 0.2, 0, 0), LAB_HELD},
        {row_of(LAB_BOUND, 1, 1.1, 0, 0), LAB_BROKEN},
        {row_of(LAB_BOUND, 0, 1e-6, 0, 2e-6), LAB_HELD},
        {row_of(LAB_BOUND, 0, 3e-6, 0, 2e-6), LAB_BROKEN},
        {row_of(LAB_BOUND, 0, 0.39, 0.1, 0), LAB_HELD},
        {row_of(LAB_BOUND, 0, 0.41, 0.1, 0), LAB_BROKEN},
        {row_of(LAB_FIRST_ORDER, 2, 2.19, 0, 0.1), LAB_SHOWN},
        {row_of(LAB_ASYMPTOTIC, 0.81, 2.82, 0.01, 3), LAB_SHOWN},
        {row_of(LAB_MODEL, 2, 9, 0.1, 0), LAB_SHOWN},
        {row_of(LAB_EXACT, NAN, 1, 0, 0), LAB_UNJUDGED},
        {row_of(LAB_EXACT, 1, NAN, 0, 0), LAB_UNJUDGED},
        {row_of(LAB_EXACT, 1, 2, NAN, 0), LAB_UNJUDGED},
        {{.theory = 1e-5, .measured = 0, .rare = 1, .high = 2e-5}, LAB_WITHIN},
        {{.theory = 3e-5, .measured = 0, .rare = 1, .high = 2e-5}, LAB_OUTSIDE},
        {{.theory = 1, .measured = 1, .rare = 1, .low = 0.9, .high = 1}, LAB_WITHIN},
        {{.theory = 1, .measured = 0.99, .rare = 1, .low = 0.9, .high = 0.999},
         LAB_OUTSIDE},
        /* Few events of an unbounded quantity. */
        {{.theory = 1, .measured = 3, .se = 0.1, .rare = 1, .low = NAN, .high = NAN},
         LAB_UNJUDGED},
        /* Scatter no larger than rounding: rounding is added to 4 se. */
        {row_of(LAB_EXACT, 1, 1 + 5e-8, 1e-9, 1e-7), LAB_WITHIN},
        {row_of(LAB_EXACT, 1, 1 + 5e-7, 1e-9, 1e-7), LAB_OUTSIDE},
        {row_of(LAB_EXACT, 1e-7, 2e-7, 1e-9, 1e-7), LAB_UNJUDGED},
    };
    struct lab_count count = {0};
    char text[160];

    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        CHECK(lab_row_standing(&cases[c].row) == cases[c].standing, "case %u", c);
        lab_count_row(&count, &cases[c].row);
    }
    lab_count_text(&count, text, sizeof text);
    CHECK(!strcmp(text,
                  "within 4 se of theory: 5 of 13 rows; bounds held: 3 of 6; limits and "
                  "first-order forms: 3"),
          "%s", text);
}

TEST(a_limit_has_a_distance_and_no_z)
{
    const struct lab_row limit = row_of(LAB_ASYMPTOTIC, 0.81, 2.82, 0.01, 0);
    const struct lab_row exact = row_of(LAB_EXACT, 0.81, 0.82, 0.01, 0);

    CHECK(fabs(lab_row_distance(&limit) - 2.01 / 0.81) < 1e-12 &&
              isnan(lab_row_z(&limit)),
          "%g", lab_row_distance(&limit));
    CHECK(isnan(lab_row_distance(&exact)) && fabs(lab_row_z(&exact) - 1) < 1e-12, "%g",
          lab_row_z(&exact));
}

TEST(experiments_are_complete)
{
    static const char *const names[] = {
        "copy",      "extract",    "average",        "window",   "magnitude",
        "heads",     "one-vs-two", "how-many-heads", "remedies", "permute",
        "positions", "dispersion", "phases",         "capacity", "variants"};

    for (unsigned x = 0; x < sizeof names / sizeof names[0]; x++)
        CHECK(lab_find(names[x]), "%s", names[x]);
    for (int e = 0; lab_experiments[e]; e++) {
        const struct lab_experiment *const experiment = lab_experiments[e];
        CHECK(lab_find(experiment->name) == experiment, "%s twice", experiment->name);
        CHECK(*experiment->title && *experiment->shows && experiment->answers, "%s",
              experiment->name);
        for (int f = 0; f < experiment->flag_count; f++) {
            const struct lab_flag *const flag = &experiment->flags[f];
            CHECK(flag->help && *flag->help, "%s --%s", experiment->name, flag->name);
            CHECK(isnan(flag->preset) || flag->type > LAB_INTEGER ||
                      (flag->preset >= flag->min && flag->preset <= flag->max),
                  "%s --%s", experiment->name, flag->name);
        }
    }
}

/* ---- queries ------------------------------------------------------------ */

TEST(a_difference_from_nan_is_nan)
{
    const double a[] = {1, NAN, 3}, b[] = {1, 2, 5};

    CHECK(isnan(lab_most_apart(a, b, 3)), "%g", lab_most_apart(a, b, 3));
    CHECK(lab_most_apart(a, b, 1) == 0 && lab_most_apart(a + 2, b + 2, 1) == 2,
          "without");
}

TEST(queries_are_read_as_written)
{
    static const struct {
        const char *text;
        double C, a1, b1, a2, b2;
    } cases[] = {
        {"means", 7, 7, 0, 0, 7},    {"plus-minus", 7, 7, 7, 7, -7},
        {"unscaled", 7, 1, 0, 0, 1}, {"2a-b,3b", 7, 2, -1, 0, 3},
        {"-a,b", 7, -1, 0, 0, 1},    {"+1.5a + .5b , Ca-2Cb+b", 2, 1.5, 0.5, 2, -3},
        {"a+a,b-b", 7, 2, 0, 0, 0},
    };
    char why[80];

    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct lab_queries queries;
        CHECK(!lab_queries_parse(cases[c].text, &queries, why, sizeof why), "%s: %s",
              cases[c].text, why);
        const attend_theory_query q1 = lab_query_at(&queries, 0, cases[c].C);
        const attend_theory_query q2 = lab_query_at(&queries, 1, cases[c].C);
        CHECK(q1.a == cases[c].a1 && q1.b == cases[c].b1 && q2.a == cases[c].a2 &&
                  q2.b == cases[c].b2 && q1.rest == 0 && q2.rest == 0,
              "%s", cases[c].text);
    }
}

TEST(queries_that_are_not_are_refused)
{
    static const char *const wrong[] = {"",       "a",     "a,",    ",b",      "a,b,a",
                                        "2,b",    "a b,b", "c,b",   "a-,b",    "1e3a,b",
                                        "nana,b", "a,b ,", "2*a,b", "1..2a,b", "1001a,b",
                                        "Means",  "a,bb",  "--a,b", "aC,b"};
    struct lab_queries queries;

    for (unsigned c = 0; c < sizeof wrong / sizeof wrong[0]; c++) {
        char why[80] = "";
        CHECK(lab_queries_parse(wrong[c], &queries, why, sizeof why) == -1, "'%s'",
              wrong[c]);
        CHECK(*why, "'%s' says nothing", wrong[c]);
    }
}

/* ---- scenes ------------------------------------------------------------- */

static struct lab_session plain_session(int threads)
{
    return (struct lab_session){.seed = 1, .threads = threads};
}

static const struct lab_scene exercise = {.n = 7,
                                          .wanted = 2,
                                          .heads = 3,
                                          .sigma2 = 0.5,
                                          .tau = 0.5,
                                          .noisy = LAB_NOISY_WANTED,
                                          .query = {{6, 4}, {5, 0}, {-1, 3}},
                                          .rest_query = {0, 1, -2}};

/* CHECK() that lab_scene_measure() succeeds in `session`. */
#define MEASURE(...) CHECK(!lab_scene_measure(&session, __VA_ARGS__), "%s", session.error)

/* The weights and coefficients of a trial at alpha = 0, from its gammas by definition. */
static void deviation(void *arg, const struct lab_outcome *outcome, double *values)
{
    const struct lab_scene *const scene = arg;
    const double rest = (double)scene->n - 2;
    double c[3] = {0}, worst = 0;

    for (int h = 0; h < scene->heads; h++) {
        double e[3], p[3], sum = 0;
        for (int i = 0; i < 3; i++) {
            const double gamma = i < 2 ? outcome->gamma[i] : 1;
            const double length = scene->unit_keys ? copysign(1, gamma) : gamma;
            double s =
                scene->tau * length * (i < 2 ? scene->query[h][i] : scene->rest_query[h]);
            if (scene->softcap > 0)
                s = scene->softcap * tanh(s / scene->softcap);
            e[i] = exp(s) * (i < 2 ? 1 : rest);
            sum += e[i];
        }
        for (int i = 0; i < 3; i++) {
            p[i] = e[i] / sum;
            c[i] += p[i] / scene->heads;
        }
        worst = fmax(worst, fabs(outcome->weight[h][0] - p[0]));
        worst = fmax(worst, fabs(outcome->weight[h][1] - p[1]));
        worst = fmax(worst, fabs(outcome->others[h] - p[2]));
        worst = fmax(worst, fabs(outcome->squares[h] - p[2] * p[2] / rest));
    }
    worst = fmax(worst, fabs(outcome->coefficient[0] - c[0]));
    worst = fmax(worst, fabs(outcome->coefficient[1] - c[1]));
    values[0] = fmax(worst, fabs(outcome->others_squared - c[2] * c[2] / rest));
}

TEST(trials_are_what_the_definition_says)
{
    struct lab_session session = plain_session(2);
    struct lab_moments moments;

    for (int x = 0; x < 4; x++) {
        struct lab_scene scene = exercise;
        scene.softcap = x == 1 ? 2 : 0;
        scene.unit_keys = x == 2;
        scene.n = x == 3 ? 1000000 : 7;
        MEASURE(&scene, 0, 3000, deviation, &scene, 1, &moments, NULL);
        CHECK(moments.count == 3000 && moments.mean + moments.m2 < 1e-12, "%d: %g", x,
              moments.mean);
    }
}

static void weights(void *arg, const struct lab_outcome *outcome, double *values)
{
    (void)arg;
    values[0] = outcome->weight[0][0];
    values[1] = outcome->coefficient[1];
    values[2] = outcome->others_squared;
    values[3] = outcome->gamma[0];
    values[4] = outcome->others[1];
    values[5] = outcome->squares[0];
}

enum { WEIGHTS = 6 };

/*
 * Keys drawn in all dimensions and keys drawn in the span of the queries have the same
 * distribution.
 */
TEST(both_ways_of_drawing_have_one_law)
{
    struct lab_session session = plain_session(2);
    struct lab_scene scene = exercise;
    struct lab_moments whole[WEIGHTS], span[WEIGHTS];

    scene.alpha = 0.02;
    scene.noisy = LAB_NOISY_ALL;
    MEASURE(&scene, 0, 40000, weights, NULL, WEIGHTS, whole, NULL);
    scene.d = LAB_ENTRIES_MAX / scene.n + 1;
    MEASURE(&scene, 1, 40000, weights, NULL, WEIGHTS, span, NULL);
    for (int v = 0; v < WEIGHTS; v++) {
        const double z =
            (whole[v].mean - span[v].mean) /
            hypot(lab_moments_mean_se(&whole[v]), lab_moments_mean_se(&span[v]));
        const double z2 =
            (lab_moments_variance(&whole[v]) - lab_moments_variance(&span[v])) /
            hypot(lab_moments_variance_se(&whole[v]), lab_moments_variance_se(&span[v]));
        CHECK(fabs(z) < 4 && fabs(z2) < 4, "value %d: z = %.2f and %.2f", v, z, z2);
    }
    const double z =
        (lab_moments_variance(&whole[3]) - 0.52) / lab_moments_variance_se(&whole[3]);
    CHECK(fabs(z) < 4, "Var gamma: z = %.2f", z);
}

/* Against theory: all keys noisy, a query that sees the others, in span and whole. */
TEST(drawn_keys_agree_with_theory)
{
    for (int x = 0; x < 2; x++) {
        struct lab_session session = plain_session(2);
        const double alpha = x ? 0.01 : 0;
        const struct lab_scene scene =
            LAB_SCENE(12, 1, 0.3, alpha, 1, .noisy = LAB_NOISY_ALL, .query = {{3, 2}},
                      .rest_query = {-1});
        attend_theory_scene theory = attend_theory_scene_exercise(12, 0.3, 0);
        struct lab_moments moments[WEIGHTS];
        theory.alpha = alpha;
        theory.sigma2[ATTEND_THEORY_B] = theory.sigma2[ATTEND_THEORY_REST] = 0.3;
        const attend_theory_output head =
            attend_theory_head(&theory, (attend_theory_query){3, 2, -1});
        MEASURE(&scene, 0, 40000, weights, NULL, 4, moments, NULL);
        const double z = (moments[0].mean - head.mean[ATTEND_THEORY_A]) /
                         lab_moments_mean_se(&moments[0]);
        const double z2 =
            (lab_moments_variance(&moments[0]) - head.variance[ATTEND_THEORY_A]) /
            lab_moments_variance_se(&moments[0]);
        CHECK(fabs(z) < 4 && fabs(z2) < 4, "alpha %g: z = %.2f and %.2f", alpha, z, z2);
    }
}

TEST(unit_keys_have_norm_one)
{
    struct lab_session session = plain_session(1);
    struct lab_scene scene = exercise;
    struct lab_moments moments[WEIGHTS];

    /* With huge isotropic noise a unit key's scores cannot exceed |q|. */
    scene.n = 20;
    scene.heads = 1;
    scene.alpha = 100;
    scene.unit_keys = 1;
    scene.tau = 1;
    scene.query[0][0] = scene.query[0][1] = 0.5;
    MEASURE(&scene, 0, 500, weights, NULL, 3, moments, NULL);
    /* Weights between e^-1.42 / 20 and e^1.42 / 20 keep their variance small. */
    CHECK(lab_moments_variance(&moments[0]) < 4e-4 && moments[0].mean > 0.02 &&
              moments[0].mean < 0.12,
          "%g %g", moments[0].mean, lab_moments_variance(&moments[0]));
    scene.n = 3000;
    CHECK(lab_scene_measure(&session, &scene, 0, 1, weights, NULL, 3, moments, NULL) ==
                  -1 &&
              session.refused,
          "too many entries");
}

static void product(void *arg, const struct lab_outcome *outcome, double *values)
{
    const double mean = *(const double *)arg;

    values[0] = (outcome->weight[0][0] - mean) * (outcome->weight[1][0] - mean);
}

TEST(heads_share_keys_unless_told)
{
    struct lab_session session = plain_session(2);
    struct lab_scene scene =
        LAB_SCENE(2, 2, 0.5, 0, 1, .noisy = LAB_NOISY_A, .query = {{2, 2}, {2, 2}});
    double mean = 0.5;
    struct lab_moments same, own;

    MEASURE(&scene, 0, 20000, product, &mean, 1, &same, NULL);
    scene.independent_noise = 1;
    MEASURE(&scene, 0, 20000, product, &mean, 1, &own, NULL);
    CHECK(fabs(same.mean - 0.068419) < 4 * lab_moments_mean_se(&same), "%g", same.mean);
    CHECK(fabs(own.mean) < 4 * lab_moments_mean_se(&own), "%g", own.mean);
}

TEST(numbers_do_not_depend_on_threads)
{
    static const int threads[] = {1, 2, 5};
    struct lab_moments moments[3][WEIGHTS];
    struct lab_histogram histogram[3];

    for (int form = 0; form < 3; form++) {
        struct lab_scene scene = exercise;
        scene.alpha = form > 0 ? 0.01 : 0;
        scene.d = form > 1 ? LAB_ENTRIES_MAX / scene.n + 1 : 0;
        for (int t = 0; t < 3; t++) {
            struct lab_session session = plain_session(threads[t]);
            histogram[t] = (struct lab_histogram){.lo = 0, .hi = 1};
            struct lab_histogram *const histograms[WEIGHTS] = {&histogram[t]};
            MEASURE(&scene, 3, 70001, weights, NULL, WEIGHTS, moments[t], histograms);
            CHECK(moments[t][0].count == 70001 && histogram[t].count == 70001, "count");
        }
        CHECK(!memcmp(moments[0], moments[1], sizeof moments[0]) &&
                  !memcmp(moments[0], moments[2], sizeof moments[0]),
              "moments, form %d", form);
        CHECK(!memcmp(&histogram[0], &histogram[1], sizeof histogram[0]) &&
                  !memcmp(&histogram[0], &histogram[2], sizeof histogram[0]),
              "histograms, form %d", form);
    }
}

static volatile sig_atomic_t stop;

static void stop_early(void *user, int64_t done, int64_t total)
{
    (void)user;
    stop = done > 0 && total == 10000000;
}

TEST(a_person_who_has_had_enough_gets_what_was_measured)
{
    struct lab_session session = plain_session(2);
    struct lab_moments moments[WEIGHTS];

    stop = 0;
    session.stop = &stop;
    session.progress = stop_early;
    MEASURE(&exercise, 0, 10000000, weights, NULL, WEIGHTS, moments, NULL);
    CHECK(moments[0].count > 0 && moments[0].count < 1000000, "%d",
          (int)moments[0].count);
    CHECK(fabs(moments[3].mean - 1) < 4 * lab_moments_mean_se(&moments[3]),
          "still right");
}

/* ---- the experiments ---------------------------------------------------- */

/* Rows at the given parameters, all of which must agree. */
static void perform_at(const char *name, double n, double C, double sigma2)
{
    char settings[120];

    snprintf(settings, sizeof settings, "n=%.17g C=%.17g sigma2=%.17g", n, C, sigma2);
    PERFORM(name, settings, 8000);
    CHECK_ROWS();
}

TEST(experiments_hold_at_other_parameters)
{
    static const struct {
        const char *name;
        double n, C, sigma2;
    } cases[] = {{"magnitude", 2, 1.9, 0.5}, {"magnitude", 2, 28, 0.5},
                 {"magnitude", 3, 3, 0.5},   {"magnitude", 10, 2, 0.5},
                 {"magnitude", 10, 10, 0.5}, {"magnitude", 1000, 7, 0.5},
                 {"magnitude", 10, 5, 0.05}, {"magnitude", 100, 4, 2},
                 {"magnitude", 10, 10, 0},   {"magnitude", 2, 0, 0.5},
                 {"heads", 10, 2, 0.5},      {"heads", 10, 50, 0.5},
                 {"heads", 1000, 5, 0.5},    {"heads", 1000, 10, 0.5}};

    for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        perform_at(cases[c].name, cases[c].n, cases[c].C, cases[c].sigma2);
        CHECK(strcmp(cases[c].name, "magnitude") || cases[c].n > 2 || cases[c].C < 1 ||
                  measured("modes") == (cases[c].C > 2 ? 2 : 1),
              "C = %g: %g modes", cases[c].C, measured("modes"));
    }
}
