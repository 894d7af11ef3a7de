/* SPDX-License-Identifier: MIT */
#include "bench/team.h"

#include <stddef.h>

#include "bench/stopwatch.h"

static double run(int n, bench_work work, const void *arg)
{
    double done = 0;

#ifdef _OPENMP
#pragma omp parallel for num_threads(n) schedule(static, 1) reduction(+ : done)
#endif
    for (int w = 0; w < n; w++)
        done += work(arg, w);
    return done;
}

static double wake(const void *arg, int w)
{
    (void)arg;
    (void)w;
    return 0;
}

double bench_team_rate(int n, bench_work work, const void *arg)
{
    run(n, wake, NULL);
    const double start = bench_seconds();
    const double done = run(n, work, arg);
    return done / (bench_seconds() - start);
}
