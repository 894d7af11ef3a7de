/* SPDX-License-Identifier: MIT */
/*
 * The keys that a row sees by causal rule, window and key length: for the CPU, GPU
 * kernels and MPI ranks.  Kernels for Hopper take the same bounds encoded (sm90_plan.c).
 */
#ifndef ATTEND_BASE_KEY_RANGE_H
#define ATTEND_BASE_KEY_RANGE_H

#include "attend/attend.h"
#include "base/base.h"

/* Windows above this are the same as this: it reaches every key from any position. */
#define WINDOW_MAX ((int64_t)1 << 62)

/*
 * Clips keys lo .. hi - 1, variables, to those that a row at `position` sees: `rule` has
 * causal, window_left and window_right, -1 or at most WINDOW_MAX.  Keys and position
 * count from the same key; hi <= lo: the row sees none.  A macro, since nvcc makes other
 * code of an inline function.
 */
#define ATTENDI_CLIP_KEYS(rule, position, lo, hi)                                        \
    do {                                                                                 \
        if ((rule).causal != ATTEND_CAUSAL_NONE)                                         \
            hi = min_i64(hi, (position) + 1);                                            \
        if ((rule).window_right >= 0)                                                    \
            hi = min_i64(hi, (position) + (rule).window_right + 1);                      \
        if ((rule).window_left >= 0)                                                     \
            lo = max_i64(lo, (position) - (rule).window_left);                           \
    } while (0)

#endif
