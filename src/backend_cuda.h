/* SPDX-License-Identifier: MIT */
/* The GPU of a context, and what it computes beside struct backend: combine, merge. */
#ifndef ATTEND_BACKEND_CUDA_H
#define ATTEND_BACKEND_CUDA_H

#include <stdbool.h>

#include "attend/attend.h"
#include "attend/stats.h"
#include "core/problem.h"

/* Opens options->device for the context. */
attend_status attendi_device_attach(attend_context *ctx, const attend_options *options,
                                    attend_error *err);
/* Does nothing if the context has no device. */
void attendi_device_detach(attend_context *ctx);

/*
 * Combines `count` records per row and stores O and LSE of `p`, or p->records for a
 * shard. `records` is dense; record x starts at split start[x].  All in host memory.
 */
attend_status attendi_cuda_combine(attend_context *ctx, struct problem *p,
                                   const attend_tensor *records, const int64_t *start,
                                   int64_t count, attend_error *err);

/* The same for records of `dtype` in device memory, which are gathered from parts. */
struct part_records {
    attend_tensor from; /* data NULL: one record of no key */
    int64_t at, count;  /* index of the first record, and how many */
};
attend_status attendi_cuda_combine_parts(attend_context *ctx, struct problem *p,
                                         attend_dtype dtype,
                                         const struct part_records *parts,
                                         int64_t part_count, const int64_t *start,
                                         int64_t count, attend_error *err);

/* attend_merge_with for tensors in device memory; arguments are valid. */
attend_status attendi_cuda_merge(attend_context *ctx, const attend_part *parts,
                                 int64_t count, const attend_tensor *out,
                                 const attend_tensor *lse, int64_t rows,
                                 attend_error *err);

/*
 * attend_stats_merge, or attend_stats_reduce if `ends` is false, for sums in device
 * memory; arguments are valid.
 */
attend_status attendi_cuda_merge_stats(attend_context *ctx, struct problem *p, bool ends,
                                       const attend_stats_part *parts, int64_t count,
                                       attend_error *err);

#endif
