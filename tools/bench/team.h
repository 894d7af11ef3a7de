/* SPDX-License-Identifier: MIT */
/* The threads that the machine's own speed is measured with. */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

/* What worker w has done. */
typedef double (*bench_work)(const void *arg, int w);

/*
 * The sum of what workers 0 .. n-1 do at once, per second from the first's start to the
 * last's end, on threads that are awake.  They are the threads of the library's own
 * pool, so that none of those spins beside them; without OpenMP the library has but the
 * calling thread, and so has this.
 */
double bench_team_rate(int n, bench_work work, const void *arg);

#endif
