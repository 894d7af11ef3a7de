/* SPDX-License-Identifier: MIT */
/* Many problems in one parallel loop. */
#include <stdbool.h>

#include "base/base.h"
#include "base/error.h"
#include "cpu/backend/cpu_backend.h"
#include "cpu/backend/cpu_forward.h"
#include "cpu/backend/parallel_tasks.h"

struct many {
    struct forward_piece
        *piece; /* by descending work, so that the last items are short */
    int64_t count;
};

/*
 * A problem is planned for this many times its share of the threads: its items are small
 * enough to balance the end of the loop.
 */
enum { THREAD_SHARES = 4 };

static int threads_for(double ns, double all, int threads)
{
    const double share = all > 0 ? THREAD_SHARES * ns / all * threads : threads;

    return share < 1 ? 1 : share > threads ? threads : (int)share;
}

/* Shell sort: allocates nothing. */
static void sort_by_work(struct forward_piece *piece, int64_t count)
{
    for (int64_t gap = count / 2; gap > 0; gap /= 2)
        for (int64_t x = gap; x < count; x++) {
            const struct forward_piece one = piece[x];
            int64_t to = x;
            for (; to >= gap && piece[to - gap].ns < one.ns; to -= gap)
                piece[to] = piece[to - gap];
            piece[to] = one;
        }
}

/* The last piece that begins at the task or before. */
static struct forward_piece *piece_of(const struct many *many, int64_t task)
{
    int64_t low = 0, high = many->count;

    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (many->piece[middle].first <= task)
            low = middle;
        else
            high = middle;
    }
    return &many->piece[low];
}

static void compute(void *arg, int64_t task, int worker)
{
    struct forward_piece *const piece = piece_of(arg, task);

    attendi_forward_item(&piece->run, task - piece->first, worker);
}

/* Estimates the work of all problems, the largest first; returns the sum. */
static double estimate(const attend_context *ctx, struct problem *p, struct many *many)
{
    double all = 0;

    for (int64_t x = 0; x < many->count; x++) {
        const struct kernels *const kernels = attendi_kernels_for(ctx, &p[x]);
        many->piece[x] = (struct forward_piece){
            .problem = &p[x], .ns = attendi_schedule_ns(&p[x], kernels)};
        all += many->piece[x].ns;
    }
    sort_by_work(many->piece, many->count);
    return all;
}

attend_status attendi_cpu_forward_many(attend_context *ctx, struct problem *p,
                                       int64_t count, void *pieces, attend_error *err)
{
    struct many many = {.piece = pieces, .count = count};
    const double all = estimate(ctx, p, &many);
    size_t total = 0, scratch = 0;
    int64_t tasks = 0;
    void *workspace;

    for (int64_t x = 0; x < count; x++) {
        struct forward_piece *const one = &many.piece[x];
        size_t own = 0;
        attendi_forward_plan(ctx, one->problem, threads_for(one->ns, all, ctx->threads),
                             &one->plan, &own);
        one->at = attendi_reserve(&total, 1, own);
        one->first = tasks;
        tasks += one->plan.schedule.workers > 0 ? one->plan.schedule.tiling.count : 0;
        if (scratch < one->plan.worker_scratch)
            scratch = one->plan.worker_scratch;
    }
    const int workers = tasks == 0 ? 0 : attendi_workers(all, tasks, ctx->threads);
    const size_t scratch_at = attendi_reserve(&total, workers, scratch);
    TRY(attendi_scratch(ctx, total, &workspace, err));
    for (int64_t x = 0; x < count; x++) {
        struct forward_piece *const one = &many.piece[x];
        one->plan.worker_scratch = scratch;
        one->run = (struct forward_run){.plan = &one->plan,
                                        .problem = one->problem,
                                        .scratch = (char *)workspace + scratch_at};
        if (one->plan.schedule.workers > 0)
            attendi_forward_lay_out(&one->run, (char *)workspace + one->at);
    }
    TRY(attendi_parallel_tasks(ctx, workers, tasks, true, compute, &many, err));
    for (int64_t x = 0; x < count; x++)
        TRY(attendi_forward_summarise(ctx, &many.piece[x].run, workers, err));
    return ATTEND_OK;
}
