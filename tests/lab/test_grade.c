/* SPDX-License-Identifier: MIT */
/* The grader: solutions pass in every world, and every known error is told and named. */
#include "support/test.h"

#include <math.h>
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
    for (uint64_t seed = 1; seed < 4; seed++) {
        struct lab_answer answer = {{{0}}};
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

int main(void)
{
    lab_rubric_default(&rubric);
    (void)set;
    (void)grade_one;
    RUN(solutions_have_full_points);
    return test_finish();
}
