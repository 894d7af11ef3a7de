/* SPDX-License-Identifier: MIT */
/* The threads that the machine's own speed is measured with. */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

/* What worker w has done. */
typedef double (*bench_work)(void *arg, int w);

/*
 * The sum of what workers 0 .. n-1 do at once, on threads of their own, per second from
 * the first's start to the last's end.  None starts before all threads run.
 */
double bench_team_rate(int n, bench_work work, void *arg);

#endif
