/* SPDX-License-Identifier: MIT */
/* One head of a design: its query, its noise-free scores, and what noise does to it. */
#ifndef LAB_DESIGN_HEAD_H
#define LAB_DESIGN_HEAD_H

#include "lab/design/design.h"

/*
 * The lower Cholesky factor of K K^T, [n][n], to be freed; NULL when keys are dependent,
 * more than can be inverted in a second or two, or memory is short.
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

/* Whether key i is an item of this head. */
int lab_design_is_own(const struct lab_design_request *request,
                      const struct lab_design_head *head, int64_t i);

/* Whether key i has magnitude noise. */
int lab_design_is_noisy(const struct lab_design_request *request, int64_t i);

/* Standard deviation of key i's score. */
double lab_design_score_sd(const struct lab_design_request *request,
                           const struct lab_design_head *head, int64_t i);

/* mean[i] and variance[i] of the weight of every key.  0, or -1 when memory is short. */
int lab_design_moments(const struct lab_design_request *request,
                       const struct lab_design_head *head, double *mean,
                       double *variance);

/* P(some other key outweighs one of the head's items). */
double lab_design_flip(const struct lab_design_request *request,
                       const struct lab_design_head *head);

/* Factor by which two items of a head drift apart when it counts as lopsided. */
#define LAB_DESIGN_DRIFT 9.0
/* P(the weights of two items of the head drift apart by more than that). */
double lab_design_lopsided(const struct lab_design_request *request,
                           const struct lab_design_head *head);

/* Which of the request's items key i is; -1: none. */
int lab_design_item_of(const struct lab_design_request *request, int64_t i);

#endif
