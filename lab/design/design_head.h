/* SPDX-License-Identifier: MIT */
/* One head of a design: its query, its noise-free scores, and the effect of noise. */
#ifndef LAB_DESIGN_HEAD_H
#define LAB_DESIGN_HEAD_H

#include "lab/design/design.h"
#include "lab/measure/moments.h"

/*
 * The lower Cholesky factor of K K^T, [n][n], to be freed; NULL when keys are dependent,
 * more than can be inverted in a second or two, or out of memory.
 */
double *lab_design_factor(const struct lab_design_request *request);

struct lab_design_head {
    int first, count; /* of the request's items */
    double beta, leak;
    double *query; /* [d]; with `score` freed by lab_design_head_close() */
    double *score; /* [n], tau <q, mu_i>, in closed form where there is one */
    const char *method;
};

/*
 * Items first .. first + count - 1 of the request.  With a factor every key's score is
 * prescribed, without only the items'.  After a failure nothing is open.
 */
attend_status lab_design_head_open(const struct lab_design_request *request,
                                   const double *factor, int first, int count,
                                   struct lab_design_head *head, attend_error *err);
void lab_design_head_close(struct lab_design_head *head);

/* Nonzero if key i is an item of this head. */
int lab_design_is_own(const struct lab_design_request *request,
                      const struct lab_design_head *head, int64_t i);

/* Nonzero if key i has magnitude noise. */
int lab_design_is_noisy(const struct lab_design_request *request, int64_t i);

/* Standard deviation of key i's score. */
double lab_design_score_sd(const struct lab_design_request *request,
                           const struct lab_design_head *head, int64_t i);

/* mean[i] and variance[i] of the weight of every key.  0, or -1 when out of memory. */
int lab_design_moments(const struct lab_design_request *request,
                       const struct lab_design_head *head, double *mean,
                       double *variance);

/* P(some other key has more weight than one of the head's items). */
double lab_design_flip(const struct lab_design_request *request,
                       const struct lab_design_head *head);

/* Factor by which two items of a head drift apart when it counts as lopsided. */
#define LAB_DESIGN_DRIFT 9.0
/* P(the weights of two items of the head drift apart by more than that). */
double lab_design_lopsided(const struct lab_design_request *request,
                           const struct lab_design_head *head);

/* Index of key i among the request's items; -1: it is none of them. */
int lab_design_item_of(const struct lab_design_request *request, int64_t i);

/* ---- a design on the engine: once without noise, and many times with it --------- */

/*
 * The coefficient of every value in the mean of the heads' outputs, without noise, and
 * the largest weight outside its own items that any head has.
 */
attend_status lab_design_measure(const struct lab_design_request *request,
                                 const struct lab_design *design, double *coefficient,
                                 double *leak, attend_error *err);

/* Monte Carlo of request->trials trials, or of those before the session was stopped. */
struct lab_design_noise {
    int64_t done;             /* trials, fewer than asked for after a stop */
    struct lab_estimate leak; /* weight outside all items */
    struct lab_estimate mse;
    struct lab_estimate flip, lopsided; /* probabilities that some head does so */
    struct lab_estimate weight[LAB_DESIGN_ITEMS_MAX];
    struct lab_estimate variance[LAB_DESIGN_ITEMS_MAX];
};

attend_status lab_design_measure_noise(const struct lab_design_request *request,
                                       const struct lab_design *design,
                                       const struct lab_design_head *heads,
                                       struct lab_design_noise *noise, attend_error *err);

#endif
