/* SPDX-License-Identifier: MIT */
/* Raw sums on a device, and the statistics computed from them. */
#ifndef ATTEND_CUDA_SUMS_H
#define ATTEND_CUDA_SUMS_H

#include "attend/stats.h"
#include "cuda/host/device.h"

/* Reduces a request to its raw sums. */
void attendi_cuda_keep_raw(struct stats *stats);

/* Converts positions in a->sums from those of the shard to those of the sequence. */
attend_status attendi_cuda_sums_move(struct cuda_device *d, const struct launch *a,
                                     attend_error *err);

/* Stores the statistics and summaries that a->p.stats requests, from a->sums. */
attend_status attendi_cuda_sums_read(struct cuda_device *d, struct launch *a,
                                     attend_error *err);

/*
 * Adds the raw sums of `count` parts, which may be 0, and stores the statistics that
 * p->stats requests.
 */
attend_status attendi_cuda_sums_merge(struct cuda_device *d, struct problem *p,
                                      const attend_stats_part *parts, int64_t count,
                                      attend_error *err);

#endif
