/* SPDX-License-Identifier: MIT */
/* The GPU of a context: driver, primary context, kernels, memory and stream. */
#ifndef ATTEND_CUDA_DEVICE_H
#define ATTEND_CUDA_DEVICE_H

#include <stdbool.h>

#include "base/memory.h"
#include "cuda/host/driver.h"
#include "cuda/host/kernel_names.h"
#include "cuda/launch.h"

/* Device memory, reused between calls. */
struct device_memory {
    cu_pointer at;
    size_t size;
};

struct cuda_device {
    struct cuda_driver driver;
    cu_device device;
    cu_context primary;
    cu_module module[MODULE_COUNT];
    cu_function kernel[KERNEL_COUNT]; /* NULL: not for this GPU */
    cu_stream stream;
    int sm_count;
    bool hopper;      /* order FAST uses the kernels of sm90.cuh */
    bool sm80;        /* order FAST uses the kernels of sm80.cuh */
    int decode_split; /* keys of a split of Hopper's decoding; 0: of nk */
    struct device_memory workspace, staging;
    struct device_memory control; /* counters: 0 before and after each launch */
    void *lent;                   /* the caller's workspace; NULL: `workspace` */
    size_t lent_size;
};

/* `name` is "cuda" or "cuda:N".  EINVAL for other names, EUNSUPPORTED without a GPU. */
attend_status attendi_cuda_open(struct cuda_device **device, const char *name,
                                const struct allocator *allocator, attend_error *err);
/* Waits for queued work.  NULL is allowed. */
void attendi_cuda_close(struct cuda_device *device, const struct allocator *allocator);

/*
 * Grows `memory` to at least `size` bytes, and waits for the stream first; its contents
 * are lost.  Does nothing if it is large enough.  On failure `memory` is empty.
 */
attend_status attendi_cuda_reserve(struct cuda_device *device,
                                   struct device_memory *memory, size_t size,
                                   attend_error *err);

/*
 * Queues `kernel` with `blocks` CTAs of `threads`, or with the largest grid: kernels loop
 * over their work.
 */
attend_status attendi_cuda_launch(struct cuda_device *device, enum kernel_name kernel,
                                  int64_t blocks, int threads, size_t shared,
                                  void **parameters, attend_error *err);

/*
 * Offset of an array of `count` elements in a workspace; adds its bytes to *total, which
 * becomes SIZE_MAX on overflow.
 */
size_t attendi_cuda_take(size_t *total, int64_t count, size_t size);

/* `size` bytes of the caller's workspace, or of `workspace`, which grows. */
attend_status attendi_cuda_workspace(struct cuda_device *device, size_t size, void **to,
                                     attend_error *err);

/* Queues a kernel that takes a struct launch, for `items` work items. */
attend_status attendi_cuda_general(struct cuda_device *device, enum kernel_name kernel,
                                   struct launch *a, int64_t items, attend_error *err);

/* Work items of the general kernels: tiles of rows times chunks of columns of V. */
int64_t attendi_cuda_row_items(const struct launch *a);

attend_status attendi_cuda_wait(struct cuda_device *device, attend_error *err);

/* Makes the primary context current; leave pops it. */
attend_status attendi_cuda_enter(struct cuda_device *device, attend_error *err);
void attendi_cuda_leave(struct cuda_device *device);

#endif
