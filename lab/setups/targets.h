/* SPDX-License-Identifier: MIT */
/* n random unit keys in d dimensions, the first m of them targets. */
#ifndef LAB_TARGETS_H
#define LAB_TARGETS_H

#include "lab/measure/moments.h"
#include "lab/measure/session.h"

enum { LAB_TARGETS_MAX = 64 };

struct lab_targets {
    int64_t n, d, m;
    double beta;
};

/*
 * Values of a trial.  First the targets are orthonormal and the query is their sum, then
 * they are random; NaN where there is no other key, or random targets are dependent.
 */
enum {
    LAB_SUCCESS,       /* 1: every target has more weight than any other key */
    LAB_BEATEN,        /* share of the other keys with more weight than a target */
    LAB_NAIVE_SUCCESS, /* of random targets, by their sum, and by pinv(K) 1 */
    LAB_PINV_SUCCESS,
    LAB_HEADS_SUCCESS, /* the same with one head for each target */
    LAB_SPREAD,        /* mean square of the targets' scores about 1, in beta */
    LAB_PINV_SPREAD,   /* the largest distance from 1 by pinv */
    LAB_TARGET_VALUES
};
int lab_targets_measure(struct lab_session *session, const struct lab_targets *targets,
                        uint64_t stream, int64_t trials, struct lab_moments *moments);

#endif
