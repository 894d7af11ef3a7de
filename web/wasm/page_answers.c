/* SPDX-License-Identifier: MIT */
/* Answers to the exercise: texts come one by one, and are graded together. */
#define _POSIX_C_SOURCE 200809L

#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "lab/door/objects.h"
#include "lab/grade/grade.h"
#include "page_answers.h"
#include "page_report.h"

/* ---- what is asked --------------------------------------------------------------- */

static void put_asked(struct lab_json *json, int p)
{
    const struct lab_part *const part = lab_grade_part(p);
    char letters[300];

    lab_grade_letters(p, letters, sizeof letters);
    lab_json_put(json,
                 "{ question:s name:s asks:p asked:s texts:i choices:s points:r hint:s "
                 "letters:s solution:[",
                 part->question, part->name, part->asks, part->asks, part->texts,
                 part->choices, part->points, part->hint, letters);
    for (int k = 0; k < part->texts; k++)
        lab_json_text(json, part->solution[k]);
    lab_json_put(json, "] }");
}

void page_parts_put(struct lab_json *json)
{
    lab_json_put(json, "parts:[");
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        put_asked(json, p);
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
    struct lab_answer answer;

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
        lab_json_put(json, "words:s shown:p }", lab_mark_words(part->mark),
                     part->evidence);
    }
    lab_json_end(json, ']');
    return page_end();
}
