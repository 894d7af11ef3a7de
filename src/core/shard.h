/* SPDX-License-Identifier: MIT */
/*
 * Shards of a sequence of keys, and the records of their partials: one for each split of
 * ATTEND_SPLIT_KEYS keys, or one for each of the largest subtrees that lie in the shard.
 * A subtree is 2^x splits that begin at a multiple of 2^x.
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
 * Validates `partials` and fills *shard, with all_keys resolved; `name` is for messages.
 * attendi_records_check() validates the data.
 */
attend_status attendi_shard_init(struct shard *shard, const char *name,
                                 const attend_partials *partials, attend_error *err);
/*
 * EINVAL unless `data` is (nb, hq, nq, records * (dv + 2)) of `dtype` with stride[3] 1;
 * ignored for a shard without records.
 */
attend_status attendi_records_check(const struct shard *shard, const char *name,
                                    const attend_tensor *data, const int64_t out[4],
                                    attend_dtype dtype, attend_error *err);

/* Keys of a record, counted from first_key. */
struct key_range attendi_record_keys(const struct shard *shard, int64_t index);

/* Index, in the whole sequence, of the first split of a record. */
static inline int64_t attendi_record_start(const struct shard *shard, int64_t index)
{
    return (shard->first_key + attendi_record_keys(shard, index).lo) / ATTEND_SPLIT_KEYS;
}

#endif
