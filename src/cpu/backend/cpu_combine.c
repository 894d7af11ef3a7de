/* SPDX-License-Identifier: MIT */
/* Combines records of shards on the CPU; a task is a range of rows. */
#include <math.h>

#include "base/base.h"
#include "base/error.h"
#include "core/tensor.h"
#include "cpu/backend/cpu_backend.h"
#include "cpu/backend/parallel_tasks.h"

/* Bytes of work per worker; bytes copied per work item. */
#define WORKER_BYTES ((int64_t)1 << 18)
#define ITEM_BYTES ((int64_t)1 << 15)

struct run {
    const struct kernels *kernels;
    struct combination *c;
    int64_t item_rows, items_per_list;
    size_t worker_scratch, copy_size;
    char *scratch; /* of worker 0: copies of records, then the kernels' scratch */
};

/* Reduces the records that lie in each target record. */
static void reduce_rows(const struct run *run, struct work_item *t, char *copies)
{
    const struct combination *const c = run->c;
    const struct problem *const p = &c->problem;
    const size_t record = attendi_record_size(c), size = record * (size_t)t->rows;
    int64_t first = 0;

    for (t->record = 0; t->record < c->to.records; t->record++) {
        const struct key_range keys = attendi_record_keys(&c->to, t->record);
        const int64_t end = ceil_div_i64(c->to.first_key + keys.hi, ATTEND_SPLIT_KEYS);
        const int64_t count = attendi_records_before(c, first, end);

        if (count > 0)
            run->kernels->finish(p, t, copies + (size_t)first * size, c->start + first,
                                 count, copies + run->copy_size);
        for (int64_t x = 0; count == 0 && x < t->rows; x++) {
            const int64_t row = t->row + x, h = t->hk * p->group + row % p->group;

            attendi_empty_record(
                c, (char *)attendi_tensor_row(&p->records, t->b, h, row / p->group) +
                       (size_t)t->record * record);
        }
        first += count;
    }
}

static void compute(void *arg, int64_t task, int worker)
{
    const struct run *const run = arg;
    const struct combination *const c = run->c;
    const struct problem *const p = &c->problem;
    const int64_t list = task / run->items_per_list;
    const int64_t row = task % run->items_per_list * run->item_rows;
    struct work_item t = {.b = list / p->hkv,
                          .hk = list % p->hkv,
                          .row = row,
                          .rows = min_i64(run->item_rows, p->nq * p->group - row)};
    char *const copies = run->scratch + (size_t)worker * run->worker_scratch;
    const size_t size = attendi_record_size(c);

    for (int64_t x = 0; x < t.rows; x++)
        attendi_copy_records(c, t.b, t.hk * p->group + (row + x) % p->group,
                             (row + x) / p->group, copies + (size_t)x * size,
                             (size_t)t.rows * size);
    if (p->shard)
        reduce_rows(run, &t, copies);
    else
        run->kernels->finish(p, &t, copies, c->start, c->records,
                             copies + run->copy_size);
}

attend_status attendi_cpu_combine(attend_context *ctx, struct combination *c,
                                  attend_error *err)
{
    struct problem *const p = &c->problem;
    const int64_t rows = p->nq * p->group, lists = p->nb * p->hkv;
    struct run run = {.c = c, .kernels = attendi_kernels_for(ctx, p)};
    void *memory;

    p->split_keys = attendi_split_keys(ctx, run.kernels);
    const double bytes = (double)c->records * (double)attendi_record_size(c);
    const int64_t most = run.kernels->tile_rows * 4;
    run.item_rows = max_i64(1, (int64_t)fmin((double)ITEM_BYTES / bytes, (double)most));
    run.items_per_list = ceil_div_i64(rows, run.item_rows);
    const int64_t items = lists * run.items_per_list;
    const double useful = bytes * (double)(rows * lists) / (double)WORKER_BYTES;
    const int workers = (int)max_i64(
        1, min_i64(min_i64(ctx->threads, items), (int64_t)fmin(useful, 4096)));
    attendi_reserve(&run.copy_size, c->records * run.item_rows, attendi_record_size(c));
    run.worker_scratch = attendi_worker_size(
        add_bytes(run.copy_size, run.kernels->scratch_size(p, run.item_rows)));
    TRY(attendi_order_records(c, ctx, count_bytes(workers, run.worker_scratch), &memory,
                              err));
    run.scratch = memory;
    return attendi_parallel_tasks(ctx, workers, items, true, compute, &run, err);
}
