/* SPDX-License-Identifier: MIT */
/*
 * Keys without noise: n keys of which the first m are wanted, orthonormal values, and
 * queries that are combinations of the wanted keys.
 */
#ifndef LAB_KEYS_H
#define LAB_KEYS_H

#include <stdint.h>

#include "lab/measure/session.h"

/*
 * The first m keys are orthonormal.  The others have norm `rival_norm` and the cosine
 * `rival_cosine` with the first key, and are otherwise orthogonal to the wanted ones:
 * orthonormal like them by default (norm 1, cosine 0).
 *
 * Up to LAB_FRAME_MAX entries of K, keys and values are orthonormal frames of random
 * direction in d dimensions.  Beyond, or when `plain` is set, the wanted keys are axes
 * and the others share one direction of their own, since only scores count, and the
 * coefficients of the values are the weights.
 */
struct lab_keys {
    struct lab_session *session;
    attend_context *ctx;
    int64_t n, m, d; /* d of the representation */
    double *key;     /* [n][d]; owns the others too */
    double *value;   /* [n][d], or NULL: coefficients are weights */
    double *query;   /* [d] */
    /* After lab_keys_attend(): */
    double first, leak; /* weight of the first key, and of all that are not wanted */
    double *weights;    /* [n], when there are no values */
    double *out;        /* [d], when there are */
};

enum { LAB_FRAME_MAX = 1 << 14 };

struct lab_keys_shape {
    int64_t n, m, d; /* d >= n */
    double rival_norm, rival_cosine;
    int plain;
};

/* 0, or -1 after lab_fail() with nothing to free. */
int lab_keys_open(struct lab_session *session, attend_context *ctx,
                  const struct lab_keys_shape *shape, struct lab_keys *keys);
void lab_keys_close(struct lab_keys *keys);

/*
 * q = sum_{i < m} (beta + offset[i]) k_i, offsets of NULL are 0; scores tau <q, k_i>.  0,
 * or -1 after lab_fail().  A dtype other than f64 takes `plain` keys, whose entries are
 * exact in any type, and gives no leak.
 */
int lab_keys_attend(struct lab_keys *keys, attend_dtype dtype, double beta,
                    const double *offset, double tau);
/* The beta at which the leak has this size, found on the engine. */
int lab_keys_find_beta(struct lab_keys *keys, const double *offset, double tau,
                       double leak, double *beta);
/*
 * The leak of n random unit keys in 2 n dimensions, independent but far from orthogonal:
 * q = pinv(K) s gives them the scores of orthonormal ones, and so the same leak.
 * `scratch` has 2 n^2 + 3 n numbers.
 */
int lab_keys_pinv_leak(struct lab_session *session, attend_context *ctx, int64_t n,
                       int64_t m, double beta, const double *offset, double tau,
                       double *scratch, double *leak);

/* |c - sum_{i < m} target[i] v_i| of the last lab_keys_attend(). */
double lab_keys_error(const struct lab_keys *keys, const double *target);

/*
 * One row of n keys in a narrow type: the wanted one leads by a gap, which is made by the
 * scale, since no type rounds that.  The value is 1 for it and 0 for the others, so that
 * the output is the coefficient of v_j.
 */
struct lab_narrow_row {
    struct lab_session *session;
    attend_context *ctx;
    int64_t n, wanted;
    attend_dtype dtype;
    double *key, *weights; /* [n], the caller's */
    double out;
};

enum lab_narrow_step { LAB_WEIGHT_IS_ONE, LAB_OUTPUT_IS_ONE, LAB_OTHERS_ARE_ZERO };

/* Both: 0, or -1 after lab_fail(). */
int lab_narrow_attend(struct lab_narrow_row *row, double gap);
/* The largest gap at which the step is not taken yet, by bisection. */
int lab_narrow_find(struct lab_narrow_row *row, enum lab_narrow_step step, double *gap);

#endif
