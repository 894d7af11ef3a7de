/* SPDX-License-Identifier: MIT */
/*
 * Work items.  The nq * group query rows that read one key/value head form one list,
 * where row r is query r / group of head hk * group + r % group: rows that share keys
 * share an item, and their positions are close.  An item is a range of rows of a list
 * with all keys, the keys of a record, or those of one split.  The tiling changes no bit
 * of the result.
 */
#ifndef ATTEND_CPU_TILING_H
#define ATTEND_CPU_TILING_H

#include <stdbool.h>

#include "core/problem.h"

struct work_item {
    int64_t b, hk;         /* batch and key/value head */
    int64_t row, rows;     /* rows row .. row + rows - 1 of the list */
    struct key_range keys; /* the keys of this item */
    /* Destination of (m, l, acc) of an item's rows: here, or in a record of the shard. */
    void *partial;  /* NULL: not here */
    int64_t record; /* index in problem.shard, if set */
};

struct tiling {
    int64_t hkv, nk, rows; /* key/value heads, keys; rows of a list */
    int64_t item_rows, items_per_head;
    int64_t least_rows;         /* if less: items shrink along the list down to it */
    const struct shard *shard;  /* NULL: none */
    bool gathers;               /* an item is one split, to be combined with others */
    int64_t split_keys, splits; /* items of the same rows: splits, records, or 1 */
    int64_t count;              /* number of items; items of the same rows are
                                   consecutive */
};

/* split_keys 0: an item has all keys, or those of a record. */
struct tiling attendi_tiling(const struct problem *p, int64_t item_rows,
                             int64_t split_keys);
/*
 * Makes items shrink along the list, by halves down to least_rows, so that workers finish
 * at about the same time; item_rows is least_rows times a power of 2.
 */
void attendi_tiling_shrink(const struct problem *p, struct tiling *t, int64_t least_rows);
/* Number of items of a head with item_rows rows; they come first. */
int64_t attendi_full_items(const struct tiling *t);
/* Item `index`, without `partial`; `record` is set for items that are records. */
struct work_item attendi_work_item(const struct tiling *t, int64_t index);

/*
 * The range of `keys` that queries first .. last of the batch see, apart from the mask.
 */
struct key_range attendi_keys_seen(const struct problem *p, int64_t b, int64_t first,
                                   int64_t last, struct key_range keys);

/* Number of keys of the item that some of its rows see, apart from the mask. */
int64_t attendi_item_keys(const struct problem *p, const struct work_item *item);

#endif
