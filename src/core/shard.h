/* SPDX-License-Identifier: MIT */
/*
 * Shards of a sequence of keys and the records that their partials are: one for each
 * split of ATTEND_SPLIT_KEYS keys, or one for each of the largest subtrees that lie in
 * the shard.  A subtree is 2^x splits that begin at a multiple of 2^x.
 */
#ifndef ATTEND_CORE_SHARD_H
#define ATTEND_CORE_SHARD_H

#include <stdbool.h>

#include "attend/attend.h"
#include "core/problem.h"

struct shard {
    int64_t first_key, keys, all_keys;
    bool reduce;
    int64_t records;
};

/*
 * The shard of `partials`, checked; all_keys is no longer 0.  `name` is for messages.
 * Its data is left to attendi_records_check().
 */
attend_status attendi_shard_init(struct shard *shard, const char *name,
                                 const attend_partials *partials, attend_error *err);
/*
 * Whether `data` is (nb, hq, nq, records * (dv + 2)), of `dtype`, its last axis dense;
 * without records it may be anything.
 */
attend_status attendi_records_check(const struct shard *shard, const char *name,
                                    const attend_tensor *data, const int64_t out[4],
                                    attend_dtype dtype, attend_error *err);

/* Keys of a record, counted from first_key. */
struct key_range attendi_record_keys(const struct shard *shard, int64_t index);

/* The split in the whole sequence that a record begins with. */
static inline int64_t attendi_record_start(const struct shard *shard, int64_t index)
{
    return (shard->first_key + attendi_record_keys(shard, index).lo) / ATTEND_SPLIT_KEYS;
}

#endif
