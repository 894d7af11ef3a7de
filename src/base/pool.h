/* SPDX-License-Identifier: MIT */
/* The thread pool of a context without a parallel_for of the host. */
#ifndef ATTEND_BASE_POOL_H
#define ATTEND_BASE_POOL_H

#include "base/memory.h"

/*
 * The calling thread and up to threads - 1 workers, which are started when a parallel
 * region first needs them.  Between regions they spin briefly, then sleep.  They block
 * all signals except those of their own faults.  One caller at a time.
 */
struct pool;

/* Starts no thread.  NULL if out of memory. */
struct pool *attendi_pool_create(const struct allocator *allocator, int threads);
/* Joins all threads.  NULL is allowed. */
void attendi_pool_destroy(struct pool *pool);

/* Maximum number of threads of a region, with the caller.  Callable from any thread. */
int attendi_pool_threads(struct pool *pool);

/*
 * An attend_parallel_for whose `user` is the pool.  The caller runs w = 0, then every w
 * that no worker has started, so a thread that could not be created, or waits for a CPU,
 * delays nobody.  A child of fork() starts its own workers.
 */
void attendi_pool_run(void *user, int n, void (*body)(void *arg, int w), void *arg);

#endif
