/* SPDX-License-Identifier: MIT */
/* What an item of the inspection pass reads of the LSE and leaves in the outputs. */
#ifndef ATTEND_CORE_INSPECT_STORE_H
#define ATTEND_CORE_INSPECT_STORE_H

#include "core/inspect_request.h"

double attendi_inspect_lse(const struct problem *p, int64_t b, int64_t h, int64_t i);

/* 0 in the item's part of the rectangle: what nobody computes stays 0. */
void attendi_inspect_clear_zoom(const struct problem *p, const struct inspect_item *item);

/*
 * Queries i .. of the item's head by keys j .. into the rectangle, where they meet it:
 * weights[y][x] with rows of `lanes` is P of query i + x and key j + y, in its dtype.
 */
void attendi_inspect_store_zoom(const struct problem *p, const struct inspect_item *item,
                                int64_t i, int64_t queries, int64_t j, int64_t keys,
                                const void *weights, int64_t lanes);

/* Adds lanes from .. end - 1 of [keys][width], f32 or f64, to [keys] sums. */
void attendi_inspect_add_lanes(const void *lanes, int64_t width, attend_dtype dtype,
                               int64_t from, int64_t end, int64_t keys, double *sums);

/* The largest of each key's lanes, none below 0. */
void attendi_inspect_largest(const void *lanes, int64_t width, attend_dtype dtype,
                             int64_t keys, double *largest);

/*
 * Sums and maxima of the item's columns, [keys] each; what is not wanted may be NULL.  A
 * maximum is NaN where the mass is: it needs the mass beside it.
 */
void attendi_inspect_store_columns(const struct problem *p,
                                   const struct inspect_item *item, const double *mass,
                                   const double *max, const double *last);

#endif
