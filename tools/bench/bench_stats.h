/* SPDX-License-Identifier: MIT */
/* Outputs of a case besides O: statistics of its rows, or an inspection. */
#ifndef BENCH_BENCH_STATS_H
#define BENCH_BENCH_STATS_H

#include <attend/stats.h>

#include "bench/bench_case.h"

enum { BENCH_STATS_BLOCKS = 8 };

/* Allocator of outputs and classes: memory of this process, or of a device. */
struct bench_memory {
    void *(*take)(void *of, size_t size); /* NULL: out of memory */
    void (*give_back)(void *of, void *block);
    int (*copy_in)(void *of, void *to, const void *from, size_t size); /* 0, or not */
    void *of;
};
extern const struct bench_memory bench_host_memory;

struct bench_stats {
    attend_stat all[ATTEND_STAT_COUNT]; /* BENCH_ALL: the columns */
    attend_stats request;               /* gives the LSE that `inspection` reads */
    attend_inspection inspection;       /* BENCH_COLUMNS and BENCH_MAP */
    struct bench_memory memory;
    void *block[BENCH_STATS_BLOCKS];
    int blocks, is_short; /* number of blocks; whether an allocation or a copy failed */
};

/* 0, or -1 without memory; to be freed in both cases.  `inspection` is of io's Q and K;
 * `request` points into `stats`. */
int bench_stats_make(const struct bench_case *shape, const attend_io *io,
                     const struct bench_memory *memory, struct bench_stats *stats);
void bench_stats_free(struct bench_stats *stats);

#endif
