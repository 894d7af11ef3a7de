/* SPDX-License-Identifier: MIT */
/* Merges parts on the CPU: O and LSE, and raw sums of statistics. */
#include <string.h>

#include "base/base.h"
#include "base/error.h"
#include "core/problem.h"
#include "core/tensor.h"
#include "cpu/backend/cpu_backend.h"
#include "cpu/backend/parallel_tasks.h"
#include "cpu/dispatch/kernel_sets.h"
#include "cpu/merge/merge_rows.h"

/* ---- O and LSE ----------------------------------------------------------------- */

/* Below this size CPU detection costs more than the scalar kernel. */
#define ASK_BYTES ((int64_t)1 << 18)
/* Bytes of work per worker and per task: 25 us and less. */
#define WORKER_BYTES ((int64_t)1 << 18)

/* Number of rows of about `bytes`, at least one. */
static int64_t rows_of(const struct merge *m, int64_t bytes)
{
    return max_i64(1, bytes / attendi_merge_row_bytes(m));
}

void attendi_cpu_merge_here(const struct merge *m)
{
    attendi_merge_rows(m,
                       m->rows < rows_of(m, ASK_BYTES) ? attendi_merge_kernels(NULL)
                                                       : attendi_merge_kernels_here(),
                       0, m->rows);
}

struct merge_tasks {
    const struct merge *merge;
    const struct kernels *kernels;
    int64_t task_rows;
};

static void merge_task(void *arg, int64_t task, int worker)
{
    const struct merge_tasks *const run = arg;
    const int64_t first = task * run->task_rows;

    (void)worker;
    attendi_merge_rows(run->merge, run->kernels, first,
                       min_i64(first + run->task_rows, run->merge->rows));
}

attend_status attendi_cpu_merge(attend_context *ctx, const struct merge *m,
                                attend_error *err)
{
    struct merge_tasks run = {.merge = m,
                              .kernels = attendi_merge_kernels(ctx->kernels),
                              .task_rows = rows_of(m, WORKER_BYTES)};
    const int64_t tasks = ceil_div_i64(m->rows, run.task_rows);

    return attendi_parallel_tasks(ctx, (int)min_i64(ctx->threads, tasks), tasks, true,
                                  merge_task, &run, err);
}

/* ---- raw sums -------------------------------------------------------------------- */

struct run {
    const struct stats_merge *merge;
    double *sums; /* [workers][2][sums_length] */
};

/* Loads a row of a part, with key indices in the sequence. */
static void load_record(const struct sums_layout *layout, const attend_stats_part *part,
                        int64_t b, int64_t h, int64_t i, double *to)
{
    const attend_view *const raw = &part->raw;
    const double *const from = attendi_view_row(raw, b, h, i);

    for (int64_t x = 0; x < raw->size[3]; x++)
        to[x] = from[x * raw->stride[3]];
    attendi_sums_move(layout, to, part->first_key);
}

/* Merges the rows of one head and writes its summaries. */
static void merge_head(void *arg, int64_t head, int worker)
{
    struct run *const run = arg;
    const struct stats_merge *const m = run->merge;
    const struct problem *const p = m->problem;
    const struct sums_layout *const layout = &p->stats.sums;
    const int64_t length = p->stats.sums_length, b = head / p->hq, h = head % p->hq;
    double *const sums = run->sums + 2 * worker * length, *const next = sums + length;

    for (int64_t i = 0; i < p->nq; i++) {
        attendi_sums_clear(layout, sums);
        for (int64_t x = 0; x < m->count; x++) {
            load_record(layout, &m->parts[x], b, h, i, next);
            attendi_sums_combine(layout, sums, next);
            memcpy(sums, next, (size_t)length * sizeof *sums);
        }
        if (m->ends)
            attendi_stats_finish(p, b, h, i, sums);
        else
            attendi_stats_store_raw(p, b, h, i, sums);
    }
    if (m->ends && p->stats.summaries)
        attendi_stats_summarise(p, b, h);
}

attend_status attendi_cpu_merge_stats(attend_context *ctx, const struct stats_merge *m,
                                      attend_error *err)
{
    struct problem *const p = m->problem;
    const bool summarises = m->ends && p->stats.summaries;
    const int workers = (int)min_i64(ctx->threads, p->nb * p->hq);
    struct run run = {.merge = m};
    size_t total = 0;
    void *base;

    attendi_reserve(&total, 2 * (int64_t)workers * p->stats.sums_length, sizeof(double));
    const size_t digest_at =
        attendi_reserve(&total, summarises ? p->nb * p->hq * p->nq : 0,
                        ATTEND_SUMMARY_COUNT * sizeof *p->stats.digest);
    TRY(attendi_scratch(ctx, total, &base, err));
    if (summarises)
        p->stats.digest = (double *)(void *)((char *)base + digest_at);
    run.sums = base;
    return attendi_parallel_tasks(ctx, workers, p->nb * p->hq, true, merge_head, &run,
                                  err);
}
