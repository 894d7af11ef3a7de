/* SPDX-License-Identifier: MIT */
/* Records, parts and raw sums on a device: combine, reduce, merge. */
#include "base/error.h"
#include "core/tensor.h"
#include "cuda/general/merge_launch.h"
#include "cuda/host/cuda_backend.h"
#include "cuda/host/staging.h"
#include "cuda/host/sums.h"

/* ---- records ----------------------------------------------------------------- */

static attend_status gather(struct cuda_device *d, struct gather_launch *a,
                            attend_error *err)
{
    void *parameters[] = {a};

    return attendi_cuda_launch(d, KERNEL_gather_records,
                               ceil_div_i64(a->rows * a->width, TILE_THREADS),
                               TILE_THREADS, 0, parameters, err);
}

/* Combines records to O and LSE, or to one record of p->records. */
static attend_status combine(struct cuda_device *d, const struct problem *p,
                             const struct record_list *from, int64_t record,
                             attend_error *err)
{
    struct launch a = {.p = *p,
                       .tiles = ceil_div_i64(p->nq, TILE_ROWS),
                       .chunks = max_i64(1, ceil_div_i64(p->dv, TILE_THREADS)),
                       .groups = from->count,
                       .records = from->data,
                       .start = from->start,
                       .record = record};

    return attendi_cuda_general(
        d, from->data.dtype == ATTEND_F64 ? KERNEL_combine_f64 : KERNEL_combine_f32, &a,
        attendi_cuda_row_items(&a), err);
}

/* Records first .. first + count - 1 of each row. */
static struct record_list some_of(const struct record_list *all, int64_t width,
                                  int64_t first, int64_t count)
{
    struct record_list some = {
        .data = all->data, .start = all->start + first, .count = count};

    some.data.data = (char *)all->data.data +
                     (size_t)(first * width) * attend_dtype_size(all->data.dtype);
    some.data.size[3] = count * width;
    return some;
}

/* Reduces the records within each record of p->records; start[] is in host memory. */
static attend_status reduce(struct cuda_device *d, const struct problem *p,
                            const struct record_list *from, const int64_t *start,
                            attend_error *err)
{
    const struct shard *const to = p->shard;
    const int64_t width = p->dv + 2;
    int64_t first = 0;

    for (int64_t x = 0; x < to->records; x++) {
        const struct key_range keys = attendi_record_keys(to, x);
        const int64_t end = ceil_div_i64(to->first_key + keys.hi, ATTEND_SPLIT_KEYS);
        int64_t count = 0;

        while (first + count < from->count && start[first + count] < end)
            count++;
        if (count > 0) {
            const struct record_list some = some_of(from, width, first, count);
            TRY(combine(d, p, &some, x, err));
        } else {
            struct gather_launch nothing = {.to = p->records,
                                            .at = x * width,
                                            .width = width,
                                            .rows = p->nb * p->hq * p->nq};
            TRY(gather(d, &nothing, err));
        }
        first += count;
    }
    return ATTEND_OK;
}

static attend_status combine_all(struct cuda_device *d, const struct problem *p,
                                 const struct record_list *from, const int64_t *start,
                                 attend_error *err)
{
    return p->shard ? reduce(d, p, from, start, err) : combine(d, p, from, 0, err);
}

static attend_status combine_staged(struct cuda_device *d, struct problem *p,
                                    const attend_tensor *records, const int64_t *start,
                                    int64_t count, attend_error *err)
{
    struct record_list from = {.data = *records, .start = start, .count = count};
    struct staging staging;

    TRY(attendi_stage_in(&staging, d, p, &from, err));
    TRY(combine_all(d, p, &from, start, err));
    return attendi_stage_out(&staging, d, err);
}

/* The records of all rows are copied in order, then to the device. */
attend_status attendi_cuda_combine_host(attend_context *ctx, struct combination *c,
                                        attend_error *err)
{
    struct problem *const p = &c->problem;
    const int64_t rows = p->nb * p->hq * p->nq;
    const size_t size = attendi_record_size(c);
    void *copies;

    TRY(attendi_order_records(c, ctx, count_bytes(c->records * rows, size), &copies,
                              err));
    for (int64_t x = 0; x < rows; x++)
        attendi_copy_records(c, x / p->nq / p->hq, x / p->nq % p->hq, x % p->nq,
                             (char *)copies + (size_t)(x * c->records) * size, size);
    const attend_tensor records = attend_tensor_dense(copies, c->dtype, p->nb, p->hq,
                                                      p->nq, c->records * (p->dv + 2));
    TRY(attendi_cuda_enter(device_of(ctx), err));
    const attend_status status =
        combine_staged(device_of(ctx), p, &records, c->start, c->records, err);
    attendi_cuda_leave(device_of(ctx));
    return status;
}

/* Records of one part that follow each other. */
struct part_records {
    attend_tensor from; /* data NULL: one record of no keys */
    int64_t at, count;  /* index of the first record, and how many */
};

/* Gathers the records of all parts in order to from->data, copies start[], combines. */
static attend_status combine_gathered(struct cuda_device *d, struct problem *p,
                                      const struct part_records *parts,
                                      int64_t part_count, const struct record_list *from,
                                      const int64_t *start, attend_error *err)
{
    const int64_t width = p->dv + 2;

    for (int64_t x = 0; x < part_count; x++) {
        struct gather_launch a = {.from = parts[x].from,
                                  .to = from->data,
                                  .at = parts[x].at * width,
                                  .width = parts[x].count * width,
                                  .rows = p->nb * p->hq * p->nq};
        TRY(gather(d, &a, err));
    }
    TRY(attendi_driver_check(&d->driver,
                             d->driver.copy_in((cu_pointer)from->start, start,
                                               (size_t)from->count * sizeof *start,
                                               d->stream),
                             "copying to the device", err));
    return combine_all(d, p, from, start, err);
}

/* Records from `x` on that are of the same part. */
static struct part_records same_part(const struct combination *c, int64_t x)
{
    const int64_t part = c->place[x].part;
    struct part_records set = {.at = x, .count = 1};

    while (x + set.count < c->records && c->place[x + set.count].part == part)
        set.count++;
    if (part >= 0)
        set.from = c->parts[part].data;
    return set;
}

attend_status attendi_cuda_combine(attend_context *ctx, struct combination *c,
                                   attend_error *err)
{
    struct problem *const p = &c->problem;
    const int64_t rows = p->nb * p->hq * p->nq;
    struct part_records *sets;
    int64_t used = 0;
    size_t total = 0;
    void *memory, *at;

    TRY(attendi_order_records(
        c, ctx, count_bytes(max_i64(c->part_count, 1), sizeof *sets), &memory, err));
    sets = memory;
    for (int64_t x = 0; x < c->records; x += sets[used++].count)
        sets[used] = same_part(c, x);
    attendi_cuda_take(&total, rows * c->records, attendi_record_size(c));
    const size_t start_at = attendi_cuda_take(&total, c->records, sizeof *c->start);
    TRY(attendi_cuda_workspace(device_of(ctx), total, &at, err));
    const struct record_list from = {
        .data = attend_tensor_dense(at, c->dtype, p->nb, p->hq, p->nq,
                                    c->records * (p->dv + 2)),
        .start = (const int64_t *)(void *)((char *)at + start_at),
        .count = c->records};
    TRY(attendi_cuda_enter(device_of(ctx), err));
    const attend_status status =
        combine_gathered(device_of(ctx), p, sets, used, &from, c->start, err);
    attendi_cuda_leave(device_of(ctx));
    return status;
}

/* ---- parts and sums ------------------------------------------------------------ */

attend_status attendi_cuda_merge(attend_context *ctx, const struct merge *m,
                                 attend_error *err)
{
    struct merge_launch a = {
        .out = m->out, .lse = m->lse, .rows = m->rows, .count = (int)m->count};
    void *parameters[] = {&a};

    if (m->count > MERGE_PARTS_MOST)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "count (%lld): a device merges %d parts at most",
                            LL(m->count), MERGE_PARTS_MOST);
    for (int64_t x = 0; x < m->count; x++)
        a.part[x] = m->parts[x];
    TRY(attendi_cuda_enter(device_of(ctx), err));
    const attend_status status = attendi_cuda_launch(
        device_of(ctx), KERNEL_merge_parts, m->rows, TILE_THREADS, 0, parameters, err);
    attendi_cuda_leave(device_of(ctx));
    return status;
}

attend_status attendi_cuda_merge_stats(attend_context *ctx, const struct stats_merge *m,
                                       attend_error *err)
{
    if (!m->ends) {
        attendi_cuda_keep_raw(&m->problem->stats);
        m->problem->stats.summaries = NULL;
    }
    return attendi_cuda_sums_merge(device_of(ctx), m->problem, m->parts, m->count, err);
}
