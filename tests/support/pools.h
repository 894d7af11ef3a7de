/* SPDX-License-Identifier: MIT */
/* Hooks of a host: thread pools, a progress callback. */
#ifndef TESTS_POOLS_H
#define TESTS_POOLS_H

#include <stdatomic.h>

#include "problems.h"

/* Requests to a pool; `calls`: their number. */
typedef struct pool_log {
    int calls, n_max;
} pool_log;

void pool_sequential(void *user, int n, void (*body)(void *arg, int w), void *arg);
void pool_reversed(void *user, int n, void (*body)(void *arg, int w), void *arg);

/* Starts a thread for each w, all at the same time. */
void pool_pthreads(void *user, int n, void (*body)(void *arg, int w), void *arg);
/* A context on a lent pool; NULL after a failed test. */
attend_context *pool_context(const char *isa, int threads, attend_parallel_for pool,
                             pool_log *log);

/* Reported progress.  Start from zero. */
typedef struct progress_log {
    int calls, backwards, totals_differ;
    int64_t last, total;
    atomic_int inside, met; /* calls in progress; whether two overlapped */
} progress_log;

attend_context *progress_context(const char *isa, int threads, progress_log *log);
/*
 * Whether calls were in order and never concurrent; with one thread the last one has the
 * total.
 */
int progress_is_sound(progress_log *log, int threads);

#endif
