/* SPDX-License-Identifier: MIT */
/*
 * The seam between the problem and whoever computes it.  The kernels of one element type
 * are one constant table, with the tile sizes they were made for; a kernel set has one
 * for each element type that it computes in.
 */
#ifndef ATTEND_CPU_KERNELS_H
#define ATTEND_CPU_KERNELS_H

#include <stdbool.h>

#include "core/problem.h"
#include "core/inspect_request.h"
#include "cpu/dispatch/tiling.h"

struct merge_run;

struct kernels {
    /* Query rows of a full tile, and the tiles of an item at most. */
    int64_t tile_rows;
    int tiles_max;
    /*
     * Keys of a split, which can be computed apart and combined, and of a block, of which
     * a split is a multiple; 0: a row is one piece.
     */
    int64_t split_keys, block_keys;
    /* Bytes of scratch that `forward` and `finish` use for an item of so many rows. */
    size_t (*scratch_size)(const struct problem *p, int64_t rows);
    /* Bytes that an item of one split leaves for `finish`. */
    size_t (*partial_size)(const struct problem *p, int64_t rows);
    /* One item of work; scratch at ATTENDI_ALIGN. */
    void (*forward)(const struct problem *p, const struct work_item *item, void *scratch);
    /*
     * Combines `count` partials of the rows of `item`, which lie one after another and
     * are overwritten, and ends the rows or leaves the record.  Partial x begins at split
     * start[x] of the sequence, or x where start is NULL.
     */
    void (*finish)(const struct problem *p, const struct work_item *item, void *partials,
                   const int64_t *start, int64_t count, void *scratch);
    /* An item of the inspection pass, with scratch of its own. */
    size_t (*inspect_scratch)(const struct problem *p);
    void (*inspect)(const struct problem *p, const struct inspect_item *item,
                    void *scratch);
    /*
     * Of f64: columns of a row of cpu/merge/merge_rows.h; and exp(x) of numbers that are
     * not positive, their count a multiple of MERGE_ROWS, within 2 ulp.  The same bits in
     * every set; NULL in the reference.
     */
    void (*merge)(const struct merge_run *run, double *sums);
    void (*merge_exp)(double *x, int64_t count);
    /* Of f32 and bf16, for tests. */
    void (*exp2)(const float *x, float *y, int64_t n);
};

struct kernel_set {
    const char *isa;
    unsigned needs; /* bits of cpu/dispatch/cpu_features.h */
    /* NULL: no kernels of this type; those of f32 also widen f16 and bf16. */
    const struct kernels *f64, *f32, *bf16;
    const struct kernel_set *fallback; /* for what it does not support; NULL: all is */
};

#endif
