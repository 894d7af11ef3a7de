/* SPDX-License-Identifier: MIT */
/* The CPU backend's inspection pass. */
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/error.h"
#include "core/inspect_pool.h"
#include "cpu/backend/cpu_backend.h"
#include "cpu/backend/parallel_tasks.h"
#include "cpu/dispatch/schedule.h"
#include "ref/ref_score.h"

/* Probes per task. */
enum { PROBES = 256 };

struct inspect_plan {
    const struct kernels *kernels;
    size_t worker_scratch, parts_at;
    int64_t tasks;
    int workers;
};
_Static_assert(sizeof(struct inspect_plan) <= sizeof((struct plan *)0)->state,
               "a plan holds it");

struct run {
    const struct inspect_plan *plan;
    const struct problem *problem;
    char *scratch; /* of worker 0; the others' follow */
};

/* P of probes in double, by `ref`, for every kernel set: there are few of them. */
static void probe(const struct problem *p, int64_t first)
{
    const struct inspection *s = p->inspection;

    for (int64_t x = first; x < min_i64(first + PROBES, s->probe_count); x++) {
        const attend_probe *at = &s->probes[x];
        s->probe_weights[x] = attendi_ref_weight(p, at->b, at->h, at->i, at->j);
    }
}

static void compute(void *arg, int64_t task, int worker)
{
    const struct run *const run = arg;
    const struct problem *p = run->problem;

    if (task >= p->inspection->count) {
        probe(p, (task - p->inspection->count) * PROBES);
        return;
    }
    const struct inspect_item item = attendi_inspect_item(p, task);
    if (item.keys.lo < item.keys.hi)
        run->plan->kernels->inspect(
            p, &item, run->scratch + (size_t)worker * run->plan->worker_scratch);
}

/* Whether several items contribute to one block of the pooled map. */
static bool shares_blocks(const struct inspection *s)
{
    return s->count > 0 && s->block && s->pieces > 1;
}

void attendi_cpu_plan_inspect(const attend_context *ctx, struct problem *p,
                              struct plan *plan)
{
    const struct inspection *const s = p->inspection;
    struct inspect_plan f = {.kernels = attendi_kernels_for(ctx, p),
                             .tasks = s->count + ceil_div_i64(s->probe_count, PROBES)};
    size_t total = 0;

    p->fast = ctx->order == ATTEND_ORDER_FAST;
    f.workers = attendi_inspect_workers(p, f.tasks, ctx->threads);
    if (s->count > 0) {
        f.worker_scratch = attendi_worker_size(f.kernels->inspect_scratch(p));
        attendi_reserve(&total, f.workers, f.worker_scratch);
        f.parts_at = attendi_reserve(
            &total, shares_blocks(s) ? s->count : 0,
            count_bytes(s->block ? attendi_pooled_rows(p, s) : 0, sizeof *s->parts));
    }
    memcpy(plan->state, &f, sizeof f);
    plan->workspace = total;
}

attend_status attendi_cpu_inspect(const attend_context *ctx, struct problem *p,
                                  const struct plan *plan, void *workspace,
                                  attend_error *err)
{
    struct inspect_plan f;

    memcpy(&f, plan->state, sizeof f);
    struct run run = {.plan = &f, .problem = p, .scratch = workspace};
    if (shares_blocks(p->inspection))
        p->inspection->parts = (double *)(void *)((char *)workspace + f.parts_at);
    TRY(attendi_parallel_tasks(ctx, f.workers, f.tasks, true, compute, &run, err));
    if (shares_blocks(p->inspection))
        attendi_pool_join(p);
    return ATTEND_OK;
}
