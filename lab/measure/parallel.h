/* SPDX-License-Identifier: MIT */
/* Parallel tasks: many small problems, each on one thread. */
#ifndef LAB_PARALLEL_H
#define LAB_PARALLEL_H

/*
 * Calls body(arg, w) once for every w in 0 .. n - 1 and returns when all have returned:
 * w = 0 on the calling thread, the others on threads of their own, or one after the other
 * where the system refuses them.  Threads are started and ended by each call.
 */
void lab_parallel(int n, void (*body)(void *arg, int w), void *arg);

#endif
