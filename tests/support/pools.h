/* SPDX-License-Identifier: MIT */
/* What a host might lend to a context: a pool, a callback for progress. */
#ifndef TESTS_POOLS_H
#define TESTS_POOLS_H

#include <stdatomic.h>

#include "problems.h"

/* What a pool was asked for; `calls` counts how often it was called. */
typedef struct pool_log {
    int calls, n_max;
} pool_log;

void pool_sequential(void *user, int n, void (*body)(void *arg, int w), void *arg);
void pool_reversed(void *user, int n, void (*body)(void *arg, int w), void *arg);

/* A new thread for each w, all at once. */
void pool_pthreads(void *user, int n, void (*body)(void *arg, int w), void *arg);
/* A context on a lent pool; NULL after a failed test. */
attend_context *pool_context(const char *isa, int threads, attend_parallel_for pool,
                             pool_log *log);

/* What was reported.  Start from zero. */
typedef struct progress_log {
    int calls, backwards, totals_differ;
    int64_t last, total;
    atomic_int inside, met; /* calls under way; whether two were at once */
} progress_log;

attend_context *progress_context(const char *isa, int threads, progress_log *log);
/* Several calls in order, never two at once; with one thread the last has the total. */
int progress_is_sound(progress_log *log, int threads);

#endif
