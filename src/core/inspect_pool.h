/* SPDX-License-Identifier: MIT */
/*
 * The pooled map of one item of the inspection pass.  Queries are added in order, a group
 * at a time; rows of the map are summed in double and stored once complete.
 */
#ifndef ATTEND_CORE_INSPECT_POOL_H
#define ATTEND_CORE_INSPECT_POOL_H

#include "core/inspect_request.h"

struct inspect_pool {
    double *sums;               /* [rows][columns] */
    int64_t rows, row, columns; /* capacity; the first row held; columns of the item */
};

/* Bytes of the sums of an item whose queries are added `queries` at a time; 0: no map. */
size_t attendi_pool_size(const struct problem *p, int64_t queries);

void attendi_pool_begin(struct inspect_pool *pool, const struct problem *p,
                        const struct inspect_item *item, int64_t queries, void *memory);

/* Adds lanes[x], f32 or f64, of query i + x, to column `column` of the map. */
void attendi_pool_add(const struct inspect_pool *pool, const struct problem *p,
                      const struct inspect_item *item, int64_t i, int64_t queries,
                      int64_t column, const void *lanes, attend_dtype dtype);

/* Stores the rows that end before query `next`; queries before it have been added. */
void attendi_pool_pass(struct inspect_pool *pool, const struct problem *p,
                       const struct inspect_item *item, int64_t next);

/* Sums the parts of blocks that several items share, in the order of keys. */
void attendi_pool_join(const struct problem *p);

#endif
