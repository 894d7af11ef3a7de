/* SPDX-License-Identifier: MIT */
/* Reads the LSE for an item of the inspection pass, and stores its results. */
#ifndef ATTEND_CORE_INSPECT_STORE_H
#define ATTEND_CORE_INSPECT_STORE_H

#include "core/inspect_request.h"

double attendi_inspect_lse(const struct problem *p, int64_t b, int64_t h, int64_t i);

/* Clears the item's part of the rectangle: hidden elements stay 0. */
void attendi_inspect_clear_zoom(const struct problem *p, const struct inspect_item *item);

/*
 * Stores P of queries i .. and keys j .. of the item's head that lie in the rectangle.
 * weights[y][x], in rows of `lanes`, is P of query i + x and key j + y, in the output's
 * dtype.
 */
void attendi_inspect_store_zoom(const struct problem *p, const struct inspect_item *item,
                                int64_t i, int64_t queries, int64_t j, int64_t keys,
                                const void *weights, int64_t lanes);

/* Adds lanes from .. end - 1 of lanes[keys][width], f32 or f64, to sums[keys]. */
void attendi_inspect_add_lanes(const void *lanes, int64_t width, attend_dtype dtype,
                               int64_t from, int64_t end, int64_t keys, double *sums);

/* The maximum of each key's lanes, at least 0. */
void attendi_inspect_largest(const void *lanes, int64_t width, attend_dtype dtype,
                             int64_t keys, double *largest);

/*
 * Stores sums and maxima of the item's columns, [keys] each; NULL for outputs that are
 * not requested.  A maximum is NaN where the mass is NaN, so it requires the mass.
 */
void attendi_inspect_store_columns(const struct problem *p,
                                   const struct inspect_item *item, const double *mass,
                                   const double *max, const double *last);

#endif
