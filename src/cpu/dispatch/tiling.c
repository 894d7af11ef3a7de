/* SPDX-License-Identifier: MIT */
#include "cpu/dispatch/tiling.h"

#include "base/base.h"
#include "core/shard.h"

struct tiling attendi_tiling(const struct problem *p, int64_t item_rows,
                             int64_t split_keys)
{
    struct tiling t = {.hkv = p->hkv,
                       .nk = p->nk,
                       .rows = p->nq * p->group,
                       .item_rows = item_rows,
                       .least_rows = item_rows,
                       .shard = p->shard,
                       .gathers = split_keys && p->nk > split_keys,
                       .split_keys = split_keys ? split_keys : p->nk,
                       .splits = 1};

    if (t.gathers)
        t.splits = ceil_div_i64(p->nk, split_keys);
    else if (p->shard)
        t.splits = p->shard->records;
    t.items_per_head = ceil_div_i64(t.rows, item_rows);
    t.count = p->nb * p->hkv * t.items_per_head * t.splits;
    return t;
}

/*
 * Number of items of `size` rows among `left` rows; some rows remain for smaller items.
 */
static int64_t items_of_size(const struct tiling *t, int64_t size, int64_t left)
{
    return size > t->least_rows ? max_i64(0, left / size - 1) : ceil_div_i64(left, size);
}

int64_t attendi_full_items(const struct tiling *t)
{
    return items_of_size(t, t->item_rows, t->rows);
}

void attendi_tiling_shrink(const struct problem *p, struct tiling *t, int64_t least_rows)
{
    int64_t row = 0;

    t->least_rows = least_rows;
    t->items_per_head = 0;
    for (int64_t size = t->item_rows; size >= least_rows; size /= 2) {
        const int64_t items = items_of_size(t, size, t->rows - row);

        t->items_per_head += items;
        row += items * size;
    }
    t->count = p->nb * p->hkv * t->items_per_head * t->splits;
}

struct work_item attendi_work_item(const struct tiling *t, int64_t index)
{
    const int64_t split = index % t->splits, item = index / t->splits;
    const int64_t head = item / t->items_per_head, lo = split * t->split_keys;
    const struct key_range keys =
        t->shard && !t->gathers
            ? attendi_record_keys(t->shard, split)
            : (struct key_range){lo, min_i64(lo + t->split_keys, t->nk)};
    int64_t row = 0, size = t->item_rows, x = item % t->items_per_head;

    for (int64_t items; x >= (items = items_of_size(t, size, t->rows - row)); size /= 2) {
        row += items * size;
        x -= items;
    }
    row += x * size;

    return (struct work_item){.b = head / t->hkv,
                              .hk = head % t->hkv,
                              .row = row,
                              .rows = min_i64(size, t->rows - row),
                              .keys = keys,
                              .record = split};
}

struct key_range attendi_keys_seen(const struct problem *p, int64_t b, int64_t first,
                                   int64_t last, struct key_range keys)
{
    const int64_t lo = max_i64(keys.lo, attendi_key_bounds(p, b, first).lo);
    const int64_t hi = min_i64(keys.hi, attendi_key_bounds(p, b, last).hi);

    return (struct key_range){lo, max_i64(lo, hi)};
}

int64_t attendi_item_keys(const struct problem *p, const struct work_item *item)
{
    const struct key_range seen =
        attendi_keys_seen(p, item->b, item->row / p->group,
                          (item->row + item->rows - 1) / p->group, item->keys);

    return seen.hi - seen.lo;
}
