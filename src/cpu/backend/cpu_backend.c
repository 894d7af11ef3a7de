/* SPDX-License-Identifier: MIT */
/* The CPU backend: the kernels of a set, run on work items by a pool of workers. */
#include "cpu/backend/cpu_backend.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/error.h"
#include "core/shard.h"
#include "cpu/backend/parallel_tasks.h"
#include "cpu/dispatch/fold.h"
#include "cpu/dispatch/kernel_sets.h"
#include "cpu/dispatch/schedule.h"

/* ---- kernels ------------------------------------------------------------------- */

const struct kernels *attendi_kernels_for(const attend_context *ctx,
                                          const struct problem *p)
{
    return attendi_set_kernels(ctx->kernels, p);
}

int64_t attendi_split_keys(const attend_context *ctx, const struct kernels *k)
{
    if (k->split_keys == 0 || ctx->split_keys == 0)
        return k->split_keys;
    int64_t keys = k->block_keys;
    while (keys < ctx->split_keys)
        keys *= 2;
    return min_i64(keys, k->split_keys);
}

/* ---- the forward pass ------------------------------------------------------------ */

/* The work items of a forward pass, and the offsets of the parts of its workspace. */
struct forward_plan {
    const struct kernels *kernels;
    struct schedule schedule;
    size_t worker_scratch, partial_size;
    size_t order_at, partials_at, missing_at, digest_at, ln_at;
};
_Static_assert(sizeof(struct forward_plan) <= sizeof((struct plan *)0)->state,
               "a plan holds it");

struct run {
    const struct forward_plan *plan;
    const struct kernels *kernels;
    struct problem *problem;
    char *scratch;       /* of worker 0; the others' follow */
    int32_t *order;      /* NULL: items in ascending order */
    char *partials;      /* partial_size bytes for each item, where rows are split */
    atomic_int *missing; /* partials still missing for the rows of an item */
};

/* Combines the partials of all splits of an item's rows, to records or to O and LSE. */
static void finish(const struct run *run, struct work_item item, char *partials,
                   void *scratch)
{
    const struct problem *p = run->problem;
    const struct kernels *k = run->kernels;
    const size_t size = k->partial_size(p, item.rows);

    for (item.record = 0; item.record < (p->shard ? p->shard->records : 1);
         item.record++) {
        item.keys = p->shard ? attendi_record_keys(p->shard, item.record)
                             : (struct key_range){0, p->nk};
        const int64_t first = item.keys.lo / p->split_keys;
        const int64_t count = ceil_div_i64(item.keys.hi, p->split_keys) - first;

        k->finish(p, &item, partials + (size_t)first * size, NULL, count, scratch);
    }
}

/* Computes one item; no item reads what another writes. */
static void compute(void *arg, int64_t task, int worker)
{
    struct run *const run = arg;
    const struct kernels *k = run->kernels;
    void *const scratch = run->scratch + (size_t)worker * run->plan->worker_scratch;
    const int64_t index = run->order ? run->order[task] : task;
    const int64_t splits = run->plan->schedule.tiling.splits, rows = index / splits;
    struct work_item item = attendi_work_item(&run->plan->schedule.tiling, index);

    if (!run->plan->schedule.tiling.gathers) {
        k->forward(run->problem, &item, scratch);
        return;
    }
    /*
     * Partials of the same rows are consecutive; the last item of a head has fewer rows.
     */
    char *const partials =
        run->partials + (size_t)(rows * splits) * run->plan->partial_size;
    item.partial =
        partials + (size_t)(index % splits) * k->partial_size(run->problem, item.rows);
    k->forward(run->problem, &item, scratch);
    /* The worker that completes the last split combines all partials. */
    if (atomic_fetch_sub(&run->missing[rows], 1) == 1) {
        item.partial = NULL;
        finish(run, item, partials, scratch);
    }
}

static bool is_ordered(const struct schedule *s)
{
    return s->workers > 1 && s->tiling.count <= INT32_MAX;
}

static void plan_forward(const attend_context *ctx, struct problem *p, struct plan *plan)
{
    attendi_fold_batches(p);

    const struct kernels *const kernels = attendi_kernels_for(ctx, p);
    const struct stats *const stats = &p->stats;
    struct forward_plan f = {.kernels = kernels};
    size_t total = 0;

    p->fast = ctx->order == ATTEND_ORDER_FAST;
    p->split_keys = attendi_split_keys(ctx, kernels);
    f.schedule = attendi_schedule(p, kernels, ctx->threads, ctx->split_keys > 0);
    if (f.schedule.workers > 0) {
        const struct tiling *const t = &f.schedule.tiling;
        const int64_t rows = min_i64(t->item_rows, t->rows);
        const int64_t split_items = t->gathers ? t->count : 0;

        f.worker_scratch = attendi_worker_size(kernels->scratch_size(p, rows));
        f.partial_size = t->gathers ? kernels->partial_size(p, rows) : 0;
        attendi_reserve(&total, f.schedule.workers, f.worker_scratch);
        f.order_at = attendi_reserve(&total, is_ordered(&f.schedule) ? t->count : 0,
                                     sizeof(int32_t));
        f.partials_at = attendi_reserve(&total, split_items, f.partial_size);
        f.missing_at =
            attendi_reserve(&total, split_items / t->splits, sizeof(atomic_int));
        f.digest_at =
            attendi_reserve(&total, stats->summaries ? p->nb * p->hq * p->nq : 0,
                            ATTEND_SUMMARY_COUNT * sizeof *stats->digest);
        f.ln_at = attendi_reserve(&total, stats->ln_count, sizeof *stats->ln);
    }
    memcpy(plan->state, &f, sizeof f);
    plan->workspace = total;
}

/* Divides the workspace as planned. */
static void lay_out(struct run *run, char *workspace)
{
    const struct forward_plan *const f = run->plan;
    const struct tiling *const t = &f->schedule.tiling;
    struct stats *const stats = &run->problem->stats;

    run->scratch = workspace;
    run->partials = workspace + f->partials_at;
    run->missing = (atomic_int *)(void *)(workspace + f->missing_at);
    for (int64_t x = 0; t->gathers && x < t->count / t->splits; x++)
        atomic_init(&run->missing[x], (int)t->splits);
    if (is_ordered(&f->schedule)) {
        run->order = (int32_t *)(void *)(workspace + f->order_at);
        attendi_schedule_order(&f->schedule, run->problem, run->order);
    }
    if (stats->summaries)
        stats->digest = (double *)(void *)(workspace + f->digest_at);
    stats->ln = (double *)(void *)(workspace + f->ln_at);
    for (int64_t x = 0; x < stats->ln_count; x++)
        stats->ln[x] = log1p((double)x);
}

static void summarise_head(void *arg, int64_t head, int worker)
{
    const struct problem *p = ((struct run *)arg)->problem;

    (void)worker;
    attendi_stats_summarise(p, head / p->hq, head % p->hq);
}

static attend_status forward(const attend_context *ctx, struct problem *p,
                             const struct plan *plan, void *workspace, attend_error *err)
{
    struct forward_plan f;

    memcpy(&f, plan->state, sizeof f);
    struct run run = {.plan = &f, .kernels = f.kernels, .problem = p};
    const int workers = f.schedule.workers;
    if (workers > 0)
        lay_out(&run, workspace);
    TRY(attendi_parallel_tasks(ctx, workers, f.schedule.tiling.count, true, compute, &run,
                               err));
    if (p->stats.summaries)
        TRY(attendi_parallel_tasks(ctx, workers > 1 ? workers : 1, p->nb * p->hq, false,
                                   summarise_head, &run, err));
    return ATTEND_OK;
}

/* Supports every valid problem; validates the arrays, which are in host memory. */
static attend_status supports(const attend_context *ctx, const struct problem *p,
                              attend_error *err)
{
    (void)ctx;
    return attendi_problem_check_host(p, err);
}

static void plan(const attend_context *ctx, struct problem *p, struct plan *to)
{
    if (p->inspection)
        attendi_cpu_plan_inspect(ctx, p, to);
    else
        plan_forward(ctx, p, to);
}

const struct backend attendi_backend_cpu = {.name = "cpu",
                                            .memory = ATTEND_MEMORY_HOST,
                                            .supports = supports,
                                            .plan = plan,
                                            .forward = forward,
                                            .partials = forward,
                                            .inspect = attendi_cpu_inspect,
                                            .combine = attendi_cpu_combine,
                                            .reduce = attendi_cpu_combine,
                                            .merge = attendi_cpu_merge,
                                            .merge_stats = attendi_cpu_merge_stats,
                                            .reduce_stats = attendi_cpu_merge_stats};
