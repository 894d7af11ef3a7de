/* SPDX-License-Identifier: MIT */
/*
 * Attention problems for tests of the public API: tensors filled from a seed, run on a
 * context, and the bits of their outputs.
 */
#ifndef TESTS_PROBLEMS_H
#define TESTS_PROBLEMS_H

#include "tensors.h"
#include "test.h"

typedef struct shape {
    int64_t nb, hq, hkv, nq, nk, d, dv;
} shape;

/* The tolerance of a result. */
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

/* Memory that problem_free() frees. */
void *problem_own(problem *p, size_t size);
attend_view own_view(problem *p, attend_dtype dtype, int64_t s0, int64_t s1, int64_t s2,
                     int64_t s3);
attend_tensor own_tensor(problem *p, attend_dtype dtype, int64_t s0, int64_t s1,
                         int64_t s2, int64_t s3);

/* Unit-normal q, k, v in contiguous memory; out, lse and weights are wanted. */
problem problem_make(shape n, attend_dtype dtype, uint64_t seed);
/* The same without weights, which keep all keys of a row in one work item. */
problem problem_lean(shape n, attend_dtype dtype, uint64_t seed);
void problem_free(problem *p);
/* A mask that hides nothing yet; every size is the full axis or 1. */
void problem_mask(problem *p, int64_t s0, int64_t s1, int64_t s2, int64_t s3);
/* A bias of zeros. */
void problem_bias(problem *p, attend_dtype dtype, int64_t s0, int64_t s1, int64_t s2,
                  int64_t s3);
/* Key lengths of nk, for the caller to shorten. */
int64_t *problem_key_lengths(problem *p);

/* Hides keys first .. end - 1 from row (b, h, i) of the mask. */
void hide_keys(problem *p, int64_t b, int64_t h, int64_t i, int64_t first, int64_t end);

/* Poisons the outputs, which must be contiguous. */
void problem_poison(const problem *p);
/* Poisons the outputs and runs; 0 on a failure. */
int problem_run(const problem *p, attend_context *ctx);

/* A copy of the outputs of a run. */
typedef struct result {
    void *out, *lse, *weights;
} result;

/* O and LSE of a run as a part for attend_merge(). */
attend_part part_of(const problem *p);
result result_copy(const problem *p);
/* The outputs of a run; reports a failure. */
result result_of(const problem *p, attend_context *ctx);
void result_free(result *r);
/* Compares the outputs present in both; reports the first difference. */
int result_is_same(const problem *p, const result *r);
/* Runs and compares. */
int problem_gives(const problem *p, attend_context *ctx, const result *r);
/* Runs on both and compares. */
int problem_same_on(const problem *p, attend_context *one, attend_context *other);
/* Compares one contiguous tensor; `what` names it in the message. */
int same_bits(const attend_tensor *tensor, const void *bits, const char *what);

/* Whether a call succeeded; reports it if not. */
int is_ok(attend_status status, const attend_error *err);
/* The same of a function of the library, given without its last argument, `err`. */
#define IS_OK(function, ...) is_ok(function(__VA_ARGS__, &call_error), &call_error)
extern _Thread_local attend_error call_error;
/*
 * Whether a call was refused with status `want`, in one line that names a field and a
 * value, with the id of the field unless it is a variable of the environment; reports any
 * other result.
 */
int is_refused(attend_status status, attend_status want, const attend_error *err,
               const char *field, const char *value);
/* Whether err->field is set and begins the message, on MPI ranks after "rank 1: ". */
int names_field(const attend_error *err);

/* Options for a kernel set, or "cuda" or "cuda-fast": see next_set(). */
attend_options options_for(const char *set, int threads);
/* A context of these options, or NULL after a reported failure. */
attend_context *open_context(const attend_options *options);
attend_context *open_set(const char *name, int threads);
/* Whether there is a GPU; "cuda" is then a kernel set, with tensors in host memory. */
int device_runs(void);
/* Whether a context computes on the GPU, without threads and scratch of the host. */
int on_device(const attend_context *ctx);
/*
 * The names of the sets that run here, one after another from *index 0 on; then NULL.
 * With ATTEND_TEST_SET only the one it names, which may be "cuda", or "cuda-fast" for the
 * device in order FAST.
 */
const char *next_set(int *index);
/* Runs `body` with a context of every kernel set that runs on this machine. */
void for_each_set(void (*body)(attend_context *ctx), int threads);
/* A test with such a body. */
#define TEST_ON_SETS(name, ctx, threads)                                                 \
    static void name##_on(attend_context *ctx);                                          \
    TEST(name) { for_each_set(name##_on, threads); }                                     \
    static void name##_on(attend_context *ctx)

/* Whether ATTEND_SPLIT makes splits small. */
int splits_are_forced(void);
/*
 * test_finish() for a program that also runs under ATTEND_SPLIT; fails if no problem had
 * several splits.
 */
int split_finish(void);

#endif
