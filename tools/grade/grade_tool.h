/* SPDX-License-Identifier: MIT */
/* The command `attend grade`: what its files share. */
#ifndef TOOLS_GRADE_TOOL_H
#define TOOLS_GRADE_TOOL_H

#include "grade/answer_file.h"
#include "shared/tool.h"

/* One answer of a class. */
struct graded {
    const char *path;
    const char *name; /* of the file, without its folder */
    struct answer_file file;
    struct lab_grade grade;
    int failed; /* it could not be graded for want of memory */
};

enum grade_format { GRADE_TEXT, GRADE_CSV, GRADE_JSON };

/* The student's name, or the file's without ".json". */
const char *graded_student(const struct graded *graded, char *room, size_t size);

/* Prints all; TOOL_OK or TOOL_FAILED with a message. */
int grade_print(const struct graded *graded, int count, enum grade_format format,
                int hints);

#endif
