/* SPDX-License-Identifier: MIT */
/*
 * The calibration loop: prints the seconds that a fixed amount of work takes on one core
 * of this machine.  A sort of random numbers, with branches and memory accesses as in
 * compilers and tests; the fastest of five runs.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { COUNT = 1 << 20, TIMES = 5 };

static uint32_t numbers[COUNT];

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    double least = 1e9;

    for (int time = 0; time < TIMES; time++) {
        uint32_t state = 1;
        for (int at = 0; at < COUNT; at++) {
            state = state * 1664525u + 1013904223u;
            numbers[at] = state;
        }
        const double start = seconds();
        qsort(numbers, COUNT, sizeof *numbers, compare);
        const double taken = seconds() - start;
        least = taken < least ? taken : least;
    }
    printf("%.4f\n", least);
    return 0;
}
