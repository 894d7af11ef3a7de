/* SPDX-License-Identifier: MIT */
/*
 * A layer on tokens and on the same tokens permuted: how far its results are from the
 * permuted ones.
 */
#ifndef LAB_PERMUTED_H
#define LAB_PERMUTED_H

#include "lab/setups/tokens.h"

struct lab_permuted {
    struct lab_session *session;
    attend_context *ctx;
    struct lab_tokens tokens;
    int64_t *order, *feature_order; /* of T tokens, of d features */
    double *moved, *expect;         /* (T, d) */
    struct lab_layer_out out[2];    /* of X, of X with tokens moved */
    unsigned char *moved_mask;      /* (T, T) */
    double *memory;
};

/* Tokens have their sizes and dtype.  0, or -1 after lab_fail(); closed in any case. */
int lab_permuted_open(struct lab_session *session, attend_context *ctx,
                      struct lab_tokens tokens, struct lab_permuted *p);
void lab_permuted_close(struct lab_permuted *p);

/* Largest differences after moving the tokens, and what rounding allows of them. */
struct lab_moved {
    double h, scores, weights, z;
    double same_bits;          /* share of rows of h that are equal bit for bit */
    double allowed, allowed_z; /* of z, and of the others */
};
/* `open` is the rule without its mask: scores are before the mask. */
int lab_permuted_tokens(struct lab_permuted *p, const attend_rule *rule,
                        const attend_rule *open, struct lab_moved *moved);
/*
 * The mask moves with the tokens, M -> P M P^T, as an explicit one: causal (width -1), or
 * a window of `width` tokens on either side.  After lab_permuted_tokens().
 */
int lab_permuted_mask(struct lab_permuted *p, attend_rule rule, int64_t width, double *h);
/* Columns of X are moved, weights are not.  After lab_permuted_tokens(). */
int lab_permuted_features(struct lab_permuted *p, const attend_rule *rule, double *h);

#endif
