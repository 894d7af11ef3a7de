/* SPDX-License-Identifier: MIT */
/*
 * The validated arguments of attend_combine() and attend_reduce(), and the order of
 * records.  Records of shards combine to O and LSE, or to the records of a larger shard.
 */
#ifndef ATTEND_CORE_COMBINATION_H
#define ATTEND_CORE_COMBINATION_H

#include "core/context.h"
#include "core/problem.h"
#include "core/shard.h"

/* Record `record` of part `part`; part -1: one record of no keys. */
struct record_place {
    int64_t part, record;
};

struct combination {
    struct problem problem; /* its shard is `to` for attend_reduce() */
    const attend_partials *parts;
    int64_t part_count;
    struct shard to;
    attend_dtype dtype; /* of the records: f32 or f64 */
    int64_t records;    /* in all parts; at least 1 */
    /*
     * [records], set by attendi_order_records(): the first split of each record,
     * ascending.
     */
    int64_t *start;
    struct record_place *place;
};

/* Neither reads records. c->problem has no rows if there is nothing to write. */
attend_status attendi_combine_init(struct combination *c, const attend_rule *rule,
                                   const attend_partials *parts, int64_t count,
                                   const attend_tensor *out, const attend_tensor *lse,
                                   attend_error *err);
attend_status attendi_reduce_init(struct combination *c, const attend_partials *parts,
                                  int64_t count, const attend_partials *to,
                                  attend_error *err);

/*
 * Allocates and fills c->start and c->place in the context's scratch, with `size` more
 * bytes for the caller (SIZE_MAX: too many).  EINVAL if shards overlap.
 */
attend_status attendi_order_records(struct combination *c, attend_context *ctx,
                                    size_t size, void **memory, attend_error *err);

/* Bytes of a record. */
size_t attendi_record_size(const struct combination *c);

/* A record of no keys: -inf and zeros. */
void attendi_empty_record(const struct combination *c, void *to);

/* Copies the records of a row in host memory; `step` bytes from one copy to the next. */
void attendi_copy_records(const struct combination *c, int64_t b, int64_t h, int64_t i,
                          void *to, size_t step);

/* Number of records from `first` on that begin before split `end`. */
int64_t attendi_records_before(const struct combination *c, int64_t first, int64_t end);

#endif
