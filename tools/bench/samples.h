/* SPDX-License-Identifier: MIT */
/* Numbers that a case was measured by. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

enum { BENCH_SAMPLES_MAX = 20000 };

struct bench_samples {
    double value[BENCH_SAMPLES_MAX];
    int count;
};

/* Nothing once there are BENCH_SAMPLES_MAX. */
void bench_samples_add(struct bench_samples *samples, double value);

/* Sorts them; NaN without any. */
double bench_samples_median(struct bench_samples *samples);

#endif
