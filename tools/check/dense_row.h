/* SPDX-License-Identifier: MIT */
/* One row in double: scores, weights, output, and the quantities of the bound. */
#ifndef CHECK_DENSE_ROW_H
#define CHECK_DENSE_ROW_H

#include "check/check_problem.h"

/* How a row is checked. */
enum check_row_kind {
    CHECK_ROW_ORDINARY,
    CHECK_ROW_EMPTY,
    CHECK_ROW_POISONED, /* a score of +inf or NaN */
    CHECK_ROW_OUTSIDE   /* outside the domain of the bound */
};

struct check_row {
    int64_t n;                   /* keys that the row sees, scores of -inf included */
    int64_t *key;                /* their indices, in order */
    double *score, *size, *tiny; /* s_j, a_j and the factor of f: see bound.h */
    double *p;                   /* weights, by check_row_weigh() */
    double shift;                /* alibi (anchor - position): see bound.h */
    double m, log_sum, lse;      /* by check_row_weigh(); lse = m + log_sum */
    enum check_row_kind kind;    /* EMPTY by check_row_weigh() */
};

/* Allocates a row of nk keys. */
struct check_row check_row_create(int64_t nk);
void check_row_free(struct check_row *row);

/* Scores of the keys that row (b, h, i) sees. */
void check_row_score(const struct check_problem *p, int64_t b, int64_t h, int64_t i,
                     struct check_row *row);
/*
 * Softmax of the scores and a sink (-inf: none).  All is NaN after a score of NaN or
 * +inf; a row without a finite score is EMPTY, its lse -inf and its weights 0.
 */
void check_row_weigh(struct check_row *row, double sink);
/* sum p v, sum p |v|, sum |v| and max |v| over the keys, per column of v [nk][dv]. */
void check_row_join(const struct check_row *row, const double *v, int64_t dv, double *out,
                    double *mean, double *sum, double *largest);

#endif
