/* SPDX-License-Identifier: MIT */
/* Threads for measuring the speed of the machine. */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

/* The work done by worker w. */
typedef double (*bench_work)(void *arg, int w);

/*
 * The sum of the work of workers 0 .. n-1, on threads of their own, per second from
 * the first's start to the last's end.  None starts before all threads run.
 */
double bench_team_rate(int n, bench_work work, void *arg);

#endif
