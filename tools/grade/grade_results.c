/* SPDX-License-Identifier: MIT */
/*
 * results.json, which the harness of Gradescope reads: a test for each part, and the
 * score of all.
 */
#include <stdio.h>
#include <string.h>

#include "grade_tool.h"
#include "lab/grade/courses.h"
#include "shared/json_line.h"

/* Verdict, error, evidence, and hint or solution, a line each. */
static void put_output(struct lab_json *json, const struct lab_part_grade *grade,
                       int hints)
{
    const char *const help = graded_help(grade, hints);
    char text[1600];

    snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s", lab_mark_words(grade->mark),
             *grade->error ? "\n" : "", grade->error, *grade->evidence ? "\n" : "",
             grade->evidence, help ? "\n" : "",
             !help   ? ""
             : hints ? "hint: "
                     : "solution: ",
             help ? help : "");
    lab_json_put(json, "output:s", text);
}

static void put_test(struct lab_json *json, const char *number, int p,
                     const struct lab_part_grade *grade, int hints)
{
    char name[80];

    snprintf(name, sizeof name, "%s %s", number, lab_grade_part(p)->name);
    lab_json_begin(json, '{');
    lab_json_put(json, "name:s number:s score:r max_score:r visibility:s", name, number,
                 grade->points, grade->most, "visible");
    put_output(json, grade, hints);
    lab_json_end(json, '}');
}

/* What the form does not ask has no points here. */
static void put_person(struct lab_json *json, const struct lab_scheme_question *question)
{
    char name[80];

    snprintf(name, sizeof name, "%s: for a person", question->number);
    lab_json_put(json, "{ name:s number:s score:r max_score:r visibility:s output:s }",
                 name, question->number, 0.0, 0.0, "visible", question->person);
}

int grade_print_results(const struct graded_class *all, const char *why)
{
    const struct graded *const graded = why ? NULL : all->graded;
    struct lab_json json;
    char output[LAB_FORM_WHY + 40];

    if (!why && graded->unread)
        why = graded->why;
    tool_open_json(&json);
    if (why)
        snprintf(output, sizeof output, "not graded: %s", why);
    else
        snprintf(output, sizeof output, "%.4g of %g points", graded->grade.points,
                 graded->grade.most);
    lab_json_put(&json, "score:r output:s visibility:s stdout_visibility:s tests:[",
                 why ? 0 : graded->grade.points, output, "visible", "hidden");
    for (int q = 0; q < all->scheme->questions && !why; q++) {
        const struct lab_scheme_question *const question = &all->scheme->question[q];
        for (int k = 0; k < question->parts; k++)
            put_test(&json, question->number, question->part[k],
                     &graded->grade.part[question->part[k]], all->hints);
        if (question->person)
            put_person(&json, question);
    }
    lab_json_end(&json, ']');
    return tool_put_json("grade", &json);
}
