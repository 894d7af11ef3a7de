/* SPDX-License-Identifier: MIT */
/*
 * How a statement of a sheet is judged.  A statement is data: the claim as printed and
 * as repaired, each with its error at a point of the grid, what its symbols and shapes
 * are, what the sheet leaves free, and, where it argues, premise and conclusion.
 */
#ifndef LAB_JUDGE_H
#define LAB_JUDGE_H

#include "lab/sheets/sheets.h"
#include "lab/sheets/exercise.h"

/* What was found at one point. */
struct lab_found {
    double measured, expected; /* the deciding numbers, as the claim has them */
    int above;    /* 1, -1: claimed above, below `expected`; 0: equal to it */
    double error; /* 0 where the claim is exact; NaN counts as infinite */
    double se;    /* > 0: the error is one of chance */
};

/* Fills `reading`; 0, or -1. */
typedef int (*lab_read)(const struct lab_point *point, struct lab_found *reading);

/* What the sheet leaves free, calls large, or lets one leave out. */
enum lab_free {
    LAB_FREE_SCALE = 1, /* the point's scale grows */
    LAB_FREE_ALPHA = 2, /* alpha vanishes; the grid then has alpha > 0 as well */
    LAB_FREE_N = 4,     /* n > 2 */
    LAB_FREE_EVENT = 8  /* draws with gamma > 0 */
};

/* What a letter stands for. */
enum lab_meaning {
    LAB_MEANS_KEYS,       /* number of keys */
    LAB_MEANS_BASIS,      /* number of basis vectors */
    LAB_MEANS_SCALE,      /* scale of the query */
    LAB_MEANS_NOISE,      /* variance of the keys */
    LAB_MEANS_WEIGHT,     /* attention weight */
    LAB_MEANS_OUTPUT,     /* output of attention */
    LAB_MEANS_MEAN,       /* mean of a key */
    LAB_MEANS_COVARIANCE, /* covariance of a key */
    LAB_MEANS_VALUE,      /* value vector */
    LAB_MEANS_KEY,        /* index of a key */
    LAB_MEANS_OTHER_KEY   /* index of another key */
};

/* A letter: what the sheet made it mean, on which line, and what the claim needs. */
struct lab_symbol {
    const char *letter;
    enum lab_meaning prior;
    int line;
    enum lab_meaning here;
};

/* A case of an argument.  The premise is met where `premise` is 0. */
struct lab_case {
    double premise, conclusion; /* how far each is from true */
    char text[200];
};

struct lab_claim {
    lab_read read;
    unsigned free;     /* of enum lab_free */
    const char *grows; /* name of the scale: "C", "|q|", "the gap"; NULL: it has none */
    /* Products of named objects, see wellformed.c; NULL: nothing to compare. */
    const char *left, *right;
    struct lab_symbol symbol; /* letter NULL: none */
    /*
     * Case x of the argument, the exercise's preconditions not assumed: 0, 1 when
     * there are no more, or -1.  NULL: the claim argues nothing.
     */
    int (*argue)(const struct lab_exercise *exercise, int x, struct lab_case *found);
};

struct lab_statement {
    const char *id;
    int line;
    const char *says;
    int quoted;         /* line of the quotation */
    const char *quote;  /* of the sheet, no more than what is judged */
    const char *exact;  /* what is true, with its condition */
    const char *repair; /* what the repaired claim changes, and which line writes it so */
    struct lab_claim printed, repaired; /* repaired.read NULL: nothing to repair */
};

/* The statements of a sheet, in order. */
struct lab_sheet {
    const char *name;
    const struct lab_statement *statement;
    int count;
};

extern const struct lab_sheet lab_sheet_000, lab_sheet_001, lab_sheet_002, lab_sheet_003,
    lab_sheet_004;

/* The number of a statement among all; -1: there is none of that id. */
int lab_sheets_index(const char *id);

/* 0, or -1 when something could not be computed. */
int lab_judge(const struct lab_exercise *exercise, const struct lab_statement *statement,
              struct lab_judgement *judgement);
/* The statement and its judgement in another exercise; index as in lab_sheets_judge(). */
int lab_sheets_judge_in(const struct lab_exercise *exercise, int index,
                        struct lab_judgement *judgement);

/* Adds to a text of `size` bytes what fits. */
__attribute__((format(printf, 3, 4))) void lab_judge_append(char *text, size_t size,
                                                            const char *format, ...);

/* ---- parts of the judge ---------------------------------------------------- */

/*
 * 1 if the shapes of both sides agree and the letter means what it meant before; else 0
 * with the reason in `why`.
 */
int lab_well_formed(const struct lab_exercise *exercise, const struct lab_claim *claim,
                    char *why, size_t size);

/* What the grid and the growing quantities say of one claim. */
struct lab_trace {
    int points;
    struct lab_point worst; /* where the error on the grid is largest */
    struct lab_found reading;
    int same;            /* the error is the same at every point */
    int exact;           /* no point of the grid is off */
    int vanishes;        /* the error vanishes under `needs` */
    unsigned needs;      /* of enum lab_free: the fewest that suffice */
    double threshold[2]; /* scale above which it stays below LAB_SMALL; n = 10, 1000 */
    double residual;     /* largest error at the far end when everything free is used */
    int refuted;         /* the argument has a counterexample */
    struct lab_case against;
};

#define LAB_TOLERANCE 1e-9 /* of an exact claim, on the grid */
#define LAB_VANISHED 1e-6  /* of one that vanishes, at the far end */
#define LAB_SMALL 0.01     /* for the thresholds that are shown */

int lab_trace_claim(const struct lab_exercise *exercise, const struct lab_claim *claim,
                    struct lab_trace *trace);
void lab_judge_words(const struct lab_statement *statement, const struct lab_claim *claim,
                     const struct lab_trace *trace, const char *why,
                     struct lab_judgement *judgement);

#endif
