/* SPDX-License-Identifier: MIT */
#ifndef ATTEND_CONTEXT_H
#define ATTEND_CONTEXT_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/pool.h"
#include "cpu/dispatch/kernels.h"

struct backend;
struct cuda_device;

struct attend_context {
    atomic_flag busy;   /* while a call uses the context */
    uint64_t float_env; /* of the caller of that call */
    const struct backend *backend;
    const struct kernel_set *kernels; /* of the CPU backend */
    struct cuda_device *cuda;         /* of the CUDA backend; NULL: none */
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

/* At least `size` bytes of scratch, or NULL; what it held before is lost. */
void *attendi_context_scratch(struct attend_context *ctx, size_t size);

#endif
