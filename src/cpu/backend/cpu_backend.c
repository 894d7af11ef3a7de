/* SPDX-License-Identifier: MIT */
/* The CPU backend: the kernels of a set, run on work items by a pool of workers. */
#include "cpu/backend/cpu_backend.h"

#include <string.h>

#include "base/base.h"
#include "base/error.h"
#include "cpu/backend/cpu_forward.h"
#include "cpu/backend/parallel_tasks.h"
#include "cpu/dispatch/kernel_sets.h"

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

/* The scratch of the workers comes first. */
static void plan_forward(const attend_context *ctx, struct problem *p, struct plan *plan)
{
    struct forward_plan f;
    size_t own = 0, total = 0;

    attendi_forward_plan(ctx, p, ctx->threads, &f, &own);
    attendi_reserve(&total, f.schedule.workers, f.worker_scratch);
    attendi_reserve(&total, 1, own);
    memcpy(plan->state, &f, sizeof f);
    plan->workspace = total;
}

static void compute(void *arg, int64_t task, int worker)
{
    attendi_forward_item(arg, task, worker);
}

static attend_status forward(const attend_context *ctx, struct problem *p,
                             const struct plan *plan, void *workspace, attend_error *err)
{
    struct forward_plan f;

    memcpy(&f, plan->state, sizeof f);
    struct forward_run run = {.plan = &f, .problem = p, .scratch = workspace};
    const int workers = f.schedule.workers;
    if (workers > 0) {
        size_t scratch = 0;
        attendi_reserve(&scratch, workers, f.worker_scratch);
        attendi_forward_lay_out(&run, run.scratch + scratch);
    }
    TRY(attendi_parallel_tasks(ctx, workers, f.schedule.tiling.count, true, compute, &run,
                               err));
    return attendi_forward_summarise(ctx, &run, workers, err);
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

static attend_status set_workspace(attend_context *ctx, void *memory, size_t size,
                                   attend_error *err)
{
    if ((uintptr_t)memory % ATTENDI_ALIGN != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "workspace (%p) is not aligned to %d bytes", memory,
                            ATTENDI_ALIGN);
    ctx->lent = memory;
    ctx->lent_size = memory ? size : 0;
    return ATTEND_OK;
}

const struct backend attendi_backend_cpu = {.name = "cpu",
                                            .memory = ATTEND_MEMORY_HOST,
                                            .supports = supports,
                                            .plan = plan,
                                            .forward = forward,
                                            .forward_many = attendi_cpu_forward_many,
                                            .piece_size = sizeof(struct forward_piece),
                                            .partials = forward,
                                            .inspect = attendi_cpu_inspect,
                                            .combine = attendi_cpu_combine,
                                            .reduce = attendi_cpu_combine,
                                            .merge = attendi_cpu_merge,
                                            .merge_stats = attendi_cpu_merge_stats,
                                            .reduce_stats = attendi_cpu_merge_stats,
                                            .set_workspace = set_workspace};
