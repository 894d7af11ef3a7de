/* SPDX-License-Identifier: MIT */
/*
 * The statements of the sheets, and how they depend on the world.  Verdicts are not
 * written in the tests either; test_judge.c tests the judge.
 */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/figures/text.h"
#include "lab/measure/parallel.h"
#include "lab/judge/claim.h"
#include "lab/sheets/sheets.h"

/* ---- the statements ----------------------------------------------------------- */

static struct lab_judgement all[LAB_STATEMENTS], by_letter[LAB_STATEMENTS];

static void check_fields(const struct lab_judgement *j,
                         const struct lab_judgement *letter)
{
    CHECK(!strncmp(j->sheet, j->id, 3) && strlen(j->sheet) == 3, "%s", j->sheet);
    CHECK(j->line > 0 && *j->says, "%s", j->id);
    CHECK(abs(j->quoted - j->line) <= 8 && *j->quote, "%s: line %d", j->id, j->quoted);
    CHECK(strlen(j->holds_when) > 10 && strlen(j->holds_when) < sizeof j->holds_when - 1,
          "%s: %s", j->id, j->holds_when);
    CHECK(strlen(j->evidence) > 20 && strlen(j->evidence) < sizeof j->evidence - 1,
          "%s: %s", j->id, j->evidence);
    CHECK(strpbrk(j->evidence, "0123456789"), "%s: %s", j->id, j->evidence);
    CHECK(strlen(letter->evidence) < sizeof j->evidence - 1, "%s: %s", j->id,
          letter->evidence);
}

/* In the order of sheets and lines; the numbers of a sheet are 1 .. its count. */
TEST(every_statement_is_judged)
{
    static const int counts[] = {16, 26, 32, 18, 21};
    int index = 0;

    for (int sheet = 0; sheet < 5; sheet++)
        for (int i = 1; i <= counts[sheet]; i++, index++) {
            const struct lab_judgement *const j = &all[index];
            char id[16];
            check_fields(j, &by_letter[index]);
            CHECK(i == 1 || (j->line >= j[-1].line && j->quoted >= j[-1].quoted),
                  "%s: line %d", j->id, j->line);
            snprintf(id, sizeof id, "%03d-%d", sheet, i);
            const int found = lab_sheets_index(id);
            CHECK(found >= 0 && !strcmp(all[found].id, id), "%s", id);
            CHECK(atoi(j->sheet) == sheet, "%s on sheet %d", j->id, sheet);
        }
    CHECK(index == LAB_STATEMENTS, "%d", index);
}

TEST(each_row_says_whether_the_readings_agree)
{
    int differ = 0;
    for (int i = 0; i < LAB_STATEMENTS; i++) {
        const int agree = all[i].verdict == by_letter[i].verdict;
        CHECK(all[i].readings_agree == agree && by_letter[i].readings_agree == agree,
              "%s", all[i].id);
        CHECK(all[i].reading == LAB_CHARITY && by_letter[i].reading == LAB_LETTER, "%s",
              all[i].id);
        differ += !agree;
        /* The charitable reading is never the stricter one. */
        CHECK(agree || by_letter[i].verdict == LAB_FAILS || all[i].verdict == LAB_HOLDS,
              "%s: %s, by the letter %s", all[i].id, lab_verdict_name(all[i].verdict),
              lab_verdict_name(by_letter[i].verdict));
    }
    CHECK(differ > 0 && differ < LAB_STATEMENTS / 2, "%d readings differ", differ);
}

TEST(judging_again_says_the_same)
{
    for (int index = 0; index < LAB_STATEMENTS; index += 7) {
        struct lab_judgement again;
        CHECK(!lab_sheets_judge(index, LAB_CHARITY, &again), "%d", index);
        CHECK(again.verdict == all[index].verdict &&
                  !strcmp(again.evidence, all[index].evidence) &&
                  !strcmp(again.holds_when, all[index].holds_when),
              "%s: %s / %s", again.id, again.evidence, all[index].evidence);
    }
    struct lab_judgement none;
    CHECK(lab_sheets_judge(LAB_STATEMENTS, LAB_CHARITY, &none) &&
              lab_sheets_judge(-1, LAB_CHARITY, &none),
          "a statement too many");
}

/* ---- thresholds against a quadrature of their own --------------------------------- */

/* Squared distance of head 1 from v_a, or of the mean of both heads from the average. */
static double squared_error(double C, double n, double gamma, int both)
{
    const double off_1 = 1 / (1 + exp(C * gamma - log(n - 1)));
    const double off_2 = 1 / (1 + exp(C - log(n - 1)));
    if (!both)
        return off_1 * off_1 * (1 + 1 / (n - 1));
    const double a = (off_2 / (n - 1) - off_1) / 2, b = (off_1 / (n - 1) - off_2) / 2;
    const double rest = (off_1 + off_2) / 2 / (n - 1);
    return a * a + b * b + (n - 2) * rest * rest;
}

/* Root mean square over gamma ~ N(1, 1/2) given gamma > 0, by Simpson's rule. */
static double error_given_positive(double C, double n, int both)
{
    const double ends[] = {0, 100 / C, 8};
    enum { STEPS = 20000 };
    double sum = 0, mass = 0;
    for (int part = 0; part < 2; part++)
        for (int i = 0; i <= STEPS; i++) {
            const double step = (ends[part + 1] - ends[part]) / STEPS;
            const double gamma = ends[part] + step * i;
            const double weight = step *
                                  (i == 0 || i == STEPS ? 1
                                   : i % 2              ? 4
                                                        : 2) *
                                  exp(-(gamma - 1) * (gamma - 1));
            sum += weight * squared_error(C, n, gamma, both);
            mass += weight;
        }
    return sqrt(sum / mass);
}

static double threshold_of(const char *id, int n)
{
    char words[32];
    snprintf(words, sizeof words, " at n = %d", n);
    const char *end = strstr(all[lab_sheets_index(id)].holds_when, words), *start = end;
    while (start && start[-1] != ' ')
        start--;
    return start ? strtod(start, NULL) : NAN;
}

TEST(thresholds_of_noisy_heads_by_quadrature)
{
    static const int keys[] = {10, 1000};
    for (int both = 0; both < 2; both++)
        for (int i = 0; i < 2; i++) {
            double low = 200, high = 1e5;
            while (high > 1.00001 * low) {
                const double C = sqrt(low * high);
                *(error_given_positive(C, keys[i], both) < 0.01 ? &high : &low) = C;
            }
            const double told = threshold_of(both ? "000-16" : "000-15", keys[i]);
            CHECK(fabs(told / high - 1) < 1e-3, "%s at n = %d: %g, quadrature %g",
                  both ? "both" : "head 1", keys[i], told, high);
        }
    CHECK(fabs(threshold_of("000-15", 10) - 3513) <= 1, "%g", threshold_of("000-15", 10));
}

/* ---- one rule for "unstable" ------------------------------------------------------ */

/* Weights of v_a, v_b and one other key, for the query C (mu_a + sign mu_b). */
static void weights_at(double C, double n, double gamma, double sign, double weight[3])
{
    const double score[3] = {C * gamma, sign * C, 0};
    const double top = fmax(score[0], fmax(score[1], 0));
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        weight[i] = exp(score[i] - top);
        sum += (i == 2 ? n - 2 : 1) * weight[i];
    }
    for (int i = 0; i < 3; i++)
        weight[i] /= sum;
}

/* Covariance of weight x under `sign` and under `other`; by the trapezium rule. */
static double weight_covariance(double C, double n, double sign, double other, int x)
{
    enum { STEPS = 16000 };
    double mass = 0, first = 0, second = 0, both = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double gamma = 1 + 16.0 * (i - STEPS / 2) / STEPS;
        const double weight = exp(-(gamma - 1) * (gamma - 1));
        double p[3], r[3];
        weights_at(C, n, gamma, sign, p);
        weights_at(C, n, gamma, other, r);
        mass += weight;
        first += weight * p[x];
        second += weight * r[x];
        both += weight * p[x] * r[x];
    }
    return both / mass - first / mass * (second / mass);
}

TEST(unstable_is_one_number_in_both_readings)
{
    static const int keys[] = {10, 1000};
    const int index = lab_sheets_index("003-11");
    CHECK(all[index].verdict == by_letter[index].verdict, "the readings differ");
    CHECK(fabs(all[index].expected - 0.1) < 1e-12 &&
              fabs(by_letter[index].expected - 0.1) < 1e-12,
          "compared with %g and %g", all[index].expected, by_letter[index].expected);
    for (int i = 0; i < 2; i++) {
        double low = 0.1, high = 10;
        while (high - low > 1e-6) {
            const double C = (low + high) / 2;
            *(weight_covariance(C, keys[i], 1, 1, 0) > 0.01 ? &high : &low) = C;
        }
        CHECK(fabs(threshold_of("003-11", keys[i]) - high) < 0.006,
              "n = %d: %g, quadrature %g", keys[i], threshold_of("003-11", keys[i]),
              high);
    }
}

/* The product of two covariances alpha I is alpha^2 I; the grid has alpha = 1e-4. */
TEST(covariances_are_not_orthogonal)
{
    const int index = lab_sheets_index("004-9");
    for (int reading = 0; reading < 2; reading++) {
        const struct lab_judgement *const j = reading ? &by_letter[index] : &all[index];
        CHECK(fabs(j->measured - 1e-8) < 1e-14 && j->expected == 0, "%s", j->evidence);
        CHECK(j->verdict == LAB_FAILS, "%s", lab_verdict_name(j->verdict));
        CHECK(strstr(j->evidence, "Sigma_i^T Sigma_j = 0"), "%s", j->evidence);
    }
}

/* The claimed number is the printed one, not its distance from the computed one. */
TEST(claimed_is_what_is_printed)
{
    static const struct {
        const char *id;
        double claimed;
    } cases[] = {{"004-18", 1}, {"004-19", 0.5}, {"001-22", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int reading = 0; reading < 2; reading++) {
            const int index = lab_sheets_index(cases[i].id);
            const struct lab_judgement *const j =
                reading ? &by_letter[index] : &all[index];
            CHECK(fabs(j->expected - cases[i].claimed) < 1e-12, "%s: claimed %g, not %g",
                  j->id, j->expected, cases[i].claimed);
            CHECK(j->measured >= 0 && j->measured <= 1 &&
                      fabs(j->measured - j->expected) > 1e-3,
                  "%s: weight %g", j->id, j->measured);
        }
}

/* The evidence of a limit is at a point that the limit speaks of. */
TEST(limits_are_shown_where_they_are_nearly_reached)
{
    for (int i = 0; i < 2 * LAB_STATEMENTS; i++) {
        const struct lab_judgement *const j = &(i % 2 ? by_letter : all)[i / 2];
        if (j->verdict != LAB_LIMIT)
            continue;
        const int is_order =
            strstr(j->evidence, "claimed above") || strstr(j->evidence, "claimed below");
        CHECK(is_order || fabs(j->measured - j->expected) < LAB_SMALL * (1 + j->expected),
              "%s: %g, claimed %g", j->id, j->measured, j->expected);
        CHECK(j->n == 1000 && !strstr(j->evidence, "furthest off"), "%s: %s", j->id,
              j->evidence);
    }
}

static const struct lab_judgement *judged(const char *id)
{
    return &all[lab_sheets_index(id)];
}

/* Two heads with the queries beta (mu_a +- mu_b): what "cancel" and "reduce" mean. */
TEST(two_heads_reduce_the_variance_without_cancelling)
{
    double first = 0, second = 0, cross = 0;
    for (int x = 0; x < 3; x++) {
        const int keys = x == 2 ? 8 : 1;
        first += keys * weight_covariance(10, 10, 1, 1, x);
        second += keys * weight_covariance(10, 10, -1, -1, x);
        cross += keys * weight_covariance(10, 10, 1, -1, x);
    }
    const double apart = (first + second) / 4, both = apart + cross / 2;
    CHECK(fabs(first - 0.390) < 1e-3 && fabs(both - 0.157) < 1e-3, "%g %g", first, both);
    CHECK(fabs(apart - 0.123) < 1e-3, "%g", apart);
    CHECK(fabs(apart + sqrt(first * second) / 2 - 0.222) < 1e-3, "a full correlation");
    CHECK(fabs(cross - 0.069) < 1e-3, "%g", cross);
    CHECK(fabs(cross / sqrt(first * second) - 0.35) < 5e-3, "a correlation of %g",
          cross / sqrt(first * second));
    CHECK(judged("002-25")->verdict == LAB_FAILS && judged("002-25")->measured > 0, "%s",
          judged("002-25")->evidence);
    CHECK(judged("002-32")->verdict == LAB_LIMIT &&
              judged("002-32")->measured < judged("002-32")->expected,
          "%s", judged("002-32")->evidence);
}

/* Standard deviation of a weight e^{s gamma} / (e^{s gamma} + k), gamma ~ N(1, 1/2). */
static double weight_deviation(double s, double k)
{
    enum { STEPS = 16000 };
    double mass = 0, mean = 0, square = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double gamma = 1 + 16.0 * (i - STEPS / 2) / STEPS;
        const double weight = exp(-(gamma - 1) * (gamma - 1));
        const double p = 1 / (1 + k * exp(-s * gamma));
        mass += weight;
        mean += weight * p;
        square += weight * p * p;
    }
    return sqrt(square / mass - mean / mass * (mean / mass));
}

TEST(deviations_that_the_statements_name)
{
    static const struct {
        double s, k, deviation, within;
    } cases[] = {
        /* 003-13: n = 2, 3, 10, 1000 at scale 1. */
        {1, 1, 0.135, 5e-4},
        {1, 2, 0.157, 5e-4},
        {1, 9, 0.125, 5e-4},
        {1, 999, 0.0028, 5e-5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double told = weight_deviation(cases[i].s, cases[i].k);
        CHECK(fabs(told - cases[i].deviation) < cases[i].within, "%g keys: %g",
              cases[i].k + 1, told);
    }
    CHECK(weight_deviation(1, 14) > LAB_HIGH && weight_deviation(1, 15) < LAB_HIGH,
          "n = 15: %g, n = 16: %g", weight_deviation(1, 14), weight_deviation(1, 15));
    CHECK(fabs(judged("003-13")->measured - weight_deviation(1, 999)) < 1e-9, "%g",
          judged("003-13")->measured);
    /* 004-13: the share of a among a and b depends on the difference of the scores. */
    CHECK(fabs(weight_deviation(0.5, exp(0.5)) - 0.086) < 5e-4, "%g",
          weight_deviation(0.5, exp(0.5)));
    CHECK(fabs(weight_deviation(10, exp(10)) - 0.44) < 5e-3, "%g",
          weight_deviation(10, exp(10)));
    /* 004-16: at beta = .1 and 2, and by the formulas that are printed. */
    CHECK(fabs(1 / (1 + exp(-0.2)) - 0.55) < 5e-3 &&
              fabs(1 / (1 + exp(-4)) - 0.98) < 5e-3,
          "softmax");
    CHECK(fabs(1 / (1 + exp(0.1)) - 0.475) < 5e-4 && fabs(1 / (1 + exp(2)) - 0.12) < 5e-3,
          "as printed");
    CHECK(fabs(judged("004-13")->measured - weight_deviation(1, exp(1))) < 1e-9, "%g",
          judged("004-13")->measured);
}

/* ---- quotations ------------------------------------------------------------------- */

TEST(quotations_in_plain_letters)
{
    static const char *const cases[][2] = {
        {"q = C(\\mu_a + \\mu_b)", "q = C(mu_a + mu_b)"},
        {"c \\approx \\frac{1}{2}(v_a + v_b)", "c ~ 1/2(v_a + v_b)"},
        {"\\frac{\\exp(c)}{m-2}", "(exp(c))/(m-2)"},
        {"$k_i^{\\top}q$  is  $\\geq 0$", "k_i^Tq is >= 0"},
        {"\\sum_{i \\neq j} \\alpha_i", "sum_(i != j) alpha_i"},
        {"\\frac{", "/"},
        {"\\", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[100];
        lab_text_plain(cases[i][0], text, sizeof text);
        CHECK(!strcmp(text, cases[i][1]), "%s gave %s", cases[i][0], text);
    }
}

/* ---- disputes ---------------------------------------------------------------------- */

TEST(disputes_are_settled_by_verdicts)
{
    static struct lab_judgement judged[LAB_STATEMENTS];
    struct lab_dispute before, after;

    memcpy(judged, all, sizeof judged);
    for (int d = 0; d < LAB_DISPUTES; d++) {
        CHECK(!lab_sheets_dispute(d, all, &before), "dispute %d", d);
        CHECK(*before.question && *before.sides && *before.right, "dispute %d", d);
        CHECK(strlen(before.sides) < sizeof before.sides - 1 &&
                  strlen(before.right) < sizeof before.right - 1,
              "dispute %d is cut off", d);
        CHECK(!strstr(before.right, "claimed ") && !strstr(before.right, "off by "),
              "dispute %d shows no deciding number: %s", d, before.right);
    }
    CHECK(lab_sheets_dispute(LAB_DISPUTES, all, &before), "a dispute too many");

    /* With all verdicts inverted, the other party is right. */
    for (int index = 0; index < LAB_STATEMENTS; index++)
        judged[index].verdict = all[index].verdict == LAB_FAILS ? LAB_HOLDS : LAB_FAILS;
    int turned = 0;
    for (int d = 0; d < LAB_DISPUTES; d++) {
        CHECK(!lab_sheets_dispute(d, all, &before) &&
                  !lab_sheets_dispute(d, judged, &after),
              "dispute %d", d);
        turned += strcmp(before.right, after.right) != 0;
    }
    CHECK(turned == LAB_DISPUTES, "%d of %d turned", turned, LAB_DISPUTES);
}

/* A reading concerns the printed text; the party that is right does not depend on it. */
TEST(no_reading_denies_a_true_position)
{
    struct lab_dispute charity, letter;
    for (int d = 0; d < LAB_DISPUTES; d++) {
        if (d > 0 && !test_draws(3))
            continue;
        CHECK(!lab_sheets_dispute(d, all, &charity) &&
                  !lab_sheets_dispute(d, by_letter, &letter),
              "dispute %d", d);
        CHECK(!strstr(letter.right, "none of them"), "dispute %d: %s", d, letter.right);
        CHECK(!strcmp(charity.right, letter.right), "dispute %d: %s / %s", d,
              charity.right, letter.right);
    }
}

/* The number after `what` in the part "right" of the dispute that has it; NaN: none. */
static double decider(const char *what)
{
    for (int d = 0; d < LAB_DISPUTES; d++) {
        struct lab_dispute dispute;
        const char *const at =
            lab_sheets_dispute(d, all, &dispute) ? NULL : strstr(dispute.right, what);
        const char *const is = at ? strstr(at, " is ") : NULL;
        if (is)
            return strtod(is + 4, NULL);
    }
    return NAN;
}

TEST(disputes_show_the_number_that_decides)
{
    const double e10 = exp(10), unscaled = (exp(1) + 1) / (exp(1) + 9) / 2;
    double covariance = 0;
    for (int x = 0; x < 3; x++)
        covariance += (x == 2 ? 8 : 1) * weight_covariance(10, 10, 1, -1, x);
    const struct {
        const char *what;
        double value;
    } cases[] = {
        {"covariance of c_1 and c_2 at beta = 10", covariance},
        {"variance of c over that of c_1", 0.25},
        {"cosine of k_a and k_b", 0},
        {"share of gamma from .5 to 1.5", erf(0.5)},
        {"variance of the score of b over C^2", 0},
        {"variance of the score of a over C^2", 0.5},
        {"weight of v_a at q = mu_a,", exp(1) / (exp(1) + 9)},
        {"weight of v_a at q = 10 mu_a", e10 / (e10 + 9)},
        {"weight of v_a in the mean of the heads", unscaled},
        {"weight of v_a at q = k_a + k_b", exp(1) / (2 * exp(1) + 8)},
        {"1/exp(s_a - s_b)", exp(-20)},
        {"1/(1 + exp(s_a))", 1 / (1 + e10)},
        {"deviation of the weight of v_a", sqrt(weight_covariance(10, 10, 1, 1, 0))},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double told = decider(cases[i].what);
        CHECK(fabs(told - cases[i].value) <= 6e-4 * fabs(cases[i].value) + 1e-15,
              "%s: %g, not %g", cases[i].what, told, cases[i].value);
    }
}

TEST(disputes_without_judgements)
{
    struct lab_dispute given, own;
    CHECK(!lab_sheets_dispute(0, all, &given) && !lab_sheets_dispute(0, NULL, &own),
          "not settled");
    CHECK(!strcmp(given.right, own.right) && !strcmp(given.sides, own.sides), "%s / %s",
          given.right, own.right);
}

/* ---- the worlds -------------------------------------------------------------- */

static void no_scores(struct lab_exercise *w) { w->tau = 0; }
static void half_scale(struct lab_exercise *w) { w->tau = 0.5; }
static void sharp(struct lab_exercise *w) { w->tau = 1e4; }
static void sharp_and_quiet(struct lab_exercise *w)
{
    w->tau = 1e4;
    w->sigma2 = 0;
}
static void root_d(struct lab_exercise *w) { w->root_d = 1; }
static void leaning_means(struct lab_exercise *w) { w->overlap = 0.3; }
static void equal_means(struct lab_exercise *w) { w->overlap = 1; }
static void quiet(struct lab_exercise *w) { w->sigma2 = 0; }
static void less_noise(struct lab_exercise *w) { w->sigma2 = 0.02; }
static void noise_in_b(struct lab_exercise *w) { w->sigma2_b = 0.5; }
static void lasting_noise(struct lab_exercise *w) { w->floor = 0.01; }
static void no_isotropic_noise(struct lab_exercise *w) { w->isotropic = 0; }
static void alpha_is_a_deviation(struct lab_exercise *w) { w->deviation = 1; }
static void long_unit(struct lab_exercise *w) { w->unit = 50; }
static void a_sink(struct lab_exercise *w) { w->sink = 0; }
static void zero_weighs_nothing(struct lab_exercise *w) { w->zero = -INFINITY; }
static void head_2_turns_a(struct lab_exercise *w) { w->mirror_a = 1; }
static void head_2_turns_b(struct lab_exercise *w) { w->mirror_b = 1; }
static void leaning_basis(struct lab_exercise *w) { w->shear = 0.5; }
static void v_a_outside(struct lab_exercise *w) { w->stray = 0.5; }
static void tokens_in_columns(struct lab_exercise *w) { w->columns = 1; }

#define WORLD(name)                                                                      \
    {                                                                                    \
#name, name                                                                      \
    }
static const struct {
    const char *name;
    void (*change)(struct lab_exercise *world);
} worlds[] = {
    WORLD(no_scores),
    WORLD(quiet),
    WORLD(a_sink),
    WORLD(half_scale),
    WORLD(sharp),
    WORLD(sharp_and_quiet),
    WORLD(root_d),
    WORLD(leaning_means),
    WORLD(equal_means),
    WORLD(less_noise),
    WORLD(noise_in_b),
    WORLD(lasting_noise),
    WORLD(long_unit),
    WORLD(leaning_basis),
    WORLD(no_isotropic_noise),
    WORLD(v_a_outside),
    WORLD(head_2_turns_a),
    WORLD(head_2_turns_b),
    WORLD(tokens_in_columns),
    WORLD(zero_weighs_nothing),
    WORLD(alpha_is_a_deviation),
};
enum { WORLDS = sizeof worlds / sizeof worlds[0] };

/* -1: not judged; else whether the verdict differs from that of the exercise. */
static int moves(int world, const struct lab_judgement *sound)
{
    struct lab_exercise exercise;
    struct lab_judgement judgement;
    int status = lab_exercise_open(&exercise);
    worlds[world].change(&exercise);
    if (!status)
        status = lab_sheets_judge_in(&exercise, lab_sheets_index(sound->id),
                                     sound->reading, &judgement);
    lab_exercise_close(&exercise);
    return status ? -1 : judgement.verdict != sound->verdict;
}

/* Judgements that are tried, and of each the first world that moves it: WORLDS: none;
 * -1 - world: not judged there. */
static struct {
    const struct lab_judgement *sound;
    int mover;
} tried[2 * LAB_STATEMENTS];
static int tried_count;

static void find_movers(void *arg, int worker)
{
    const int workers = *(const int *)arg;
    for (int i = worker; i < tried_count; i += workers) {
        int *const found = &tried[i].mover;
        for (*found = 0; *found < WORLDS; ++*found) {
            const int here = moves(*found, tried[i].sound);
            if (here < 0)
                *found = -1 - *found;
            if (here)
                break;
        }
    }
}

/*
 * A verdict that is marked as the same in every world is moved by none of these; every
 * other verdict is moved by at least one.  Every 20th statement, and others drawn.
 */
TEST(verdicts_move_with_the_world)
{
    int workers = 2, moved = 0;

    for (int i = 0; i < 2 * LAB_STATEMENTS; i++)
        if (i % 40 < 2 || test_draws(0.3))
            tried[tried_count++].sound = &(i % 2 ? by_letter : all)[i / 2];
    lab_parallel(workers, find_movers, &workers);
    for (int i = 0; i < tried_count; i++) {
        const struct lab_judgement *const j = tried[i].sound;
        const int found = tried[i].mover;
        const char *const by = found < 0         ? worlds[-1 - found].name
                               : found == WORLDS ? "nothing"
                                                 : worlds[found].name;
        CHECK(found >= 0, "%s is not judged in %s", j->id, by);
        CHECK((found == WORLDS) == j->invariant,
              "%s (%s, %s) is marked %s and moved by %s", j->id,
              lab_reading_name(j->reading), lab_verdict_name(j->verdict),
              j->invariant ? "as the same in every world" : "movable", by);
        moved += found < WORLDS;
    }
    CHECK(moved > 0, "none of %d moved", tried_count);
}

/* ---- without the engine ---------------------------------------------------------- */

/* Algebra of matrices, covariances and magnitudes, and what is ill formed for good. */
static const char *const without_engine[] = {
    "000-4", "000-5",  "000-6",  "000-7",  "001-5",  "001-6",  "001-7",  "001-8",
    "001-9", "001-10", "001-13", "001-14", "002-10", "002-11", "002-18", "003-3",
    "003-5", "003-9",  "003-10", "004-6",  "004-7",  "004-9",  "004-10", "004-21",
};

TEST(without_the_engine_no_verdict_that_needs_it)
{
    const struct lab_exercise closed = lab_exercise_default(NULL);
    for (int index = 0; index < LAB_STATEMENTS; index++)
        for (int reading = 0; reading < 2; reading++) {
            const struct lab_judgement *const sound = &(reading ? by_letter : all)[index];
            struct lab_judgement judgement;
            int needs = 1;
            for (size_t i = 0; i < sizeof without_engine / sizeof *without_engine; i++)
                needs &= lab_sheets_index(without_engine[i]) != index;
            const int status =
                lab_sheets_judge_in(&closed, index, sound->reading, &judgement);
            CHECK((status != 0) == needs, "%s %s", sound->id,
                  needs ? "is judged" : "is not judged");
            CHECK(needs || judgement.verdict == sound->verdict, "%s", sound->id);
        }
}

int main(void)
{
    if (lab_sheets_judge_all(NULL, LAB_CHARITY, 2, all) ||
        lab_sheets_judge_all(NULL, LAB_LETTER, 2, by_letter))
        return 1;
    test_run_all();
    return test_finish();
}
