/* SPDX-License-Identifier: MIT */
#include "core/tiling.h"

#include "base/base.h"

struct tiling attendi_tiling(const struct problem *p, int64_t item_rows,
                             int64_t split_keys)
{
    struct tiling t = {.hkv = p->hkv,
                       .nk = p->nk,
                       .rows = p->nq * p->group,
                       .item_rows = item_rows,
                       .split_keys = split_keys ? split_keys : p->nk,
                       .splits = 1};

    if (split_keys && p->nk > split_keys)
        t.splits = ceil_div_i64(p->nk, split_keys);
    t.items_per_head = ceil_div_i64(t.rows, item_rows);
    t.count = p->nb * p->hkv * t.items_per_head * t.splits;
    return t;
}

struct tile attendi_tile(const struct tiling *t, int64_t index)
{
    const int64_t split = index % t->splits, item = index / t->splits;
    const int64_t head = item / t->items_per_head;
    const int64_t row = item % t->items_per_head * t->item_rows;
    const int64_t lo = split * t->split_keys;

    return (struct tile){.b = head / t->hkv,
                         .hk = head % t->hkv,
                         .row = row,
                         .rows = min_i64(t->item_rows, t->rows - row),
                         .keys = {lo, min_i64(lo + t->split_keys, t->nk)}};
}

int64_t attendi_tile_keys(const struct problem *p, const struct tile *t)
{
    /* What a row sees begins and ends no earlier than for the row before it. */
    const struct key_range a = attendi_key_range(p, t->b, t->row / p->group);
    const struct key_range e =
        attendi_key_range(p, t->b, (t->row + t->rows - 1) / p->group);
    const int64_t lo = a.lo < a.hi ? a.lo : e.lo, hi = e.lo < e.hi ? e.hi : a.hi;

    return max_i64(0, min_i64(hi, t->keys.hi) - max_i64(lo, t->keys.lo));
}
