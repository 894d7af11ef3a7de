/* SPDX-License-Identifier: MIT */
/* Timing a case, interleaved with samples of the machine's peak and read bandwidth. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "bench/bench_case.h"
#include "bench/bins.h"

/* Seconds, and operations or bytes per second. */
struct bench_result {
    double median, min;
    double flops, peak;  /* useful, by the median; the best sample of the peak */
    const char *peak_by; /* the instruction of the peak */
    double visited;      /* as bench_visited_flops() counts; NaN without a mask */
    /* NaN, and no bins, unless the case is one of decoding: */
    double bytes, read; /* K and V once, by the median; the median sample of a read */
    double roof;        /* bytes that memory, and 0.7 of the peak, allow */
    int bin_count;
    struct bench_bin bins[BENCH_BINS_MAX];
    /* NaN for BENCH_NONE and BENCH_MAP: the median of each time over its neighbour's,
     * plain attention */
    double over_forward;
    /* NaN unless BENCH_MAP: seconds of the second pass, peak bytes of the process */
    double second, memory;
};

/*
 * Repeats for about `seconds`, three times at least, after a warm-up; BENCH_MAP is run
 * once.  On failure `err` has the message.
 */
attend_status bench_time(attend_context *ctx, const struct bench_case *shape,
                         attend_dtype dtype, double seconds, struct bench_result *result,
                         attend_error *err);

#endif
