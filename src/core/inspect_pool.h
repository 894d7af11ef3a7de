/* SPDX-License-Identifier: MIT */
/*
 * The pooled map of an item of the inspection pass.  Queries come in order, some at a
 * time; the rows of the map that they meet are summed in double, and stored when they are
 * done.
 */
#ifndef ATTEND_CORE_INSPECT_POOL_H
#define ATTEND_CORE_INSPECT_POOL_H

#include "core/inspect_request.h"

struct inspect_pool {
    double *sums;               /* [rows][columns] */
    int64_t rows, row, columns; /* room; the map's row that comes first; item's columns */
};

/* Bytes of sums for an item whose queries come `queries` at a time; 0: no map wanted. */
size_t attendi_pool_size(const struct problem *p, int64_t queries);

void attendi_pool_begin(struct inspect_pool *pool, const struct problem *p,
                        const struct inspect_item *item, int64_t queries, void *memory);

/* Adds lanes[x], f32 or f64, of query i + x, to column `column` of the map. */
void attendi_pool_add(const struct inspect_pool *pool, const struct problem *p,
                      const struct inspect_item *item, int64_t i, int64_t queries,
                      int64_t column, const void *lanes, attend_dtype dtype);

/* All queries before `next` have been added: stores the rows that are done. */
void attendi_pool_pass(struct inspect_pool *pool, const struct problem *p,
                       const struct inspect_item *item, int64_t next);

/* Adds up the parts of blocks that several items have a share in, in order of keys. */
void attendi_pool_join(const struct problem *p);

#endif
