/* SPDX-License-Identifier: MIT */
/* Peak rate of multiplications and additions. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

#include <stdint.h>

#include "attend/attend.h"

/* Fills registers and works on them `rounds` times, without memory accesses. */
typedef void (*bench_peak_loop)(int64_t rounds);

struct bench_peak {
    const char *instruction;
    bench_peak_loop loop;
    double flops;   /* of a round */
    int64_t rounds; /* between two readings of the clock, whose cost is then negligible */
};

/*
 * The loop with the widest products that a kernel set has for a dtype; NULL when there is
 * none for the set or the system refuses its registers.
 */
const struct bench_peak *bench_peak_find(const char *isa, attend_dtype dtype);

/* Operations per second of `threads` at once, over a few milliseconds. */
double bench_peak_sample(const struct bench_peak *peak, int threads);

#endif
