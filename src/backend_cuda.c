/* SPDX-License-Identifier: MIT */
/*
 * The CUDA backend: kernels are queued on the stream of the context; backend.h has the
 * contracts.  Tensors lie in device memory, or in host memory and are copied.
 */
#include "backend_cuda.h"

#include <string.h>

#include "backend.h"
#include "base/error.h"
#include "context.h"
#include "core/tensor.h"
#include "cuda/device.h"
#include "cuda/hopper.h"
#include "cuda/merge_launch.h"
#include "cuda/sm80_plan.h"
#include "cuda/staging.h"

/* The kernel of an element type, from that of f64. */
static enum kernel_name of_type(enum kernel_name first, attend_dtype dtype)
{
    return (enum kernel_name)((int)first + (int)dtype - (int)ATTEND_F64);
}

/* How a forward pass is cut, and where its parts of the workspace begin. */
struct cuda_plan {
    int64_t tiles, chunks, groups, group_splits;
    size_t records_at, norms_at, sums_at, digest_at;
    struct hopper_plan hopper;
    struct sm80_plan sm80;
};
_Static_assert(sizeof(struct cuda_plan) <= sizeof((struct plan *)0)->state,
               "a plan holds it");

static size_t shared_bytes(attend_dtype dtype)
{
    return dtype == ATTEND_F64 ? SHARED_F64 : SHARED_F32;
}

/* ---- what can be computed ---------------------------------------------------- */

/* Splits of the tree; more than it has levels for are refused. */
static int64_t splits_of(const struct problem *p, int64_t split_keys)
{
    return ceil_div_i64(max_i64(p->nk, 1), split_keys);
}

static int64_t split_keys_of(const attend_context *ctx)
{
    return ctx->split_keys ? ctx->split_keys : ATTEND_SPLIT_KEYS;
}

static attend_status supports(const attend_context *ctx, const struct problem *p,
                              attend_error *err)
{
    if (splits_of(p, split_keys_of(ctx)) > (int64_t)1 << (TREE_LEVELS - 1) ||
        p->nk > INT32_MAX)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "cuda: nk (%lld) is more than a device takes", LL(p->nk));
    return ATTEND_OK;
}

static attend_status supports_host(const attend_context *ctx, const struct problem *p,
                                   attend_error *err)
{
    TRY(attendi_problem_check_host(p, err));
    return supports(ctx, p, err);
}

/* ---- the plan ------------------------------------------------------------------ */

static size_t take(size_t *total, int64_t count, size_t size)
{
    const size_t at = *total, bytes = count_bytes(count, size);

    *total = bytes == SIZE_MAX || at == SIZE_MAX
                 ? SIZE_MAX
                 : add_bytes(at, (bytes + 255) / 256 * 256);
    return at;
}

/*
 * Groups of splits that blocks of threads share the keys of a row by: where rows are
 * few.  A group is a node of the tree, so the cut changes no bit.
 */
static void cut_keys(const attend_context *ctx, const struct problem *p,
                     struct cuda_plan *c)
{
    const int64_t splits = splits_of(p, p->split_keys), wanted = 4 * ctx->cuda->sm_count;
    const int64_t items = max_i64(1, p->nb * p->hq * c->tiles * c->chunks);

    c->group_splits = 1;
    while (c->group_splits < splits &&
           (ctx->split_keys
                ? false
                : items * ceil_div_i64(splits, 2 * c->group_splits) >= wanted))
        c->group_splits *= 2;
    c->groups = ceil_div_i64(splits, c->group_splits);
    if (!ctx->split_keys && items >= wanted) {
        c->groups = 1;
        c->group_splits = (int64_t)1 << TREE_LEVELS;
    }
}

static void plan(const attend_context *ctx, struct problem *p, struct plan *to)
{
    struct cuda_plan c = {.tiles = ceil_div_i64(p->nq, TILE_ROWS),
                          .chunks = max_i64(1, ceil_div_i64(p->dv, TILE_THREADS))};
    const int64_t rows = p->nb * p->hq * p->nq;
    const size_t number = attend_dtype_size(attendi_wide_dtype(p->dtype));
    size_t total = 0;

    p->split_keys = split_keys_of(ctx);
    p->fast = ctx->order == ATTEND_ORDER_FAST;
    if (!p->inspection) {
        attendi_hopper_plan(ctx->cuda, p, &c.hopper, &total);
        attendi_sm80_plan(ctx->cuda, p, &c.sm80, &total);
        cut_keys(ctx, p, &c);
        if (c.hopper.way != HOPPER_NOT || c.sm80.way != SM80_NOT)
            c.groups = 1;
        else if (p->shard)
            c.groups = p->shard->records;
        else if (c.groups > 1)
            c.records_at = take(&total, rows * c.groups, (size_t)(p->dv + 2) * number);
        c.norms_at = take(&total, p->weights.data ? rows : 0, sizeof(struct row_norm));
        c.sums_at = take(&total, p->stats.needs ? rows : 0,
                         (size_t)p->stats.sums_length * sizeof(double));
        c.digest_at = take(&total, p->stats.summaries ? rows : 0,
                           ATTEND_SUMMARY_COUNT * sizeof(double));
    } else
        attendi_hopper_plan_columns(ctx->cuda, p, &c.hopper, &total);
    memcpy(to->state, &c, sizeof c);
    to->workspace = total;
}

static attend_status workspace(attend_context *ctx, size_t size, void **to,
                               attend_error *err)
{
    struct cuda_device *const d = ctx->cuda;

    if (size == SIZE_MAX)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for a workspace of so much");
    if (d->lent) {
        *to = d->lent;
        return size <= d->lent_size
                   ? ATTEND_OK
                   : attendi_fail(err, ATTEND_ENOMEM,
                                  "the workspace of %zu bytes is smaller than %zu",
                                  d->lent_size, size);
    }
    TRY(attendi_cuda_enter(d, err));
    const attend_status status = attendi_cuda_reserve(d, &d->workspace, size, err);
    attendi_cuda_leave(d);
    *to = (void *)d->workspace.at;
    return status;
}

/* ---- the launches ---------------------------------------------------------------- */

static attend_status launch(struct cuda_device *d, enum kernel_name kernel,
                            struct launch *a, int64_t items, attend_error *err)
{
    void *parameters[] = {a};

    a->items = items;
    return attendi_cuda_launch(d, kernel, items, TILE_THREADS, shared_bytes(a->p.dtype),
                               parameters, err);
}

/* Rows by columns of V. */
static int64_t row_items(const struct launch *a)
{
    return a->p.nb * a->p.hq * a->tiles * a->chunks;
}

/* `measured`: the sums of rows are there. */
static attend_status launch_stats(struct cuda_device *d, struct launch *a, bool measured,
                                  attend_error *err)
{
    const int64_t heads = a->p.nb * a->p.hq;

    if (measured)
        TRY(launch(d, KERNEL_stats_rows, a, ceil_div_i64(heads * a->p.nq, TILE_THREADS),
                   err));
    else
        TRY(launch(d, of_type(KERNEL_stats_f64, a->p.dtype), a, heads * a->tiles, err));
    if (!a->p.stats.summaries)
        return ATTEND_OK;
    return launch(d, KERNEL_summaries, a,
                  heads * a->p.stats.summary_kinds * ATTEND_SUMMARY_GROUPS, err);
}

static attend_status launch_forward(struct cuda_device *d, struct launch *a,
                                    const struct cuda_plan *c, char *workspace_at,
                                    attend_error *err)
{
    const attend_dtype dtype = a->p.dtype;
    const enum kernel_name combine =
        dtype == ATTEND_F64 ? KERNEL_combine_f64 : KERNEL_combine_f32;

    if (c->hopper.way != HOPPER_NOT)
        TRY(attendi_hopper_run(d, &a->p, &c->hopper, workspace_at, a->sums, err));
    else if (c->sm80.way != SM80_NOT)
        TRY(attendi_sm80_run(d, &a->p, &c->sm80, workspace_at, err));
    else
        TRY(launch(d, of_type(KERNEL_forward_f64, dtype), a, row_items(a) * a->groups,
                   err));
    if (a->p.shard)
        return ATTEND_OK;
    if (a->groups > 1)
        TRY(launch(d, combine, a, row_items(a), err));
    if (a->p.weights.data)
        TRY(launch(d, of_type(KERNEL_weights_f64, dtype), a,
                   a->p.nb * a->p.hq * a->tiles * ceil_div_i64(a->p.nk, TILE_KEYS), err));
    return a->p.stats.needs ? launch_stats(d, a, c->hopper.measured != 0, err)
                            : ATTEND_OK;
}

static attend_status launch_inspection(struct cuda_device *d, struct launch *a,
                                       const struct hopper_plan *hopper,
                                       char *workspace_at, attend_error *err)
{
    const struct inspection *const s = &a->inspection;
    const attend_dtype dtype = a->p.dtype;
    const int64_t heads = a->p.nb * a->p.hq;

    if (hopper->way != HOPPER_NOT)
        TRY(attendi_hopper_columns(d, &a->p, hopper, workspace_at, err));
    else if (s->column_mass.data || s->column_max.data || s->column_last.data)
        TRY(launch(d, of_type(KERNEL_columns_f64, dtype), a,
                   heads * ceil_div_i64(a->p.nk, TILE_KEYS), err));
    if (s->pooled.data)
        TRY(launch(d, of_type(KERNEL_pooled_f64, dtype), a,
                   heads * s->pooled.size[2] * s->pooled.size[3], err));
    if (s->zoom.data)
        TRY(launch(d, of_type(KERNEL_zoom_f64, dtype), a,
                   heads * ceil_div_i64(s->zoom.size[2], TILE_ROWS) *
                       ceil_div_i64(s->zoom.size[3], TILE_KEYS),
                   err));
    return launch(d, of_type(KERNEL_probe_f64, dtype), a, s->probe_count, err);
}

/* The records of groups of splits: (nb, hq, nq, groups * (dv + 2)), dense. */
static attend_tensor group_records(const struct problem *p, const struct cuda_plan *c,
                                   char *at)
{
    return attend_tensor_dense(at, attendi_wide_dtype(p->dtype), p->nb, p->hq, p->nq,
                               c->groups * (p->dv + 2));
}

static attend_status queue(const attend_context *ctx, struct problem *p,
                           const struct plan *from, void *workspace_at, attend_error *err)
{
    char *const at = workspace_at;
    struct cuda_plan c;

    memcpy(&c, from->state, sizeof c);
    struct launch a = {.p = *p,
                       .tiles = c.tiles,
                       .chunks = c.chunks,
                       .groups = c.groups,
                       .group_splits = c.group_splits};
    if (p->inspection) {
        a.inspection = *p->inspection;
        return launch_inspection(ctx->cuda, &a, &c.hopper, at, err);
    }
    if (p->shard) {
        a.shard = *p->shard;
        a.records = p->records;
    } else
        a.records = group_records(p, &c, at + c.records_at);
    a.norms = p->weights.data ? (struct row_norm *)(void *)(at + c.norms_at) : NULL;
    a.sums = (double *)(void *)(at + c.sums_at);
    a.p.stats.digest = p->stats.summaries ? (double *)(void *)(at + c.digest_at) : NULL;
    a.p.stats.ln_count = 0;
    return launch_forward(ctx->cuda, &a, &c, at, err);
}

static attend_status run(const attend_context *ctx, struct problem *p,
                         const struct plan *from, void *workspace_at, attend_error *err)
{
    TRY(attendi_cuda_enter(ctx->cuda, err));
    const attend_status status = queue(ctx, p, from, workspace_at, err);
    attendi_cuda_leave(ctx->cuda);
    return status;
}

static attend_status queue_staged(const attend_context *ctx, struct problem *p,
                                  const struct plan *from, void *workspace_at,
                                  attend_error *err)
{
    struct staging staging;

    TRY(attendi_stage_in(&staging, ctx->cuda, p, NULL, 0, err));
    TRY(queue(ctx, p, from, workspace_at, err));
    return attendi_stage_out(&staging, ctx->cuda, err);
}

static attend_status run_staged(const attend_context *ctx, struct problem *p,
                                const struct plan *from, void *workspace_at,
                                attend_error *err)
{
    TRY(attendi_cuda_enter(ctx->cuda, err));
    const attend_status status = queue_staged(ctx, p, from, workspace_at, err);
    attendi_cuda_leave(ctx->cuda);
    return status;
}

static attend_status queue_combine(struct cuda_device *d, struct problem *p,
                                   const int64_t *start, int64_t count, attend_error *err)
{
    struct staging staging;

    TRY(attendi_stage_in(&staging, d, p, &start, count, err));
    struct launch a = {.p = *p,
                       .tiles = ceil_div_i64(p->nq, TILE_ROWS),
                       .chunks = max_i64(1, ceil_div_i64(p->dv, TILE_THREADS)),
                       .groups = count,
                       .records = p->records,
                       .start = start};
    TRY(launch(d,
               p->records.dtype == ATTEND_F64 ? KERNEL_combine_f64 : KERNEL_combine_f32,
               &a, row_items(&a), err));
    return attendi_stage_out(&staging, d, err);
}

attend_status attendi_cuda_combine(attend_context *ctx, struct problem *p,
                                   const int64_t *start, int64_t count, attend_error *err)
{
    TRY(attendi_cuda_enter(ctx->cuda, err));
    const attend_status status = queue_combine(ctx->cuda, p, start, count, err);
    attendi_cuda_leave(ctx->cuda);
    return status;
}

/* `records` is dense; start[] goes behind it. */
static attend_status queue_parts(struct cuda_device *d, struct problem *p,
                                 const struct part_records *parts, int64_t part_count,
                                 const int64_t *start, int64_t count, char *at,
                                 size_t start_at, attend_error *err)
{
    const int64_t rows = p->nb * p->hq * p->nq, width = p->dv + 2;

    p->records =
        attend_tensor_dense(at, p->records.dtype, p->nb, p->hq, p->nq, count * width);
    for (int64_t x = 0; x < part_count; x++) {
        struct gather_launch gather = {.from = parts[x].from,
                                       .to = p->records,
                                       .at = parts[x].at * width,
                                       .width = parts[x].count * width,
                                       .rows = rows};
        void *parameters[] = {&gather};

        TRY(attendi_cuda_launch(d, KERNEL_gather_records,
                                ceil_div_i64(rows * gather.width, TILE_THREADS),
                                TILE_THREADS, 0, parameters, err));
    }
    TRY(attendi_driver_check(&d->driver,
                             d->driver.copy_in((cu_pointer)(at + start_at), start,
                                               (size_t)count * sizeof *start, d->stream),
                             "copying to the device", err));
    struct launch a = {.p = *p,
                       .tiles = ceil_div_i64(p->nq, TILE_ROWS),
                       .chunks = max_i64(1, ceil_div_i64(p->dv, TILE_THREADS)),
                       .groups = count,
                       .records = p->records,
                       .start = (const int64_t *)(void *)(at + start_at)};
    return launch(
        d, p->records.dtype == ATTEND_F64 ? KERNEL_combine_f64 : KERNEL_combine_f32, &a,
        row_items(&a), err);
}

attend_status attendi_cuda_combine_parts(attend_context *ctx, struct problem *p,
                                         const struct part_records *parts,
                                         int64_t part_count, const int64_t *start,
                                         int64_t count, attend_error *err)
{
    const int64_t rows = p->nb * p->hq * p->nq;
    size_t total = 0;
    void *at;

    take(&total, rows * count, (size_t)(p->dv + 2) * attend_dtype_size(p->records.dtype));
    const size_t start_at = take(&total, count, sizeof *start);
    TRY(workspace(ctx, total, &at, err));
    TRY(attendi_cuda_enter(ctx->cuda, err));
    const attend_status status =
        queue_parts(ctx->cuda, p, parts, part_count, start, count, at, start_at, err);
    attendi_cuda_leave(ctx->cuda);
    return status;
}

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

const struct backend attendi_backend_cuda = {.name = "cuda",
                                             .memory = ATTEND_MEMORY_CUDA,
                                             .supports = supports,
                                             .plan = plan,
                                             .workspace = workspace,
                                             .run = run};
const struct backend attendi_backend_cuda_host = {.name = "cuda",
                                                  .memory = ATTEND_MEMORY_HOST,
                                                  .supports = supports_host,
                                                  .plan = plan,
                                                  .workspace = workspace,
                                                  .run = run_staged};

/* ---- the device of a context ----------------------------------------------------- */

attend_status attendi_device_attach(attend_context *ctx, const attend_options *options,
                                    attend_error *err)
{
    TRY(attendi_cuda_open(&ctx->cuda, options->device, &ctx->allocator, err));
    ctx->cuda->stream = options->stream;
    ctx->backend =
        options->host_tensors ? &attendi_backend_cuda_host : &attendi_backend_cuda;
    return ATTEND_OK;
}

void attendi_device_detach(attend_context *ctx)
{
    attendi_cuda_close(ctx->cuda, &ctx->allocator);
    ctx->cuda = NULL;
}
