/* SPDX-License-Identifier: MIT */
/*
 * Work cut by shape alone.  The nq * group query rows that read one key/value
 * head form one list, row r being query r / group of head hk * group + r % group:
 * rows that share keys share a tile, and their positions stay close together.
 */
#ifndef ATTEND_CORE_TILING_H
#define ATTEND_CORE_TILING_H

#include "core/problem.h"

struct tile {
    int64_t b, hk;     /* batch and key/value head */
    int64_t row, rows; /* rows row .. row + rows - 1 of the list */
};

struct tiling {
    int64_t hkv, rows; /* key/value heads; rows of the list of each */
    int64_t tile_rows, tiles_per_head, count;
};

struct tiling attendi_tiling(const struct problem *p, int64_t tile_rows);
struct tile attendi_tile(const struct tiling *t, int64_t index);

#endif
