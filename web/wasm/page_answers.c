/* SPDX-License-Identifier: MIT */
/* Answers to the exercise: texts come one by one, and are graded together. */
#define _POSIX_C_SOURCE 200809L

#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "lab/figures/text.h"
#include "lab/grade/grade.h"
#include "page_answers.h"
#include "page_json.h"
#include "page_report.h"

/* ---- what is asked --------------------------------------------------------------- */

static void put_asked(int p)
{
    const struct lab_part *const part = lab_grade_part(p);
    char letters[300];

    lab_grade_letters(p, letters, sizeof letters);
    page_json_begin('{');
    page_json_text_of("question", part->question);
    page_json_text_of("name", part->name);
    page_json_markup_of("asks", lab_text_prose, part->asks);
    page_json_text_of("asked", part->asks);
    page_json_whole_of("texts", part->texts);
    page_json_text_of("choices", part->choices);
    page_json_number_of("points", part->points);
    page_json_text_of("hint", part->hint);
    page_json_text_of("letters", letters);
    page_json_key("solution");
    page_json_begin('[');
    for (int k = 0; k < part->texts; k++)
        page_json_text(part->solution[k]);
    page_json_end(']');
    page_json_end('}');
}

void page_parts_put(void)
{
    page_json_key("parts");
    page_json_begin('[');
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        put_asked(p);
    page_json_end(']');
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

static void put_part(int p, const struct lab_part_grade *grade)
{
    const struct lab_part *const part = lab_grade_part(p);

    page_json_begin('{');
    page_json_text_of("question", part->question);
    page_json_text_of("part", part->name);
    page_json_text_of("verdict", lab_mark_name(grade->mark));
    page_json_text_of("words", lab_mark_words(grade->mark));
    page_json_number_of("points", grade->points);
    page_json_number_of("of", grade->most);
    page_json_number_of("computed", grade->computed);
    page_json_number_of("claimed", grade->claimed);
    page_json_text_of("error", grade->error);
    page_json_text_of("evidence", grade->evidence);
    page_json_markup_of("shown", lab_text_prose, grade->evidence);
    page_json_end('}');
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
    page_json_open();
    page_json_begin('{');
    page_json_number_of("points", grade.points);
    page_json_number_of("of", grade.most);
    page_json_key("parts");
    page_json_begin('[');
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        put_part(p, &grade.part[p]);
    page_json_end(']');
    page_json_end('}');
    return page_json_close();
}
