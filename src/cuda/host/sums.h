/* SPDX-License-Identifier: MIT */
/* Sums of rows on a device, and statistics that are read from them. */
#ifndef ATTEND_CUDA_SUMS_H
#define ATTEND_CUDA_SUMS_H

#include "attend/stats.h"
#include "cuda/host/device.h"

/* Of a request, only the raw sums are to be stored. */
void attendi_cuda_keep_raw(struct stats *stats);

/* The sums of a shard, a->sums, become those of the sequence. */
attend_status attendi_cuda_sums_move(struct cuda_device *d, const struct launch *a,
                                     attend_error *err);

/*
 * Adds up the sums of `count` parts, of 0 those of no keys, and stores what p->stats asks
 * for.
 */
attend_status attendi_cuda_sums_merge(struct cuda_device *d, struct problem *p,
                                      const attend_stats_part *parts, int64_t count,
                                      attend_error *err);

#endif
