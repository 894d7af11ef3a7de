/* SPDX-License-Identifier: MIT */
/* The scores of one row in double, and what the bound needs of each. */
#ifndef CHECK_DENSE_ROW_H
#define CHECK_DENSE_ROW_H

#include "check/check_problem.h"

/* How a row is to be judged. */
enum check_row_kind {
    CHECK_ROW_ORDINARY,
    CHECK_ROW_EMPTY,
    CHECK_ROW_POISONED, /* a score of +inf or NaN */
    CHECK_ROW_OUTSIDE   /* beyond what the bound covers */
};

struct check_row {
    int64_t n;                   /* keys that the row sees, scores of -inf included */
    int64_t *key;                /* which they are, in order */
    double *score, *size, *tiny; /* s_j, a_j and the factor of f: see bound.h */
    double shift;                /* alibi (anchor - position): see bound.h */
    enum check_row_kind kind;    /* never EMPTY here */
};

/* Room for nk keys. */
struct check_row check_row_create(int64_t nk);
void check_row_free(struct check_row *row);

/* Scores of the keys that row (b, h, i) sees. */
void check_row_score(const struct check_problem *p, int64_t b, int64_t h, int64_t i,
                     struct check_row *row);

#endif
