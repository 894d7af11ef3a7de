/* SPDX-License-Identifier: MIT */
#ifndef ATTEND_CORE_CONTEXT_H
#define ATTEND_CORE_CONTEXT_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/pool.h"

struct backend;
struct kernel_set;

struct attend_context {
    atomic_flag busy;   /* set while a call uses the context */
    uint64_t float_env; /* of the caller; restored at the end of the call */
    const struct backend *backend;
    void *device;                     /* private to the backend; NULL: none */
    const struct kernel_set *kernels; /* of the CPU backend */
    int threads;
    attend_order order;
    int64_t split_keys; /* 0: that of the kernel set; else ATTEND_SPLIT, with one item
                           per split */
    struct allocator allocator;
    struct pool *pool;                /* NULL for one thread, and with the host's
                                         parallel_for */
    attend_parallel_for parallel_for; /* that of the pool or the host; for two workers
                                         and more */
    void *parallel_user;
    attend_progress progress;
    void *progress_user;
    int (*cancelled)(void *user);
    void *cancel_user;
    /* Reused between calls; they grow on demand. */
    struct reused {
        void *memory;
        size_t size;
    } scratch, problems;
    void *lent; /* scratch of the caller, in place of `scratch`; NULL: none */
    size_t lent_size;
};

/*
 * At least `size` bytes, uninitialised; NULL for 0, ENOMEM for SIZE_MAX.  The contents
 * are lost where the memory grows.
 */
attend_status attendi_grow(attend_context *ctx, struct reused *reused, size_t size,
                           void **memory, attend_error *err);
/* The same of ctx->scratch. */
attend_status attendi_scratch(attend_context *ctx, size_t size, void **scratch,
                              attend_error *err);

/*
 * Reserves `count` * `size` bytes, in whole cache lines, at the end of *total bytes and
 * returns their offset.  *total becomes SIZE_MAX on overflow.
 */
size_t attendi_reserve(size_t *total, int64_t count, size_t size);

#endif
