/* SPDX-License-Identifier: MIT */
/*
 * How experiments measure: small problems in double, one head, through
 * attend_forward(), and Monte Carlo over trials of them.
 */
#ifndef LAB_MEASURE_H
#define LAB_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "attend/stats.h"
#include "lab/experiment.h"
#include "lab/moments.h"

/* ---- one problem ------------------------------------------------------- */

/* Statistics of a row, by attend_stats. */
struct lab_spread {
    double first;                      /* weight of key 0 */
    double top_weight, entropy, n_eff; /* max p, H in nats, 1 / sum p^2 */
    double score_variance;             /* of the scores, every key alike */
};

/*
 * nb problems of nq queries over nk keys, tensors dense in the order b, row, column.
 * What is not wanted or not there is NULL; without `v`, dv counts as 0.
 */
struct lab_problem {
    int64_t nb, nq, nk, d, dv; /* nb, nq: 0 stands for 1 */
    const double *q, *k, *v;
    const double *bias; /* [nk], added to the scores of every row */
    const double *sink; /* one logit */
    double scale;
    double *out, *lse, *weights;
    struct lab_spread *spread; /* [nb][nq] */
    double *rest; /* [nq], for nb = 1: weight beyond the first `wanted` keys */
    int64_t wanted;
};

attend_status lab_forward(attend_context *ctx, const struct lab_problem *problem,
                          attend_error *err);

/*
 * The same after rounding q, k and v to `dtype`, results back in double; out is
 * rounded to `dtype`, weights are f32 as the engine gives them; nothing else is given.
 * nb is 1.
 */
attend_status lab_forward_as(attend_context *ctx, attend_dtype dtype,
                             const struct lab_problem *problem, attend_error *err);

/* A context with the run's threads; NULL after lab_fail(). */
attend_context *lab_context(struct lab_run *run);
/* lab_forward() for experiments: 0, or -1 after lab_fail(). */
int lab_measure(struct lab_run *run, attend_context *ctx,
                const struct lab_problem *problem);
/* One row whose scores are given: q = 1, k_i = scores[i]. */
int lab_measure_scores(struct lab_run *run, attend_context *ctx, int64_t n,
                       const double *scores, struct lab_spread *spread);

/* ---- Monte Carlo ------------------------------------------------------- */

/* What one thread owns. */
struct lab_worker {
    attend_context *ctx; /* of one thread */
    double *scratch;     /* as many numbers as the plan says */
    attend_error err;
};

/*
 * One trial, drawn from its number alone; `arg` is shared by the threads and only
 * read.  A value of NaN leaves the trial out of that number's moments.
 */
typedef attend_status (*lab_trial)(const void *arg, struct lab_worker *worker,
                                   uint64_t trial, double *values);

struct lab_trials {
    lab_trial trial;
    const void *arg;
    int64_t trials;
    int count;      /* of values, at most LAB_TRIAL_VALUES_MAX */
    size_t scratch; /* numbers per thread */
};

enum { LAB_TRIAL_VALUES_MAX = 32 };

/*
 * Moments of every value over the trials, on run->threads threads and the same for
 * any number of them; what was measured so far when the person has had enough.
 * 0, or -1 after lab_fail().
 */
int lab_measure_trials(struct lab_run *run, const struct lab_trials *plan,
                       struct lab_moments *moments);

#endif
