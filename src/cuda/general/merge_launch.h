/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels of merge_parts.cu, by value. */
#ifndef ATTEND_CUDA_MERGE_LAUNCH_H
#define ATTEND_CUDA_MERGE_LAUNCH_H

#include "attend/attend.h"

/* Limit of kernel parameters. */
enum { MERGE_PARTS_MOST = 24 };

struct merge_launch {
    attend_part part[MERGE_PARTS_MOST];
    attend_tensor out, lse; /* lse.data NULL: not requested */
    int64_t rows;
    int count;
};

/* Copies the records of one part into rows.  from.data NULL: writes one empty record. */
struct gather_launch {
    attend_tensor from; /* (nb, hq, nq, width) */
    attend_tensor to;   /* (nb, hq, nq, records (dv + 2)), dense */
    int64_t at, width;  /* first column in `to`, and number of columns */
    int64_t rows;
};

#endif
