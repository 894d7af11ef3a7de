/* SPDX-License-Identifier: MIT */
/*
 * libattend_layer: self-attention with projections, feed-forward, and position encodings,
 * on attend_forward() and a CBLAS.
 *
 * Tokens are rows; matrices are contiguous, row-major and on the right:
 *
 *     Q = X W_Q + b_Q,  K = X W_K + b_K,  V = X W_V + b_V
 *     H = attention of the heads of Q, K and V, side by side
 *     out = H W_O + b_O
 *
 * Head h has the columns h d .. h d + d - 1 of Q and H, and its key/value head h / (hq /
 * hkv) those of K and V.  The CBLAS library computes the projections, whose last bits may
 * depend on its number of threads and on the number of rows; the attention between them
 * has the guarantees of attend_forward().
 *
 * Structs grow at their end, like those of attend.h: a larger one is accepted if the
 * bytes unknown to this library are 0, else EUNSUPPORTED.
 */
#ifndef ATTEND_LAYER_H
#define ATTEND_LAYER_H

#include <stddef.h>
#include <stdint.h>

#include "attend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The columns of a head that rotate together, by the angle position * base^(-2 i / d). */
typedef enum attend_layer_rotary {
    ATTEND_LAYER_ROTARY_NONE = 0,
    ATTEND_LAYER_ROTARY_PAIRS = 1, /* columns 2 i and 2 i + 1 */
    ATTEND_LAYER_ROTARY_HALVES = 2 /* columns i and i + d / 2 */
} attend_layer_rotary;

/* Base of the frequencies of sinusoids and rotary positions. */
#define ATTEND_LAYER_BASE 10000.0

/*
 * Start from attend_layer_self_default().  Arrays belong to the caller and have one
 * dtype.
 */
typedef struct attend_layer_self {
    size_t struct_size;
    attend_dtype dtype;  /* ATTEND_F64 or ATTEND_F32 */
    int64_t nb, t, e;    /* batches, tokens of each, columns of x */
    int64_t hq, hkv, d;  /* heads of Q, heads of K and V, columns of a head */
    const void *x;       /* (nb, t, e) */
    const void *wq, *bq; /* (e, hq d), (hq d); bias NULL: none */
    const void *wk, *bk; /* (e, hkv d), (hkv d) */
    const void *wv, *bv; /* (e, hkv d), (hkv d) */
    const void *wo, *bo; /* (hq d, e), (e); wo NULL: out = H, and bo must be NULL */
    attend_layer_rotary rotary; /* rotation of Q and K; d is even unless NONE */
    double rotary_base;         /* > 1, finite */
    const int64_t *positions;   /* [t], for rotary; NULL: 0 .. t-1 */
    void *out;                  /* (nb, t, e), or (nb, t, hq d) without wo */
    void *lse;                  /* (nb, hq, t); NULL: not requested */
    void *weights;              /* (nb, hq, t, t); NULL: not requested */
    int force_weights;          /* as in attend_io */
    /* At least attend_layer_self_workspace() bytes, aligned to an element; NULL:
     * malloc().
     */
    void *workspace;
    size_t workspace_size;
} attend_layer_self;

static inline attend_layer_self attend_layer_self_default(void)
{
    attend_layer_self self;

    self.struct_size = sizeof self;
    self.dtype = ATTEND_F64;
    self.nb = 1;
    self.t = self.e = self.hq = self.hkv = self.d = 0;
    self.x = NULL;
    self.wq = self.wk = self.wv = self.wo = NULL;
    self.bq = self.bk = self.bv = self.bo = NULL;
    self.rotary = ATTEND_LAYER_ROTARY_NONE;
    self.rotary_base = ATTEND_LAYER_BASE;
    self.positions = NULL;
    self.out = self.lse = self.weights = NULL;
    self.force_weights = 0;
    self.workspace = NULL;
    self.workspace_size = 0;
    return self;
}

/* Writes the bytes of workspace of a call with these sizes to *size. */
ATTEND_API attend_status attend_layer_self_workspace(const attend_layer_self *self,
                                                     size_t *size, attend_error *err);

/*
 * Multi-head self-attention.  `rule` is that of attend_forward() with nq = nk = t; NULL:
 * scale 1/sqrt(d), every key visible.  Outputs must not overlap other arrays.  ENOMEM if
 * malloc() fails, EUNSUPPORTED if nb t or a width exceeds CBLAS's int.  On failure no
 * output element has been written.  `ctx` as in attend_forward().
 */
ATTEND_API attend_status attend_layer_self_attention(attend_context *ctx,
                                                     const attend_rule *rule,
                                                     const attend_layer_self *self,
                                                     attend_error *err);

/*
 * Z = ReLU(X W_1 + b_1) W_2 + b_2, row by row.  Start from attend_layer_feed_default().
 * ReLU of NaN is NaN.
 */
typedef struct attend_layer_feed {
    size_t struct_size;
    attend_dtype dtype;    /* ATTEND_F64 or ATTEND_F32, of every array */
    int64_t rows, e, f;    /* rows of x and out, columns of both, hidden columns */
    const void *x;         /* (rows, e) */
    const void *w1, *b1;   /* (e, f), (f); bias NULL: none */
    const void *w2, *b2;   /* (f, e), (e) */
    void *out;             /* (rows, e) */
    void *workspace;       /* rows f elements; NULL: malloc() */
    size_t workspace_size; /* bytes */
} attend_layer_feed;

static inline attend_layer_feed attend_layer_feed_default(void)
{
    attend_layer_feed feed;

    feed.struct_size = sizeof feed;
    feed.dtype = ATTEND_F64;
    feed.rows = feed.e = feed.f = 0;
    feed.x = feed.w1 = feed.b1 = feed.w2 = feed.b2 = NULL;
    feed.out = NULL;
    feed.workspace = NULL;
    feed.workspace_size = 0;
    return feed;
}

/* Fails as attend_layer_self_attention() does. */
ATTEND_API attend_status attend_layer_feed_forward(const attend_layer_feed *feed,
                                                   attend_error *err);

/*
 * A layer: self-attention to self->out, then feed-forward to feed->out. feed->x must be
 * self->out, with its sizes.  If memory for the feed-forward is exhausted, self->out has
 * been written.
 */
ATTEND_API attend_status attend_layer_forward(attend_context *ctx,
                                              const attend_rule *rule,
                                              const attend_layer_self *self,
                                              const attend_layer_feed *feed,
                                              attend_error *err);

/* ---- positions --------------------------------------------------------- */

/*
 * Sinusoids phi (t, d), contiguous, with w_i = base^(-2 i / d):
 *
 *     phi[row][2 i]     = sin(w_i positions[row])
 *     phi[row][2 i + 1] = cos(w_i positions[row])
 *
 * computed in double and rounded to dtype, which is f64 or f32.  d is even, base > 1;
 * positions NULL: 0 .. t-1.
 */
ATTEND_API attend_status attend_layer_sinusoids(attend_dtype dtype, int64_t t, int64_t d,
                                                double base, const int64_t *positions,
                                                void *phi, attend_error *err);

/*
 * Rotates every row l of x (nb, h, t, d), f64 or f32, in place: the pair (y, z) of
 * columns that `rotary` names becomes (y cos a - z sin a, y sin a + z cos a) with a =
 * positions[l] base^(-2 i / d).  Scores of rotated rows depend on differences of
 * positions only. positions NULL: 0 .. t-1.
 */
ATTEND_API attend_status attend_layer_rotate(attend_layer_rotary rotary, double base,
                                             const int64_t *positions,
                                             const attend_tensor *x, attend_error *err);

#ifdef __cplusplus
}
#endif

#endif
