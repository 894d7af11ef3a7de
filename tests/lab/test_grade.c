/* SPDX-License-Identifier: MIT */
/*
 * The grader: solutions pass in every world, and every known error is recognised and
 * named.
 */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/grade/grade.h"

static struct lab_rubric rubric;

static void set(struct lab_answer *answer, const char *question, const char *name,
                const char *first, const char *second, const char *third)
{
    const int part = lab_grade_find(question, name);
    answer->text[part][0] = first;
    answer->text[part][1] = second;
    answer->text[part][2] = third;
}

static const struct lab_part_grade *grade_one(struct lab_answer *answer,
                                              const char *question, const char *name)
{
    static struct lab_grade grade;
    if (lab_grade(answer, &rubric, 7, &grade))
        return NULL;
    return &grade.part[lab_grade_find(question, name)];
}

TEST(solutions_have_full_points)
{
    for (uint64_t seed = 1; seed <= (uint64_t)test_count(3); seed++) {
        struct lab_answer answer = {.problem = {NULL}};
        struct lab_grade grade;
        for (int p = 0; p < LAB_GRADE_PARTS; p++)
            for (int k = 0; k < lab_grade_part(p)->texts; k++) {
                char why[200];
                answer.text[p][k] = lab_grade_part(p)->solution[k];
                CHECK(!lab_grade_check(p, answer.text[p][k], why, sizeof why), "%s", why);
            }
        CHECK(!lab_grade(&answer, &rubric, seed, &grade), "seed %d", (int)seed);
        for (int p = 0; p < LAB_GRADE_PARTS; p++) {
            const struct lab_part *const part = lab_grade_part(p);
            CHECK(grade.part[p].points == part->points, "seed %d: %s %s: %s, %g: %s",
                  (int)seed, part->question, part->name,
                  lab_mark_name(grade.part[p].mark), grade.part[p].points,
                  grade.part[p].evidence);
        }
        CHECK(grade.points == grade.most && grade.most > 0, "%g of %g", grade.points,
              grade.most);
    }
}

TEST(verdicts)
{
    static const struct {
        const char *question, *name, *text[3];
        enum lab_mark mark;
        const char *error;
    } cases[] = {
        {"1b-i", "M", {"A A^T"}, LAB_MARK_RIGHT, ""},
        {"1b-i", "M", {"A^T"}, LAB_MARK_WRONG, "A^T in place of A A^T"},
        {"1b-i", "M", {"A^T A"}, LAB_MARK_WRONG, "swapped"},
        {"1b-i", "M", {"2 A A^T"}, LAB_MARK_WRONG, ""},
        {"1b-ii", "q", {"C^2 k_b + C^2 k_a"}, LAB_MARK_LIMIT, ""},
        /* The same two keys remain when others are suppressed. */
        {"1b-ii", "q", {"-C k_o"}, LAB_MARK_LIMIT, ""},
        {"1b-ii", "q", {"C k_o"}, LAB_MARK_WRONG, ""},
        {"1b-ii", "q", {"C k_a"}, LAB_MARK_WRONG, "one key only"},
        {"1b-ii", "q", {"C k_a + 2 C k_b"}, LAB_MARK_WRONG, ""},
        {"1b-ii", "q", {"-C (k_a + k_b)"}, LAB_MARK_WRONG, ""},
        {"1b-ii", "q", {"5 (k_a + k_b)"}, LAB_MARK_WRONG, "unscaled"},
        /* Its weights are 1/2 by rounding alone. */
        {"1b-ii", "q", {"100 (k_a + k_b)"}, LAB_MARK_LIMIT, ""},
        {"1b-ii", "weight", {"1/(2+(n-2) e^(-C))"}, LAB_MARK_RIGHT, ""},
        {"1b-ii", "weight", {"1/2"}, LAB_MARK_LIMIT, ""},
        {"1b-ii", "weight", {"exp(c)/(m-2+2 exp(c))"}, LAB_MARK_SLIP, "counted by n"},
        {"1b-ii", "weight", {"exp(2 C)/(2 exp(C)+n-2)"}, LAB_MARK_WRONG, ""},
        {"1b-ii", "scale", {"ln(n/(2 eps))"}, LAB_MARK_LIMIT, ""},
        {"1b-ii", "scale", {"ln(n)"}, LAB_MARK_WRONG, ""},
        {"1c-i", "variance", {"4 alpha C"}, LAB_MARK_WRONG, "C in place of C^2"},
        {"1c-i", "variance", {"1000000 alpha"}, LAB_MARK_WRONG, ""},
        {"1c-i", "vanishes", {"C sqrt(alpha)"}, LAB_MARK_RIGHT, ""},
        {"1c-i", "vanishes", {"alpha"}, LAB_MARK_WRONG, "wrong order"},
        {"1c-i", "vanishes", {"alpha C"}, LAB_MARK_WRONG, "squared"},
        {"1c-i", "vanishes", {"alpha C^3"}, LAB_MARK_WRONG, ""},
        {"1c-i", "output", {"(mu_a+mu_b)/2"}, LAB_MARK_SLIP, "values"},
        {"1c-i", "output", {"v_a"}, LAB_MARK_WRONG, ""},
        {"1c-ii", "variances", {"C^2/2", "0"}, LAB_MARK_LIMIT, ""},
        {"1c-ii", "closer", {"0.7"}, LAB_MARK_WRONG, "factor 1.4"},
        {"1d-i", "queries", {"C (mu_a+mu_b)", "C (mu_a+mu_b)"}, LAB_MARK_WRONG, ""},
        {"1d-i", "queries", {"C mu_b", "5 C mu_a"}, LAB_MARK_LIMIT, ""},
        {"1d-ii", "lose", {"Phi(-1/sigma)"}, LAB_MARK_LIMIT, ""},
        {"1d-ii", "lose", {"Phi((1-ln(n-1)/C)/sigma)"}, LAB_MARK_WRONG, "one minus"},
        /* Draws of gamma < 0 are left out, as in the exercise. */
        {"1d-ii", "limit", {"0"}, LAB_MARK_LIMIT, ""},
        /* Queries without C, by their results for n from 2 to 100. */
        {"1b-ii", "q", {"20 (k_a + k_b)"}, LAB_MARK_LIMIT, ""},
        {"1b-ii", "q", {"(ln(n) + 10) (k_a + k_b)"}, LAB_MARK_LIMIT, ""},
        {"1b-ii", "q", {"ln(n/eps) (k_a + k_b)"}, LAB_MARK_LIMIT, ""},
        {"1b-ii", "q", {"10 (k_a + k_b)"}, LAB_MARK_LIMIT, ""},
        {"1b-ii", "q", {"6 (k_a + k_b)"}, LAB_MARK_WRONG, "unscaled"},
        {"1a-i", "bounds", {"ln(-1)", "1"}, LAB_MARK_PARTLY, ""},
        {"1c-ii", "ends", {"v_b", "inf v_a"}, LAB_MARK_PARTLY, ""},
        {"1c-ii", "scores", {"gamma C", "C", "5"}, LAB_MARK_PARTLY, ""},
        {"1c-ii", "scores", {"gamma C", "C ln", "0"}, LAB_MARK_PARTLY, ""},
        {"1c-ii", "scores", {"gamma C", "", "0"}, LAB_MARK_PARTLY, ""},
        {"1c-ii", "scores", {"5", "", "C"}, LAB_MARK_UNREAD, ""},
        {"1d-ii", "heads", {"varies", "varies"}, LAB_MARK_PARTLY, "q_2 has no part"},
        {"1e", "better", {" TWO."}, LAB_MARK_LIMIT, ""},
        {"1a-iv", "needs", {"Aligned and long"}, LAB_MARK_LIMIT, ""},
        {"1b-i", "M", {"A mu_a"}, LAB_MARK_UNREAD, ""},
        {"1b-ii", "weight", {"\\dfrac{e^{C}}{2e^{C}+n-2}"}, LAB_MARK_RIGHT, ""},
        {"2a-i", "moved", {"X P"}, LAB_MARK_SLIP, "left"},
        {"2a-i", "scores", {"P S"}, LAB_MARK_WRONG, "rows alone"},
        {"3g", "bottleneck", {"inf"}, LAB_MARK_WRONG, ""},
        {"3g", "bottleneck", {"ln(-1)"}, LAB_MARK_WRONG, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lab_answer answer = {.problem = {NULL}};
        set(&answer, cases[i].question, cases[i].name, cases[i].text[0], cases[i].text[1],
            cases[i].text[2]);
        const struct lab_part_grade *const grade =
            grade_one(&answer, cases[i].question, cases[i].name);
        CHECK(grade != NULL, "%s", cases[i].text[0]);
        CHECK(grade->mark == cases[i].mark && strstr(grade->error, cases[i].error),
              "%s.%s '%s': %s, '%s', %s", cases[i].question, cases[i].name,
              cases[i].text[0], lab_mark_name(grade->mark), grade->error,
              grade->evidence);
        CHECK(grade->mark != LAB_MARK_WRONG || *grade->evidence, "no evidence");
    }
}

/* At least one, so that each answer is graded. */
static uint64_t seeds_tried(void) { return (uint64_t)test_count(12); }

/*
 * The verdict is a matter of the answer, not of the worlds that a seed draws.  Why each
 * is so: c is closer to v_a iff gamma > 1, the median of N(1, 1/2); with gamma > 0 fixed
 * c tends to (v_a + v_b)/2; gamma is negative in 7.9 % of draws; the average survives iff
 * alpha C^2 -> 0; any factor of k_a + k_b that grows without bound averages.
 */
TEST(verdicts_on_every_seed)
{
    static const struct {
        const char *question, *name, *text[3];
        enum lab_mark mark;
        const char *error, *evidence;
    } cases[] = {
        {"1c-ii", "closer", {"0.55"}, LAB_MARK_WRONG, "factor 1.1", "computed 0.5"},
        {"1c-ii", "closer", {"0.51"}, LAB_MARK_WRONG, "", ""},
        {"1c-ii", "closer", {"0.4999"}, LAB_MARK_WRONG, "", ""},
        {"1c-ii", "closer", {"Phi(0)"}, LAB_MARK_RIGHT, "", ""},
        {"1d-ii", "output", {"(gamma v_a + v_b)/2"}, LAB_MARK_WRONG, "", ""},
        {"1d-ii", "output", {"(gamma^5 v_a + v_b)/2"}, LAB_MARK_WRONG, "", ""},
        {"1d-ii", "output", {"v_a/(2*gamma) + v_b/2"}, LAB_MARK_WRONG, "", ""},
        {"1d-ii", "output", {"gamma (v_a + v_b)/2"}, LAB_MARK_WRONG, "", ""},
        {"1d-ii", "output", {"v_a/2 + v_b/2"}, LAB_MARK_LIMIT, "", "gamma > 0"},
        {"1c-ii", "scores", {"C abs(gamma)", "C", "0"}, LAB_MARK_PARTLY, "", ""},
        {"1c-ii", "scores", {"C gamma", "C", "0"}, LAB_MARK_RIGHT, "", ""},
        {"1c-ii",
         "weight",
         {"exp(abs(gamma) C)/(exp(abs(gamma) C) + exp(C) + n - 2)"},
         LAB_MARK_WRONG,
         "",
         ""},
        {"1c-ii",
         "weight",
         {"1/(1 + exp(C - C sqrt(gamma^2)) + (n-2) exp(-C sqrt(gamma^2)))"},
         LAB_MARK_WRONG,
         "",
         ""},
        {"1c-i", "vanishes", {"alpha C^2.1"}, LAB_MARK_WRONG, "", ""},
        {"1c-i", "vanishes", {"alpha C^1.99"}, LAB_MARK_WRONG, "", ""},
        {"1c-i", "vanishes", {"alpha C^2 ln(C)"}, LAB_MARK_WRONG, "", ""},
        {"1c-i", "vanishes", {"alpha C^2/ln(C)"}, LAB_MARK_WRONG, "", ""},
        {"1c-i", "vanishes", {"alpha C^2 ln(ln(C))"}, LAB_MARK_WRONG, "", ""},
        {"1c-i", "vanishes", {"(alpha C^2)^0.1"}, LAB_MARK_RIGHT, "", ""},
        {"1c-i", "vanishes", {"alpha^3 C^6"}, LAB_MARK_RIGHT, "", ""},
        {"1c-i", "vanishes", {"alpha C^2 + 1/C"}, LAB_MARK_RIGHT, "", ""},
        {"1c-i", "vanishes", {"exp(alpha C^2) - 1"}, LAB_MARK_RIGHT, "", ""},
        {"1c-i", "vanishes", {"ln(1 + alpha C^2)"}, LAB_MARK_RIGHT, "", ""},
        {"1c-i", "vanishes", {"exp(-C)"}, LAB_MARK_WRONG, "", "it vanishes, but Var"},
        {"1c-i", "vanishes", {"0"}, LAB_MARK_WRONG, "", "it vanishes, but Var"},
        {"1c-i", "vanishes", {"1 + alpha C^2"}, LAB_MARK_WRONG, "", "does not vanish"},
        {"1b-ii", "q", {"exp(C) (k_a + k_b)"}, LAB_MARK_LIMIT, "", ""},
        {"1b-ii", "q", {"2^C (k_a + k_b)"}, LAB_MARK_LIMIT, "", ""},
        {"1b-ii", "q", {"C^40 (k_a + k_b)"}, LAB_MARK_LIMIT, "", ""},
        {"1b-ii", "q", {"ln(exp(C)) (k_a + k_b)"}, LAB_MARK_LIMIT, "", ""},
        {"1b-ii", "q", {"ln(1 + exp(C)) (k_a + k_b)"}, LAB_MARK_LIMIT, "", ""},
        {"1b-ii", "q", {"exp(C^2) (k_a + k_b)"}, LAB_MARK_LIMIT, "", ""},
        {"1b-ii", "q", {"sqrt(C) (k_a + k_b)"}, LAB_MARK_LIMIT, "", ""},
        {"1b-ii", "q", {"exp(C) k_a"}, LAB_MARK_WRONG, "", ""},
        {"1b-ii", "q", {"inf (k_a + k_b)"}, LAB_MARK_WRONG, "", "not finite"},
        {"1b-ii", "q", {"1e9 (k_a + k_b)"}, LAB_MARK_LIMIT, "", "than rounding"},
        {"1b-ii", "q", {"10 (k_a + k_b)"}, LAB_MARK_LIMIT, "", "for n = 2 to 100"},
        {"1c-i", "q", {"C (mu_a/gamma + mu_b)"}, LAB_MARK_WRONG, "draws", "gamma is"},
        {"1d-i",
         "queries",
         {"2 C (mu_a + mu_b)", "C (mu_a + mu_b)"},
         LAB_MARK_WRONG,
         "",
         "differ by a factor"},
        {"1c-i", "q", {"exp(C) (mu_a + mu_b)"}, LAB_MARK_LIMIT, "", ""},
        {"1c-i", "q", {"C^2 (mu_a + mu_b)"}, LAB_MARK_LIMIT, "", ""},
        {"1d-i", "queries", {"exp(C) mu_a", "exp(C) mu_b"}, LAB_MARK_LIMIT, "", ""},
        {"1b-i",
         "M",
         {"v_a (v_a+v_b)^T/norm(v_a+v_b)^2"},
         LAB_MARK_WRONG,
         "must not depend on v_a",
         ""},
        {"1b-i", "M", {"v_a s^T/(s^T s)"}, LAB_MARK_WRONG, "must not depend on v_a", ""},
        {"1b-i",
         "M",
         {"v_a v_a^T/(v_a^T v_a)"},
         LAB_MARK_WRONG,
         "must not depend on v_a",
         ""},
        {"1b-i", "M", {"(A A^T)^3"}, LAB_MARK_RIGHT, "", ""},
        {"1b-i", "M", {"I - B B^T"}, LAB_MARK_RIGHT, "", ""},
        {"1b-i", "M", {"A A^T + B B^T"}, LAB_MARK_WRONG, "", ""},
        {"1c-i", "output", {"v_a + v_b"}, LAB_MARK_WRONG, "", "off by 0.7071"},
        {"1c-ii", "limit", {"inf"}, LAB_MARK_WRONG, "", "claimed inf"},
        {"1d-ii", "limit", {"0.0181157"}, LAB_MARK_WRONG, "exact value", ""},
        {"1a-i", "sum", {"0.999999"}, LAB_MARK_WRONG, "exact value", ""},
        {"2b-ii", "same", {"yes"}, LAB_MARK_WRONG, "", "at distance 0.0076"},
    };
    for (uint64_t seed = 1; seed <= seeds_tried(); seed++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct lab_answer answer = {.problem = {NULL}};
            struct lab_grade all;
            set(&answer, cases[i].question, cases[i].name, cases[i].text[0],
                cases[i].text[1], cases[i].text[2]);
            CHECK(!lab_grade(&answer, &rubric, seed, &all), "%s", cases[i].text[0]);
            const struct lab_part_grade *const grade =
                &all.part[lab_grade_find(cases[i].question, cases[i].name)];
            CHECK(grade->mark == cases[i].mark && strstr(grade->error, cases[i].error) &&
                      strstr(grade->evidence, cases[i].evidence),
                  "seed %d, %s.%s '%s': %s, '%s', %s", (int)seed, cases[i].question,
                  cases[i].name, cases[i].text[0], lab_mark_name(grade->mark),
                  grade->error, grade->evidence);
            CHECK(!strstr(grade->error, "steady average") &&
                      !strstr(grade->error, "factor 1.000"),
                  "%s: %s", cases[i].text[0], grade->error);
        }
}

/*
 * An error name that only some worlds suggest is not reported; a counterexample shows a
 * difference.
 */
TEST(names_do_not_depend_on_the_seed)
{
    for (uint64_t seed = 1; seed <= seeds_tried(); seed++) {
        struct lab_answer answer = {.problem = {NULL}};
        struct lab_grade all;
        set(&answer, "1c-ii", "weight", "Phi((gamma-1) C)", NULL, NULL);
        CHECK(!lab_grade(&answer, &rubric, seed, &all), "graded");
        const struct lab_part_grade *const grade =
            &all.part[lab_grade_find("1c-ii", "weight")];
        CHECK(grade->mark == LAB_MARK_WRONG && !*grade->error, "seed %d: %s, '%s'",
              (int)seed, lab_mark_name(grade->mark), grade->error);
        CHECK(fabs(grade->computed - grade->claimed) > 1e-3, "seed %d: %s", (int)seed,
              grade->evidence);
    }
}

/* A result that follows correctly from a wrong query is correct. */
TEST(parts_follow_from_the_own_query)
{
    struct lab_answer answer = {.problem = {NULL}};
    set(&answer, "1b-ii", "q", "k_a + k_b", NULL, NULL);
    set(&answer, "1b-ii", "weight", "e/(2 e + n - 2)", NULL, NULL);
    set(&answer, "1b-ii", "limit", "1/2", NULL, NULL);
    const struct lab_part_grade *grade = grade_one(&answer, "1b-ii", "weight");
    CHECK(grade && grade->mark == LAB_MARK_RIGHT, "%s", grade ? grade->evidence : "");
    grade = grade_one(&answer, "1b-ii", "limit");
    CHECK(grade && grade->mark == LAB_MARK_WRONG &&
              strstr(grade->error, "not for your q"),
          "%s", grade ? grade->error : "");
}

/* The shown solution is correct for the student's own queries; else none is shown. */
TEST(solutions_are_those_of_the_own_query)
{
    struct lab_answer answer = {.problem = {NULL}};
    set(&answer, "1d-i", "queries", "C (2 mu_a + mu_b)", "C (mu_a + 2 mu_b)", NULL);
    set(&answer, "1d-i", "outputs", "v_b", "v_b", NULL);
    set(&answer, "1d-ii", "correlation", "zero", NULL, NULL);
    const struct lab_part_grade *grade = grade_one(&answer, "1d-ii", "correlation");
    CHECK(grade && grade->mark == LAB_MARK_WRONG && !strcmp(grade->solution, "positive"),
          "%s", grade ? grade->solution : "");
    set(&answer, "1d-i", "queries", "mu_a", "mu_b", NULL);
    set(&answer, "1d-i", "outputs", "v_b", "v_a", NULL);
    grade = grade_one(&answer, "1d-i", "outputs");
    CHECK(grade && grade->mark == LAB_MARK_WRONG && !*grade->solution, "%s",
          grade ? grade->solution : "");
    set(&answer, "1d-i", "queries", "C mu_a", "C mu_b", NULL);
    grade = grade_one(&answer, "1d-i", "outputs");
    CHECK(grade && !strcmp(grade->solution, "v_a; v_b"), "%s",
          grade ? grade->solution : "");
}

/* Every text of a list has its share of the credit. */
TEST(lists_have_partial_credit)
{
    struct lab_answer answer = {.problem = {NULL}};
    set(&answer, "1c-ii", "scores", "gamma C", "2 C", "0");
    const struct lab_part_grade *grade = grade_one(&answer, "1c-ii", "scores");
    CHECK(grade && fabs(grade->points - 2 * 2 / 3.0) < 1e-12, "%g",
          grade ? grade->points : NAN);
    set(&answer, "1c-ii", "variances", "C^2/2", "5", NULL);
    grade = grade_one(&answer, "1c-ii", "variances");
    CHECK(grade && fabs(grade->points - 0.5) < 1e-12, "%g", grade ? grade->points : NAN);
    /* Two queries form one answer. */
    set(&answer, "1d-i", "queries", "C mu_a", "C mu_a", NULL);
    grade = grade_one(&answer, "1d-i", "queries");
    CHECK(grade && grade->mark == LAB_MARK_WRONG && grade->points == 0, "%g",
          grade ? grade->points : NAN);
}

TEST(rubrics_weigh_verdicts)
{
    struct lab_answer answer = {.problem = {NULL}};
    struct lab_rubric own = rubric;
    struct lab_grade grade;
    const int weight = lab_grade_find("1b-ii", "weight");
    const int moved = lab_grade_find("2a-i", "moved");
    own.points[weight] = 10;
    own.points[moved] = 4;
    own.limit = 0.3;
    own.slip = 0.75;
    set(&answer, "1b-ii", "weight", "1/2", NULL, NULL);
    set(&answer, "2a-i", "moved", "X P", NULL, NULL);
    CHECK(!lab_grade(&answer, &own, 3, &grade), "graded");
    CHECK(fabs(grade.part[weight].points - 3) < 1e-12, "%g", grade.part[weight].points);
    CHECK(fabs(grade.part[moved].points - 3) < 1e-12, "%g", grade.part[moved].points);
    CHECK(fabs(grade.points - 6) < 1e-12, "%g", grade.points);
}

TEST(seeds_depend_on_seed_and_name)
{
    CHECK(lab_grade_seed(1, "a.json") == lab_grade_seed(1, "a.json"), "the same");
    CHECK(lab_grade_seed(1, "a.json") != lab_grade_seed(2, "a.json"), "seed");
    CHECK(lab_grade_seed(1, "a.json") != lab_grade_seed(1, "b.json"), "name");
}

TEST(texts_are_checked)
{
    char why[200];
    const int m = lab_grade_find("1b-i", "M"), better = lab_grade_find("1e", "better");
    CHECK(!lab_grade_check(m, "A A^T", why, sizeof why), "%s", why);
    CHECK(lab_grade_check(m, "A mu_a", why, sizeof why) && strstr(why, "mu_a"), "%s",
          why);
    CHECK(lab_grade_check(m, "A A^", why, sizeof why) && strstr(why, "column 5"), "%s",
          why);
    CHECK(
        lab_grade_check(lab_grade_find("1b-ii", "weight"), "exp C n", why, sizeof why) &&
            strstr(why, "exp needs its argument in parentheses"),
        "%s", why);
    CHECK(!lab_grade_check(better, "two", why, sizeof why), "%s", why);
    CHECK(!lab_grade_check(better, " Two.", why, sizeof why), "%s", why);
    CHECK(!lab_grade_check(lab_grade_find("1a-ii", "condition"), "Key length", why,
                           sizeof why),
          "%s", why);
    CHECK(lab_grade_check(better, "tw", why, sizeof why), "a part of a word");
    CHECK(lab_grade_check(better, "one|two", why, sizeof why), "two words");
    CHECK(lab_grade_find("1b-i", "N") < 0, "no such part");
}

int main(void)
{
    lab_rubric_default(&rubric);
    test_run_all();
    return test_finish();
}
