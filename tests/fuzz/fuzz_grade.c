/* SPDX-License-Identifier: MIT */
/*
 * Fuzz the grader: bytes as a form, as a rubric, and as the texts of one part.  A refusal
 * has one line with the reason; every form that is valid JSON can be graded.
 */
#include "lab/door/form.h"

#include <string.h>

#include "demand.h"

/* Grades one part only, so that an input takes milliseconds. */
static void grade_first(const struct lab_answer *answer)
{
    struct lab_answer one = {.problem = {NULL}};
    struct lab_rubric rubric;
    static struct lab_grade grade;
    int part = 0;

    while (part < LAB_GRADE_PARTS && !(answer->text[part][0] && *answer->text[part][0]))
        part++;
    if (part == LAB_GRADE_PARTS)
        return;
    memcpy(one.text[part], answer->text[part], sizeof one.text[part]);
    lab_rubric_default(&rubric);
    demand(!lab_grade(&one, &rubric, 1, &grade), "it is graded");
    demand(grade.part[part].mark != LAB_MARK_EMPTY, "it is not empty");
    demand(grade.points >= 0 && grade.points <= grade.most, "points");
    demand(!strchr(grade.part[part].evidence, '\n'), "one line of evidence");
}

static void check_form(const char *bytes, size_t size)
{
    char why[LAB_FORM_WHY] = "";
    struct lab_form form;

    if (lab_form_read(bytes, size, &form, why)) {
        demand(*why && !strchr(why, '\n'), "a reason in one line");
        lab_form_free(&form);
        return;
    }
    for (int part = 0; part < LAB_GRADE_PARTS; part++)
        for (int k = 0; k < LAB_GRADE_TEXTS; k++) {
            const char *const text = form.answer.text[part][k];
            *why = 0;
            demand(!text || !*text || !lab_grade_check(part, text, why, sizeof why) ||
                       *why,
                   "a reason why a text cannot be graded");
        }
    if (size % 8 == 0)
        grade_first(&form.answer);
    lab_form_free(&form);
}

static void check_rubric(const char *bytes, size_t size)
{
    char why[LAB_FORM_WHY] = "";
    struct lab_rubric rubric;

    lab_rubric_default(&rubric);
    if (lab_rubric_read(bytes, size, &rubric, why)) {
        demand(*why != 0, "a reason");
        return;
    }
    for (int part = 0; part < LAB_GRADE_PARTS; part++)
        demand(rubric.points[part] >= 0 && rubric.points[part] <= 1000, "points");
    demand(rubric.limit >= 0 && rubric.limit <= 1, "credit of a limit");
    demand(rubric.slip >= 0 && rubric.slip <= 1, "credit of a slip");
}

/* The first byte selects the part. */
static void check_text(const uint8_t *data, size_t size)
{
    char why[LAB_FORM_WHY] = "";
    struct lab_answer answer = {.problem = {NULL}};
    char *const text = size ? calloc(1, size) : NULL;

    if (!text)
        return;
    memcpy(text, data + 1, size - 1);
    const int part = data[0] % LAB_GRADE_PARTS;
    if (lab_grade_check(part, text, why, sizeof why))
        demand(*why && !strchr(why, '\n'), "a reason in one line");
    else {
        for (int k = 0; k < lab_grade_part(part)->texts; k++)
            answer.text[part][k] = text;
        grade_first(&answer);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_text(data, size);
    check_form((const char *)data, size);
    check_rubric((const char *)data, size);
    return 0;
}
