/* SPDX-License-Identifier: MIT */
#include "ref/ref_inspect.h"

#include <string.h>

#include "base/base.h"
#include "core/inspect_pool.h"
#include "core/inspect_store.h"
#include "core/tensor.h"
#include "ref/ref_score.h"

struct sums {
    double *mass, *max, *last; /* [keys] */
    struct inspect_pool pool;
};

static size_t columns_size(const struct problem *p)
{
    return 3 * (size_t)p->inspection->item_keys * sizeof(double);
}

size_t attendi_ref_inspect_scratch(const struct problem *p)
{
    return columns_size(p) + attendi_pool_size(p, 1);
}

static void add_pair(const struct problem *p, const struct inspect_item *item, int64_t i,
                     int64_t j, struct sums *sums)
{
    const struct inspection *s = p->inspection;
    const double weight = attendi_ref_weight(p, item->b, item->h, i, j);
    const int64_t x = j - item->keys.lo;

    sums->mass[x] += weight;
    if (weight > sums->max[x])
        sums->max[x] = weight;
    if (i >= s->last_query)
        sums->last[x] += weight;
    if (s->block)
        attendi_pool_add(&sums->pool, p, item, i, 1, j / s->block, &weight, ATTEND_F64);
    const float narrow = (float)weight;
    if (s->zoom.data)
        attendi_inspect_store_zoom(p, item, i, 1, j, 1,
                                   s->zoom.dtype == ATTEND_F32 ? (const void *)&narrow
                                                               : (const void *)&weight,
                                   1);
}

void attendi_ref_inspect(const struct problem *p, const struct inspect_item *item,
                         void *scratch)
{
    const struct inspection *s = p->inspection;
    double *const numbers = scratch;
    struct sums sums = {.mass = numbers,
                        .max = numbers + s->item_keys,
                        .last = numbers + 2 * s->item_keys};

    memset(scratch, 0, columns_size(p));
    attendi_pool_begin(&sums.pool, p, item, 1, numbers + 3 * s->item_keys);
    for (int64_t i = s->queries; i < s->queries_end; i++) {
        for (int64_t j = item->keys.lo; j < item->keys.hi; j++)
            add_pair(p, item, i, j, &sums);
        attendi_pool_pass(&sums.pool, p, item, i + 1);
    }
    attendi_inspect_store_columns(p, item, sums.mass, sums.max, sums.last);
}
