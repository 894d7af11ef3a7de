/* SPDX-License-Identifier: MIT */
/* What the kernels of merge_parts.cu are given, by value: what fits in parameters. */
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

/* Records of one part, or of no key where `from` has no data, to their place in rows. */
struct gather_launch {
    attend_tensor from; /* (nb, hq, nq, width) */
    attend_tensor to;   /* (nb, hq, nq, records (dv + 2)), dense */
    int64_t at, width;  /* columns of `to` */
    int64_t rows;
};

#endif
