/* SPDX-License-Identifier: MIT */
/* One validated attention problem, which a backend computes. */
#ifndef ATTEND_CORE_PROBLEM_H
#define ATTEND_CORE_PROBLEM_H

#include <stdbool.h>

#include "attend/attend.h"
#include "base/key_range.h"
#include "core/row_stats.h"

struct inspection;
struct shard;

struct problem {
    int64_t nb, hq, hkv, group, nq, nk, d, dv; /* group = hq / hkv */
    /*
     * Keys 0 .. nk - 1 are first_key .. of a sequence of all_keys keys: 0 and nk unless
     * the problem is a shard.  Positions and key ranges count from key 0 of the shard.
     */
    int64_t first_key, all_keys;
    attend_dtype dtype; /* of q, k and v; f32 if theirs differ */
    double scale, softcap;
    attend_causal causal;
    const int64_t *causal_offset;
    int64_t first_query;               /* index of query 0 in the sequence */
    int64_t window_left, window_right; /* -1: open; at most WINDOW_MAX */
    const int64_t *key_lengths;        /* of the whole sequence */
    attend_view q, k, v;
    attend_view mask, bias; /* broadcast axes have full size and stride 0 */
    attend_tensor out, lse, weights;
    const double *alibi, *sinks;
    bool fast;                 /* ATTEND_ORDER_FAST */
    int64_t split_keys;        /* keys of a split; depends on the kernel set */
    const struct shard *shard; /* NULL: O and LSE are computed; else records of the
                                  shard */
    attend_tensor records;
    struct stats stats;
    struct inspection *inspection; /* NULL: a forward pass; else v, out, lse are empty */
};

/* Offsets stay within it: the sum with WINDOW_MAX does not overflow. */
#define POSITION_MAX ((int64_t)1 << 60)

/* The only place that validates.  `rule` may be NULL. */
attend_status attendi_problem_init(struct problem *p, const attend_rule *rule,
                                   const attend_io *io, attend_error *err);
/* The same for a problem without values and outputs. */
attend_status attendi_problem_init_keys(struct problem *p, const attend_rule *rule,
                                        const attend_view *q, const attend_view *k,
                                        attend_error *err);

/*
 * Validates the arrays of the rule and the requests, in host memory: offsets, lengths,
 * slopes, sinks, classes, probes.  All other checks use shapes, numbers and pointers
 * only.
 */
attend_status attendi_problem_check_host(const struct problem *p, attend_error *err);

/*
 * Problems for partials of a shard, which is filled in, and for attend_combine(): f32 or
 * f64 records of shards of `all_keys` keys, without inputs, mask and bias; dtype is
 * inferred from `out`.
 */
attend_status attendi_problem_init_shard(struct problem *p, struct shard *shard,
                                         const attend_rule *rule, const attend_io *io,
                                         const attend_partials *partials,
                                         attend_error *err);
attend_status attendi_problem_init_rows(struct problem *p, const attend_rule *rule,
                                        attend_dtype records, int64_t all_keys,
                                        const attend_tensor *out,
                                        const attend_tensor *lse, attend_error *err);
/*
 * A problem for attend_reduce(): records of a shard from other records.  `data` has been
 * validated.
 */
void attendi_problem_init_records(struct problem *p, const struct shard *shard,
                                  const attend_tensor *data, attend_dtype dtype);

/* The position of query i of batch b among the keys. */
static inline DEVICE_TOO int64_t attendi_position(const struct problem *p, int64_t b,
                                                  int64_t i)
{
    const int64_t first = i + p->first_query - p->first_key;

    switch (p->causal) {
    case ATTEND_CAUSAL_NONE:
    case ATTEND_CAUSAL_TOP_LEFT:
        break;
    case ATTEND_CAUSAL_BOTTOM_RIGHT:
        return first + (p->all_keys - p->nq);
    case ATTEND_CAUSAL_OFFSET:
        return first + p->causal_offset[b];
    }
    return first;
}

struct key_range {
    int64_t lo, hi; /* lo <= j < hi; empty if hi <= lo */
};

/*
 * The keys that query i sees by causal rule, window and key length, relative to key 0 of
 * the shard: may start before 0 and end past nk. hi <= lo: none.
 */
static inline DEVICE_TOO struct key_range attendi_sequence_bounds(const struct problem *p,
                                                                  int64_t b, int64_t i)
{
    const int64_t position = attendi_position(p, b, i);
    int64_t lo = 0, hi = p->key_lengths ? p->key_lengths[b] : p->all_keys;

    lo -= p->first_key;
    hi -= p->first_key;
    ATTENDI_CLIP_KEYS(*p, position, lo, hi);
    return (struct key_range){lo, hi};
}

/* The same, clipped to the problem's keys.  Both bounds are non-decreasing in i. */
static inline DEVICE_TOO struct key_range attendi_key_bounds(const struct problem *p,
                                                             int64_t b, int64_t i)
{
    const struct key_range keys = attendi_sequence_bounds(p, b, i);

    return (struct key_range){max_i64(keys.lo, 0), min_i64(keys.hi, p->nk)};
}

static inline DEVICE_TOO struct key_range attendi_key_range(const struct problem *p,
                                                            int64_t b, int64_t i)
{
    const struct key_range keys = attendi_key_bounds(p, b, i);

    return keys.lo < keys.hi ? keys : (struct key_range){0, 0};
}

/*
 * The key from which ALiBi distances of a row are counted: of those that the row sees by
 * causal rule, window and key length, the last for a positive slope, the first for a
 * negative one.  Softmax is invariant under a shift of a row, and distances are small
 * where weights are large.  The anchor depends neither on the mask nor on the shard,
 * outside of which it may lie.
 */
static inline DEVICE_TOO int64_t attendi_anchor(const struct problem *p, int64_t b,
                                                int64_t h, int64_t i)
{
    const struct key_range keys = attendi_sequence_bounds(p, b, i);

    return p->alibi[h] < 0 ? keys.lo : keys.hi - 1;
}

/* alibi[h] * (anchor - position): added to anchor-relative scores to get the scores. */
static inline DEVICE_TOO double attendi_alibi_shift(const struct problem *p, int64_t b,
                                                    int64_t h, int64_t i)
{
    return p->alibi ? p->alibi[h] *
                          (double)(attendi_anchor(p, b, h, i) - attendi_position(p, b, i))
                    : 0;
}

#endif
