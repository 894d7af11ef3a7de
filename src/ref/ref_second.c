/* SPDX-License-Identifier: MIT */
#include "ref/ref_second.h"

#include <string.h>

#include "base/base.h"
#include "core/second_store.h"
#include "core/tensor.h"
#include "ref/ref_score.h"

/* Sums of an item, [keys] each; of one row of the pooled map, [columns]. */
struct sums {
    double *mass, *max, *last, *pooled;
};

size_t attendi_ref_second_scratch(const struct problem *p)
{
    return 4 * (size_t)p->second->item_keys * sizeof(double);
}

static void add_pair(const struct problem *p, const struct second_item *item, int64_t i,
                     int64_t j, struct sums *sums)
{
    const struct second *s = p->second;
    const double weight = attendi_ref_weight(p, item->b, item->h, i, j);
    const int64_t x = j - item->keys.lo;

    sums->mass[x] += weight;
    if (weight > sums->max[x])
        sums->max[x] = weight;
    if (i >= s->last_query)
        sums->last[x] += weight;
    if (s->block)
        sums->pooled[j / s->block - item->keys.lo / s->block] += weight;
    const float narrow = (float)weight;
    if (s->zoom.data)
        attendi_second_store_zoom(p, item, i, 1, j, 1,
                                  s->zoom.dtype == ATTEND_F32 ? (const void *)&narrow
                                                              : (const void *)&weight,
                                  1);
}

void attendi_ref_second(const struct problem *p, const struct second_item *item,
                        void *scratch)
{
    const struct second *s = p->second;
    double *const numbers = scratch;
    struct sums sums = {numbers, numbers + s->item_keys, numbers + 2 * s->item_keys,
                        numbers + 3 * s->item_keys};

    memset(scratch, 0, attendi_ref_second_scratch(p));
    for (int64_t i = s->queries; i < s->queries_end; i++) {
        for (int64_t j = item->keys.lo; j < item->keys.hi; j++)
            add_pair(p, item, i, j, &sums);
        if (s->block && ((i + 1) % s->block == 0 || i + 1 == p->nq)) {
            attendi_second_store_pooled(p, item, i / s->block, sums.pooled);
            memset(sums.pooled, 0, (size_t)s->item_keys * sizeof *sums.pooled);
        }
    }
    attendi_second_store_columns(p, item, sums.mass, sums.max, sums.last);
}
