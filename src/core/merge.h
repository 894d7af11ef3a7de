/* SPDX-License-Identifier: MIT */
/* Validated parts of the keys to be merged: O with LSE, and raw sums. */
#ifndef ATTEND_CORE_MERGE_H
#define ATTEND_CORE_MERGE_H

#include <stdbool.h>

#include "attend/stats.h"

struct problem;

struct merge {
    const attend_part *parts;
    int64_t count;
    attend_tensor out, lse; /* lse.data NULL: not requested */
    int64_t rows;           /* nb * hq * nq; 0: nothing to write */
};

/* Validates the arguments of attend_merge().  `lse` may be NULL. */
attend_status attendi_merge_init(struct merge *m, const attend_part *parts, int64_t count,
                                 const attend_tensor *out, const attend_tensor *lse,
                                 attend_error *err);

/* Raw sums to merge; `problem` has shape and request. */
struct stats_merge {
    struct problem *problem;
    const attend_stats_part *parts;
    int64_t count;
    bool ends; /* read statistics from the sums; else store the sums only */
};

#endif
