/* SPDX-License-Identifier: MIT */
/* What a case asks for besides O: statistics of its rows, or an inspection. */
#ifndef BENCH_BENCH_STATS_H
#define BENCH_BENCH_STATS_H

#include <attend/stats.h>

#include "bench/bench_input.h"

enum { BENCH_STATS_BLOCKS = 8 };

struct bench_stats {
    attend_stat all[ATTEND_STAT_COUNT]; /* BENCH_ALL: the columns */
    attend_stats request;               /* gives the LSE that `inspection` reads */
    attend_inspection inspection;       /* BENCH_COLUMNS and BENCH_MAP */
    void *block[BENCH_STATS_BLOCKS];
    int blocks, is_short; /* blocks taken; one of them is NULL */
};

/* 0, or -1 without memory; to be freed in both cases.  `inspection` looks into `input`.
 */
int bench_stats_make(const struct bench_case *shape, const struct bench_input *input,
                     struct bench_stats *stats);
void bench_stats_free(struct bench_stats *stats);

#endif
