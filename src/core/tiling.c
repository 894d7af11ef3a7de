/* SPDX-License-Identifier: MIT */
#include "core/tiling.h"

#include "base/base.h"

struct tiling attendi_tiling(const struct problem *p, int64_t tile_rows)
{
    struct tiling t = {.hkv = p->hkv, .rows = p->nq * p->group, .tile_rows = tile_rows};

    t.tiles_per_head = ceil_div_i64(t.rows, tile_rows);
    t.count = p->nb * p->hkv * t.tiles_per_head;
    return t;
}

struct tile attendi_tile(const struct tiling *t, int64_t index)
{
    const int64_t head = index / t->tiles_per_head;
    const int64_t row = index % t->tiles_per_head * t->tile_rows;

    return (struct tile){.b = head / t->hkv,
                         .hk = head % t->hkv,
                         .row = row,
                         .rows = min_i64(t->tile_rows, t->rows - row)};
}
