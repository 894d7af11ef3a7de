/* SPDX-License-Identifier: MIT */
/* The parts of `attend judge`. */
#ifndef TOOLS_JUDGE_TOOL_H
#define TOOLS_JUDGE_TOOL_H

#include "lab/marks/marks.h"
#include "shared/tool.h"

/* What is printed below the lines. */
struct judge_look {
    int explain; /* also about true claims */
    int all;     /* also what is not judged */
    int width;   /* of a line */
    int colour;
};

/* The look of standard output: its width, and colours where it is a terminal. */
void judge_look_of_output(struct judge_look *look);
/* The sheet with marks in the margin, then letters, contradictions, points, coverage. */
void judge_print(const struct lab_marked *marked, const struct judge_look *look);
/* "34 of 41 formulas read, 29 claims judged" */
void judge_print_coverage(const struct lab_reading *reading);

#endif
