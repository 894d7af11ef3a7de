/* SPDX-License-Identifier: MIT */
/* attend_combine and attend_reduce: validate, put the records in order, hand out rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attend/attend.h"
#include "base/base.h"
#include "backend.h"
#include "backend_cuda.h"
#include "base/error.h"
#include "context.h"
#include "core/operands.h"
#include "core/shard.h"
#include "core/tensor.h"
#include "entry.h"
#include "work.h"

/* What a worker is woken for; of the rows that it takes at a time, what it copies. */
#define WORKER_BYTES ((int64_t)1 << 18)
#define ITEM_BYTES ((int64_t)1 << 15)

/* Record `record` of part `part`. */
struct place {
    int64_t part, record;
};

struct run {
    const struct kernels *kernels;
    struct problem problem;
    const attend_partials *parts;
    struct shard to;     /* what attend_reduce() fills */
    int64_t records;     /* of all parts; there is always one */
    int64_t *start;      /* [records] the split that each begins with, rising */
    struct place *place; /* [records] */
    int64_t item_rows, items_per_list;
    size_t number; /* bytes of one */
    size_t worker_scratch, copy_size;
    char *scratch; /* of worker 0: copies of records, then the kernels' */
};

static size_t record_size(const struct run *run)
{
    return (size_t)(run->problem.dv + 2) * run->number;
}

/* No key: -inf and zeros. */
static void copy_nothing(const struct run *run, char *to)
{
    memset(to, 0, record_size(run));
    attendi_store(to, run->number == sizeof(double) ? ATTEND_F64 : ATTEND_F32, 0,
                  -INFINITY);
}

/* All records of one row, `step` bytes from one to the next. */
static void copy_row(const struct run *run, int64_t b, int64_t h, int64_t i, char *to,
                     size_t step)
{
    const size_t size = record_size(run);
    const char *row = NULL;

    for (int64_t x = 0; x < run->records; x++, to += step) {
        const struct place *place = &run->place[x];

        if (place->part < 0) {
            copy_nothing(run, to);
            continue;
        }
        if (x == 0 || place->part != place[-1].part)
            row = attendi_tensor_row(&run->parts[place->part].data, b, h, i);
        memcpy(to, row + (size_t)place->record * size, size);
    }
}

/* Records of parts from `first` on that begin before split `end`; returns how many. */
static int64_t count_before(const struct run *run, int64_t first, int64_t end)
{
    int64_t x = first;

    while (x < run->records && run->start[x] < end)
        x++;
    return x - first;
}

/* Each record of the target from those that lie in it. */
static void reduce_rows(const struct run *run, struct work_item *t, char *copies)
{
    const struct problem *p = &run->problem;
    const size_t size = record_size(run) * (size_t)t->rows;
    int64_t first = 0;

    for (t->record = 0; t->record < run->to.records; t->record++) {
        const struct key_range keys = attendi_record_keys(&run->to, t->record);
        const int64_t end = ceil_div_i64(run->to.first_key + keys.hi, ATTEND_SPLIT_KEYS);
        const int64_t count = count_before(run, first, end);

        if (count > 0)
            run->kernels->finish(p, t, copies + (size_t)first * size, run->start + first,
                                 count, copies + run->copy_size);
        for (int64_t x = 0; count == 0 && x < t->rows; x++) {
            const int64_t row = t->row + x, h = t->hk * p->group + row % p->group;

            copy_nothing(
                run, (char *)attendi_tensor_row(&p->records, t->b, h, row / p->group) +
                         (size_t)t->record * record_size(run));
        }
        first += count;
    }
}

static void compute(void *arg, int64_t task, int worker)
{
    const struct run *const run = arg;
    const struct problem *p = &run->problem;
    const int64_t list = task / run->items_per_list;
    const int64_t row = task % run->items_per_list * run->item_rows;
    struct work_item t = {.b = list / p->hkv,
                          .hk = list % p->hkv,
                          .row = row,
                          .rows = min_i64(run->item_rows, p->nq * p->group - row)};
    char *const copies = run->scratch + (size_t)worker * run->worker_scratch;
    const size_t size = record_size(run);

    for (int64_t x = 0; x < t.rows; x++)
        copy_row(run, t.b, t.hk * p->group + (row + x) % p->group, (row + x) / p->group,
                 copies + (size_t)x * size, (size_t)t.rows * size);
    if (p->shard)
        reduce_rows(run, &t, copies);
    else
        run->kernels->finish(p, &t, copies, run->start, run->records,
                             copies + run->copy_size);
}

/* ---- what is combined ---------------------------------------------------- */

static void part_name(char name[static 32], int64_t part)
{
    snprintf(name, 32, "parts[%lld]", LL(part));
}

/* The shards one by one, and that they are of one sequence; *dtype is of their records.
 */
static attend_status check_shards(struct run *run, int64_t count, int64_t *all_keys,
                                  attend_dtype *dtype, attend_error *err)
{
    *all_keys = 0;
    for (int64_t x = 0; x < count; x++) {
        const attend_partials *part = &run->parts[x];
        struct shard shard;
        char name[32];

        part_name(name, x);
        TRY(attendi_shard_init(&shard, name, part, err));
        if (x == 0)
            *all_keys = shard.all_keys;
        if (run->records == 0 && shard.records > 0)
            *dtype = part->data.dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32;
        if (shard.all_keys != *all_keys)
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s.all_keys (%lld) differs from parts[0]'s (%lld)", name,
                                LL(shard.all_keys), LL(*all_keys));
        if (__builtin_add_overflow(run->records, shard.records, &run->records))
            return attendi_fail(err, ATTEND_EINVAL, "parts have too many records");
    }
    return ATTEND_OK;
}

/* Outputs apart from a part, but for records that are reduced in place. */
static attend_status check_memory(const struct run *run, int64_t part, attend_error *err)
{
    const struct problem *const p = &run->problem;
    const attend_view data = attend_view_of(&run->parts[part].data);
    struct operands all;

    all.count = 0;
    if (run->parts[part].keys == 0 ||
        (p->shard && attendi_is_same_tensor(&p->records, &data)))
        return ATTEND_OK;
    attendi_add_output(&all, "out", &p->out);
    attendi_add_output(&all, "lse", &p->lse);
    attendi_add_output(&all, "to.data", &p->records);
    return attendi_part_check(&all, part, "data", &data, err);
}

static attend_status check_data(const struct run *run, int64_t count, attend_dtype dtype,
                                attend_error *err)
{
    attend_status status = ATTEND_OK;

    for (int64_t x = 0; x < count && status == ATTEND_OK; x++) {
        struct shard shard;
        char name[32];

        part_name(name, x);
        attendi_shard_init(&shard, name, &run->parts[x], NULL);
        status = attendi_records_check(&shard, name, &run->parts[x].data,
                                       run->problem.out.size, dtype, err);
        if (status == ATTEND_OK)
            status = check_memory(run, x, err);
    }
    return status;
}

/* The shards that have keys; returns how many. */
static int64_t list_parts(const struct run *run, int64_t count, struct place *order)
{
    int64_t n = 0;

    for (int64_t x = 0; x < count; x++)
        if (run->parts[x].keys > 0)
            order[n++] = (struct place){.part = x};
    return n;
}

/* Shell's sort: in place, and fast for what is nearly in order. */
static void sort_parts(const struct run *run, struct place *order, int64_t n)
{
    for (int64_t gap = n / 2; gap > 0; gap /= 2)
        for (int64_t x = gap; x < n; x++) {
            const struct place place = order[x];
            const int64_t key = run->parts[place.part].first_key;
            int64_t y = x;

            for (; y >= gap && run->parts[order[y - gap].part].first_key > key; y -= gap)
                order[y] = order[y - gap];
            order[y] = place;
        }
}

/*
 * Fills place and start, from shards sorted in `place` itself, the last first, so that
 * none is overwritten before it is read.
 */
static attend_status order_records(struct run *run, int64_t count, attend_error *err)
{
    const int64_t parts = list_parts(run, count, run->place);
    int64_t at = run->records, next = INT64_MAX, after = -1;

    sort_parts(run, run->place, parts);
    for (int64_t x = parts - 1; x >= 0; x--) {
        const int64_t part = run->place[x].part;
        const attend_partials *from = &run->parts[part];
        struct shard shard;

        attendi_shard_init(&shard, "", from, NULL);
        if (from->first_key + from->keys > next)
            return attendi_fail(err, ATTEND_EINVAL,
                                "parts[%lld] (keys from %lld) and parts[%lld] (keys from "
                                "%lld) overlap",
                                LL(part), LL(from->first_key), LL(after), LL(next));
        for (int64_t y = shard.records - 1; y >= 0; y--) {
            run->place[--at] = (struct place){.part = part, .record = y};
            run->start[at] = attendi_record_start(&shard, y);
        }
        next = from->first_key;
        after = part;
    }
    if (parts == 0) {
        run->place[0] = (struct place){.part = -1};
        run->start[0] = 0;
    }
    return ATTEND_OK;
}

/* ---- the call ------------------------------------------------------------ */

/* Memory for the order of the records and for all workers. */
static attend_status prepare(struct run *run, attend_context *ctx, int workers,
                             attend_error *err)
{
    const int64_t records = run->records, rows = run->item_rows;
    size_t total = 0, start_at, place_at, copy = 0, own = 0;
    bool fits = attendi_reserve(&copy, records * rows, record_size(run)) &&
                attendi_reserve(
                    &own, 1, run->kernels->scratch_size(&run->problem, run->item_rows));

    run->copy_size = copy;
    run->worker_scratch = attendi_worker_size(copy + own);
    fits = fits && attendi_reserve(&total, workers, run->worker_scratch);
    start_at = total;
    fits = fits && attendi_reserve(&total, records, sizeof *run->start);
    place_at = total;
    fits = fits && attendi_reserve(&total, records, sizeof *run->place);
    char *const base = fits ? attendi_context_scratch(ctx, total) : NULL;
    if (!base)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for %zu bytes of scratch",
                            total);
    run->scratch = base;
    run->start = (int64_t *)(void *)(base + start_at);
    run->place = (struct place *)(void *)(base + place_at);
    return ATTEND_OK;
}

/* The same on a device, which is given the records of all rows in order. */
static attend_status combine_on_device(struct run *run, attend_context *ctx,
                                       int64_t count, attend_error *err)
{
    struct problem *const p = &run->problem;
    const int64_t rows = p->nb * p->hq * p->nq;
    size_t total = 0, start_at, place_at;
    bool fits = attendi_reserve(&total, run->records * rows, record_size(run));

    start_at = total;
    fits = fits && attendi_reserve(&total, run->records, sizeof *run->start);
    place_at = total;
    fits = fits && attendi_reserve(&total, run->records, sizeof *run->place);
    char *const base = fits ? attendi_context_scratch(ctx, total) : NULL;
    if (!base)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for %zu bytes of scratch",
                            total);
    run->start = (int64_t *)(void *)(base + start_at);
    run->place = (struct place *)(void *)(base + place_at);
    TRY(order_records(run, count, err));
    for (int64_t x = 0; x < rows; x++)
        copy_row(run, x / p->nq / p->hq, x / p->nq % p->hq, x % p->nq,
                 base + (size_t)(x * run->records) * record_size(run), record_size(run));
    const attend_tensor records =
        attend_tensor_dense(base, run->number == sizeof(double) ? ATTEND_F64 : ATTEND_F32,
                            p->nb, p->hq, p->nq, run->records * (p->dv + 2));
    return attendi_cuda_combine(ctx, p, &records, run->start, run->records, err);
}

static attend_status combine(struct run *run, attend_context *ctx, int64_t count,
                             attend_error *err)
{
    struct problem *const p = &run->problem;
    const int64_t rows = p->nq * p->group, lists = p->nb * p->hkv;

    run->kernels = attendi_kernels_for(ctx, p);
    p->split_keys = attendi_split_keys(ctx, run->kernels);
    const double bytes = (double)run->records * (double)record_size(run);
    const int64_t most = run->kernels->tile_rows * 4;
    run->item_rows = max_i64(1, (int64_t)fmin((double)ITEM_BYTES / bytes, (double)most));
    run->items_per_list = ceil_div_i64(rows, run->item_rows);
    const int64_t items = lists * run->items_per_list;
    const double deserved = bytes * (double)(rows * lists) / (double)WORKER_BYTES;
    const int workers = (int)max_i64(
        1, min_i64(min_i64(ctx->threads, items), (int64_t)fmin(deserved, 4096)));
    attend_status status = prepare(run, ctx, workers, err);
    if (status == ATTEND_OK && (status = order_records(run, count, err)) == ATTEND_OK)
        status = attendi_parallel_tasks(ctx, workers, items, true, compute, run, err);
    return status;
}

/* The same where the records lie in device memory, in whichever order of parts. */
static attend_status combine_in_device_memory(struct run *run, attend_context *ctx,
                                              int64_t count, attend_error *err)
{
    struct problem *const p = &run->problem;
    struct part_records *sets;
    size_t total = 0, start_at, place_at;
    int64_t used = 0;
    bool fits = attendi_reserve(&total, max_i64(count, 1), sizeof *sets);

    start_at = total;
    fits = fits && attendi_reserve(&total, run->records, sizeof *run->start);
    place_at = total;
    fits = fits && attendi_reserve(&total, run->records, sizeof *run->place);
    char *const base = fits ? attendi_context_scratch(ctx, total) : NULL;
    if (!base)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for %zu bytes of scratch",
                            total);
    sets = (struct part_records *)(void *)base;
    run->start = (int64_t *)(void *)(base + start_at);
    run->place = (struct place *)(void *)(base + place_at);
    TRY(order_records(run, count, err));
    for (int64_t x = 0; x < run->records; x++) {
        const int64_t part = run->place[x].part;

        if (x > 0 && part == run->place[x - 1].part) {
            sets[used - 1].count++;
            continue;
        }
        sets[used] = (struct part_records){.at = x, .count = 1};
        if (part >= 0)
            sets[used].from = run->parts[part].data;
        used++;
    }
    return attendi_cuda_combine_parts(
        ctx, p, run->number == sizeof(double) ? ATTEND_F64 : ATTEND_F32, sets, used,
        run->start, run->records, err);
}

static attend_status combine_where(struct run *run, attend_context *ctx, int64_t count,
                                   attend_error *err)
{
    if (ctx->backend->memory != ATTEND_MEMORY_HOST)
        return combine_in_device_memory(run, ctx, count, err);
    if (ctx->cuda)
        return combine_on_device(run, ctx, count, err);
    return combine(run, ctx, count, err);
}

static attend_status combine_parts(attend_context *ctx, const attend_rule *rule,
                                   const attend_partials *parts, int64_t count,
                                   const attend_tensor *out, const attend_tensor *lse,
                                   attend_error *err)
{
    struct run run = {.parts = parts};
    /* Without a record the shapes come from the outputs. */
    attend_dtype dtype = (out && out->dtype == ATTEND_F64) ||
                                 (lse && lse->data && lse->dtype == ATTEND_F64)
                             ? ATTEND_F64
                             : ATTEND_F32;
    int64_t all_keys;

    TRY(attendi_parts_check(parts, count, 0, err));
    if (!ctx->cuda)
        TRY(attendi_needs_host(ctx, "attend_combine", err));
    TRY(check_shards(&run, count, &all_keys, &dtype, err));
    TRY(attendi_problem_init_rows(&run.problem, rule, dtype, all_keys, out, lse, err));
    if (ctx->backend->memory == ATTEND_MEMORY_HOST)
        TRY(attendi_problem_check_host(&run.problem, err));
    TRY(check_data(&run, count, dtype, err));
    const struct problem *p = &run.problem;
    if (p->nb * p->hq * p->nq == 0 || (p->dv == 0 && !p->lse.data))
        return ATTEND_OK;
    run.records = max_i64(run.records, 1);
    run.number = attend_dtype_size(dtype);
    return combine_where(&run, ctx, count, err);
}

attend_status attend_combine(attend_context *ctx, const attend_rule *rule,
                             const attend_partials *parts, int64_t count,
                             const attend_tensor *out, const attend_tensor *lse,
                             attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, combine_parts(ctx, rule, parts, count, out, lse, err));
}

/* ---- records of records ---------------------------------------------------- */

static attend_status check_target(struct run *run, const attend_partials *to,
                                  attend_error *err)
{
    const int64_t *const size = to->data.size;

    TRY(attendi_shard_init(&run->to, "to", to, err));
    if (!run->to.reduce)
        return attendi_fail(err, ATTEND_EINVAL, "to.reduce is 0");
    if (run->to.records == 0)
        return ATTEND_OK;
    if (size[3] < 2 * run->to.records || size[3] % run->to.records != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "to.data.size[3] (%lld) is not that of %lld records",
                            LL(size[3]), LL(run->to.records));
    const int64_t out[4] = {size[0], size[1], size[2], size[3] / run->to.records - 2};
    const attend_dtype dtype = to->data.dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32;
    TRY(attendi_records_check(&run->to, "to", &to->data, out, dtype, err));
    run->number = attend_dtype_size(dtype);
    attendi_problem_init_records(&run->problem, &run->to, &to->data, dtype);
    return ATTEND_OK;
}

static attend_status check_inside(const struct run *run, int64_t count, attend_error *err)
{
    const struct shard *const to = &run->to;

    for (int64_t x = 0; x < count; x++) {
        const attend_partials *const part = &run->parts[x];

        if (part->keys > 0 && (part->first_key < to->first_key ||
                               part->first_key + part->keys > to->first_key + to->keys))
            return attendi_fail(
                err, ATTEND_EINVAL, "parts[%lld] (keys %lld to %lld) is not inside `to`",
                LL(x), LL(part->first_key), LL(part->first_key + part->keys - 1));
    }
    return ATTEND_OK;
}

static attend_status reduce_parts(attend_context *ctx, const attend_partials *parts,
                                  int64_t count, const attend_partials *to,
                                  attend_error *err)
{
    struct run run = {.parts = parts};
    int64_t all_keys;
    attend_dtype dtype;

    if (!to)
        return attendi_fail(err, ATTEND_EINVAL, "to is NULL");
    TRY(attendi_parts_check(parts, count, 1, err));
    if (!ctx->cuda)
        TRY(attendi_needs_host(ctx, "attend_reduce", err));
    TRY(check_target(&run, to, err));
    TRY(check_shards(&run, count, &all_keys, &dtype, err));
    if (all_keys != run.to.all_keys)
        return attendi_fail(err, ATTEND_EINVAL,
                            "to.all_keys (%lld) differs from parts[0]'s (%lld)",
                            LL(run.to.all_keys), LL(all_keys));
    TRY(check_inside(&run, count, err));
    const struct problem *p = &run.problem;
    if (run.to.records == 0 || p->nb * p->hq * p->nq == 0)
        return ATTEND_OK;
    TRY(check_data(&run, count, to->data.dtype, err));
    if (run.records == 0)
        return attendi_fail(err, ATTEND_EINVAL, "parts have no records");
    return combine_where(&run, ctx, count, err);
}

attend_status attend_reduce(attend_context *ctx, const attend_partials *parts,
                            int64_t count, const attend_partials *to, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, reduce_parts(ctx, parts, count, to, err));
}
