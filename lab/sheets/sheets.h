/* SPDX-License-Identifier: MIT */
/*
 * The five sheets, statement by statement; the sheets are scans.  The source holds
 * claims, grids and criteria; the verdict comes out of the numbers.  The right answers
 * are T1, T3 - T5, T7, T9 - T16 and T25 of docs/THEORY.md.
 */
#ifndef LAB_SHEETS_H
#define LAB_SHEETS_H

#include "lab/judge/judge.h"

enum { LAB_STATEMENTS = 113 };

/* The statements of a sheet, in the order of their lines. */
struct lab_sheet {
    const char *name;
    const struct lab_statement *statement;
    int count;
};

extern const struct lab_sheet lab_sheet_000, lab_sheet_001, lab_sheet_002, lab_sheet_003,
    lab_sheet_004;

/* The number of a statement among all; -1: there is none of that id. */
int lab_sheets_index(const char *id);

/* Judges statement 0 .. LAB_STATEMENTS - 1, in the order of the sheets; 0, or -1. */
int lab_sheets_judge(int index, enum lab_strictness reading,
                     struct lab_judgement *judgement);

/* The same in this exercise. */
int lab_sheets_judge_in(const struct lab_exercise *exercise, int index,
                        enum lab_strictness reading, struct lab_judgement *judgement);

/* Whether a statement is one of sheet "000" .. "004". */
int lab_sheets_is_of(int index, const char *sheet);
/*
 * All statements, or those of one sheet where it is not NULL, on `threads` threads;
 * the others' places in `judgements` [LAB_STATEMENTS] are zeroed.  0, or -1.
 */
int lab_sheets_judge_all(const char *sheet, enum lab_strictness reading, int threads,
                         struct lab_judgement *judgements);

enum { LAB_DISPUTES = 14 };

/* A point on which the sheets contradict each other or themselves. */
struct lab_dispute {
    const char *question;
    char sides[400]; /* the sides of each position, with the verdicts */
    /* The positions whose deciding statements stand by charity, then the others; with
       the number that decides each. */
    char right[900];
};

/*
 * Dispute 0 .. LAB_DISPUTES - 1; 0, or -1.  `judgements` are those of all statements in
 * order, or NULL: then those that matter are judged.
 */
int lab_sheets_dispute(int index, const struct lab_judgement *judgements,
                       struct lab_dispute *dispute);
/* Whether a statement of sheet "000" .. "004" has a part in it. */
int lab_sheets_dispute_has(int index, const char *sheet);

#endif
