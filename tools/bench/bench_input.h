/* SPDX-License-Identifier: MIT */
/* The tensors of a case. */
#ifndef BENCH_BENCH_INPUT_H
#define BENCH_BENCH_INPUT_H

#include "bench/bench_case.h"

/* Least bytes of K and V that a decode case rotates over: more than any cache holds. */
enum { BENCH_ROTATION_BYTES = 256 << 20 };

/*
 * Entries are uniform in [-sqrt 3, sqrt 3), of variance 1, so that scores are spread as
 * in a model.  `store` is `copies` times K, then V, with the same values each time.
 */
struct bench_input {
    void *q, *out;
    unsigned char *store;
    size_t k_bytes, store_bytes; /* bytes of K, and as many of V; of all copies */
    int64_t copies;
    unsigned char *mask; /* NULL: none */
    attend_rule rule;
    attend_io io; /* of copy 0 */
};

/* The mask of a case that has one, (nq, nk). */
void bench_fill_mask(const struct bench_case *shape, unsigned char *mask);

/* 0, or -1 without memory; to be freed in both cases. */
int bench_input_make(const struct bench_case *shape, attend_dtype dtype,
                     struct bench_input *input);
void bench_input_free(struct bench_input *input);

/* Points io.k and io.v at copy call % copies. */
void bench_input_rotate(struct bench_input *input, int64_t call);

#endif
