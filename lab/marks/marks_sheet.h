/* SPDX-License-Identifier: MIT */
/* The source of a solution as blocks of whole lines, and as runs within a block. */
#ifndef LAB_MARKS_SHEET_H
#define LAB_MARKS_SHEET_H

#include "lab/marks/marks.h"

/* A formula of the source. */
struct marks_formula {
    size_t begin, end;   /* with its delimiters */
    size_t inner, outer; /* without them */
    int is_tex;          /* else Unicode or ASCII: shown as it is */
    int display;
};

struct marks_sheet {
    const struct lab_marked *marked;
    struct marks_formula *formula; /* in the order of the source, apart from each other */
    int formulas;
    int *worst; /* of each formula: the claim that gives it its colour, or -1 */
};

/* Whole lines, as few as keep every formula whole. */
struct marks_block {
    size_t begin, end; /* without the last line break */
    int line, lines;
};

/* A part of a block with one look. */
struct marks_run {
    size_t begin, end;
    int formula; /* its index, or -1: words */
    int claim;   /* the shortest that covers it, or the formula's, or -1 */
    int bold, italic, struck;
};

/* 0, or -1 for memory.  Close it in any case. */
int marks_sheet_open(struct marks_sheet *sheet, const struct lab_marked *marked);
void marks_sheet_close(struct marks_sheet *sheet);

/* The next block; the first is after a block of zeros.  0: there is none. */
int marks_next_block(const struct marks_sheet *sheet, struct marks_block *block);
/* The next run of a block; the first is after a run of zeros.  0: there is none. */
int marks_next_run(const struct marks_sheet *sheet, const struct marks_block *block,
                   struct marks_run *run);
/* The formula that contains the byte, or -1. */
int marks_formula_at(const struct marks_sheet *sheet, size_t at);

#endif
