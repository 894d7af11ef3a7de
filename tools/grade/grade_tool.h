/* SPDX-License-Identifier: MIT */
/* The parts of `attend grade`. */
#ifndef TOOLS_GRADE_TOOL_H
#define TOOLS_GRADE_TOOL_H

#include "lab/door/form.h"
#include "shared/tool.h"

/* One answer of a class. */
struct graded {
    const char *path;
    const char *name; /* of the file, without its folder */
    struct lab_form form;
    struct lab_grade grade;
    int unread; /* the file is not a form: it has no grade, and a row in a CSV */
    char why[LAB_FORM_WHY]; /* the reason */
    int failed;             /* not graded: out of memory */
};

enum grade_format { GRADE_TEXT, GRADE_CSV, GRADE_JSON, GRADE_RESULTS, GRADE_SUMMARY };

/* The student's name, or the file's without ".json". */
const char *graded_student(const struct graded *graded, char *room, size_t size);

/* The hint, or the solution, of a part without full marks; NULL: there is none. */
const char *graded_help(const struct lab_part_grade *grade, int hints);

/* Prints all; TOOL_OK or TOOL_FAILED with a message. */
int grade_print(const struct graded *graded, int count, enum grade_format format,
                int hints);

/* results.json of Gradescope for one answer, and a table of the class: the same. */
int grade_print_results(const struct graded *graded, int hints);
int grade_print_summary(const struct graded *graded, int count);

#endif
