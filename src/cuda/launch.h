/* SPDX-License-Identifier: MIT */
/* Parameters of the general kernels, by value: the validated problem and its tiling. */
#ifndef ATTEND_CUDA_LAUNCH_H
#define ATTEND_CUDA_LAUNCH_H

#include "core/inspect_request.h"
#include "core/problem.h"
#include "core/shard.h"

/* Rows and keys of a tile; threads of a CTA, which are also its columns of V. */
enum { TILE_ROWS = 16, TILE_KEYS = 64, TILE_THREADS = 128 };
/* Levels of the tree of splits: at most 2^23 splits. */
enum { TREE_LEVELS = 24 };

/* Dynamic shared memory of a CTA, for sums in f64 and in f32. */
enum { SHARED_F64 = 60 << 10, SHARED_F32 = 40 << 10 };

/*
 * Records of sums, in doubles: where the rows are many and the record is short, one
 * thread reads a row, else a warp does, from shared memory if the record is not longer
 * than STATS_STAGED.
 */
enum { STATS_SHORT = 24, STATS_STAGED = 768, STATS_MANY_ROWS = 16384 };

static inline DEVICE_TOO bool stats_rows_by_threads(int length, int64_t rows)
{
    return length <= STATS_SHORT && rows >= STATS_MANY_ROWS;
}

/* Normalisation of a row: P = factor exp(score - m). */
struct row_norm {
    double m, factor;
};

struct launch {
    struct problem p; /* its pointers are device pointers */
    struct shard shard;
    struct inspection inspection;
    int64_t tiles;          /* tiles of rows of a head */
    int64_t chunks;         /* groups of TILE_THREADS columns of V */
    int64_t groups;         /* groups of splits, a record each; 1: O is stored directly */
    int64_t group_splits;   /* splits of a group: a power of two */
    int64_t items;          /* work items of the launch */
    attend_tensor records;  /* (nb, hq, nq, groups * (dv + 2)) */
    const int64_t *start;   /* [groups], for attend_combine: first split of each record */
    int64_t record;         /* for attend_reduce: index in p.records to write */
    struct row_norm *norms; /* [nb][hq][nq], if weights are requested; else NULL */
    int64_t stats_rows;     /* rows of a tile of statistics, at most TILE_ROWS */
    double *sums;           /* [nb][hq][nq][sums_length] */
};

#endif
