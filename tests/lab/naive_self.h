/* SPDX-License-Identifier: MIT */
/*
 * Self-attention by its definition, in double, with an error bound on every element:
 * rounding of the projections, carried through the scores, and the stated accuracy of the
 * engine, 2e-6 max|V| in f32 and 1e-12 max|V| in f64.
 */
#ifndef TESTS_NAIVE_SELF_H
#define TESTS_NAIVE_SELF_H

#include "attend/layer.h"
#include "support/tensors.h"

struct layer_shape {
    int64_t nb, t, e, hq, hkv, d;
    attend_causal causal;
    int64_t left, right; /* window, -1: open */
    attend_layer_rotary rotary;
    int biases, unscaled, no_wo;
};

/* Everything in double; `data` holds the same numbers in the dtype of a call. */
struct array {
    int64_t count;
    double *value;
    void *data;
};

enum { X, WQ, WK, WV, WO, BQ, BK, BV, BO, ARRAYS };

struct layer {
    struct layer_shape s;
    attend_dtype dtype;
    double scale;
    int64_t width; /* of a row of the output */
    struct array in[ARRAYS];
    double *out, *bound, *lse, *weights;
};

/* What layer_attend() computes with. */
extern attend_context *layer_ctx;

/* Random numbers, from the seed of the last layer_make() on. */
double layer_uniform(void);
double layer_normal(void);

/* Normal entries with this standard deviation, rounded to dtype in both forms. */
struct array array_make(int64_t count, double size, attend_dtype dtype);
/* Writes the values to the data again. */
void array_store(struct array *a, attend_dtype dtype);

struct layer layer_make(struct layer_shape s, attend_dtype dtype, uint64_t seed);
void layer_free(struct layer *l);
/* Output, bound, lse and weights by the definition. */
void layer_define(struct layer *l);

attend_rule layer_rule(const struct layer *l);
attend_layer_self layer_self(const struct layer *l, void *out);
/* The output in double, or abort with the message: callers test numbers, not failures. */
double *layer_attend(const attend_rule *rule, const attend_layer_self *self);
double largest_difference(const double *a, const double *b, int64_t count);

#endif
