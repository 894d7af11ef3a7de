/* SPDX-License-Identifier: MIT */
#include "core/shard.h"

#include <stdio.h>

#include "base/base.h"
#include "base/error.h"
#include "core/tensor.h"

/*
 * Number of splits of the largest subtree that begins at `first` and lies before `end`.
 */
static int64_t subtree_splits(int64_t first, int64_t end)
{
    int64_t splits = 1;

    while (2 * splits <= end - first && first % (2 * splits) == 0)
        splits *= 2;
    return splits;
}

int64_t attend_partials_records(int64_t first_key, int64_t keys, int64_t reduce)
{
    if (first_key < 0 || first_key > POSITION_MAX || first_key % ATTEND_SPLIT_KEYS != 0 ||
        keys < 0 || keys > POSITION_MAX)
        return -1;
    int64_t split = first_key / ATTEND_SPLIT_KEYS, records = 0;
    const int64_t end = split + ceil_div_i64(keys, ATTEND_SPLIT_KEYS);
    if (!reduce)
        return end - split;
    for (; split < end; records++)
        split += subtree_splits(split, end);
    return records;
}

static struct key_range keys_of_splits(const struct shard *shard, int64_t split,
                                       int64_t splits)
{
    const int64_t lo = split * ATTEND_SPLIT_KEYS;

    return (struct key_range){lo, min_i64(lo + splits * ATTEND_SPLIT_KEYS, shard->keys)};
}

struct key_range attendi_record_keys(const struct shard *shard, int64_t index)
{
    const int64_t first = shard->first_key / ATTEND_SPLIT_KEYS;
    const int64_t end = first + ceil_div_i64(shard->keys, ATTEND_SPLIT_KEYS);
    int64_t split = first, splits = 1;

    if (!shard->reduce)
        return keys_of_splits(shard, index, 1);
    for (int64_t x = 0; x <= index; x++) {
        split += x == 0 ? 0 : splits;
        splits = subtree_splits(split, end);
    }
    return keys_of_splits(shard, split - first, splits);
}

static attend_status check_keys(const struct shard *s, const char *name,
                                attend_error *err)
{
    if (s->first_key < 0 || s->first_key > POSITION_MAX ||
        s->first_key % ATTEND_SPLIT_KEYS != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "%s.first_key (%lld) is not a multiple of %d in 0..%lld",
                            name, LL(s->first_key), ATTEND_SPLIT_KEYS, LL(POSITION_MAX));
    if (s->keys < 0 || s->keys > SIZE_LIMIT)
        return attendi_fail(err, ATTEND_EINVAL, "%s.keys (%lld) is outside 0..%lld", name,
                            LL(s->keys), LL(SIZE_LIMIT));
    if (s->all_keys < 0 || s->all_keys > POSITION_MAX ||
        (s->keys > 0 && s->all_keys < s->first_key + s->keys))
        return attendi_fail(err, ATTEND_EINVAL,
                            "%s.all_keys (%lld) is below first_key + keys (%lld), or too "
                            "large",
                            name, LL(s->all_keys), LL(s->first_key + s->keys));
    if (s->keys % ATTEND_SPLIT_KEYS != 0 && s->first_key + s->keys != s->all_keys)
        return attendi_fail(err, ATTEND_EINVAL,
                            "%s.keys (%lld) is not a multiple of %d, and the shard does "
                            "not end at all_keys (%lld)",
                            name, LL(s->keys), ATTEND_SPLIT_KEYS, LL(s->all_keys));
    return ATTEND_OK;
}

attend_status attendi_shard_init(struct shard *shard, const char *name,
                                 const attend_partials *partials, attend_error *err)
{
    if (partials->struct_size != sizeof *partials)
        return attendi_fail(err, ATTEND_EINVAL, "%s.struct_size (%zu) must be %zu", name,
                            partials->struct_size, sizeof *partials);
    if (partials->reduce != 0 && partials->reduce != 1)
        return attendi_fail(err, ATTEND_EINVAL, "%s.reduce (%lld) is neither 0 nor 1",
                            name, LL(partials->reduce));
    *shard = (struct shard){.first_key = partials->first_key,
                            .keys = partials->keys,
                            .all_keys = partials->all_keys,
                            .reduce = partials->reduce != 0};
    if (shard->all_keys == 0 && shard->first_key >= 0 && shard->keys >= 0 &&
        shard->first_key <= POSITION_MAX && shard->keys <= POSITION_MAX)
        shard->all_keys = shard->first_key + shard->keys;
    TRY(check_keys(shard, name, err));
    shard->records =
        attend_partials_records(shard->first_key, shard->keys, shard->reduce);
    return ATTEND_OK;
}

attend_status attendi_records_check(const struct shard *shard, const char *name,
                                    const attend_tensor *data, const int64_t out[4],
                                    attend_dtype dtype, attend_error *err)
{
    int64_t want[4] = {out[0], out[1], out[2], 0};
    char tensor[48];

    if (shard->records == 0)
        return ATTEND_OK;
    snprintf(tensor, sizeof tensor, "%s.data", name);
    if (__builtin_mul_overflow(shard->records, out[3] + 2, &want[3]))
        return attendi_fail(err, ATTEND_EINVAL, "%s: %lld records of %lld are too much",
                            name, LL(shard->records), LL(out[3] + 2));
    TRY(attendi_tensor_check(tensor, data, want, err));
    TRY(attendi_dtype_check(tensor, data->dtype, dtype, err));
    if (data->stride[3] != 1 && want[3] > 1)
        return attendi_fail(err, ATTEND_EINVAL, "%s.stride[3] (%lld) must be 1", tensor,
                            LL(data->stride[3]));
    return ATTEND_OK;
}
