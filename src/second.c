/* SPDX-License-Identifier: MIT */
/* attend_second_pass: validate, cut, hand out. */
#include "attend/attend.h"
#include "base/base.h"
#include "base/error.h"
#include "core/schedule.h"
#include "core/second_pool.h"
#include "ref/ref_score.h"
#include "work.h"

/* Probes of one turn. */
enum { PROBES = 256 };

struct run {
    const struct kernels *kernels;
    const struct problem *problem;
    size_t worker_scratch;
    char *scratch; /* of worker 0; the others' follow */
};

/* P in double, whatever the kernel set: there are few, and they are to be trusted. */
static void probe(const struct problem *p, int64_t first)
{
    const struct second *s = p->second;

    for (int64_t x = first; x < min_i64(first + PROBES, s->probe_count); x++) {
        const attend_probe *at = &s->probes[x];
        s->probe_weights[x] = attendi_ref_weight(p, at->b, at->h, at->i, at->j);
    }
}

static void compute(void *arg, int64_t turn, int worker)
{
    const struct run *const run = arg;
    const struct problem *p = run->problem;

    if (turn >= p->second->count) {
        probe(p, (turn - p->second->count) * PROBES);
        return;
    }
    const struct second_item item = attendi_second_item(p, turn);
    if (item.keys.lo < item.keys.hi)
        run->kernels->second(p, &item,
                             run->scratch + (size_t)worker * run->worker_scratch);
}

/* Memory for all workers, and for the parts of pooled blocks that items share. */
static attend_status prepare(struct run *run, struct second *s, attend_context *ctx,
                             int workers, attend_error *err)
{
    const struct problem *p = run->problem;
    const bool shared = s->block && s->pieces > 1;
    size_t total = 0;

    run->worker_scratch = attendi_worker_size(run->kernels->second_scratch(p));
    bool fits = attendi_reserve(&total, workers, run->worker_scratch);
    const size_t parts_at = total;
    fits = fits && attendi_reserve(&total, shared ? s->count : 0,
                                   count_bytes(s->block ? attendi_pooled_rows(p, s) : 0,
                                               sizeof *s->parts));
    char *const base = fits ? attendi_context_scratch(ctx, total) : NULL;
    if (!base)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for %zu bytes of scratch",
                            total);
    run->scratch = base;
    if (shared)
        s->parts = (double *)(void *)(base + parts_at);
    return ATTEND_OK;
}

attend_status attend_second_pass(attend_context *ctx, const attend_rule *rule,
                                 const attend_second *second, attend_error *err)
{
    struct problem problem;
    struct second s;

    if (!ctx)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    attend_status status = attendi_second_init(&problem, &s, rule, second, err);
    if (status != ATTEND_OK)
        return status;

    const int64_t turns = s.count + ceil_div_i64(s.probe_count, PROBES);
    const int workers = attendi_second_workers(&problem, turns, ctx->threads);
    struct run run = {.kernels = attendi_kernels_for(ctx, &problem), .problem = &problem};
    if (s.count > 0 && (status = prepare(&run, &s, ctx, workers, err)) != ATTEND_OK)
        return status;
    attendi_hand_out(ctx, workers, turns, true, compute, &run);
    if (s.parts)
        attendi_pool_join(&problem);
    return ATTEND_OK;
}
