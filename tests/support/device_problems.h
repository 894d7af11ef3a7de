/* SPDX-License-Identifier: MIT */
/* Problems that the kernels of order FAST support; `n` selects shape and rule. */
#ifndef TESTS_DEVICE_PROBLEMS_H
#define TESTS_DEVICE_PROBLEMS_H

#include "check/check.h"

/*
 * Largest error of a call over its bound; infinite if it failed.  For f16 in order FAST
 * the bound includes 2^-11 P, and 2^-27 per key for underflow, for rounding the weights.
 */
double device_ratio(struct check_blocks *blocks, attend_context *ctx,
                    const struct check_problem *p, struct check_worst *worst);

struct check_problem fast_problem(int n);
/* With a mask, bias, ALiBi or softcap. */
struct check_problem rule_problem(int n);
/* Keys wider than their values, for the kernels of d = 192 and dv = 128. */
struct check_problem wide_keys(int n);
/* More tiles than SMs: every CTA computes several. */
struct check_problem many_tiles(int n);

/* The variants of these kernels, besides width and dtype. */
enum purpose { PLAIN, DECODE, DECODE_SPLITS, MASKED, SCORE_MOD, PURPOSES };
/* A small problem for one kernel; `spoilt`: hidden values are NaN. */
struct check_problem kernel_problem(enum purpose purpose, attend_dtype dtype, int64_t d,
                                    int64_t dv, int spoilt);

#endif
