/* SPDX-License-Identifier: MIT */
#ifndef ATTEND_CORE_CONTEXT_H
#define ATTEND_CORE_CONTEXT_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/pool.h"

struct backend;
struct kernel_set;

struct attend_context {
    atomic_flag busy;   /* while a call uses the context */
    uint64_t float_env; /* of the caller of that call */
    const struct backend *backend;
    void *device;                     /* the backend's own; NULL: none */
    const struct kernel_set *kernels; /* of the CPU */
    int threads;
    attend_order order;
    int64_t split_keys; /* 0: the kernel set's; else ATTEND_SPLIT, each split an item */
    struct allocator allocator;
    struct pool *pool;                /* NULL for one thread, and where the host lends */
    attend_parallel_for parallel_for; /* the pool's or the host's; for two and more */
    void *parallel_user;
    attend_progress progress;
    void *progress_user;
    int (*cancelled)(void *user);
    void *cancel_user;
    void *scratch; /* kept between calls, grown when a problem needs more */
    size_t scratch_size;
};

/* `size` bytes of scratch, NULL for 0; ENOMEM, for SIZE_MAX too.  Its contents are lost.
 */
attend_status attendi_scratch(attend_context *ctx, size_t size, void **scratch,
                              attend_error *err);

/*
 * Adds `count` pieces of `size` bytes, in whole lines, to *total, which becomes SIZE_MAX
 * if they are too many; returns their offset.
 */
size_t attendi_reserve(size_t *total, int64_t count, size_t size);

#endif
