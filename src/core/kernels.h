/* SPDX-License-Identifier: MIT */
/*
 * The seam between the problem and whoever computes it.  A kernel set is one
 * constant table: kernels and the tile sizes they were made for.
 */
#ifndef ATTEND_CORE_KERNELS_H
#define ATTEND_CORE_KERNELS_H

#include "core/problem.h"
#include "core/tiling.h"

struct kernels {
    const char *isa;
    unsigned needs; /* bits of cpu/cpu_features.h */
    /* Query rows of a full tile, by dtype alone. */
    int64_t (*tile_rows)(attend_dtype dtype);
    /* Bytes of scratch that one call of `forward` uses. */
    size_t (*scratch_size)(const struct problem *p);
    /* The whole key loop of one tile; scratch at ATTENDI_ALIGN. */
    void (*forward)(const struct problem *p, const struct tile *t, void *scratch);
    void (*exp2)(const float *x, float *y, int64_t n);
};

#endif
