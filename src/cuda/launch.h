/* SPDX-License-Identifier: MIT */
/* What a kernel is given, by value: the validated problem and where its parts lie. */
#ifndef ATTEND_CUDA_LAUNCH_H
#define ATTEND_CUDA_LAUNCH_H

#include "core/inspect_request.h"
#include "core/problem.h"
#include "core/shard.h"

/* The general kernels: rows and keys of a tile, columns of V of a CTA. */
enum { TILE_ROWS = 16, TILE_KEYS = 64, TILE_THREADS = 128 };
/* Levels of the tree of splits: no more than 2^23 splits. */
enum { TREE_LEVELS = 24 };

/* Dynamic shared memory of a CTA, by what the kernel computes in. */
enum { SHARED_F64 = 60 << 10, SHARED_F32 = 40 << 10 };

/* What is kept of a row for its weights: m, and the factor of exp(score - m). */
struct row_norm {
    double m, factor;
};

struct launch {
    struct problem p; /* its pointers lead to device memory */
    struct shard shard;
    struct inspection inspection;
    int64_t tiles;        /* of rows, of a head */
    int64_t chunks;       /* of TILE_THREADS columns of V */
    int64_t groups;       /* of splits: each leaves a record; 1: rows are ended at once */
    int64_t group_splits; /* splits of a group: a power of two */
    int64_t items;        /* CTAs that have work, all together */
    attend_tensor records; /* (nb, hq, nq, groups * (dv + 2)) */
    const int64_t
        *start;     /* [groups] for attend_combine: the split a record begins with */
    int64_t record; /* for attend_reduce: which of p.records is written */
    struct row_norm *norms; /* [nb][hq][nq], where weights are wanted; else NULL */
    double *sums;           /* [nb][hq][nq][sums_length] */
};

#endif
