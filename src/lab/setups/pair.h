/* SPDX-License-Identifier: MIT */
/*
 * The exercise without isotropic noise, in double and through attend_forward(): keys
 * gamma mu_a, mu_b and n - 2 others, which have equal scores and stand as one key with
 * a bias of ln(n - 2).  Only gamma is random, so that expectations can be summed over
 * it instead of sampled: the engine's answer to a formula, without chance.
 */
#ifndef LAB_PAIR_H
#define LAB_PAIR_H

#include "attend/theory.h"
#include "lab/measure/session.h"

/*
 * weights[(t * count + h) * 3 + kind]: of a, b and all the others together, for
 * gamma[t], t < trials, and query h < count.  n >= 2.  0, or -1 after lab_fail().
 */
int lab_pair_attend(struct lab_session *session, attend_context *ctx, double n,
                    double tau, const attend_theory_query *queries, int count,
                    const double *gamma, int64_t trials, double *weights);

/* E|c - (v_a + v_b)/2|^2 of one head C (mu_a + mu_b) and of two, C mu_a and C mu_b. */
struct lab_pair_mse {
    double one, two;
};

int lab_pair_measure_mse(struct lab_session *session, attend_context *ctx, double n,
                         double C, double sigma2, struct lab_pair_mse *mse);

#endif
