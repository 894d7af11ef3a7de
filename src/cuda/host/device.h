/* SPDX-License-Identifier: MIT */
/* A GPU that a context computes on: its driver, kernels, memory and stream. */
#ifndef ATTEND_CUDA_DEVICE_H
#define ATTEND_CUDA_DEVICE_H

#include <stdbool.h>

#include "base/memory.h"
#include "cuda/host/driver.h"
#include "cuda/host/kernel_names.h"
#include "cuda/launch.h"

/* Device memory that is kept from call to call. */
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
    bool hopper; /* sm_90: the kernels of sm90.cuh run */
    bool sm80;   /* in their place those of sm80.cuh */
    struct device_memory workspace, staging;
    struct device_memory control; /* zeros; kernels leave them so */
    void *lent;                   /* the caller's workspace; NULL: `workspace` */
    size_t lent_size;
};

/* `name` is "cuda" or "cuda:N".  EINVAL for another name, EUNSUPPORTED without one. */
attend_status attendi_cuda_open(struct cuda_device **device, const char *name,
                                const struct allocator *allocator, attend_error *err);
/* Waits for what is queued.  NULL is allowed. */
void attendi_cuda_close(struct cuda_device *device, const struct allocator *allocator);

/* The GPUs that are there, or why none is, in words. */
void attendi_cuda_describe(char *text, size_t size);

/*
 * At least `size` bytes of `memory`, what it held before lost; on failure `memory` is
 * empty.  Waits for the stream where it has to grow.
 */
attend_status attendi_cuda_reserve(struct cuda_device *device,
                                   struct device_memory *memory, size_t size,
                                   attend_error *err);

/* Queues `kernel` on `items` blocks of `threads`, as many of them as make sense. */
attend_status attendi_cuda_launch(struct cuda_device *device, enum kernel_name kernel,
                                  int64_t blocks, int threads, size_t shared,
                                  void **parameters, attend_error *err);

/* A part of a workspace of *total bytes, where it begins; SIZE_MAX: no one has so many.
 */
size_t attendi_cuda_take(size_t *total, int64_t count, size_t size);

/* `size` bytes of the caller's workspace, or of the device's own. */
attend_status attendi_cuda_workspace(struct cuda_device *device, size_t size, void **to,
                                     attend_error *err);

/* Queues a kernel that is given a struct launch, for `items` pieces of work. */
attend_status attendi_cuda_general(struct cuda_device *device, enum kernel_name kernel,
                                   struct launch *a, int64_t items, attend_error *err);

/* Pieces of work of the general kernels: rows by columns of V. */
int64_t attendi_cuda_row_items(const struct launch *a);

attend_status attendi_cuda_wait(struct cuda_device *device, attend_error *err);

/* The driver's current context is that of the device until it is left. */
attend_status attendi_cuda_enter(struct cuda_device *device, attend_error *err);
void attendi_cuda_leave(struct cuda_device *device);

#endif
