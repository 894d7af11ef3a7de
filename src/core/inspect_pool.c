/* SPDX-License-Identifier: MIT */
#include "core/inspect_pool.h"

#include <string.h>

#include "base/base.h"
#include "core/tensor.h"

/* Maximum number of map rows covered by `queries` consecutive queries. */
static int64_t rows_met(const struct inspection *s, int64_t queries)
{
    return min_i64(queries, queries / s->block + 2);
}

static int64_t columns_of(const struct inspection *s, struct key_range keys)
{
    return ceil_div_i64(keys.hi, s->block) - keys.lo / s->block;
}

size_t attendi_pool_size(const struct problem *p, int64_t queries)
{
    const struct inspection *s = p->inspection;

    /* An item starts at a block, or lies within one. */
    return !s->block
               ? 0
               : (size_t)(rows_met(s, queries) * ceil_div_i64(s->item_keys, s->block)) *
                     sizeof(double);
}

void attendi_pool_begin(struct inspect_pool *pool, const struct problem *p,
                        const struct inspect_item *item, int64_t queries, void *memory)
{
    *pool = (struct inspect_pool){.sums = memory};
    if (!p->inspection->block)
        return;
    pool->rows = rows_met(p->inspection, queries);
    pool->columns = columns_of(p->inspection, item->keys);
    memset(memory, 0, attendi_pool_size(p, queries));
}

void attendi_pool_add(const struct inspect_pool *pool, const struct problem *p,
                      const struct inspect_item *item, int64_t i, int64_t queries,
                      int64_t column, const void *lanes, attend_dtype dtype)
{
    const int64_t block = p->inspection->block, row = i / block;
    int64_t next = (row + 1) * block - i;
    double *to =
        pool->sums + (row - pool->row) * pool->columns + column - item->keys.lo / block;

    for (int64_t x = 0; x < queries; x++) {
        if (x == next) {
            next += block;
            to += pool->columns;
        }
        *to += dtype == ATTEND_F32 ? (double)((const float *)lanes)[x]
                                   : ((const double *)lanes)[x];
    }
}

static void store_row(const struct problem *p, const struct inspect_item *item,
                      int64_t row, int64_t columns, const double *sums)
{
    const struct inspection *s = p->inspection;
    const int64_t first = item->keys.lo / s->block;
    void *const to = attendi_tensor_row(&s->pooled, item->b, item->h, row);

    for (int64_t x = 0; x < columns; x++)
        attendi_store(to, s->pooled.dtype, (first + x) * s->pooled.stride[3], sums[x]);
}

void attendi_pool_pass(struct inspect_pool *pool, const struct problem *p,
                       const struct inspect_item *item, int64_t next)
{
    const struct inspection *s = p->inspection;
    if (!s->block)
        return;
    const bool open = next < p->nq && next % s->block != 0;
    const int64_t end = open ? next / s->block : ceil_div_i64(next, s->block);
    const int64_t done = end - pool->row, columns = pool->columns;

    for (int64_t x = 0; x < done; x++)
        if (s->parts)
            s->parts[item->index * attendi_pooled_rows(p, s) + pool->row + x] =
                pool->sums[x];
        else
            store_row(p, item, pool->row + x, columns, pool->sums + x * columns);
    if (done == 0)
        return;
    if (open)
        memmove(pool->sums, pool->sums + done * columns,
                (size_t)columns * sizeof *pool->sums);
    memset(pool->sums + open * columns, 0,
           (size_t)((pool->rows - open) * columns) * sizeof *pool->sums);
    pool->row = end;
}

void attendi_pool_join(const struct problem *p)
{
    const struct inspection *s = p->inspection;
    const int64_t rows = attendi_pooled_rows(p, s);

    for (int64_t index = 0; index < s->count; index += s->pieces) {
        const struct inspect_item item = attendi_inspect_item(p, index);

        for (int64_t row = 0; row < rows; row++) {
            double sum = 0;

            /* Pieces past the last key have no part. */
            for (int64_t x = index; x < index + s->pieces; x++)
                if (attendi_inspect_item(p, x).keys.lo < p->nk)
                    sum += s->parts[x * rows + row];
            store_row(p, &item, row, 1, &sum);
        }
    }
}
