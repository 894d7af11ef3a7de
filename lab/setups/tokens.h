/* SPDX-License-Identifier: MIT */
/*
 * Random tokens and a layer with random weights, for experiments on the order of
 * tokens.  Every number is one of float, so that a layer in f32 and in f64 is the same.
 */
#ifndef LAB_TOKENS_H
#define LAB_TOKENS_H

#include "attend/layer.h"
#include "lab/measure/session.h"

/* X (t, d) of unit normals; W_Q, W_K, W_V (d, d), the feed-forward (d, f), (f, d). */
struct lab_tokens {
    int64_t t, d, heads, f; /* heads divide d; f = 2 d */
    attend_dtype dtype;     /* f64 or f32: the layer's arithmetic */
    double *x, *wq, *wk, *wv, *w1, *b1, *w2, *b2;
    double *memory;
};

/* Drawn from the run's seed; entries of weights have variance 1/d.  0, or -1. */
int lab_tokens_open(struct lab_session *session, struct lab_tokens *tokens);
void lab_tokens_close(struct lab_tokens *tokens);

/* Outputs of a layer; arrays are the caller's, NULL for none. */
struct lab_layer_out {
    double *h;       /* (t, d): attention, heads side by side */
    double *z;       /* (t, d): ReLU(H W_1 + b_1) W_2 + b_2 */
    double *scores;  /* (heads, t, t): ln weight + lse; NaN where that is lost */
    double *weights; /* (heads, t, t) */
};

/* The layer on `x` (t, d), whose entries are rounded to the dtype.  0, or -1. */
int lab_tokens_layer(struct lab_session *session, attend_context *ctx,
                     const struct lab_tokens *tokens, const attend_rule *rule,
                     attend_layer_rotary rotary, const int64_t *positions,
                     const double *x, const struct lab_layer_out *out);

/* A permutation of 0 .. t-1 drawn from the seed: any but the identity, equally likely. */
void lab_tokens_order(uint64_t seed, int64_t t, int64_t *order);

/* max|a - b| over `count` numbers; NaN if one of them is. */
double lab_most_apart(const double *a, const double *b, int64_t count);

#endif
