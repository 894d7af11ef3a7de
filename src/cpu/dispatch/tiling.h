/* SPDX-License-Identifier: MIT */
/*
 * Work cut into items.  The nq * group query rows that read one key/value head form
 * one list, row r being query r / group of head hk * group + r % group: rows that share
 * keys share an item, and their positions stay close together.  An item is some rows
 * of a list with all keys, with those of a record, or with one split.  How the work is
 * cut changes no bit of the result.
 */
#ifndef ATTEND_CPU_TILING_H
#define ATTEND_CPU_TILING_H

#include <stdbool.h>

#include "core/problem.h"

struct work_item {
    int64_t b, hk;         /* batch and key/value head */
    int64_t row, rows;     /* rows row .. row + rows - 1 of the list */
    struct key_range keys; /* the keys of this item */
    /* Where rows of an item leave (m, l, acc): here, or in a record of the shard. */
    void *partial;  /* NULL: not here */
    int64_t record; /* of problem.shard, if there is one */
};

struct tiling {
    int64_t hkv, nk, rows; /* key/value heads, keys; rows of the list of each */
    int64_t item_rows, items_per_head;
    int64_t least_rows;         /* items shrink to it along the list, if it is less */
    const struct shard *shard;  /* NULL: none */
    bool gathers;               /* splits are combined to rows, or to records */
    int64_t split_keys, splits; /* items of the same rows: splits, or records, or 1 */
    int64_t count;              /* items in all, the splits of the same rows together */
};

/* split_keys 0: every item has all keys, or those of a record. */
struct tiling attendi_tiling(const struct problem *p, int64_t item_rows,
                             int64_t split_keys);
/*
 * Lets items of whole rows shrink along the list, halved down to least_rows, so that
 * workers end at about the same time; item_rows is least_rows times a power of 2.
 */
void attendi_tiling_shrink(const struct problem *p, struct tiling *t, int64_t least_rows);
/* Items of a head that have item_rows rows, which are its first. */
int64_t attendi_full_items(const struct tiling *t);
/* `partial` is left NULL; `record` is that of an item which is one. */
struct work_item attendi_work_item(const struct tiling *t, int64_t index);

/* Those of `keys` that lie between what queries first .. last see, mask aside. */
struct key_range attendi_keys_seen(const struct problem *p, int64_t b, int64_t first,
                                   int64_t last, struct key_range keys);

/* The keys of the item that some row of it sees, mask aside. */
int64_t attendi_item_keys(const struct problem *p, const struct work_item *item);

#endif
