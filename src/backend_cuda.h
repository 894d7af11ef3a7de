/* SPDX-License-Identifier: MIT */
/* The device of a context; backend.h has what computes on it. */
#ifndef ATTEND_BACKEND_CUDA_H
#define ATTEND_BACKEND_CUDA_H

#include <stdbool.h>

#include "attend/attend.h"
#include "attend/stats.h"
#include "core/problem.h"

/* Opens options->device for the context, or says why not. */
attend_status attendi_device_attach(attend_context *ctx, const attend_options *options,
                                    attend_error *err);
/* Does nothing without one. */
void attendi_device_detach(attend_context *ctx);

/*
 * Ends the rows of `p` from `count` records of each, dense in `records`, which begin with
 * splits start[]; of a shard, writes p->records.  All in host memory.
 */
attend_status attendi_cuda_combine(attend_context *ctx, struct problem *p,
                                   const attend_tensor *records, const int64_t *start,
                                   int64_t count, attend_error *err);

/* The same of records of `dtype` in device memory: those of parts, each put at its place.
 */
struct part_records {
    attend_tensor from; /* data NULL: one record of no key */
    int64_t at, count;  /* records */
};
attend_status attendi_cuda_combine_parts(attend_context *ctx, struct problem *p,
                                         attend_dtype dtype,
                                         const struct part_records *parts,
                                         int64_t part_count, const int64_t *start,
                                         int64_t count, attend_error *err);

/* attend_merge_with for tensors in device memory, all of them checked. */
attend_status attendi_cuda_merge(attend_context *ctx, const attend_part *parts,
                                 int64_t count, const attend_tensor *out,
                                 const attend_tensor *lse, int64_t rows,
                                 attend_error *err);

/*
 * attend_stats_merge and, without `ends`, attend_stats_reduce for sums in device memory,
 * all of it checked.
 */
attend_status attendi_cuda_merge_stats(attend_context *ctx, struct problem *p, bool ends,
                                       const attend_stats_part *parts, int64_t count,
                                       attend_error *err);

#endif
