/* SPDX-License-Identifier: MIT */
#include "cpu/backend/cpu_forward.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/error.h"
#include "core/shard.h"
#include "cpu/backend/cpu_backend.h"
#include "cpu/backend/parallel_tasks.h"
#include "cpu/dispatch/fold.h"

/* Combines the partials of all splits of an item's rows, to records or to O and LSE. */
static void finish(const struct forward_run *run, struct work_item item, char *partials,
                   void *scratch)
{
    const struct problem *p = run->problem;
    const struct kernels *k = run->plan->kernels;
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

void attendi_forward_item(struct forward_run *run, int64_t task, int worker)
{
    const struct kernels *k = run->plan->kernels;
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

void attendi_forward_plan(const attend_context *ctx, struct problem *p, int threads,
                          struct forward_plan *f, size_t *total)
{
    attendi_fold_batches(p);

    const struct kernels *const kernels = attendi_kernels_for(ctx, p);
    const struct stats *const stats = &p->stats;

    *f = (struct forward_plan){.kernels = kernels};
    p->fast = ctx->order == ATTEND_ORDER_FAST;
    p->split_keys = attendi_split_keys(ctx, kernels);
    f->schedule = attendi_schedule(p, kernels, threads, ctx->split_keys > 0);
    if (f->schedule.workers == 0)
        return;
    const struct tiling *const t = &f->schedule.tiling;
    const int64_t rows = min_i64(t->item_rows, t->rows);
    const int64_t split_items = t->gathers ? t->count : 0;

    f->worker_scratch = attendi_worker_size(kernels->scratch_size(p, rows));
    f->partial_size = t->gathers ? kernels->partial_size(p, rows) : 0;
    f->order_at =
        attendi_reserve(total, is_ordered(&f->schedule) ? t->count : 0, sizeof(int32_t));
    f->partials_at = attendi_reserve(total, split_items, f->partial_size);
    f->missing_at = attendi_reserve(total, split_items / t->splits, sizeof(atomic_int));
    f->digest_at = attendi_reserve(total, stats->summaries ? p->nb * p->hq * p->nq : 0,
                                   ATTEND_SUMMARY_COUNT * sizeof *stats->digest);
    f->ln_at = attendi_reserve(total, stats->ln_count, sizeof *stats->ln);
}

void attendi_forward_lay_out(struct forward_run *run, char *workspace)
{
    const struct forward_plan *const f = run->plan;
    const struct tiling *const t = &f->schedule.tiling;
    struct stats *const stats = &run->problem->stats;

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
    const struct problem *p = ((const struct forward_run *)arg)->problem;

    (void)worker;
    attendi_stats_summarise(p, head / p->hq, head % p->hq);
}

attend_status attendi_forward_summarise(const attend_context *ctx,
                                        struct forward_run *run, int workers,
                                        attend_error *err)
{
    const struct problem *const p = run->problem;

    return !p->stats.summaries
               ? ATTEND_OK
               : attendi_parallel_tasks(ctx, workers > 1 ? workers : 1, p->nb * p->hq,
                                        false, summarise_head, run, err);
}
