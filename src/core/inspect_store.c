/* SPDX-License-Identifier: MIT */
#include "core/inspect_store.h"

#include <math.h>

#include "base/base.h"
#include "core/tensor.h"

double attendi_inspect_lse(const struct problem *p, int64_t b, int64_t h, int64_t i)
{
    const attend_view *lse = &p->inspection->lse;

    return attendi_load(attendi_view_row(lse, b, h, i), lse->dtype, 0);
}

void attendi_inspect_clear_zoom(const struct problem *p, const struct inspect_item *item)
{
    const struct inspection *s = p->inspection;
    const int64_t lo = max_i64(item->keys.lo - s->zoom_key, 0);
    const int64_t hi = min_i64(item->keys.hi - s->zoom_key, s->zoom.size[3]);

    for (int64_t i = 0; s->zoom.data && i < s->zoom.size[2]; i++) {
        void *const row = attendi_tensor_row(&s->zoom, item->b, item->h, i);

        for (int64_t j = lo; j < hi; j++)
            attendi_store(row, s->zoom.dtype, j * s->zoom.stride[3], 0);
    }
}

void attendi_inspect_store_zoom(const struct problem *p, const struct inspect_item *item,
                                int64_t i, int64_t queries, int64_t j, int64_t keys,
                                const void *weights, int64_t lanes)
{
    const attend_tensor *zoom = &p->inspection->zoom;
    /* Indices within the rectangle. */
    const int64_t row = i - p->inspection->zoom_query,
                  column = j - p->inspection->zoom_key;
    const int64_t row_end = min_i64(row + queries, zoom->size[2]);
    const int64_t column_end = min_i64(column + keys, zoom->size[3]);

    for (int64_t x = max_i64(row, 0); x < row_end; x++) {
        void *const to = attendi_tensor_row(zoom, item->b, item->h, x);

        for (int64_t y = max_i64(column, 0); y < column_end; y++) {
            const int64_t from = (y - column) * lanes + x - row;

            if (zoom->dtype == ATTEND_F32)
                ((float *)to)[y * zoom->stride[3]] = ((const float *)weights)[from];
            else
                ((double *)to)[y * zoom->stride[3]] = ((const double *)weights)[from];
        }
    }
}

static double lane(const void *lanes, attend_dtype dtype, int64_t at)
{
    return dtype == ATTEND_F32 ? (double)((const float *)lanes)[at]
                               : ((const double *)lanes)[at];
}

void attendi_inspect_add_lanes(const void *lanes, int64_t width, attend_dtype dtype,
                               int64_t from, int64_t end, int64_t keys, double *sums)
{
    for (int64_t x = 0; x < keys; x++)
        for (int64_t v = from; v < end; v++)
            sums[x] += lane(lanes, dtype, x * width + v);
}

void attendi_inspect_largest(const void *lanes, int64_t width, attend_dtype dtype,
                             int64_t keys, double *largest)
{
    for (int64_t x = 0; x < keys; x++) {
        largest[x] = 0;
        for (int64_t v = 0; v < width; v++)
            largest[x] = fmax(largest[x], lane(lanes, dtype, x * width + v));
    }
}

static void store_columns(const attend_tensor *to, const struct inspect_item *item,
                          int64_t first, int64_t count, const double *numbers)
{
    void *const at = attendi_tensor_row(to, item->b, item->h, 0);

    for (int64_t x = 0; x < count; x++)
        attendi_store(at, to->dtype, (first + x) * to->stride[3], numbers[x]);
}

void attendi_inspect_store_columns(const struct problem *p,
                                   const struct inspect_item *item, const double *mass,
                                   const double *max, const double *last)
{
    const struct inspection *s = p->inspection;
    const int64_t first = item->keys.lo, count = item->keys.hi - first;

    if (s->column_mass.data)
        store_columns(&s->column_mass, item, first, count, mass);
    if (s->column_last.data)
        store_columns(&s->column_last, item, first, count, last);
    for (int64_t x = 0; s->column_max.data && x < count; x++) {
        const double top = isnan(mass[x]) ? NAN : max[x];
        store_columns(&s->column_max, item, first + x, 1, &top);
    }
}
