/* SPDX-License-Identifier: MIT */
/* The calls of the CUDA backend that take no problem: combine, reduce, merge. */
#include "backend_cuda.h"

#include "base/error.h"
#include "context.h"
#include "core/shard.h"
#include "core/tensor.h"
#include "cuda/host/device.h"
#include "cuda/general/merge_launch.h"
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

attend_status attendi_cuda_combine(attend_context *ctx, struct problem *p,
                                   const attend_tensor *records, const int64_t *start,
                                   int64_t count, attend_error *err)
{
    TRY(attendi_cuda_enter(ctx->cuda, err));
    const attend_status status = combine_staged(ctx->cuda, p, records, start, count, err);
    attendi_cuda_leave(ctx->cuda);
    return status;
}

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

attend_status attendi_cuda_combine_parts(attend_context *ctx, struct problem *p,
                                         attend_dtype dtype,
                                         const struct part_records *parts,
                                         int64_t part_count, const int64_t *start,
                                         int64_t count, attend_error *err)
{
    const int64_t rows = p->nb * p->hq * p->nq;
    size_t total = 0;
    void *at;

    attendi_cuda_take(&total, rows * count,
                      (size_t)(p->dv + 2) * attend_dtype_size(dtype));
    const size_t start_at = attendi_cuda_take(&total, count, sizeof *start);
    TRY(attendi_cuda_workspace(ctx->cuda, total, &at, err));
    const struct record_list from = {
        .data = attend_tensor_dense(at, dtype, p->nb, p->hq, p->nq, count * (p->dv + 2)),
        .start = (const int64_t *)(void *)((char *)at + start_at),
        .count = count};
    TRY(attendi_cuda_enter(ctx->cuda, err));
    const attend_status status =
        combine_gathered(ctx->cuda, p, parts, part_count, &from, start, err);
    attendi_cuda_leave(ctx->cuda);
    return status;
}

/* ---- parts and sums ------------------------------------------------------------ */

attend_status attendi_cuda_merge(attend_context *ctx, const attend_part *parts,
                                 int64_t count, const attend_tensor *out,
                                 const attend_tensor *lse, int64_t rows,
                                 attend_error *err)
{
    struct merge_launch a = {.out = *out, .lse = *lse, .rows = rows, .count = (int)count};
    void *parameters[] = {&a};

    if (count > MERGE_PARTS_MOST)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "count (%lld): a device merges %d parts at most", LL(count),
                            MERGE_PARTS_MOST);
    for (int64_t x = 0; x < count; x++)
        a.part[x] = parts[x];
    TRY(attendi_cuda_enter(ctx->cuda, err));
    const attend_status status = attendi_cuda_launch(ctx->cuda, KERNEL_merge_parts, rows,
                                                     TILE_THREADS, 0, parameters, err);
    attendi_cuda_leave(ctx->cuda);
    return status;
}

attend_status attendi_cuda_merge_stats(attend_context *ctx, struct problem *p, bool ends,
                                       const attend_stats_part *parts, int64_t count,
                                       attend_error *err)
{
    if (!ends) {
        attendi_cuda_keep_raw(&p->stats);
        p->stats.summaries = NULL;
    }
    return attendi_cuda_sums_merge(ctx->cuda, p, parts, count, err);
}
