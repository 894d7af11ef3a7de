/* SPDX-License-Identifier: MIT */
/* For `attend check` and tests: in the archive, neither exported nor installed. */
#ifndef ATTEND_TESTING_EXP2_PROBE_H
#define ATTEND_TESTING_EXP2_PROBE_H

#include "attend/attend.h"

/*
 * y[i] = 2^x[i] by the routine that computes weights in the context's f32 kernels.
 * Defined for x <= 0: 0 below -126, NaN for NaN.
 */
void attendi_exp2(const attend_context *ctx, const float *x, float *y, int64_t n);

#endif
