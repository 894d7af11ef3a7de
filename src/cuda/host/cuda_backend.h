/* SPDX-License-Identifier: MIT */
/* The CUDA backend: results of several passes; core/backend.h has the contracts. */
#ifndef ATTEND_CUDA_BACKEND_H
#define ATTEND_CUDA_BACKEND_H

#include "core/backend.h"
#include "cuda/host/device.h"

static inline struct cuda_device *device_of(const attend_context *ctx)
{
    return ctx->device;
}

/* Records in host memory, and in device memory. */
attend_status attendi_cuda_combine_host(attend_context *ctx, struct combination *c,
                                        attend_error *err);
attend_status attendi_cuda_combine(attend_context *ctx, struct combination *c,
                                   attend_error *err);

/* Parts and sums in device memory. */
attend_status attendi_cuda_merge(attend_context *ctx, const struct merge *m,
                                 attend_error *err);
attend_status attendi_cuda_merge_stats(attend_context *ctx, const struct stats_merge *m,
                                       attend_error *err);

#endif
