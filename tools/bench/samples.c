/* SPDX-License-Identifier: MIT */
#include "bench/samples.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void bench_samples_add(struct bench_samples *samples, double value)
{
    if (samples->count < BENCH_SAMPLES_MAX)
        samples->value[samples->count++] = value;
}

double bench_samples_median(struct bench_samples *samples)
{
    const int half = samples->count / 2;

    if (samples->count == 0)
        return NAN;
    qsort(samples->value, (size_t)samples->count, sizeof samples->value[0], compare);
    return samples->count % 2 ? samples->value[half]
                              : (samples->value[half - 1] + samples->value[half]) / 2;
}
