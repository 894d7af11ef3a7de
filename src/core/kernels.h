/* SPDX-License-Identifier: MIT */
/*
 * The seam between the problem and whoever computes it.  A kernel set is one
 * constant table: kernels and the tile sizes they were made for.
 */
#ifndef ATTEND_CORE_KERNELS_H
#define ATTEND_CORE_KERNELS_H

#include <stdbool.h>

#include "core/problem.h"
#include "core/second_request.h"
#include "core/tiling.h"

struct kernels {
    const char *isa;
    unsigned needs; /* bits of cpu/cpu_features.h */
    /* Problems that it does not take are left to `base`; NULL: it takes all. */
    bool (*takes)(const struct problem *p);
    const struct kernels *base;
    /* Query rows of a full tile, and the tiles of an item at most, by dtype alone. */
    int64_t (*tile_rows)(attend_dtype dtype);
    int (*tiles_max)(attend_dtype dtype);
    /* Keys that can be computed apart and joined; 0: a row is one piece. */
    int64_t split_keys;
    /* Bytes of scratch that `forward` and `join` use for an item of so many rows. */
    size_t (*scratch_size)(const struct problem *p, int64_t rows);
    /* Bytes that an item of one split leaves for `join`. */
    size_t (*part_size)(const struct problem *p, int64_t rows);
    /* One item of work; scratch at ATTENDI_ALIGN. */
    void (*forward)(const struct problem *p, const struct tile *t, void *scratch);
    /* Ends the rows of `t` from `count` parts of part_size(), in the order of keys. */
    void (*join)(const struct problem *p, const struct tile *t, const void *parts,
                 int64_t count, void *scratch);
    /* An item of the second pass, with scratch of its own; NULL in a set that takes none.
     */
    size_t (*second_scratch)(const struct problem *p);
    void (*second)(const struct problem *p, const struct second_item *item,
                   void *scratch);
    void (*exp2)(const float *x, float *y, int64_t n);
};

#endif
