/* SPDX-License-Identifier: MIT */
/* Answers to the exercise: texts are stored one by one and graded together. */
#define _POSIX_C_SOURCE 200809L

#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "lab/door/form.h"
#include "lab/door/objects.h"
#include "page_answers.h"
#include "page_report.h"

/* ---- what is asked --------------------------------------------------------------- */

void page_parts_put(struct lab_json *json)
{
    lab_json_put(json, "parts:[");
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        lab_json_begin(json, '{');
        lab_json_asked(json, p);
        lab_json_end(json, '}');
    }
    lab_json_end(json, ']');
}

/* ---- what is answered ------------------------------------------------------------ */

static char *kept[LAB_GRADE_PARTS][LAB_GRADE_TEXTS];

void page_answer_clear(void)
{
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        for (int k = 0; k < LAB_GRADE_TEXTS; k++) {
            free(kept[p][k]);
            kept[p][k] = NULL;
        }
}

/* The first remark, or the first part that cannot be read: its message in `why`. */
static int find_fault(const struct lab_form *form, char *why)
{
    char reason[240];

    if (form->remarks.count > 0)
        return snprintf(why, LAB_FORM_WHY, "%s", form->remarks.list[0]);
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        const struct lab_part *const part = lab_grade_part(p);
        const char *bad = form->answer.problem[p];

        for (int k = 0; k < part->texts && !bad; k++) {
            const char *const text = form->answer.text[p][k];

            if (text && *text && lab_grade_check(p, text, reason, sizeof reason))
                bad = reason;
        }
        if (bad)
            return snprintf(why, LAB_FORM_WHY, "%s.%s: %s", part->question, part->name,
                            bad);
    }
    return 0;
}

const char *page_form(const char *text)
{
    char why[LAB_FORM_WHY];
    struct lab_form form;

    if (lab_form_read(text, strlen(text), &form, why) || find_fault(&form, why)) {
        lab_form_free(&form);
        return page_refuse(why);
    }
    struct lab_json *const json = page_begin();
    lab_json_put(json, "student:s texts:[", form.student);
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        lab_json_begin(json, '[');
        for (int k = 0; k < lab_grade_part(p)->texts; k++)
            lab_json_text(json, form.answer.text[p][k] ? form.answer.text[p][k] : "");
        lab_json_end(json, ']');
    }
    lab_json_end(json, ']');
    lab_form_free(&form);
    return page_end();
}

static int is_blank(const char *text) { return !text[strspn(text, " \t\r\n")]; }

const char *page_answer(int part, int k, const char *text)
{
    static char why[240];

    if (part < 0 || part >= LAB_GRADE_PARTS || k < 0 || k >= lab_grade_part(part)->texts)
        return "no such part";
    free(kept[part][k]);
    kept[part][k] = NULL;
    if (is_blank(text))
        return "";
    if (lab_grade_check(part, text, why, sizeof why))
        return why;
    kept[part][k] = strdup(text);
    return kept[part][k] ? "" : "out of memory";
}

const char *page_grade(double seed, const char *name)
{
    static struct lab_grade grade;
    struct lab_rubric rubric;
    struct lab_answer answer = {.problem = {NULL}};

    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        for (int k = 0; k < LAB_GRADE_TEXTS; k++)
            answer.text[p][k] = kept[p][k];
    lab_rubric_default(&rubric);
    if (lab_grade(&answer, &rubric, lab_grade_seed((uint64_t)seed, name), &grade))
        return page_refuse("out of memory");
    struct lab_json *const json = page_begin();
    lab_json_put(json, "points:r of:r parts:[", grade.points, grade.most);
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        const struct lab_part_grade *const part = &grade.part[p];

        lab_json_begin(json, '{');
        lab_json_part(json, p, part);
        lab_json_put(json, "words:s shown:p solution:s hint:s }",
                     lab_mark_words(part->mark), part->evidence, part->solution,
                     part->hint ? part->hint : "");
    }
    lab_json_end(json, ']');
    return page_end();
}
