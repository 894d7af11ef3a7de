/* SPDX-License-Identifier: MIT */
/*
 * Two heads on keys of which some vary in length, compared with one head C (mu_a + mu_b)
 * on the same keys: what theory says of the quantities, and what the engine gives.
 */
#ifndef LAB_TWO_HEADS_H
#define LAB_TWO_HEADS_H

#include "lab/measure/session.h"
#include "lab/measure/moments.h"
#include "lab/setups/queries.h"
#include "lab/setups/scene.h"

struct lab_two_heads {
    double n, C, sigma2, alpha, tau;
    int64_t d;
    enum lab_noisy noisy; /* A, WANTED or ALL */
    struct lab_queries queries;
};

enum lab_two_heads_quantity {
    LAB_MEAN_W1,
    LAB_VAR_W1,
    LAB_HEAD1_LOSES,
    LAB_VAR_C1, /* E|c1 - E c1|^2 */
    LAB_VAR_C2,
    LAB_COV_C1_C2, /* E<c1 - E c1, c2 - E c2> */
    LAB_COEFF_A,
    LAB_COEFF_B,
    LAB_COEFF_VAR_ONE,
    LAB_COEFF_VAR_TWO,
    LAB_MSE_ONE,
    LAB_MSE_TWO,
    LAB_TWO_HEADS_QUANTITIES
};

/* Numbers by quantity; `se` is 0 in theory. */
struct lab_two_heads_numbers {
    struct lab_estimate of[LAB_TWO_HEADS_QUANTITIES];
};

/* The keys as theory has them; `positive`: given <mu_a, k_a> > 0. */
attend_theory_scene lab_two_heads_scene(const struct lab_two_heads *setup, int positive);

/* `positive`: given <mu_a, k_a> > 0.  NaN where no exact form is known. */
struct lab_two_heads_numbers lab_two_heads_theory(const struct lab_two_heads *setup,
                                                  int positive);

/* The scene that is measured: heads 0 and 1 are the two, head 2 is the single one. */
struct lab_scene lab_two_heads_drawn(const struct lab_two_heads *setup);

/*
 * measured[0] over all trials, measured[1] over those with <mu_a, k_a> > 0; NaN where
 * there was none.  `w1`: histogram of the weight of v_a in head 1, or NULL.
 */
int lab_two_heads_measure(struct lab_session *session, const struct lab_two_heads *setup,
                          uint64_t stream, int64_t trials,
                          struct lab_two_heads_numbers measured[2],
                          struct lab_histogram *w1);

/*
 * The C above which two heads have the smaller mse, found with the same keys at every
 * C; NaN where there is no such C up to 64.  0, or -1 after lab_fail().
 */
int lab_two_heads_crossover(struct lab_session *session,
                            const struct lab_two_heads *setup, uint64_t stream,
                            int64_t trials, double *C, double *se);

#endif
