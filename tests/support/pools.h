/* SPDX-License-Identifier: MIT */
/* Pools that a host might lend to a context. */
#ifndef TESTS_POOLS_H
#define TESTS_POOLS_H

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

#endif
