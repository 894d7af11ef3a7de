/* SPDX-License-Identifier: MIT */
/*
 * Attention problems for tests of the public API: tensors filled from a seed, a
 * dense evaluation in double written from the header's formula alone, and the
 * comparison of the two.  It shares no code with the library, so that the set
 * `ref` is tested as well.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include "tensors.h"
#include "test.h"

typedef struct shape {
    int64_t nb, hq, hkv, nq, nk, d, dv;
} shape;

/* How far from the dense value a result may lie. */
typedef enum closeness {
    /* For unit-normal q, k, v and the default scale: type_error() of max |V|. */
    CLOSE_NORMAL,
    /* For any inputs: the rounding of the scores, R u (d + 8), comes on top. */
    CLOSE_DERIVED
} closeness;

typedef struct problem {
    shape n;
    attend_dtype dtype;
    attend_rule rule;
    attend_io io;
    closeness close;
    void *owned[64];
    int owned_count;
} problem;

void *problem_own(problem *p, size_t size);
void problem_free(problem *p);

/* ---- making a problem ---------------------------------------------------- */

attend_view own_view(problem *p, attend_dtype dtype, int64_t s0, int64_t s1, int64_t s2,
                     int64_t s3);
attend_tensor own_tensor(problem *p, attend_dtype dtype, int64_t s0, int64_t s1,
                         int64_t s2, int64_t s3);
/* Unit-normal q, k, v in contiguous memory; out, lse and weights are wanted. */
problem problem_make(shape n, attend_dtype dtype, uint64_t seed);
/* A mask that hides nothing yet; every size is the full axis or 1. */
void problem_mask(problem *p, int64_t s0, int64_t s1, int64_t s2, int64_t s3);
/* A bias of zeros. */
void problem_bias(problem *p, attend_dtype dtype, int64_t s0, int64_t s1, int64_t s2,
                  int64_t s3);
int64_t *problem_key_lengths(problem *p);
/* Whether ATTEND_SPLIT makes splits small. */
int splits_are_forced(void);
/* Poisons the outputs, which must be contiguous, and runs; 0 on a failure. */
int problem_run(const problem *p, attend_context *ctx);

/* ---- the definition, densely --------------------------------------------- */

int64_t position_of(const problem *p, int64_t b, int64_t i);
int sees(const problem *p, int64_t b, int64_t h, int64_t i, int64_t j);

typedef struct score {
    double value;
    double magnitude; /* the sum of the absolute values it is made of */
} score;

score score_of(const problem *p, int64_t b, int64_t h, int64_t i, int64_t j);

/* One row.  Weights are meaningful unless lse is NaN. */
typedef struct dense_row {
    double *weights, *out, *absolute; /* absolute: sum_j P |V| per channel */
    double lse, magnitude, value_max;
} dense_row;

void dense_weights(const problem *p, int64_t b, int64_t h, int64_t i, dense_row *row);

/* ---- comparing ----------------------------------------------------------- */

/* Rounding of P and of the output, relative to max |V|. */
double type_error(attend_dtype dtype);
int near_or_same(double got, double want, double tolerance);
/* Compares every row with the dense evaluation; reports the first that differs. */
int problem_is_close(const problem *p);
int problem_check(const problem *p, attend_context *ctx);

/* ---- the same bits ------------------------------------------------------- */

/* A copy of the outputs of a run. */
typedef struct result {
    void *out, *lse, *weights;
} result;

result result_copy(const problem *p);
void result_free(result *r);
int same_bits(const attend_tensor *tensor, const void *bits, const char *what);
/* Compares what both have; reports the first difference. */
int result_is_same(const problem *p, const result *r);

/* ---- every kernel set ---------------------------------------------------- */

/* A context for the set `name`, or NULL after a reported failure. */
attend_context *open_set(const char *name, int threads);
/* Runs `body` with a context of every kernel set that runs on this machine. */
void for_each_set(void (*body)(attend_context *ctx), int threads);

/* ---- forced splits ------------------------------------------------------- */

/*
 * test_finish() for a program that also runs under ATTEND_SPLIT, where it fails if no
 * problem took the path.
 */
int split_finish(void);

#endif
