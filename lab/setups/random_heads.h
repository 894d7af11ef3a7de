/* SPDX-License-Identifier: MIT */
/*
 * Heads that share d dimensions.  Each sees n keys as random unit vectors in d/h of them,
 * drawn for itself, with lengths 1 + sqrt(sigma2) N(0, 1); its query is C times the sum
 * of its targets.  There is no formula for the error.
 */
#ifndef LAB_RANDOM_HEADS_H
#define LAB_RANDOM_HEADS_H

#include "lab/measure/moments.h"
#include "lab/measure/session.h"

enum { LAB_SCALES_MAX = 16 };
/* Entries of the keys of one trial. */
enum { LAB_RANDOM_ENTRIES_MAX = 1 << 20 };

struct lab_random_heads {
    int64_t n, m, h, d;
    int copies;      /* 1: every head asks for all m targets; 0: for m/h of them */
    int independent; /* 1: every head sees lengths of its own */
    double sigma2;
    int scales; /* measured on the same keys */
    double scale[LAB_SCALES_MAX];
};

/* moments[scale] of |c - mean of the m wanted values|^2.  0, or -1 after lab_fail(). */
int lab_random_heads_measure(struct lab_session *session,
                             const struct lab_random_heads *heads, uint64_t stream,
                             int64_t trials, struct lab_moments *moments);
/*
 * The share of random unit keys in d dimensions with a weight above that of m orthonormal
 * targets, whose sum is the query.
 */
int lab_rivals_measure(struct lab_session *session, int64_t m, int64_t d, uint64_t stream,
                       int64_t trials, struct lab_moments *share);

#endif
