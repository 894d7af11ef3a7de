/* SPDX-License-Identifier: MIT */
/* attend_forward: validate, cut, hand out. */
#include <stdatomic.h>

#include "attend/attend.h"
#include "base/base.h"
#include "base/error.h"
#include "context.h"

struct run {
    const attend_context *ctx;
    const struct problem *problem;
    struct tiling tiling;
    char *scratch;
    size_t worker_scratch;
    atomic_llong next, done; /* tiles handed out and tiles finished */
    atomic_flag telling;     /* one worker at a time reports progress */
};

/*
 * One worker of the pool: takes tiles until none is left.  Which worker takes
 * which tile changes no bit, since a tile reads and writes nothing of another.
 */
static void work(void *arg, int worker)
{
    struct run *const run = arg;
    const attend_context *ctx = run->ctx;
    void *const scratch = run->scratch + (size_t)worker * run->worker_scratch;

    for (;;) {
        const int64_t index = atomic_fetch_add(&run->next, 1);

        if (index >= run->tiling.count)
            return;
        const struct tile tile = attendi_tile(&run->tiling, index);
        ctx->kernels->forward(run->problem, &tile, scratch);
        atomic_fetch_add(&run->done, 1);
        if (ctx->progress && !atomic_flag_test_and_set(&run->telling)) {
            ctx->progress(ctx->progress_user, atomic_load(&run->done), run->tiling.count);
            atomic_flag_clear(&run->telling);
        }
    }
}

static int nothing_to_write(const struct problem *p)
{
    return p->dv == 0 && !p->lse.data && (!p->weights.data || p->nk == 0);
}

attend_status attend_forward(attend_context *ctx, const attend_rule *rule,
                             const attend_io *io, attend_error *err)
{
    struct problem problem;

    if (!ctx)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    const attend_status status = attendi_problem_init(&problem, rule, io, err);
    if (status != ATTEND_OK)
        return status;

    const struct kernels *k = ctx->kernels;
    struct run run = {.ctx = ctx,
                      .problem = &problem,
                      .telling = ATOMIC_FLAG_INIT,
                      .tiling = attendi_tiling(&problem, k->tile_rows(problem.dtype))};
    if (run.tiling.count == 0 || nothing_to_write(&problem))
        return ATTEND_OK;
    const int workers = (int)min_i64(ctx->threads, run.tiling.count);
    const size_t bytes = k->scratch_size(&problem);
    if (bytes > (SIZE_MAX >> 1) / (size_t)workers - ATTENDI_ALIGN)
        return attendi_fail(err, ATTEND_ENOMEM, "scratch of %zu bytes for %d threads",
                            bytes, workers);
    /* A line apart, so that no two workers write to one. */
    run.worker_scratch = (bytes / ATTENDI_ALIGN + 1) * ATTENDI_ALIGN;
    run.scratch = attendi_context_scratch(ctx, run.worker_scratch * (size_t)workers);
    if (!run.scratch)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for %zu bytes of scratch",
                            run.worker_scratch * (size_t)workers);
    if (workers == 1)
        work(&run, 0);
    else
        ctx->parallel_for(ctx->parallel_user, workers, work, &run);
    return ATTEND_OK;
}

void attend_exp2(const attend_context *ctx, const float *x, float *y, int64_t n)
{
    ctx->kernels->exp2(x, y, n);
}
