/* SPDX-License-Identifier: MIT */
#ifndef BENCH_STOPWATCH_H
#define BENCH_STOPWATCH_H

/* Seconds of CLOCK_MONOTONIC. */
double bench_seconds(void);

#endif
