/* SPDX-License-Identifier: MIT */
/* What the kernel of attend_merge is given, by value: what fits in parameters. */
#ifndef ATTEND_CUDA_MERGE_LAUNCH_H
#define ATTEND_CUDA_MERGE_LAUNCH_H

#include "attend/attend.h"

enum { MERGE_PARTS_MOST = 24 };

struct merge_launch {
    attend_part part[MERGE_PARTS_MOST];
    attend_tensor out, lse; /* lse.data NULL: not wanted */
    int64_t rows;
    int count;
};

#endif
