/* SPDX-License-Identifier: MIT */
/* What a case asks for besides O: statistics of its rows, or a second pass. */
#ifndef BENCH_BENCH_STATS_H
#define BENCH_BENCH_STATS_H

#include <attend/stats.h>

#include "bench/bench_input.h"

enum { BENCH_STATS_BLOCKS = 8 };

struct bench_stats {
    attend_stats request; /* gives the LSE that `second` reads */
    attend_inspection second; /* BENCH_COLUMNS and BENCH_MAP */
    void *block[BENCH_STATS_BLOCKS];
    int blocks, is_short; /* blocks taken; one of them is NULL */
};

/* 0, or -1 without memory; to be freed in both cases.  `second` looks into `input`. */
int bench_stats_make(const struct bench_case *shape, const struct bench_input *input,
                     struct bench_stats *stats);
void bench_stats_free(struct bench_stats *stats);

#endif
