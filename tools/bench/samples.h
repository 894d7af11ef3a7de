/* SPDX-License-Identifier: MIT */
/* Samples of a measured quantity. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

enum { BENCH_SAMPLES_MAX = 20000 };

struct bench_samples {
    double value[BENCH_SAMPLES_MAX];
    int count;
};

/* Without effect after BENCH_SAMPLES_MAX samples. */
void bench_samples_add(struct bench_samples *samples, double value);

/* Sorts them; NaN without any. */
double bench_samples_median(struct bench_samples *samples);

#endif
