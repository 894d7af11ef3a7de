/* SPDX-License-Identifier: MIT */
/*
 * The sheets: the judge on claims whose nature is known, and the statements under
 * mathematics with a fault in it.  What the statements themselves are worth is written
 * nowhere, here neither.
 */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sheets/judge.h"
#include "lab/sheets/sheets.h"

/* ---- the judge on made-up claims ------------------------------------------- */

static void set(struct lab_found *reading, double error)
{
    reading->measured = error;
    reading->expected = 0;
    reading->error = error;
}

#define CLAIM(name, value)                                                               \
    static int name(const struct lab_point *point, struct lab_found *reading)          \
    {                                                                                    \
        (void)point;                                                                     \
        set(reading, value);                                                             \
        return 0;                                                                        \
    }

CLAIM(exact, 9e-10)
CLAIM(just_off, 1.1e-9)
CLAIM(falls, 1 / point->scale)
CLAIM(falls_to_a_rest, 2e-6 + 1 / point->scale)
CLAIM(grows, point->scale)
CLAIM(no_number, NAN)
CLAIM(endless, INFINITY)
CLAIM(wrong_for_two, point->n == 2)
CLAIM(wrong_for_three, point->n == 3)
CLAIM(wrong_at_one_point, point->n == 1000 && point->scale == 50)
CLAIM(noise_of_keys, point->alpha * point->scale * point->scale)
CLAIM(kept_noise, 0.1 + point->alpha)
CLAIM(wrong_when_negative, !point->given_positive)
CLAIM(falls_when_positive, point->given_positive ? 1 / point->scale : 1)

static int by_chance(const struct lab_point *point, struct lab_found *reading)
{
    set(reading, point->n == 2 ? 0.039 : 0.001);
    reading->se = 0.01;
    return 0;
}

static int beyond_chance(const struct lab_point *point, struct lab_found *reading)
{
    (void)by_chance(point, reading);
    reading->error *= 1.05;
    return 0;
}

static int argue_with(int x, double premise, double conclusion, struct lab_case *found)
{
    found->premise = premise;
    found->conclusion = conclusion;
    snprintf(found->text, sizeof found->text, "case %d", x);
    return x >= 5;
}

static int argue_well(const struct lab_exercise *exercise, int x, struct lab_case *found)
{
    (void)exercise;
    /* Where the conclusion is off, the premise is not met. */
    return argue_with(x, x % 2, x % 2, found);
}

static int argue_badly(const struct lab_exercise *exercise, int x, struct lab_case *found)
{
    (void)exercise;
    return argue_with(x, 0, x == 4 ? 0.5 : 0, found);
}

static struct lab_judgement judge(struct lab_claim printed, struct lab_claim repaired)
{
    const struct lab_statement statement = {.id = "000-0",
                                            .line = 1,
                                            .says = "made up",
                                            .exact = "made up",
                                            .repair = "made up",
                                            .printed = printed,
                                            .repaired = repaired};
    struct lab_judgement judgement = {.verdict = LAB_FAILS};
    struct lab_exercise exercise;
    if (lab_exercise_open(&exercise) || lab_judge(&exercise, &statement, &judgement))
        snprintf(judgement.evidence, sizeof judgement.evidence, "not judged");
    lab_exercise_close(&exercise);
    return judgement;
}

#define EXPECT(wanted, ...)                                                              \
    do {                                                                                 \
        const struct lab_judgement j =                                                   \
            judge((struct lab_claim){.grows = "C", __VA_ARGS__},                         \
                  (struct lab_claim){.read = NULL});                                     \
        CHECK(j.verdict == (wanted), "%s gave %s: %s", #__VA_ARGS__,                     \
              lab_verdict_name(j.verdict), j.evidence);                                  \
    } while (0)

TEST(exact_claims)
{
    EXPECT(LAB_HOLDS, .read = exact);
    EXPECT(LAB_FAILS, .read = just_off);
    EXPECT(LAB_FAILS, .read = wrong_at_one_point);
    EXPECT(LAB_FAILS, .read = no_number);
    EXPECT(LAB_HOLDS, .read = by_chance);
    EXPECT(LAB_FAILS, .read = beyond_chance);
}

TEST(claims_that_something_free_makes_true)
{
    EXPECT(LAB_LIMIT, .read = falls, .free = LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .read = falls);
    EXPECT(LAB_FAILS, .read = falls_to_a_rest, .free = LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .read = grows, .free = LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .read = no_number, .free = LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .read = endless, .free = LAB_FREE_SCALE);
    EXPECT(LAB_LIMIT, .read = wrong_for_two, .free = LAB_FREE_N);
    EXPECT(LAB_FAILS, .read = wrong_for_three, .free = LAB_FREE_N);
    EXPECT(LAB_LIMIT, .read = wrong_when_negative, .free = LAB_FREE_EVENT);
    EXPECT(LAB_FAILS, .read = wrong_when_negative, .free = LAB_FREE_SCALE);
}

TEST(claims_that_two_freedoms_make_true)
{
    EXPECT(LAB_LIMIT, .read = falls_when_positive,
           .free = LAB_FREE_SCALE | LAB_FREE_EVENT);
    EXPECT(LAB_FAILS, .read = falls_when_positive, .free = LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .read = falls_when_positive, .free = LAB_FREE_EVENT);
}

/* What is exact at alpha = 0 is not where alpha-terms are said to vanish. */
TEST(claims_about_alpha)
{
    EXPECT(LAB_HOLDS, .read = noise_of_keys);
    EXPECT(LAB_LIMIT, .read = noise_of_keys, .free = LAB_FREE_ALPHA);
    EXPECT(LAB_LIMIT, .read = noise_of_keys, .free = LAB_FREE_ALPHA | LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .read = noise_of_keys, .free = LAB_FREE_ALPHA | LAB_FREE_SCALE,
           .argue = argue_badly);
    EXPECT(LAB_FAILS, .read = kept_noise, .free = LAB_FREE_ALPHA);
}

TEST(arguments)
{
    EXPECT(LAB_HOLDS, .read = exact, .argue = argue_well);
    EXPECT(LAB_FAILS, .read = exact, .argue = argue_badly);
    EXPECT(LAB_FAILS, .read = grows, .argue = argue_well);
}

TEST(thresholds_are_where_the_error_is_small)
{
    const struct lab_judgement j =
        judge((struct lab_claim){.read = falls, .free = LAB_FREE_SCALE, .grows = "C"},
              (struct lab_claim){.read = NULL});
    const char *const from = strstr(j.holds_when, "from ");
    CHECK(from, "%s", j.holds_when);
    const double threshold = strtod(from + 5, NULL);
    CHECK(threshold >= 100 && threshold <= 102, "1/C is below 0.01 from C = %g: %s",
          threshold, j.holds_when);
}

TEST(misprints)
{
    const struct lab_claim good = {.read = exact, .left = "A c", .right = "v_a"};
    const struct lab_claim tends = {.read = falls, .free = LAB_FREE_SCALE, .grows = "C"};
    const struct lab_claim bad = {.read = grows, .grows = "C"};
    const struct lab_claim shapes = {.read = grows, .left = "c", .right = "v_a"};
    const struct lab_claim letter = {.read = grows,
                                     .symbol = {"m", LAB_MEANS_BASIS, 3, LAB_MEANS_KEYS}};
    const struct lab_claim same_letter = {
        .read = grows, .symbol = {"n", LAB_MEANS_KEYS, 3, LAB_MEANS_KEYS}};
    const struct lab_claim none = {.read = NULL};

    CHECK(judge(shapes, good).verdict == LAB_SLIP, "shapes");
    CHECK(judge(letter, good).verdict == LAB_SLIP, "a letter used twice");
    CHECK(judge(letter, tends).verdict == LAB_SLIP, "repaired to what is approached");
    CHECK(judge(letter, bad).verdict == LAB_FAILS, "a repair that is wrong");
    CHECK(judge(letter, shapes).verdict == LAB_FAILS, "a repair that does not fit");
    CHECK(judge(letter, none).verdict == LAB_FAILS, "no repair");
    CHECK(judge(same_letter, good).verdict == LAB_FAILS, "well formed, and wrong");
}

TEST(shapes)
{
    static const struct {
        const char *left, *right;
        int fits;
    } cases[] = {
        {"A A^T v_a", "v_a", 1},  {"A^T A c", "c", 1},       {"A^T A c", "v_a", 0},
        {"A A^T", "M", 1},        {"A^T", "M", 0},           {"A c(R^d)", "v_a", 0},
        {"Pi X W", "X", 1},       {"X Pi", "X", 0},          {"beta v_a", "v_a", 1},
        {"score", "beta m_b", 0}, {"v_i mu_i", "output", 0}, {"unheard-of", "M", 0},
    };
    struct lab_exercise exercise = {.columns = 0};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char why[200] = "";
        const struct lab_claim claim = {.left = cases[c].left, .right = cases[c].right};
        CHECK(lab_well_formed(&exercise, &claim, why, sizeof why) == cases[c].fits,
              "%s = %s: %s", cases[c].left, cases[c].right, why);
        CHECK(cases[c].fits || *why, "%s: no reason", cases[c].left);
    }
}

/* ---- the statements ----------------------------------------------------------- */

static struct lab_judgement all[LAB_STATEMENTS];

TEST(every_statement_is_judged)
{
    static const int counts[] = {16, 24, 25, 15, 19};
    int index = 0;

    CHECK(!lab_sheets_judge_all(NULL, 2, all), "not judged");
    for (int sheet = 0; sheet < 5; sheet++)
        for (int i = 1; i <= counts[sheet]; i++, index++) {
            const struct lab_judgement *const j = &all[index];
            char id[16];
            snprintf(id, sizeof id, "%03d-%d", sheet, i);
            CHECK(!strcmp(j->id, id), "%s for %s", j->id, id);
            CHECK(!strncmp(j->sheet, id, 3) && strlen(j->sheet) == 3, "%s", j->sheet);
            CHECK(i == 1 || j->line >= all[index - 1].line, "%s: line %d", id, j->line);
            CHECK(j->line > 0 && *j->says, "%s", id);
            CHECK(strlen(j->holds_when) > 10 &&
                      strlen(j->holds_when) < sizeof j->holds_when - 1,
                  "%s: %s", id, j->holds_when);
            CHECK(strlen(j->evidence) > 20 &&
                      strlen(j->evidence) < sizeof j->evidence - 1,
                  "%s: %s", id, j->evidence);
            CHECK(strpbrk(j->evidence, "0123456789"), "%s: %s", id, j->evidence);
        }
    CHECK(index == LAB_STATEMENTS, "%d", index);
}

TEST(judging_again_says_the_same)
{
    for (int index = 0; index < LAB_STATEMENTS; index += 7) {
        struct lab_judgement again;
        CHECK(!lab_sheets_judge(index, &again), "%d", index);
        CHECK(again.verdict == all[index].verdict &&
                  !strcmp(again.evidence, all[index].evidence) &&
                  !strcmp(again.holds_when, all[index].holds_when),
              "%s: %s / %s", again.id, again.evidence, all[index].evidence);
    }
    struct lab_judgement none;
    CHECK(lab_sheets_judge(LAB_STATEMENTS, &none) && lab_sheets_judge(-1, &none),
          "a statement too many");
}

/* ---- faults in the mathematics --------------------------------------------------- */

enum { IDS = 9 };

/* Verdicts of `moved` differ from those of the sound exercise, those of `kept` do not. */
static const char *wrongly_judged(const struct lab_exercise *exercise,
                                  const char *const *ids, int moved)
{
    for (int x = 0; x < IDS && ids[x]; x++) {
        const int index = lab_sheets_index(ids[x]);
        struct lab_judgement judgement;
        if (index < 0 || lab_sheets_judge_in(exercise, index, &judgement))
            return ids[x];
        if ((judgement.verdict != all[index].verdict) != moved)
            return ids[x];
    }
    return NULL;
}

#define FAULT(name, field, value, moved_ids, kept_ids)                                   \
    TEST(name)                                                                           \
    {                                                                                    \
        static const char *const moved[IDS] = {moved_ids}, *const kept[IDS] = {          \
                                                               kept_ids};                \
        struct lab_exercise exercise;                                                    \
        CHECK(!lab_exercise_open(&exercise), "no exercise");                             \
        exercise.field = (value);                                                        \
        const char *const still = wrongly_judged(&exercise, moved, 1);                   \
        const char *const changed = wrongly_judged(&exercise, kept, 0);                  \
        lab_exercise_close(&exercise);                                                   \
        CHECK(!still, "%s is judged as before", still);                                  \
        CHECK(!changed, "%s is judged differently", changed);                            \
    }

#define LIST(...) __VA_ARGS__

FAULT(a_softmax_that_does_not_add_up, sink, 0.0,
      LIST("001-1", "001-11", "002-1", "002-2", "003-1", "004-1", "004-2"),
      LIST("000-2", "000-8", "002-7", "003-5", "003-9", "004-12"))
FAULT(less_noise_in_magnitude, sigma2, 0.1,
      LIST("000-6", "000-12", "001-14", "002-18", "003-9"),
      LIST("000-2", "000-11", "001-15", "003-14"))
FAULT(no_noise_in_magnitude, sigma2, 0.0,
      LIST("000-12", "001-18", "002-20", "002-24", "003-11", "004-13"),
      LIST("000-2", "001-1", "003-5", "001-19"))
FAULT(noise_in_the_other_key, sigma2_b, 0.5, LIST("000-8", "000-14", "003-10"),
      LIST("000-6", "000-2", "003-9", "002-9"))
FAULT(queries_that_have_a_scale, unit, 50.0,
      LIST("001-19", "001-20", "003-6", "003-12", "004-17"),
      LIST("000-13", "001-10", "003-7", "001-21"))
FAULT(means_that_overlap, overlap, 0.3, LIST("001-15", "002-7", "003-14"),
      LIST("000-6", "001-1", "003-5"))
FAULT(a_basis_that_leans, shear, 0.5, LIST("001-6", "001-8", "003-5", "004-6", "004-7"),
      LIST("000-2", "001-10", "001-5", "002-14"))
FAULT(tokens_in_columns, columns, 1, LIST("002-10", "002-14"),
      LIST("002-12", "002-13", "002-9"))
FAULT(scores_at_half_scale, tau, 0.5, LIST("001-11", "001-15", "002-7", "003-9"),
      LIST("000-1", "000-2", "002-9", "003-5"))

/* ---- disputes ------------------------------------------------------------------------
 */

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
    }
    CHECK(lab_sheets_dispute(LAB_DISPUTES, all, &before), "a dispute too many");

    /* Were every verdict turned around, so would be who is right. */
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

TEST(disputes_without_judgements)
{
    struct lab_dispute given, own;
    CHECK(!lab_sheets_dispute(0, all, &given) && !lab_sheets_dispute(0, NULL, &own),
          "not settled");
    CHECK(!strcmp(given.right, own.right) && !strcmp(given.sides, own.sides), "%s / %s",
          given.right, own.right);
}

int main(void)
{
    RUN(exact_claims);
    RUN(claims_that_something_free_makes_true);
    RUN(claims_that_two_freedoms_make_true);
    RUN(claims_about_alpha);
    RUN(arguments);
    RUN(thresholds_are_where_the_error_is_small);
    RUN(misprints);
    RUN(shapes);
    RUN(every_statement_is_judged);
    RUN(judging_again_says_the_same);
    RUN(a_softmax_that_does_not_add_up);
    RUN(less_noise_in_magnitude);
    RUN(no_noise_in_magnitude);
    RUN(noise_in_the_other_key);
    RUN(queries_that_have_a_scale);
    RUN(means_that_overlap);
    RUN(a_basis_that_leans);
    RUN(tokens_in_columns);
    RUN(scores_at_half_scale);
    RUN(disputes_are_settled_by_verdicts);
    RUN(disputes_without_judgements);
    return test_finish();
}
