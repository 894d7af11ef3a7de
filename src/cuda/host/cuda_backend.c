/* SPDX-License-Identifier: MIT */
/*
 * The CUDA backend: queues kernels on the stream of the context; core/backend.h has the
 * contracts.  Tensors are in device memory, or are copied from host memory.
 */
#include "cuda/host/cuda_backend.h"

#include <string.h>

#include "base/error.h"
#include "core/tensor.h"
#include "cpu/backend/cpu_backend.h"
#include "cuda/cuda_open.h"
#include "cuda/host/sm80_plan.h"
#include "cuda/host/sm90_plan.h"
#include "cuda/host/staging.h"
#include "cuda/host/sums.h"

/* The kernel for an element type, given the one for f64. */
static enum kernel_name of_type(enum kernel_name first, attend_dtype dtype)
{
    return (enum kernel_name)((int)first + (int)dtype - (int)ATTEND_F64);
}

/* Tiling of a forward pass, and offsets into the workspace. */
struct cuda_plan {
    int64_t tiles, chunks, groups, group_splits;
    size_t records_at, norms_at, sums_at, digest_at;
    struct sm90_plan sm90;
    struct sm80_plan sm80;
};
_Static_assert(sizeof(struct cuda_plan) <= sizeof((struct plan *)0)->state,
               "a plan holds it");

/* ---- supported problems ---------------------------------------------------- */

/* Number of splits; supports() refuses more than the tree has levels for. */
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
    if (p->k.dtype != p->q.dtype || p->v.dtype != p->q.dtype)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "cuda: q.dtype (%s) is not that of k and v (%s, %s)",
                            attend_dtype_name(p->q.dtype), attend_dtype_name(p->k.dtype),
                            attend_dtype_name(p->v.dtype));
    return ATTEND_OK;
}

static attend_status supports_host(const attend_context *ctx, const struct problem *p,
                                   attend_error *err)
{
    TRY(attendi_problem_check_host(p, err));
    return supports(ctx, p, err);
}

/* ---- the plan ------------------------------------------------------------------ */

/*
 * Split-KV: where rows are few, several CTAs share the keys of a row, each with a group
 * of splits.  A group is a node of the tree, so this changes no bit.
 */
static void cut_keys(const attend_context *ctx, const struct problem *p,
                     struct cuda_plan *c)
{
    const int64_t splits = splits_of(p, p->split_keys),
                  wanted = 4 * device_of(ctx)->sm_count;
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
    if (p->shard)
        attendi_cuda_keep_raw(&p->stats);
    if (!p->inspection) {
        attendi_sm90_plan(device_of(ctx), p, &c.sm90, &total);
        attendi_sm80_plan(device_of(ctx), p, &c.sm80, &total);
        cut_keys(ctx, p, &c);
        if (c.sm90.path != SM90_NONE || c.sm80.path != SM80_NONE)
            c.groups = 1;
        else if (p->shard)
            c.groups = p->shard->records;
        else if (c.groups > 1)
            c.records_at =
                attendi_cuda_take(&total, rows * c.groups, (size_t)(p->dv + 2) * number);
        c.norms_at = attendi_cuda_take(&total, p->weights.data ? rows : 0,
                                       sizeof(struct row_norm));
        c.sums_at = attendi_cuda_take(&total, p->stats.needs ? rows : 0,
                                      (size_t)p->stats.sums_length * sizeof(double));
        c.digest_at = attendi_cuda_take(&total, p->stats.summaries ? rows : 0,
                                        ATTEND_SUMMARY_COUNT * sizeof(double));
    } else
        attendi_sm90_plan_columns(device_of(ctx), p, &c.sm90, &total);
    memcpy(to->state, &c, sizeof c);
    to->workspace = total;
}

static attend_status workspace(attend_context *ctx, size_t size, void **to,
                               attend_error *err)
{
    return attendi_cuda_workspace(device_of(ctx), size, to, err);
}

/* ---- the launches ---------------------------------------------------------------- */

/* Fewer rows in a tile where tiles are few: a row is summed by the same threads. */
static int64_t stats_rows(const struct cuda_device *d, const struct problem *p)
{
    int64_t rows = TILE_ROWS;

    while (rows > 1 && p->nb * p->hq * ceil_div_i64(p->nq, rows) < d->sm_count)
        rows /= 2;
    return rows;
}

/* `fused`: the sums of rows have been computed already. */
static attend_status launch_stats(struct cuda_device *d, struct launch *a, bool fused,
                                  attend_error *err)
{
    if (!fused) {
        a->stats_rows = stats_rows(d, &a->p);
        TRY(attendi_cuda_general(d, of_type(KERNEL_stats_f64, a->p.dtype), a,
                                 a->p.nb * a->p.hq * ceil_div_i64(a->p.nq, a->stats_rows),
                                 err));
    }
    /* A shard has positions of its own; its sums have those of the sequence. */
    if (a->p.shard && a->p.first_key != 0)
        TRY(attendi_cuda_sums_move(d, a, err));
    return attendi_cuda_sums_read(d, a, err);
}

static attend_status launch_forward(struct cuda_device *d, struct launch *a,
                                    const struct cuda_plan *c, char *workspace_at,
                                    attend_error *err)
{
    const attend_dtype dtype = a->p.dtype;
    const enum kernel_name combine =
        dtype == ATTEND_F64 ? KERNEL_combine_f64 : KERNEL_combine_f32;

    if (c->sm90.path != SM90_NONE)
        TRY(attendi_sm90_run(d, &a->p, &c->sm90, workspace_at, a->sums, err));
    else if (c->sm80.path != SM80_NONE)
        TRY(attendi_sm80_run(d, &a->p, &c->sm80, workspace_at, err));
    else
        TRY(attendi_cuda_general(d, of_type(KERNEL_forward_f64, dtype), a,
                                 attendi_cuda_row_items(a) * a->groups, err));
    if (a->p.shard)
        return a->p.stats.needs ? launch_stats(d, a, false, err) : ATTEND_OK;
    if (a->groups > 1)
        TRY(attendi_cuda_general(d, combine, a, attendi_cuda_row_items(a), err));
    if (a->p.weights.data)
        TRY(attendi_cuda_general(
            d, of_type(KERNEL_weights_f64, dtype), a,
            a->p.nb * a->p.hq * a->tiles * ceil_div_i64(a->p.nk, TILE_KEYS), err));
    return a->p.stats.needs ? launch_stats(d, a, c->sm90.stats != 0, err) : ATTEND_OK;
}

static attend_status launch_inspection(struct cuda_device *d, struct launch *a,
                                       const struct sm90_plan *sm90, char *workspace_at,
                                       attend_error *err)
{
    const struct inspection *const s = &a->inspection;
    const attend_dtype dtype = a->p.dtype;
    const int64_t heads = a->p.nb * a->p.hq;

    if (sm90->path != SM90_NONE)
        TRY(attendi_sm90_columns(d, &a->p, sm90, workspace_at, err));
    else if (s->column_mass.data || s->column_max.data || s->column_last.data)
        TRY(attendi_cuda_general(d, of_type(KERNEL_columns_f64, dtype), a,
                                 heads * ceil_div_i64(a->p.nk, TILE_KEYS), err));
    if (s->pooled.data)
        TRY(attendi_cuda_general(d, of_type(KERNEL_pooled_f64, dtype), a,
                                 heads * s->pooled.size[2] * s->pooled.size[3], err));
    if (s->zoom.data)
        TRY(attendi_cuda_general(d, of_type(KERNEL_zoom_f64, dtype), a,
                                 heads * ceil_div_i64(s->zoom.size[2], TILE_ROWS) *
                                     ceil_div_i64(s->zoom.size[3], TILE_KEYS),
                                 err));
    return attendi_cuda_general(d, of_type(KERNEL_probe_f64, dtype), a, s->probe_count,
                                err);
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
        return launch_inspection(device_of(ctx), &a, &c.sm90, at, err);
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
    return launch_forward(device_of(ctx), &a, &c, at, err);
}

static attend_status run(const attend_context *ctx, struct problem *p,
                         const struct plan *from, void *workspace_at, attend_error *err)
{
    TRY(attendi_cuda_enter(device_of(ctx), err));
    const attend_status status = queue(ctx, p, from, workspace_at, err);
    attendi_cuda_leave(device_of(ctx));
    return status;
}

static attend_status queue_staged(const attend_context *ctx, struct problem *p,
                                  const struct plan *from, void *workspace_at,
                                  attend_error *err)
{
    struct staging staging;

    TRY(attendi_stage_in(&staging, device_of(ctx), p, NULL, err));
    TRY(queue(ctx, p, from, workspace_at, err));
    return attendi_stage_out(&staging, device_of(ctx), err);
}

static attend_status run_staged(const attend_context *ctx, struct problem *p,
                                const struct plan *from, void *workspace_at,
                                attend_error *err)
{
    TRY(attendi_cuda_enter(device_of(ctx), err));
    const attend_status status = queue_staged(ctx, p, from, workspace_at, err);
    attendi_cuda_leave(device_of(ctx));
    return status;
}

/* ---- the device of a context ----------------------------------------------------- */

static attend_status wait_for(attend_context *ctx, attend_error *err)
{
    return attendi_cuda_wait(device_of(ctx), err);
}

static attend_status set_stream(attend_context *ctx, void *stream, attend_error *err)
{
    (void)err;
    device_of(ctx)->stream = stream;
    return ATTEND_OK;
}

static attend_status set_workspace(attend_context *ctx, void *memory, size_t size,
                                   attend_error *err)
{
    if ((uintptr_t)memory % 256 != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "workspace (%p) is not aligned to 256 bytes", memory);
    device_of(ctx)->lent = memory;
    device_of(ctx)->lent_size = memory ? size : 0;
    return ATTEND_OK;
}

static void close_device(attend_context *ctx)
{
    attendi_cuda_close(device_of(ctx), &ctx->allocator);
    ctx->device = NULL;
}

/* Tensors in the memory of the GPU. */
static const struct backend device_tensors = {.name = "cuda",
                                              .memory = ATTEND_MEMORY_CUDA,
                                              .supports = supports,
                                              .plan = plan,
                                              .workspace = workspace,
                                              .forward = run,
                                              .partials = run,
                                              .inspect = run,
                                              .combine = attendi_cuda_combine,
                                              .reduce = attendi_cuda_combine,
                                              .merge = attendi_cuda_merge,
                                              .merge_stats = attendi_cuda_merge_stats,
                                              .reduce_stats = attendi_cuda_merge_stats,
                                              .wait = wait_for,
                                              .set_stream = set_stream,
                                              .set_workspace = set_workspace,
                                              .close = close_device};
/* Tensors in host memory.  Parts and sums are merged there, by the CPU. */
static const struct backend host_tensors = {.name = "cuda",
                                            .memory = ATTEND_MEMORY_HOST,
                                            .supports = supports_host,
                                            .plan = plan,
                                            .workspace = workspace,
                                            .forward = run_staged,
                                            .partials = run_staged,
                                            .inspect = run_staged,
                                            .combine = attendi_cuda_combine_host,
                                            .reduce = attendi_cuda_combine_host,
                                            .merge = attendi_cpu_merge,
                                            .merge_stats = attendi_cpu_merge_stats,
                                            .reduce_stats = attendi_cpu_merge_stats,
                                            .wait = wait_for,
                                            .set_stream = set_stream,
                                            .set_workspace = set_workspace,
                                            .close = close_device};

attend_status attendi_cuda_attach(attend_context *ctx, const attend_options *options,
                                  attend_error *err)
{
    struct cuda_device *device;

    TRY(attendi_cuda_open(&device, options->device, &ctx->allocator, err));
    device->stream = options->stream;
    ctx->device = device;
    ctx->backend = options->host_tensors ? &host_tensors : &device_tensors;
    return ATTEND_OK;
}
