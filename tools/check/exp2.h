/* SPDX-License-Identifier: MIT */
/* The accuracy of attendi_exp2(), float by float. */
#ifndef CHECK_EXP2_H
#define CHECK_EXP2_H

#include <stddef.h>
#include <stdint.h>

#include "attend/attend.h"

enum { CHECK_EXP2_SETS = 16 };

struct check_exp2_result {
    int64_t cases;
    double worst_ulp; /* over x in -126 .. 0; infinite where an exact value is missed */
    float worst_x;
};

/*
 * One float in `step` from -0 to -150, the first chosen by the seed, those around the
 * boundaries, and the exact cases (+-0, below -126, -inf, NaN), for `count` contexts at
 * once on `threads` threads.
 */
void check_exp2(attend_context *const *ctx, int count, int64_t step, uint64_t seed,
                int threads, struct check_exp2_result *results);

#endif
