/* SPDX-License-Identifier: MIT */
/*
 * The effect of rounded keys on the output of a head: predicted to first order from
 * the weights, and measured by attend_forward() with exact and with rounded keys.
 *
 * Rounding changes entry c of key j by an error of variance u_jc, and the score of row i
 * by one of variance e_j^2 = scale^2 sum_c q_c^2 u_jc.  The first order of the output's
 * error is (T24) E|c' - c|^2 = sum_j p_j^2 e_j^2 |v_j - c|^2.  With the mean of u for
 * every entry that is ATTEND_STAT_KEY_NOISE times this mean, which needs no weights.
 */
#ifndef LAB_TRANSFER_H
#define LAB_TRANSFER_H

#include <stdint.h>

#include "attend/attend.h"
#include "lab/place/rounding.h"

/*
 * One head: tensors dense, row after row.  Scores are scale <q, k> alone: the rule has
 * no softcap, bias, ALiBi or sinks, and its views and lists are of one batch and head.
 */
struct lab_transfer_head {
    int64_t nq, nk, d, dv;
    const double *q, *k, *v;
    const attend_rule *rule;
};

/* Sums over rows that see a key and have a finite output. */
struct lab_transfer_sums {
    int64_t rows;
    double output;    /* |c|^2 */
    double measured;  /* |c' - c|^2 */
    double statistic; /* as ATTEND_STAT_KEY_NOISE has it */
    /* Of the rows looked at one by one: the same, T24, and the variance of the scores,
     * weighted by p, expected and measured. */
    int64_t delta_rows;
    double delta_output, delta_measured, delta;
    double score_variance, score_measured;
};

/* Numbers that the two functions below need of the caller. */
int64_t lab_transfer_scratch(const struct lab_transfer_head *head);
/* With exact keys; the second function reads its results in `scratch`. */
attend_status lab_transfer_exact(attend_context *ctx,
                                 const struct lab_transfer_head *head, double *scratch,
                                 attend_error *err);
/* With the keys rounded; `rows` of them are looked at one by one. */
attend_status lab_transfer_rounded(attend_context *ctx,
                                   const struct lab_transfer_head *head,
                                   enum lab_key_format format, int64_t rows,
                                   double *scratch, struct lab_transfer_sums *sums,
                                   attend_error *err);

#endif
