/* SPDX-License-Identifier: MIT */
/* What the kernel of sums.cu is given, by value. */
#ifndef ATTEND_CUDA_SUMS_LAUNCH_H
#define ATTEND_CUDA_SUMS_LAUNCH_H

#include "attend/attend.h"
#include "core/row_sums.h"

struct sums_launch {
    struct sums_layout layout;
    attend_view from;     /* (nb, hq, nq, length) of f64; data NULL: of no keys */
    int64_t first_key;    /* that its keys were counted from */
    const double *before; /* [nb][hq][nq][length] sums of the keys before; NULL: none */
    double *to;           /* likewise: the sums of both; may be `from` */
    int64_t rows, length;
};

#endif
