/* SPDX-License-Identifier: MIT */
/* Small problems in double, one head, through attend_forward(). */
#ifndef LAB_FORWARD_H
#define LAB_FORWARD_H

#include <stddef.h>
#include <stdint.h>

#include "attend/stats.h"
#include "lab/measure/session.h"

/* Statistics of a row, by attend_stats. */
struct lab_row_stats {
    double first;                      /* weight of key 0 */
    double top_weight, entropy, n_eff; /* max p, H in nats, 1 / sum p^2 */
    double score_variance;             /* of the scores, every key alike */
};

/*
 * nb problems of nq queries over nk keys, tensors dense in the order b, row, column.
 * Absent inputs and outputs are NULL; without `v`, dv counts as 0.
 */
struct lab_problem {
    int64_t nb, nq, nk, d, dv; /* nb, nq: 0 stands for 1 */
    const double *q, *k, *v;
    const double *bias; /* [nk], added to the scores of every row */
    const double *sink; /* one logit */
    double scale;
    double *out, *lse, *weights;
    struct lab_row_stats *stats; /* [nb][nq] */
    double *rest; /* [nq], for nb = 1: weight beyond the first `wanted` keys */
    int64_t wanted;
};
/* n keys of d columns, queries, the factor of the scores, and further fields by name. */
#define LAB_PROBLEM(n, columns, queries, keys, factor, ...)                              \
    ((struct lab_problem){                                                               \
        .nk = n, .d = columns, .q = queries, .k = keys, .scale = factor, __VA_ARGS__})

attend_status lab_forward(attend_context *ctx, const struct lab_problem *problem,
                          attend_error *err);

/*
 * The same after rounding q, k and v to `dtype`, results back in double; out is
 * rounded to `dtype`, weights are f32 as the engine gives them; nothing else is given.
 * nb is 1.
 */
attend_status lab_forward_as(attend_context *ctx, attend_dtype dtype,
                             const struct lab_problem *problem, attend_error *err);

/* `count` numbers rounded to f64, f32 or bf16, and back to double, unless `to` is NULL.
 */
void lab_narrow(attend_dtype dtype, const double *from, void *to, int64_t count);
void lab_widen(attend_dtype dtype, const void *from, double *to, int64_t count);

/* lab_forward_as() and lab_forward() in a session: 0, or -1 after lab_fail(). */
int lab_measure_as(struct lab_session *session, attend_context *ctx, attend_dtype dtype,
                   const struct lab_problem *problem);
int lab_measure(struct lab_session *session, attend_context *ctx,
                const struct lab_problem *problem);
/* One row whose scores are given: q = 1, k_i = scores[i]. */
int lab_measure_scores(struct lab_session *session, attend_context *ctx, int64_t n,
                       const double *scores, struct lab_row_stats *stats);

#endif
