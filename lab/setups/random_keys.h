/* SPDX-License-Identifier: MIT */
/* Random keys: targets among them, heads that share their dimensions, rows of logits. */
#ifndef LAB_RANDOM_KEYS_H
#define LAB_RANDOM_KEYS_H

#include "lab/measure/forward.h"
#include "lab/measure/moments.h"
#include "lab/measure/session.h"
#include "lab/measure/trials.h"

/* ---- targets ------------------------------------------------------------------- */

/* n random unit keys in d dimensions, the first m of them targets. */
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

/*
 * The share of random unit keys in d dimensions with a weight above that of m orthonormal
 * targets, whose sum is the query.
 */
int lab_rivals_measure(struct lab_session *session, int64_t m, int64_t d, uint64_t stream,
                       int64_t trials, struct lab_moments *share);

/* ---- heads --------------------------------------------------------------------- */

/*
 * Heads that share d dimensions.  The n keys of each are random unit vectors in d/h of
 * them, drawn anew, with lengths 1 + sqrt(sigma2) N(0, 1); its query is C times the sum
 * of its targets.  There is no formula for the error.
 */
enum { LAB_SCALES_MAX = 16 };
/* Entries of the keys of one trial. */
enum { LAB_RANDOM_ENTRIES_MAX = 1 << 20 };

struct lab_random_heads {
    int64_t n, m, h, d;
    int copies;      /* 1: every head has all m targets; 0: m/h of them */
    int independent; /* 1: every head has keys of lengths of its own */
    double sigma2;
    int scales; /* measured on the same keys */
    double scale[LAB_SCALES_MAX];
};

/* moments[scale] of |c - mean of the m wanted values|^2.  0, or -1 after lab_fail(). */
int lab_random_heads_measure(struct lab_session *session,
                             const struct lab_random_heads *heads, uint64_t stream,
                             int64_t trials, struct lab_moments *moments);

/* ---- logits -------------------------------------------------------------------- */

/* Rows of n independent logits N(0, spread^2): products of q and k with d columns. */
struct lab_logits {
    int64_t n, d; /* q has entries +1 and -1, k normal ones */
    double spread;
};

/* Numbers of scratch for a row. */
int64_t lab_logits_scratch(const struct lab_logits *logits);
/* Row `trial`, and the norm r of its logits less their mean. */
attend_status lab_logits_row(const struct lab_logits *logits, struct lab_worker *worker,
                             uint64_t trial, struct lab_row_stats *stats, double *r);

/* Values of a trial: entropy, sum p^2, and by how much the entropy is below its floor. */
enum {
    LAB_LOGITS_ENTROPY,
    LAB_LOGITS_SQUARES,
    LAB_LOGITS_BELOW_FLOOR,
    LAB_LOGITS_VALUES
};
int lab_logits_measure(struct lab_session *session, const struct lab_logits *logits,
                       uint64_t stream, int64_t trials, struct lab_moments *moments);

#endif
