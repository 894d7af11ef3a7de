/* SPDX-License-Identifier: MIT */
/* The threads of one context, where the host lends none. */
#ifndef ATTEND_BASE_POOL_H
#define ATTEND_BASE_POOL_H

#include "base/memory.h"

/*
 * The calling thread and up to threads - 1 others, each started when a region first asks
 * for it and kept.  Between regions they spin briefly, then sleep.  They take no signals
 * but those of their own faults.  One caller at a time.
 */
struct pool;

/* NULL without memory; starts no thread yet. */
struct pool *attendi_pool_create(const struct allocator *allocator, int threads);
/* Ends the threads and waits for them.  NULL is allowed. */
void attendi_pool_destroy(struct pool *pool);

/* Threads that regions use at most, the caller's included; any thread may ask. */
int attendi_pool_threads(struct pool *pool);

/*
 * An attend_parallel_for, whose `user` is the pool.  The caller runs w = 0, and after it
 * every w that no thread has begun: one that the system refuses, or leaves waiting for a
 * CPU, holds nobody up.  A child of fork() has none of its parent's threads and starts
 * its own.
 */
void attendi_pool_run(void *user, int n, void (*body)(void *arg, int w), void *arg);

#endif
