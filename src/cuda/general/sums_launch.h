/* SPDX-License-Identifier: MIT */
/* Parameters of the kernel of sums.cu, by value. */
#ifndef ATTEND_CUDA_SUMS_LAUNCH_H
#define ATTEND_CUDA_SUMS_LAUNCH_H

#include "attend/attend.h"
#include "core/row_sums.h"

struct sums_launch {
    struct sums_layout layout;
    attend_view from;     /* (nb, hq, nq, length) in f64; data NULL: sums of zero keys */
    int64_t first_key;    /* key 0 of `from` in the sequence */
    const double *before; /* [nb][hq][nq][length] sums of earlier keys; NULL: none */
    double *to;           /* the same shape: the merged sums; may be `from` */
    int64_t rows, length;
};

#endif
