/* SPDX-License-Identifier: MIT */
/*
 * attend-grade: the static command of the autograder.  It prints results.json for the one
 * form in a folder, or for the reason why there is none.
 */
#include <stdlib.h>

#include "grade_tool.h"
#include "lab/grade/courses.h"
#include "shared/flags.h"

static const char help_text[] =
    "usage: attend-grade FOLDER [--course NAME] [--rubric FILE] [--hints] [--seed N]\n"
    "\n"
    "Prints results.json of Gradescope for the form in the folder, the only *.json "
    "there.\n"
    "\n"
    "options:\n"
    "@18 course rubric hints seed help\n";

struct options {
    const char *rubric;
    int course, hints;
    int64_t seed;
};

static int grade_one(const struct graded_list *list, const struct options *o)
{
    struct lab_scheme scheme;
    struct lab_rubric rubric;
    struct graded *const graded = calloc(1, sizeof *graded);
    struct graded_class all = {
        .graded = graded, .count = 1, .scheme = &scheme, .hints = o->hints};
    int status = graded ? graded_rules(o->course, o->rubric, &scheme, &rubric)
                        : tool_fail("grade", TOOL_FAILED, "out of memory");

    if (!status && list->count != 1)
        status = grade_print_results(&all, list->count ? "hand in one form, not several"
                                                       : "hand in your form, a .json");
    else if (!status) {
        graded_open(list->path[0], graded);
        graded_grade(graded, &scheme, &rubric, (uint64_t)o->seed);
        status = grade_print_results(&all, graded->failed ? "out of memory" : NULL);
        lab_form_free(&graded->form);
    }
    free(graded);
    return status;
}

/* A folder without a form is no reason to give no result. */
static int take(void *list, const char *word)
{
    graded_list_take(list, word);
    return TOOL_OK;
}

int main(int argc, char **argv)
{
    struct options o = {.course = -1, .seed = 1};
    const struct tool_flag flags[] = {
        FLAG_CHOICE("course", &o.course, lab_course_names, "NAME",
                    "questions and points of a course"),
        FLAG_TEXT("rubric", &o.rubric, "FILE", "other points"),
        FLAG_SWITCH("hints", &o.hints, "a hint in place of the solution"),
        FLAG_INT64("seed", &o.seed, 0, INFINITY, "N", "worlds derive from N (1)"),
    };
    struct graded_list list = {NULL, 0};

    argc = tool_take_words(argc, argv, FLAG_TABLE(flags), take, &list);
    int status = argc < 0
                     ? TOOL_USAGE
                     : tool_read_flags("grade", argc, argv, FLAG_TABLE(flags), help_text);
    if (!status)
        status = tool_finish_output("grade", grade_one(&list, &o));
    graded_list_free(&list);
    return status == TOOL_HELPED ? 0 : status;
}
