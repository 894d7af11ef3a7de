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
 * Keys [rows][3] of a pair: k_a = gamma_a mu_a, k_b = gamma_b mu_b, and mu of the others,
 * all alike.  Columns: along mu_a, along the part of mu_b that is orthogonal to it, along
 * the others.  `overlap` is <mu_a, mu_b>.
 */
void lab_pair_set_keys(double *key, int64_t rows, double gamma_a, double gamma_b,
                       double overlap);
/* q = a mu_a + b mu_b + rest of the others' direction, in the same columns. */
void lab_pair_set_query(double *q, double a, double b, double rest, double overlap);

/* The exercise's pair, and the engine that computes it. */
struct lab_exact_pair {
    struct lab_session *session;
    attend_context *ctx;
    double n, sigma2;
};

/* E|c - (v_a + v_b)/2|^2 of one head C (mu_a + mu_b) and of two, C mu_a and C mu_b. */
struct lab_pair_mse {
    double one, two;
};

int lab_pair_measure_mse(const struct lab_exact_pair *pair, double C,
                         struct lab_pair_mse *mse);
/*
 * The scale C that is best for one head, and the one above which two heads have the
 * smaller error, found on the engine to about LAB_SCALE_ERROR; NaN: there is none up
 * to 100.
 */
#define LAB_SCALE_ERROR 1e-6
int lab_pair_best_scale(const struct lab_exact_pair *pair, double *C);
int lab_pair_crossover(const struct lab_exact_pair *pair, double *C);

#endif
