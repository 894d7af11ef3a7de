/* SPDX-License-Identifier: MIT */
/* The judge of the sheets on claims with known verdicts. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/claim.h"
#include "lab/sheets/sheets.h"

/* ---- the judge on made-up claims ------------------------------------------- */

static struct lab_judgement judge(struct lab_claim claim, struct lab_repair repair,
                                  enum lab_strictness reading)
{
    const struct lab_statement statement = {.id = "000-0",
                                            .line = 1,
                                            .says = "made up",
                                            .quote = "made up",
                                            .exact = "made up",
                                            .claim = claim,
                                            .repair = repair};
    struct lab_judgement judgement = {.verdict = LAB_FAILS};
    struct lab_exercise exercise;
    if (lab_exercise_open(&exercise) ||
        lab_judge(&exercise, &statement, reading, &judgement))
        snprintf(judgement.evidence, sizeof judgement.evidence, "not judged");
    lab_exercise_close(&exercise);
    return judgement;
}

#define READ(wanted, reading, ...)                                                       \
    do {                                                                                 \
        const struct lab_judgement j =                                                   \
            judge((struct lab_claim){.grows = "C", __VA_ARGS__},                         \
                  (struct lab_repair){.as = NULL}, reading);                             \
        CHECK(j.verdict == (wanted) && strcmp(j.evidence, "not judged") != 0,            \
              "%s gave %s: %s", #__VA_ARGS__, lab_verdict_name(j.verdict), j.evidence);  \
    } while (0)
#define EXPECT(wanted, ...) READ(wanted, LAB_CHARITY, __VA_ARGS__)

TEST(exact_claims)
{
    EXPECT(LAB_HOLDS, .text = "C + 9e-10 = C");
    EXPECT(LAB_FAILS, .text = "C + 1.1e-9 = C");
    EXPECT(LAB_FAILS, .text = "(n - 1000)^2 + (C - 50)^2 != 0");
    EXPECT(LAB_FAILS, .text = "ln(-C) = 0");
    EXPECT(LAB_FAILS, .text = "C = C = C + 1");
    EXPECT(LAB_FAILS, .text = "C = C; C = C + 1");
    EXPECT(LAB_HOLDS, .text = "C < C + 1; C + 1 > C; C != C + 1");
    EXPECT(LAB_FAILS, .text = "C < C");
    EXPECT(LAB_FAILS, .text = "C > C");
}

TEST(claims_that_something_free_makes_true)
{
    EXPECT(LAB_LIMIT, .text = "1/C ~ 0", .free = LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .text = "1/C ~ 0");
    EXPECT(LAB_FAILS, .text = "2e-6 + 1/C ~ 0", .free = LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .text = "C ~ 0", .free = LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .text = "ln(-C) ~ 0", .free = LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .text = "1/(C - C) ~ 0", .free = LAB_FREE_SCALE);
    EXPECT(LAB_LIMIT, .text = "n != 2", .free = LAB_FREE_N);
    EXPECT(LAB_FAILS, .text = "n != 3", .free = LAB_FREE_N);
    EXPECT(LAB_LIMIT, .text = "abs(gamma) = gamma", .free = LAB_FREE_EVENT,
           .magnitude = 1);
    EXPECT(LAB_FAILS, .text = "abs(gamma) = gamma", .free = LAB_FREE_SCALE,
           .magnitude = 1);
}

TEST(claims_that_two_freedoms_make_true)
{
    const char *const text = "abs(gamma) - gamma + 1/C ~ 0";
    EXPECT(LAB_LIMIT, .text = text, .free = LAB_FREE_SCALE | LAB_FREE_EVENT,
           .magnitude = 1);
    EXPECT(LAB_FAILS, .text = text, .free = LAB_FREE_SCALE, .magnitude = 1);
    EXPECT(LAB_FAILS, .text = text, .free = LAB_FREE_EVENT, .magnitude = 1);
}

/* What is exact at alpha = 0 is not where alpha-terms are said to vanish. */
TEST(claims_about_alpha)
{
    EXPECT(LAB_HOLDS, .text = "alpha C^2 ~ 0");
    EXPECT(LAB_LIMIT, .text = "alpha C^2 ~ 0", .free = LAB_FREE_ALPHA);
    EXPECT(LAB_LIMIT, .text = "alpha C^2 ~ 0", .free = LAB_FREE_ALPHA | LAB_FREE_SCALE);
    EXPECT(LAB_FAILS, .text = "0.1 + alpha ~ 0", .free = LAB_FREE_ALPHA);
}

/* Two quantities that vanish together need not be equal, however small both are. */
TEST(vanishing_quantities_are_compared_by_their_ratio)
{
    EXPECT(LAB_FAILS, .text = "1e6 alpha ~ alpha", .free = LAB_FREE_ALPHA);
    EXPECT(LAB_FAILS, .text = "alpha^2 ~ alpha", .free = LAB_FREE_ALPHA);
    EXPECT(LAB_LIMIT, .text = "alpha + alpha^2 ~ alpha", .free = LAB_FREE_ALPHA);
    EXPECT(LAB_FAILS, .text = "2/C ~ 1/C", .free = LAB_FREE_SCALE);
    EXPECT(LAB_LIMIT, .text = "1/C + 1/C^2 ~ 1/C", .free = LAB_FREE_SCALE);
    EXPECT(LAB_HOLDS, .text = "Sigma_i = (sqrt(alpha) I) (sqrt(alpha) I)^T",
           .free = LAB_FREE_ALPHA);
    EXPECT(LAB_FAILS, .text = "Sigma_i = (1e6 alpha I) (1e6 alpha I)^T",
           .free = LAB_FREE_ALPHA);
}

TEST(two_readings)
{
    READ(LAB_LIMIT, LAB_CHARITY, .text = "1/C = 0", .free = LAB_FREE_SCALE,
         .called = LAB_FREE_SCALE);
    READ(LAB_FAILS, LAB_LETTER, .text = "1/C = 0", .free = LAB_FREE_SCALE,
         .called = LAB_FREE_SCALE);
    READ(LAB_LIMIT, LAB_LETTER, .text = "C = C ~ C + 1/C", .free = LAB_FREE_SCALE,
         .called = LAB_FREE_SCALE);
    READ(LAB_FAILS, LAB_LETTER, .text = "1/C ~ 0", .free = LAB_FREE_SCALE);
    READ(LAB_HOLDS, LAB_LETTER, .text = "C = C");
    for (int strict = 0; strict < 2; strict++) {
        const struct lab_claim claim = {.text = strict ? "1/C = 0" : "1/C ~ 0",
                                        .grows = "C",
                                        .free = LAB_FREE_SCALE,
                                        .called = LAB_FREE_SCALE};
        for (int reading = LAB_CHARITY; reading <= LAB_LETTER; reading++)
            CHECK(judge(claim, (struct lab_repair){.as = NULL},
                        (enum lab_strictness)reading)
                          .readings_agree == !strict,
                  "%s", claim.text);
    }
}

TEST(letters_alone_are_the_same_in_every_world)
{
    const struct lab_repair none = {.as = NULL};
    const struct lab_claim of_letters = {.text = "C = C + 1", .grows = "C"};
    const struct lab_claim of_world = {.text = "mu_a^T mu_b = 1"};
    const struct lab_claim chain = {.text = "mu_a^T mu_b = 0; exp(1) = 1"};
    CHECK(judge(of_letters, none, LAB_CHARITY).invariant, "letters alone");
    CHECK(!judge(of_world, none, LAB_CHARITY).invariant, "means of keys");
    CHECK(judge(chain, none, LAB_CHARITY).invariant, "one link of letters is false");
}

TEST(arguments)
{
    struct lab_claim claim = {.argument = {"x (x - 1) = 0",
                                           "x",
                                           {"0", "1", "2"},
                                           .premise = "x (x - 1)",
                                           .conclusion = "x"}};
    const struct lab_repair none = {.as = NULL};
    struct lab_judgement j = judge(claim, none, LAB_CHARITY);
    CHECK(j.verdict == LAB_FAILS && fabs(j.measured - 1) < 1e-12 && j.invariant, "%s",
          j.evidence);
    claim.argument.conclusion = "x (1 - x)"; /* nonzero only if the premise is */
    j = judge(claim, none, LAB_CHARITY);
    CHECK(j.verdict == LAB_HOLDS && j.invariant, "%s", j.evidence);
}

TEST(thresholds_are_where_the_error_is_small)
{
    const struct lab_judgement j =
        judge((struct lab_claim){.text = "1/C ~ 0", .free = LAB_FREE_SCALE, .grows = "C"},
              (struct lab_repair){.as = NULL}, LAB_CHARITY);
    const char *const from = strstr(j.holds_when, "from ");
    CHECK(from, "%s", j.holds_when);
    const double threshold = strtod(from + 5, NULL);
    CHECK(fabs(threshold - 100) < 0.1, "1/C is below 0.01 from C = %g: %s", threshold,
          j.holds_when);
}

/* ---- misprints ----------------------------------------------------------------- */

static enum lab_verdict misprint(struct lab_claim claim, const char *from, const char *to)
{
    return judge(claim,
                 (struct lab_repair){.put = {{from, to}},
                                     .as = from ? "as it should" : NULL},
                 LAB_CHARITY)
        .verdict;
}

TEST(misprints)
{
    const struct lab_claim shapes = {.topic = LAB_TOPIC_BASIS, .text = "c = v_a"};
    const struct lab_claim letter = {.text = "1/m ~ 0",
                                     .grows = "C",
                                     .free = LAB_FREE_SCALE,
                                     .symbol = {"m", LAB_MEANS_BASIS, 3, LAB_MEANS_KEYS}};
    const struct lab_claim sound = {.text = "1/m ~ 0",
                                    .symbol = {"m", LAB_MEANS_KEYS, 3, LAB_MEANS_KEYS}};

    CHECK(misprint(shapes, "c", "A c") == LAB_SLIP, "shapes");
    CHECK(misprint(shapes, "c", "v_b") == LAB_FAILS, "a repair that is wrong");
    CHECK(misprint(shapes, "c", "A^T") == LAB_FAILS, "a repair that does not fit");
    CHECK(misprint(shapes, "v_i", "A c") == LAB_FAILS, "a repair of nothing there");
    CHECK(misprint(shapes, NULL, NULL) == LAB_FAILS, "no repair");
    CHECK(misprint(letter, "m", "C") == LAB_SLIP, "a letter used twice");
    CHECK(misprint(letter, "m", "n") == LAB_FAILS, "n does not grow");
    CHECK(misprint(sound, "m", "C") == LAB_FAILS, "well formed, and wrong");
}

/* A slip is wrong or ill formed as printed, in links, queries and arguments alike. */
TEST(slips_that_are_well_formed)
{
    const struct lab_claim links = {.text = "C = 2 C", .grows = "C"};
    const struct lab_claim query = {
        .query = {"C (k_a k_b)"}, .text = "s_a = C; s_b = C", .grows = "C"};
    const struct lab_claim argument = {
        .argument = {
            "x (x - 1) = 0", "x", {"0", "1"}, .premise = "x (x - 1)", .conclusion = "x"}};
    CHECK(misprint(links, "2 C", "C") == LAB_SLIP, "a factor");
    CHECK(misprint(links, "2 C", "3 C") == LAB_FAILS, "another wrong factor");
    CHECK(misprint(query, "k_a k_b", "k_a + k_b") == LAB_SLIP, "a sign in the query");
    CHECK(misprint(query, "k_a k_b", "k_a - k_b") == LAB_FAILS, "the wrong sign");
    CHECK(misprint(argument, "x (x - 1)", "x") == LAB_SLIP, "a premise");
    CHECK(misprint(argument, "x (x - 1)", "x - 1") == LAB_FAILS, "the wrong premise");
}

TEST(a_wrong_repair_leaves_the_evidence_as_it_is)
{
    const struct lab_claim wrong = {.text = "C = 2 C", .grows = "C"};
    const struct lab_repair none = {.as = NULL},
                            idle = {.put = {{"2 C", "3 C"}}, .as = "as it should"},
                            right = {.put = {{"2 C", "C"}}, .as = "as line 1 has it"};
    const struct lab_judgement plain = judge(wrong, none, LAB_CHARITY),
                               idly = judge(wrong, idle, LAB_CHARITY),
                               mended = judge(wrong, right, LAB_CHARITY);
    CHECK(!strcmp(plain.evidence, idly.evidence), "%s / %s", plain.evidence,
          idly.evidence);
    CHECK(strstr(mended.evidence, "As printed, it is false: at n = 2, C = 50: computed "
                                  "50, claimed 100, error 50. With one symbol repaired "
                                  "(2 C -> C, as line 1 has it): C = C: "),
          "%s", mended.evidence);
}

/* By charity a conclusion alone, by the letter its reason as well. */
TEST(reasons)
{
    const struct lab_argument argument = {
        "x = x", "x", {"0", "1"}, .premise = "x - x", .conclusion = "x"};
    READ(LAB_HOLDS, LAB_CHARITY, .text = "C = C", .because = "C = C + 1");
    READ(LAB_FAILS, LAB_LETTER, .text = "C = C", .because = "C = C + 1");
    READ(LAB_HOLDS, LAB_LETTER, .text = "C = C", .because = "2 C = C + C");
    READ(LAB_HOLDS, LAB_CHARITY, .text = "C = C", .argument = argument);
    READ(LAB_FAILS, LAB_LETTER, .text = "C = C", .argument = argument);
    const struct lab_judgement j =
        judge((struct lab_claim){.text = "C = C", .because = "C = C + 1", .grows = "C"},
              (struct lab_repair){.as = NULL}, LAB_CHARITY);
    CHECK(!j.readings_agree && j.otherwise == LAB_FAILS, "%d", j.otherwise);
}

/* 1/C is below 0.01 from C = 100 on: shown at C = 200, not where it is large. */
TEST(a_limit_is_shown_beyond_its_threshold)
{
    const struct lab_judgement j =
        judge((struct lab_claim){.text = "1/C ~ 0", .free = LAB_FREE_SCALE, .grows = "C"},
              (struct lab_repair){.as = NULL}, LAB_CHARITY);
    CHECK(j.scale == 200 && j.n == 1000, "%g, %lld", j.scale, (long long)j.n);
    CHECK(fabs(j.measured - 0.005) < 1e-15 && j.expected == 0, "%g", j.measured);
    CHECK(strstr(j.evidence, "C = 200: computed 0.005, claimed 0, error 0.005"), "%s",
          j.evidence);
}

TEST(repairs_change_whole_words)
{
    const struct lab_claim claim = {.text = "m mu_m m_m = norm(m)"};
    const struct lab_repair repair = {.put = {{"m", "n"}}, .as = "as it should"};
    struct lab_repaired repaired;
    CHECK(!lab_repair_apply(&repair, &claim, &repaired), "not repaired");
    CHECK(!strcmp(repaired.claim.text, "n mu_m m_m = norm(n)"), "%s",
          repaired.claim.text);
}

TEST(shapes)
{
    static const struct {
        enum lab_topic topic;
        const char *text;
        int fits;
    } cases[] = {
        {LAB_TOPIC_BASIS, "A A^T v_a = v_a", 1}, {LAB_TOPIC_BASIS, "A^T A c = c", 1},
        {LAB_TOPIC_BASIS, "A^T A c = v_a", 0},   {LAB_TOPIC_BASIS, "A A^T = I", 1},
        {LAB_TOPIC_BASIS, "A^T = I", 0},         {LAB_TOPIC_BASIS, "A c_d = v_a", 0},
        {LAB_TOPIC_TOKENS, "Pi X W = X", 1},     {LAB_TOPIC_TOKENS, "X Pi = X", 0},
        {LAB_TOPIC_KEYS, "beta mu_b = mu_a", 1}, {LAB_TOPIC_KEYS, "C = beta mu_b", 0},
        {LAB_TOPIC_KEYS, "mu_a mu_b = mu_a", 0}, {LAB_TOPIC_KEYS, "unheard_of = C", 0},
    };
    const struct lab_exercise exercise = lab_exercise_default(NULL);
    const struct lab_point point = {.n = 10, .scale = 2, .exercise = &exercise};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char why[LAB_WHY] = "";
        struct lab_findings found;
        const struct lab_claim claim = {.topic = cases[c].topic, .text = cases[c].text};
        const int status = lab_claim_evaluate(&claim, &point, &found, why);
        CHECK(status == (cases[c].fits ? 0 : LAB_ILL_FORMED), "%s: %d %s", cases[c].text,
              status, why);
        CHECK(cases[c].fits || *why, "%s: no reason", cases[c].text);
    }
}

TEST(texts_tell_when_they_are_full)
{
    char room[8] = "";
    struct lab_text text = {room, sizeof room, 0};
    lab_text_add(&text, "%d", 1234);
    lab_text_add(&text, "%s", "567");
    CHECK(!text.is_cut && !strcmp(room, "1234567"), "%s", room);
    lab_text_add(&text, "8");
    CHECK(text.is_cut && !strcmp(room, "1234567"), "%s", room);
}
