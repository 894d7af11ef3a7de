/* SPDX-License-Identifier: MIT */
/*
 * The experiments on noisy keys: window, one-vs-two, how-many-heads, remedies; and the
 * moments of softmax weights that they and the designs rest on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/design/design.h"
#include "lab/measure/forward.h"
#include "lab/performed.h"
#include "lab/setups/pair.h"
#include "theory/score_law.h"

/* ---- moments -------------------------------------------------------------- */

enum { GRID = 81 };

/* Midpoints of equal steps over -6 .. 6 and their share of the normal law. */
static void normal_grid(double *z, double *weight)
{
    double sum = 0;

    for (int x = 0; x < GRID; x++) {
        z[x] = -6 + 12 * (x + 0.5) / GRID;
        weight[x] = exp(-z[x] * z[x] / 2);
        sum += weight[x];
    }
    for (int x = 0; x < GRID; x++)
        weight[x] /= sum;
}

static double cap_of(double x, double cap) { return cap > 0 ? cap * tanh(x / cap) : x; }

/* E p and E p^2 of the first of three keys, summed over the cube of their normals. */
static void brute_force(const struct attendi_theory_score_kind *law, double rest,
                        double *mean, double *square)
{
    double z[GRID], weight[GRID], e[3][GRID];

    normal_grid(z, weight);
    for (int k = 0; k < 3; k++)
        for (int x = 0; x < GRID; x++)
            e[k][x] = exp(cap_of(law[k].mean + law[k].sd * z[x], law[k].softcap));
    *mean = *square = 0;
    for (int x = 0; x < GRID; x++)
        for (int y = 0; y < GRID; y++)
            for (int w = 0; w < GRID; w++) {
                const double p = e[0][x] / (e[0][x] + e[1][y] + e[2][w] + rest);
                const double share = weight[x] * weight[y] * weight[w];
                *mean += share * p;
                *square += share * p * p;
            }
}

TEST(moments_of_three_noisy_keys_and_many_sure_ones)
{
    struct attendi_theory_score_kind law[4] = {
        attendi_theory_plain_kind(1, 2, 1.5), attendi_theory_plain_kind(1, 1.5, 0.3),
        attendi_theory_plain_kind(1, 0, 1), attendi_theory_plain_kind(7, -0.5, 0)};
    double mean[4], square[4], expected_mean, expected_square;

    for (int capped = 0; capped <= 1; capped++) {
        for (int k = 0; k < 4; k++)
            law[k].softcap = capped ? 1.7 : 0;
        CHECK(attendi_theory_score_moments(law, 4, mean, square) == 0, "failed");
        brute_force(law, 7 * exp(cap_of(-0.5, law[3].softcap)), &expected_mean,
                    &expected_square);
        CHECK(fabs(mean[0] - expected_mean) < 1e-8, "%.12g, not %.12g", mean[0],
              expected_mean);
        CHECK(fabs(square[0] - expected_square) < 1e-8, "%.12g, not %.12g", square[0],
              expected_square);
        const double sum = mean[0] + mean[1] + mean[2] + 7 * mean[3];
        CHECK(fabs(sum - 1) < 1e-12, "sum - 1 = %g", sum - 1);
    }
}

TEST(moments_of_sure_scores_are_the_softmax)
{
    const struct attendi_theory_score_kind law[] = {attendi_theory_plain_kind(1, 30, 0),
                                                    attendi_theory_plain_kind(2, -3, 0),
                                                    attendi_theory_plain_kind(1e6, 0, 0)};
    const double sum = exp(30) + 2 * exp(-3) + 1e6;
    double mean[3], square[3];

    CHECK(attendi_theory_score_moments(law, 3, mean, square) == 0, "failed");
    for (int k = 0; k < 3; k++) {
        const double p = exp(law[k].mean) / sum;
        CHECK(fabs(mean[k] / p - 1) < 1e-9, "key %d: %g", k, mean[k] / p - 1);
        CHECK(fabs(square[k] / (p * p) - 1) < 1e-9, "key %d: %g", k,
              square[k] / (p * p) - 1);
    }
}

/* With one wide and one constant score, the weight is nearly P(above). */
TEST(moments_given_an_interval)
{
    struct attendi_theory_score_kind law[2] = {attendi_theory_plain_kind(1, 100, 200),
                                               attendi_theory_plain_kind(1, 0, 0)};
    double mean[2], square[2];

    law[0].lo = 0;
    CHECK(attendi_theory_score_moments(law, 2, mean, square) == 0, "failed");
    CHECK(mean[0] > 0.99 && mean[0] < 1, "%g", mean[0]);
    law[0].lo = -INFINITY;
    law[0].hi = 0;
    CHECK(attendi_theory_score_moments(law, 2, mean, square) == 0, "failed");
    CHECK(mean[0] > 0 && mean[0] < 0.01, "%g", mean[0]);
    /* The two halves add up to the whole. */
    const double below = mean[0];
    law[0].hi = INFINITY;
    CHECK(attendi_theory_score_moments(law, 2, mean, square) == 0, "failed");
    const double whole = mean[0], p = 0.5 * erfc(0.5 / sqrt(2.0));
    law[0].lo = 0;
    CHECK(attendi_theory_score_moments(law, 2, mean, square) == 0, "failed");
    CHECK(fabs(p * below + (1 - p) * mean[0] - whole) < 1e-10, "%g",
          p * below + (1 - p) * mean[0] - whole);
}

TEST(moments_refuse)
{
    const struct attendi_theory_score_kind bad[] = {
        attendi_theory_plain_kind(0, 0, 1),
        attendi_theory_plain_kind(1, NAN, 1),
        attendi_theory_plain_kind(1, 0, -1),
        attendi_theory_plain_kind(1, 0, 1e9),
        {.keys = 1, .sd = 1, .lo = 2, .hi = 1}};
    double mean[1], square[1];

    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        CHECK(attendi_theory_score_moments(&bad[k], 1, mean, square) == -1, "law %zu", k);
}

/* ---- experiments ---------------------------------------------------------- */

static int is_near(double x, double y, double tolerance)
{
    return fabs(x - y) <= tolerance;
}

TEST(every_row_agrees_at_several_parameters)
{
    static const struct {
        const char *name, *flags;
    } runs[] = {
        {"window", "alpha=0.01 C=50"},
        {"window", "alpha=0.3 C=2 n=40"},
        {"window", "alpha=0 sigma2=0.5 n=2"},
        {"window", "alpha=0.02 tau=0.25 C=30"},
        {"one-vs-two", "n=1000 C=7"},
        {"one-vs-two", "n=1e6 C=20 sigma2=0.1"},
        {"one-vs-two", "n=12 C=4 alpha=0.05"},
        {"how-many-heads", "m=8 h=2 C=20"},
        {"how-many-heads", "m=2 h=8 noise=independent"},
        {"how-many-heads", "m=4 h=8 groups=copies n=4"},
        {"remedies", "remedy=qk-norm noisy=all C=5"},
        {"remedies", "remedy=suppression noisy=both"},
        {"remedies", "remedy=suppression alpha=1e-3"},
        {"remedies", "remedy=cap cap=2 noisy=all"},
        {"remedies", "remedy=two-heads alpha=0.02"},
    };

    for (size_t x = 0; x < sizeof runs / sizeof runs[0]; x++) {
        if (!test_draws(3))
            continue;
        PERFORM(runs[x].name, runs[x].flags, 4000);
        CHECK_ROWS();
    }
}

TEST(agreement_can_fail)
{
    PERFORM("window", "alpha=0.01", 20000);
    struct lab_row row = *find_row("var_share");
    CHECK(lab_row_standing(&row) == LAB_WITHIN, "z = %g", lab_row_z(&row));
    row.theory *= 1.1;
    CHECK(lab_row_standing(&row) == LAB_OUTSIDE, "z = %g", lab_row_z(&row));
}

TEST(window_at_fixed_noise_is_a_coin_toss)
{
    PERFORM("window", "alpha=0.01 C=50", 20000);
    CHECK(is_near(theory("var_share"), 0.210740, 1e-6), "%.9g", theory("var_share"));
    CHECK(is_near(theory("var_w"), 0.2107, 1e-4), "%.9g", theory("var_w"));
    CHECK(is_near(theory("p_share_outside_10_90"), 0.8261, 5e-5), "%.9g",
          theory("p_share_outside_10_90"));
    CHECK_ROWS();
}

/* The table of one head against two. */
TEST(errors_of_one_and_two_heads_on_the_engine)
{
    static const struct {
        double n, C, one, two;
    } known[] = {{10, 1, .2255, .2878},    {10, 3, .1733, .0873},
                 {10, 10, .3905, .0310},   {10, 50, .4775, .0233},
                 {1000, 2, .4772, .4876},  {1000, 7, .2673, .1611},
                 {1000, 10, .3744, .0720}, {1000, 50, .4775, .0266}};
    attend_context *ctx;
    struct lab_session session = {.threads = 1};

    CHECK(attend_context_create(&ctx, NULL, NULL) == ATTEND_OK, "no context");
    for (size_t x = 0; x < sizeof known / sizeof known[0]; x++) {
        struct lab_pair_mse mse;
        const int failed = lab_pair_measure_mse(
            &(struct lab_exact_pair){&session, ctx, known[x].n, 0.5}, known[x].C, &mse);
        if (failed || !is_near(mse.one, known[x].one, 5.1e-5) ||
            !is_near(mse.two, known[x].two, 5.1e-5))
            test_fail(__FILE__, __LINE__, "mse", "n %g, C %g: %g, %g", known[x].n,
                      known[x].C, mse.one, mse.two);
    }
    attend_context_destroy(ctx);
}

static double row_at(const char *quantity, double n)
{
    for (int r = 0; r < lab.count; r++)
        if (!strcmp(lab.row[r].quantity, quantity) &&
            is_near(lab.row[r].params[0].number, n, 0.5))
            return lab.row[r].measured;
    return NAN;
}

/* Random keys are measured with split targets and shared noise for all flags. */
TEST(rows_have_the_setting_that_was_measured)
{
    int rows = 0;

    PERFORM_AS("how-many-heads",
               .flags = "m=4 h=8 groups=copies n=16 "
                        "noise=independent",
               .trials = 50, .sweeps = 1);
    for (int r = 0; r < lab.count; r++) {
        if (strcmp(lab.row[r].quantity, "mse_at_best_C") != 0)
            continue;
        rows++;
        CHECK(!strcmp(lab.row[r].params[6].text, "split") &&
                  !strcmp(lab.row[r].params[7].text, "shared"),
              "%s", describe(&lab.row[r]));
    }
    CHECK(rows == 12, "%d rows", rows);
}

TEST(two_heads_win_above_a_crossover)
{
    static const double n[] = {10, 100, 1000, 10000};
    static const double crossover[2][4] = {{2.17, 3.82, 5.20, 5.95},
                                           {3.95, 5.96, 7.99, 10.08}};

    for (int small = 0; small <= 1; small++) {
        PERFORM_AS("one-vs-two", .flags = small ? "sigma2=0.005" : "sigma2=0.5",
                   .trials = 2000, .sweeps = 1);
        for (int x = 0; x < 4; x++)
            CHECK(is_near(row_at("crossover_C", n[x]), crossover[small][x], 5.1e-3),
                  "n %g: %g", n[x], row_at("crossover_C", n[x]));
        if (small)
            continue;
        CHECK_ROWS();
        CHECK(is_near(row_at("best_C_one", 10), 2.14, 5.1e-3), "%g",
              row_at("best_C_one", 10));
        CHECK(is_near(row_at("best_mse_one", 10), 0.147, 5.1e-4), "%g",
              row_at("best_mse_one", 10));
        CHECK(is_near(row_at("best_C_one", 1000), 6.86, 5.1e-3), "%g",
              row_at("best_C_one", 1000));
        CHECK(is_near(row_at("best_mse_one", 1000), 0.267, 5.1e-4), "%g",
              row_at("best_mse_one", 1000));
    }
}

TEST(two_heads_lose_below_the_crossover)
{
    PERFORM("one-vs-two", "n=1e4 C=10 sigma2=0.005", 100000);
    CHECK(is_near(theory("mse_two"), 0.0566, 5.1e-5), "%g", theory("mse_two"));
    CHECK(is_near(theory("mse_one"), 0.0523, 5.1e-5), "%g", theory("mse_one"));
    CHECK(measured("mse_two") > measured("mse_one"), "%g, %g", measured("mse_two"),
          measured("mse_one"));
    CHECK_ROWS();
}

TEST(heads_are_strata)
{
    /* At the best scale in 64 dimensions: sigma2 1/2, 0.005; one head, eight. */
    double at[2][2] = {{NAN, NAN}, {NAN, NAN}};
    int limits = 0, rivals = 0;

    PERFORM_AS("how-many-heads", .trials = 20000, .sweeps = 1);
    CHECK_ROWS();
    for (int r = 0; r < lab.count; r++) {
        const struct lab_row *const row = &lab.row[r];
        const double m = row->params[1].number, h = row->params[2].number;
        const double sigma2 = row->params[4].number;
        if (!strcmp(row->quantity, "mse_at_best_C") && (h < 2 || h > 4) &&
            (sigma2 > 0.4 || sigma2 < 0.01))
            at[sigma2 < 0.01][h > 4] = row->measured;
        if (!strcmp(row->quantity, "mse_given_positive_limit")) {
            CHECK(row->kind == LAB_ASYMPTOTIC &&
                      is_near(row->theory, 1 / h - 1 / m, 1e-12),
                  "m %g, h %g: %g", m, h, row->theory);
            limits++;
        }
        rivals += !strcmp(row->quantity, "p_rival_beats_targets");
    }
    CHECK(limits == 1 + 2 + 3 + 4 && rivals == 4, "%d limits, %d rivals", limits, rivals);
    CHECK(is_near(at[0][0], 0.107, 0.005) && is_near(at[0][1], 0.114, 0.005), "%g, %g",
          at[0][0], at[0][1]);
    CHECK(is_near(at[1][0], 0.077, 0.005) && is_near(at[1][1], 0.015, 0.005), "%g, %g",
          at[1][0], at[1][1]);
}

TEST(copies_on_the_same_keys_are_useless)
{
    static const char *const flags[] = {"groups=copies h=1 noise=shared",
                                        "groups=copies h=8 noise=shared",
                                        "groups=copies h=8 noise=independent"};
    double mse[3];

    for (int x = 0; x < 3; x++) {
        PERFORM("how-many-heads", flags[x], 20000);
        CHECK_ROWS();
        mse[x] = measured("mse");
    }
    CHECK(is_near(mse[0], mse[1], 1e-12), "%.17g, %.17g", mse[0], mse[1]);
    CHECK(mse[2] < mse[0] / 4, "%g, %g", mse[2], mse[0]);
}

TEST(remedies_have_the_known_variances)
{
    static const struct {
        const char *flags, *quantity;
        double value, tolerance;
    } known[] = {{"remedy=plain noisy=a C=10 alpha=1e-4", "var_a", 0.195, 5.1e-4},
                 {"remedy=suppression noisy=a C=10 alpha=1e-4", "var_a", 0.009, 5.1e-4},
                 {"remedy=two-heads noisy=a C=10 alpha=1e-4", "var_a", 0.023, 5.1e-4},
                 {"remedy=suppression noisy=all C=10 alpha=1e-4", "mse", 0.50, 5.1e-3},
                 {"remedy=two-heads noisy=all C=10 alpha=1e-4", "mse", 0.061, 5.1e-4},
                 {"remedy=qk-norm noisy=a C=100", "var_a", 0.0181, 5.1e-5}};

    for (size_t x = 0; x < sizeof known / sizeof known[0]; x++) {
        PERFORM("remedies", known[x].flags, 20000);
        CHECK(is_near(theory(known[x].quantity), known[x].value, known[x].tolerance),
              "%s: %g", known[x].flags, theory(known[x].quantity));
        CHECK_ROWS();
    }
}

/* A lost key leaves v_b with normalised keys, and all the others with two heads. */
TEST(remedies_fall_back_differently)
{
    PERFORM("remedies", "remedy=qk-norm noisy=a C=20", 20000);
    CHECK(measured("fallback_b") > 0.999, "%g", measured("fallback_b"));
    PERFORM("remedies", "remedy=two-heads noisy=a C=20", 20000);
    CHECK(is_near(measured("fallback_b"), 0.5, 0.06) &&
              is_near(measured("fallback_others"), 0.45, 0.06),
          "%g, %g", measured("fallback_b"), measured("fallback_others"));
    CHECK_ROWS();
}

TEST(parameters_that_do_not_go_together)
{
    static const struct {
        const char *name, *flags, *says;
    } refused[] = {
        {"how-many-heads", "n=4 m=8 h=8", "--n"},
        {"how-many-heads", "m=8 h=3", "--h"},
        {"how-many-heads", "n=16 d=8", "--d"},
        {"how-many-heads", "keys=random d=7", "--d"},
        {"how-many-heads", "keys=random d=64 h=4", "--h"},
    };

    for (size_t x = 0; x < sizeof refused / sizeof refused[0]; x++) {
        CHECK(perform(refused[x].name, refused[x].flags, 100) == -1, "case %zu", x);
        CHECK(lab.run.session.refused && strstr(lab.run.session.error, refused[x].says),
              "case %zu: %s", x, lab.run.session.error);
        CHECK(lab.count == 0, "case %zu: %d rows", x, lab.count);
    }
}

/* ---- design --------------------------------------------------------------- */

static double design_row(const struct lab_design *design, const char *quantity,
                         int is_measured)
{
    for (int x = 0; x < design->rows; x++)
        if (!strcmp(design->row[x].quantity, quantity))
            return is_measured ? design->row[x].measured : design->row[x].predicted;
    return NAN;
}

TEST(design_of_the_exercise)
{
    enum { N = 10 };
    double keys[N * N] = {0};
    const int64_t items[2] = {3, 7};
    struct lab_design_request request = {.keys = keys,
                                         .n = N,
                                         .d = N,
                                         .items = items,
                                         .m = 2,
                                         .heads = 1,
                                         .eps = 0.01,
                                         .tau = 1,
                                         .scale = NAN,
                                         .trials = 1000,
                                         .session = {.threads = 1}};
    struct lab_design design;
    attend_error err;

    for (int i = 0; i < N; i++)
        keys[i * N + i] = 1;
    CHECK(lab_design_make(&request, &design, &err) == ATTEND_OK, "%s", err.message);
    const double scale = design.scale, leak = design_row(&design, "leak", 1);
    const double q3 = design.queries[3], q4 = design.queries[4];
    lab_design_free(&design);
    CHECK(is_near(scale, log(8 * 0.99 / (2 * 0.01)), 1e-12), "%.15g", scale);
    CHECK(is_near(leak, 0.01, 1e-12) && is_near(q3, scale, 1e-12) &&
              is_near(q4, 0, 1e-12),
          "%g, %g, %g", leak, q3, q4);
    /* Magnitude noise of both: two heads are steadier, and are what 0 heads gives. */
    request.heads = 0;
    request.sigma2 = 0.5;
    request.scale = 10;
    CHECK(lab_design_make(&request, &design, &err) == ATTEND_OK, "%s", err.message);
    const int heads = design.heads;
    const double one = design.choice[0].mse, two = design.choice[1].mse;
    lab_design_free(&design);
    CHECK(heads == 2 && one > 0.4 && is_near(two, 0.0608, 5e-4), "%d heads: %g, %g",
          heads, one, two);
}
