/* SPDX-License-Identifier: MIT */
/* The table of cases, bench/cases.inc. */
#ifndef BENCH_BENCH_CASE_H
#define BENCH_BENCH_CASE_H

#include <stdint.h>

#include "attend/attend.h"

enum bench_kind { BENCH_COMPUTE, BENCH_DECODE };

enum bench_mask { BENCH_MASK_NONE, BENCH_MASK_RANDOM, BENCH_MASK_DOCS8 };

/* Outputs besides O, as in bench/cases.inc. */
enum bench_wanted {
    BENCH_NONE,
    BENCH_OFF,
    BENCH_ROWS,
    BENCH_ALL,
    BENCH_COLUMNS,
    BENCH_MAP
};

struct bench_case {
    const char *name;
    enum bench_kind kind;
    int64_t nb, hq, hkv, nq, nk, d; /* dv = d */
    attend_causal causal;           /* none or top-left */
    int64_t window_left;            /* -1: open */
    enum bench_mask mask;           /* (1, 1, nq, nk) */
    enum bench_wanted stats;
};

extern const struct bench_case bench_cases[];
extern const int bench_case_count;
/* The cases of bench/cases_device.inc, for GPUs only. */
extern const struct bench_case bench_device_cases[];
extern const int bench_device_case_count;

/* Each case is timed in each of them, BENCH_MAP in the first. */
extern const attend_dtype bench_dtypes[];
extern const int bench_dtype_count;

/* "compute" or "decode". */
extern const char *const bench_kind_name[];
/* "none", "random" or "docs8". */
extern const char *const bench_mask_name[];
/* "none", "off" and so on. */
extern const char *const bench_wanted_name[];

/*
 * 2 (d + dv) operations for every pair of query and key that see each other, over all
 * heads; 2 d for BENCH_COLUMNS, which has no values.  `mask` is (nq, nk), NULL for a case
 * without.
 */
double bench_useful_flops(const struct bench_case *shape, const unsigned char *mask);

/*
 * The same for every pair of a tile of BENCH_TILE_ROWS rows and a block of
 * BENCH_BLOCK_KEYS keys, counted from the first, with one pair or more that see each
 * other: an estimate of the work of a kernel that skips whole blocks only.  It does not
 * use the block sizes of the kernel sets.
 */
enum { BENCH_TILE_ROWS = 48, BENCH_BLOCK_KEYS = 128 };
double bench_visited_flops(const struct bench_case *shape, const unsigned char *mask);

#endif
