/* SPDX-License-Identifier: MIT */
/*
 * The five sheets, statement by statement.  The source holds claims, grids and
 * criteria; the verdict comes out of the numbers.  The right answers are T1, T3 - T5, T7,
 * T9 - T16 and T25 of docs/THEORY.md.
 */
#ifndef LAB_SHEETS_H
#define LAB_SHEETS_H

#include <stddef.h>
#include <stdint.h>

enum lab_verdict { LAB_HOLDS, LAB_LIMIT, LAB_FAILS, LAB_SLIP };

/* By the letter "=" is equality and only what the sheet calls large may grow. */
enum lab_reading { LAB_CHARITY, LAB_LETTER };

enum { LAB_STATEMENTS = 99 };

struct lab_judgement {
    char id[8];        /* "000-1" */
    char sheet[8];     /* "000" */
    int line;          /* of the sheet */
    const char *says;  /* what the sheet says, in other words */
    const char *quote; /* the passage judged, as the sheet has it */
    int quoted;        /* its line, near `line` */
    enum lab_verdict verdict;
    enum lab_reading reading; /* the one that `verdict` and all below belong to */
    int readings_agree;       /* the other reading has the same verdict */
    int invariant;        /* true or false in every world: nothing moves the verdict */
    char holds_when[512]; /* the exact statement with its condition, never empty */
    double measured;      /* the number that decides; NaN where none applies */
    double expected;      /* what the claim says it is; NaN where none applies */
    /* Where on the grid that was, if anywhere: `scale` is C, beta, |q| or a gap. */
    int has_point;
    int64_t n;
    double scale, alpha;
    char evidence[768]; /* grid point, error, counterexample and repair in words */
    /* Why it is ill formed, or the case that decides an argument; else empty. */
    char reason[320];
};

const char *lab_verdict_name(enum lab_verdict verdict); /* "holds" ... */
/* What the word means: "there is a counterexample". */
const char *lab_verdict_meaning(enum lab_verdict verdict);
const char *lab_reading_name(enum lab_reading reading); /* "charity", "letter" */

/* Judges statement 0 .. LAB_STATEMENTS - 1, in the order of the sheets; 0, or -1. */
int lab_sheets_judge(int index, enum lab_reading reading,
                     struct lab_judgement *judgement);

/* Whether a statement is one of sheet "000" .. "004". */
int lab_sheets_is_of(int index, const char *sheet);
/*
 * All statements, or those of one sheet where it is not NULL, on `threads` threads;
 * the others' places in `judgements` [LAB_STATEMENTS] are zeroed.  0, or -1.
 */
int lab_sheets_judge_all(const char *sheet, enum lab_reading reading, int threads,
                         struct lab_judgement *judgements);

enum { LAB_DISPUTES = 13 };

/* A point on which the sheets contradict each other or themselves. */
struct lab_dispute {
    const char *question;
    char sides[400]; /* who says what, with the verdicts */
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
