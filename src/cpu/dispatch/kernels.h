/* SPDX-License-Identifier: MIT */
/*
 * The interface of the kernels.  The kernels of one element type are one constant table
 * with their tile sizes; a kernel set has a table for each element type that it computes
 * in.
 */
#ifndef ATTEND_CPU_KERNELS_H
#define ATTEND_CPU_KERNELS_H

#include <stdbool.h>

#include "core/problem.h"
#include "core/inspect_request.h"
#include "cpu/dispatch/tiling.h"

struct merge_run;

struct kernels {
    /* Query rows of a full tile, and maximum number of tiles of an item. */
    int64_t tile_rows;
    int tiles_max;
    /*
     * Keys of a split, which is computed independently and combined, and of a block; a
     * split is a multiple of it. 0: rows are not split.
     */
    int64_t split_keys, block_keys;
    /* Bytes of scratch of `forward` and `finish` for an item of `rows` rows. */
    size_t (*scratch_size)(const struct problem *p, int64_t rows);
    /* Bytes of the partial of an item of one split. */
    size_t (*partial_size)(const struct problem *p, int64_t rows);
    /* Computes one work item; scratch is aligned to ATTENDI_ALIGN. */
    void (*forward)(const struct problem *p, const struct work_item *item, void *scratch);
    /*
     * Combines `count` consecutive partials of the rows of `item`, which are overwritten,
     * and writes O and LSE or the record.  Partial x begins at split start[x] of the
     * sequence, or x where start is NULL.
     */
    void (*finish)(const struct problem *p, const struct work_item *item, void *partials,
                   const int64_t *start, int64_t count, void *scratch);
    /* An item of the inspection pass, with scratch of its own. */
    size_t (*inspect_scratch)(const struct problem *p);
    void (*inspect)(const struct problem *p, const struct inspect_item *item,
                    void *scratch);
    /*
     * For f64: columns of a row of cpu/merge/merge_rows.h; and exp(x) for x <= 0, `count`
     * a multiple of MERGE_ROWS, within 2 ulp.  The same bits in every set; NULL in the
     * reference.
     */
    void (*merge)(const struct merge_run *run, double *sums);
    void (*merge_exp)(double *x, int64_t count);
    /* For f32 and bf16, for tests. */
    void (*exp2)(const float *x, float *y, int64_t n);
};

struct kernel_set {
    const char *isa;
    unsigned needs; /* bits of cpu/dispatch/cpu_features.h */
    /* NULL: no kernels of this type; those of f32 also widen f16 and bf16. */
    const struct kernels *f64, *f32, *bf16;
    const struct kernel_set *fallback; /* for problems that the set does not support;
                                          NULL: none */
};

#endif
