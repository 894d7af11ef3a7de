/* SPDX-License-Identifier: MIT */
#include "bench/bins.h"

#include <math.h>

/* Reads that differ by less are one state of the memory. */
static const double one_state = 1.15;

/*
 * The read bandwidth above which the faster bin begins; infinite for one bin.  The
 * percentiles are samples themselves, so that neither side is empty.
 */
static double threshold(const struct bench_samples *reads)
{
    static struct bench_samples sorted;

    sorted = *reads;
    bench_samples_median(&sorted);
    const int last = sorted.count - 1, cut = last / 20;
    const double low = sorted.value[cut], high = sorted.value[last - cut];
    return high > one_state * low ? (low + high) / 2 : INFINITY;
}

int bench_bins_make(const struct bench_samples *times, const struct bench_samples *reads,
                    double bytes, double limit, struct bench_bin *bins)
{
    static struct bench_samples of_times, of_reads, of_shares;
    int count = 0;

    if (times->count == 0)
        return 0;
    const double above = threshold(reads);
    for (int is_fast = 0; is_fast < BENCH_BINS_MAX; is_fast++) {
        of_times.count = of_reads.count = of_shares.count = 0;
        for (int n = 0; n < times->count; n++) {
            const double time = times->value[n], read = reads->value[n];
            if ((read > above) != is_fast)
                continue;
            bench_samples_add(&of_times, time);
            bench_samples_add(&of_reads, read);
            bench_samples_add(&of_shares, bytes / time / fmin(read, limit));
        }
        if (of_times.count > 0)
            bins[count++] = (struct bench_bin){
                .samples = of_times.count,
                .read = bench_samples_median(&of_reads),
                .bytes = bytes / bench_samples_median(&of_times),
                .of_roof = bench_samples_median(&of_shares),
            };
    }
    return count;
}
