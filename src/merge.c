/* SPDX-License-Identifier: MIT */
/* attend_merge and attend_merge_with: validate, choose, hand out. */
#include "attend/attend.h"
#include "base/base.h"
#include "backend.h"
#include "backend_cuda.h"
#include "base/error.h"
#include "base/float_env.h"
#include "cpu/merge/merge_rows.h"
#include "cpu/dispatch/kernel_sets.h"
#include "entry.h"
#include "work.h"

/* Below this, asking the machine what it has takes longer than not knowing it. */
#define ASK_BYTES ((int64_t)1 << 18)
/* What a worker is woken for, and takes at a time: 25 us and less. */
#define WORKER_BYTES ((int64_t)1 << 18)

/* As many rows as have `bytes`, at least one. */
static int64_t rows_of(const struct merge *m, int64_t bytes)
{
    return max_i64(1, bytes / attendi_merge_row_bytes(m));
}

static attend_status merge(const attend_part *parts, int64_t count,
                           const attend_tensor *out, const attend_tensor *lse,
                           attend_error *err)
{
    struct merge m;

    TRY(attendi_merge_init(&m, parts, count, out, lse, err));
    if (m.rows == 0)
        return ATTEND_OK;
    attendi_merge_rows(&m,
                       m.rows < rows_of(&m, ASK_BYTES) ? attendi_merge_kernels(NULL)
                                                       : attendi_merge_kernels_here(),
                       0, m.rows);
    return ATTEND_OK;
}

attend_status attend_merge(const attend_part *parts, int64_t count,
                           const attend_tensor *out, const attend_tensor *lse,
                           attend_error *err)
{
    const uint64_t float_env = set_default_float_env();
    const attend_status status = merge(parts, count, out, lse, err);

    restore_float_env(float_env);
    return status;
}

struct run {
    const struct merge *merge;
    const struct kernels *kernels;
    int64_t task_rows;
};

static void compute(void *arg, int64_t task, int worker)
{
    const struct run *const run = arg;
    const int64_t first = task * run->task_rows;

    (void)worker;
    attendi_merge_rows(run->merge, run->kernels, first,
                       min_i64(first + run->task_rows, run->merge->rows));
}

static attend_status merge_with(attend_context *ctx, const attend_part *parts,
                                int64_t count, const attend_tensor *out,
                                const attend_tensor *lse, attend_error *err)
{
    struct merge m;

    if (!ctx->cuda)
        TRY(attendi_needs_host(ctx, "attend_merge_with", err));
    TRY(attendi_merge_init(&m, parts, count, out, lse, err));
    if (m.rows == 0)
        return ATTEND_OK;
    if (ctx->backend->memory != ATTEND_MEMORY_HOST)
        return attendi_cuda_merge(ctx, parts, count, &m.out, &m.lse, m.rows, err);
    struct run run = {.merge = &m,
                      .kernels = attendi_merge_kernels(ctx->kernels),
                      .task_rows = rows_of(&m, WORKER_BYTES)};
    const int64_t tasks = ceil_div_i64(m.rows, run.task_rows);
    return attendi_parallel_tasks(ctx, (int)min_i64(ctx->threads, tasks), tasks, true,
                                  compute, &run, err);
}

attend_status attend_merge_with(attend_context *ctx, const attend_part *parts,
                                int64_t count, const attend_tensor *out,
                                const attend_tensor *lse, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, merge_with(ctx, parts, count, out, lse, err));
}
