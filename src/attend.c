/* SPDX-License-Identifier: MIT */
/* attend_forward and attend_forward_partials: validate, cut, hand out. */
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "attend/attend.h"
#include "base/base.h"
#include "base/error.h"
#include "core/schedule.h"
#include "core/shard.h"
#include "work.h"

struct run {
    const attend_context *ctx;
    const struct kernels *kernels;
    struct problem *problem;
    struct schedule schedule;
    size_t worker_scratch, partial_size;
    char *scratch;       /* of worker 0; the others' follow */
    int32_t *order;      /* NULL: items go in the order they have */
    char *partials;      /* partial_size bytes for each item, where rows are split */
    atomic_int *missing; /* partials that the rows of an item still wait for */
};

/* Combines the partials of all splits of a tile's rows: to its records, or to rows. */
static void finish(const struct run *run, struct tile tile, char *partials, void *scratch)
{
    const struct problem *p = run->problem;
    const struct kernels *k = run->kernels;
    const size_t size = k->partial_size(p, tile.rows);

    for (tile.record = 0; tile.record < (p->shard ? p->shard->records : 1);
         tile.record++) {
        tile.keys = p->shard ? attendi_record_keys(p->shard, tile.record)
                             : (struct key_range){0, p->nk};
        const int64_t first = tile.keys.lo / p->split_keys;
        const int64_t count = ceil_div_i64(tile.keys.hi, p->split_keys) - first;

        k->finish(p, &tile, partials + (size_t)first * size, NULL, count, scratch);
    }
}

/* One item, which writes nothing that another reads. */
static void compute(void *arg, int64_t turn, int worker)
{
    struct run *const run = arg;
    const struct kernels *k = run->kernels;
    void *const scratch = run->scratch + (size_t)worker * run->worker_scratch;
    const int64_t index = run->order ? run->order[turn] : turn;
    const int64_t splits = run->schedule.tiling.splits, rows = index / splits;
    struct tile tile = attendi_tile(&run->schedule.tiling, index);

    if (!run->schedule.tiling.gathers) {
        k->forward(run->problem, &tile, scratch);
        return;
    }
    /* Those of the same rows lie one after another: the last rows of a head are fewer. */
    char *const partials = run->partials + (size_t)(rows * splits) * run->partial_size;
    tile.partial =
        partials + (size_t)(index % splits) * k->partial_size(run->problem, tile.rows);
    k->forward(run->problem, &tile, scratch);
    /* Whoever brings the last one combines them all. */
    if (atomic_fetch_sub(&run->missing[rows], 1) == 1) {
        tile.partial = NULL;
        finish(run, tile, partials, scratch);
    }
}

static int nothing_to_write(const struct problem *p)
{
    return p->dv == 0 && !p->stats.needs && !p->lse.data &&
           (!p->weights.data || p->nk == 0);
}

static int64_t all_rows(const struct problem *p) { return p->nb * p->hq * p->nq; }

/* Memory for all workers in one piece, kept by the context for the next call. */
static attend_status prepare(struct run *run, attend_context *ctx, attend_error *err)
{
    const struct tiling *t = &run->schedule.tiling;
    const int64_t workers = run->schedule.workers, items = t->count;
    const bool ordered = workers > 1 && t->count <= INT32_MAX, split = t->gathers;
    size_t total = 0, order_at, partials_at, missing_at, digest_at, ln_at;
    struct stats *const stats = &run->problem->stats;
    run->worker_scratch = attendi_worker_size(
        run->kernels->scratch_size(run->problem, min_i64(t->item_rows, t->rows)));
    run->partial_size =
        split ? run->kernels->partial_size(run->problem, min_i64(t->item_rows, t->rows))
              : 0;
    bool fits = attendi_reserve(&total, workers, run->worker_scratch);
    order_at = total;
    fits = fits && attendi_reserve(&total, ordered ? items : 0, sizeof *run->order);
    partials_at = total;
    fits = fits && attendi_reserve(&total, split ? items : 0, run->partial_size);
    missing_at = total;
    fits = fits &&
           attendi_reserve(&total, split ? items / t->splits : 0, sizeof *run->missing);
    digest_at = total;
    fits = fits && attendi_reserve(&total, stats->summaries ? all_rows(run->problem) : 0,
                                   ATTEND_SUMMARY_COUNT * sizeof *stats->digest);
    ln_at = total;
    fits = fits && attendi_reserve(&total, stats->ln_count, sizeof *stats->ln);
    char *const base = fits ? attendi_context_scratch(ctx, total) : NULL;
    if (!base)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for %zu bytes of scratch",
                            total);
    run->scratch = base;
    if (ordered) {
        run->order = (int32_t *)(void *)(base + order_at);
        attendi_schedule_order(&run->schedule, run->problem, run->order);
    }
    if (stats->summaries)
        stats->digest = (double *)(void *)(base + digest_at);
    stats->ln = (double *)(void *)(base + ln_at);
    for (int64_t x = 0; x < stats->ln_count; x++)
        stats->ln[x] = log1p((double)x);
    run->partials = base + partials_at;
    run->missing = (atomic_int *)(void *)(base + missing_at);
    for (int64_t x = 0; split && x < items / t->splits; x++)
        atomic_init(&run->missing[x], (int)t->splits);
    return ATTEND_OK;
}

static void summarise_head(void *arg, int64_t head, int worker)
{
    const struct problem *p = ((struct run *)arg)->problem;

    (void)worker;
    attendi_stats_summarise(p, head / p->hq, head % p->hq);
}

static attend_status run_problem(attend_context *ctx, struct problem *problem,
                                 attend_error *err)
{
    const struct kernels *const kernels = attendi_kernels_for(ctx, problem);
    attend_status status = ATTEND_OK;

    problem->fast = ctx->order == ATTEND_ORDER_FAST;
    problem->split_keys = attendi_split_keys(ctx, kernels);
    struct run run = {.ctx = ctx,
                      .kernels = kernels,
                      .problem = problem,
                      .schedule = attendi_schedule(problem, kernels, ctx->threads,
                                                   ctx->split_keys > 0)};
    if (run.schedule.workers > 0 && (status = prepare(&run, ctx, err)) != ATTEND_OK)
        return status;
    attendi_hand_out(ctx, run.schedule.workers, run.schedule.tiling.count, true, compute,
                     &run);
    if (problem->stats.summaries)
        attendi_hand_out(ctx, run.schedule.workers > 1 ? run.schedule.workers : 1,
                         problem->nb * problem->hq, false, summarise_head, &run);
    return ATTEND_OK;
}

attend_status attend_forward(attend_context *ctx, const attend_rule *rule,
                             const attend_io *io, attend_error *err)
{
    struct problem problem;

    if (!ctx)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    const attend_status status = attendi_problem_init(&problem, rule, io, err);
    if (status != ATTEND_OK || nothing_to_write(&problem))
        return status;
    return run_problem(ctx, &problem, err);
}

attend_status attend_forward_partials(attend_context *ctx, const attend_rule *rule,
                                      const attend_io *io,
                                      const attend_partials *partials, attend_error *err)
{
    struct problem problem;
    struct shard shard;

    if (!ctx)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    const attend_status status =
        attendi_problem_init_shard(&problem, &shard, rule, io, partials, err);
    if (status != ATTEND_OK || shard.records == 0)
        return status;
    return run_problem(ctx, &problem, err);
}

void attend_exp2(const attend_context *ctx, const float *x, float *y, int64_t n)
{
    ctx->kernels->exp2(x, y, n);
}
