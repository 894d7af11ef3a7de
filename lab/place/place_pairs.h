/* SPDX-License-Identifier: MIT */
/*
 * The two keys of largest weight of a row, under noise in their lengths: how often they
 * change places, and how often one of them holds more than nine tenths of what both have.
 *
 * Theory is exact (T12): the share of the first key is logistic(Y), Y ~ N(s_1 - s_2,
 * T^2), T = noise sqrt(s_1^2 + s_2^2).  Measured: the keys are multiplied by 1 + noise x
 * and given to attend_forward().
 */
#ifndef LAB_PLACE_PAIRS_H
#define LAB_PLACE_PAIRS_H

#include <stdint.h>

#include "lab/measure/moments.h"
#include "lab/measure/session.h"

struct lab_pairs {
    int64_t count, d;
    const double *q; /* [count][d] */
    const double *k; /* [count][2][d] */
    double scale, noise;
    int64_t trials;
    uint64_t stream;
};

struct lab_pair {
    double margin, score_noise; /* s_1 - s_2 and T */
    double swap_theory, outside_theory;
    struct lab_moments swap, outside; /* of 0s and 1s */
};

/*
 * Fills pairs->count of them.  0, or -1 after lab_fail(); a cancelled session leaves
 * fewer trials.
 */
int lab_pairs_measure(struct lab_session *session, const struct lab_pairs *pairs,
                      struct lab_pair *to);

#endif
