/* SPDX-License-Identifier: MIT */
/*
 * A value extracted from an average: values in R^d of which v_a = A x and v_b = B y, all
 * unit vectors, the others of random direction, and matrices M with 2 M c = v_a.
 */
#ifndef LAB_EXTRACTED_H
#define LAB_EXTRACTED_H

#include "lab/measure/session.h"

/* Ways to build M from a basis of A; the last three from one that is not orthonormal. */
enum lab_extraction_method {
    LAB_TRANSPOSE,
    LAB_PRODUCT,
    LAB_SKEWED_PRODUCT,
    LAB_PROJECTOR,
    LAB_OBLIQUE,
    LAB_EXTRACTION_METHODS
};

/*
 * `a` and `b` have orthonormal columns, `skewed` spans what `a` spans with columns that
 * are neither orthogonal nor of norm 1.
 */
struct lab_extraction {
    int64_t d, m, p, n;     /* dimensions of all, of A and of B; values */
    double angle, beta;     /* between A and B in degrees; q = beta (k_a + k_b) */
    int clear;              /* 1: the other values have no part in A */
    double *a, *b, *skewed; /* [d][m], [d][p], [d][m] */
    double *value;          /* [n][d] */
    double *matrix;         /* [d][d] */
    double *ideal, *found;  /* [d]: c as the theory of averages and the engine have it */
    double shared;          /* norm of the part of y that B has in common with A */
    double *key;            /* [n + 1][n]: the keys and the query */
};

/* cos of an angle in degrees, 0 at 90. */
double lab_cosine(double degrees);
/* Numbers that lab_extraction_open() needs in `scratch`, all 0. */
int64_t lab_extraction_scratch(const struct lab_extraction *e);
/* Draws the values, and their average.  0, or -1 after lab_fail(). */
int lab_extraction_open(struct lab_session *session, attend_context *ctx, double *scratch,
                        struct lab_extraction *e);
/* |2 M c - v_a|, of both averages.  0, or -1 after lab_fail(). */
int lab_extraction_measure(struct lab_session *session, struct lab_extraction *e,
                           enum lab_extraction_method method, double *theory,
                           double *measured);

#endif
