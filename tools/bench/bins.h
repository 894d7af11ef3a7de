/* SPDX-License-Identifier: MIT */
/* Samples of a decode case, in bins by the read bandwidth measured with each. */
#ifndef BENCH_BINS_H
#define BENCH_BINS_H

#include "bench/samples.h"

enum { BENCH_BINS_MAX = 2 };

/* Medians over the samples of a bin. */
struct bench_bin {
    int samples;
    double read, bytes; /* per second: of memory; of K and V, by the median time */
    double of_roof;     /* of each sample's own share */
};

/*
 * `times` are seconds of calls that read `bytes` bytes of K and V, `reads` the bytes per
 * second that memory gave next to each; a call's roof is the smaller of its own read and
 * of `limit`, in bytes per second.
 *
 * Fills the bins, the slower memory first, and returns how many there are: two where the
 * 95th percentile of the reads is more than 15 % above the 5th, split midway between
 * these; else one; none without samples.
 */
int bench_bins_make(const struct bench_samples *times, const struct bench_samples *reads,
                    double bytes, double limit, struct bench_bin *bins);

#endif
