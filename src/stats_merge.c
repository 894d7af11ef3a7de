/* SPDX-License-Identifier: MIT */
/* attend_stats_merge and attend_stats_reduce: raw sums of parts of the keys, added up. */
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "backend_cuda.h"
#include "base/base.h"
#include "base/error.h"
#include "core/operands.h"
#include "core/problem.h"
#include "core/published.h"
#include "core/tensor.h"
#include "entry.h"
#include "work.h"

struct run {
    struct problem *problem;
    const attend_stats_part *parts;
    int64_t count;
    bool ends;    /* statistics are read; else raw sums are all that is wanted */
    double *sums; /* [workers][2][sums_length] */
};

/* The shape of the problem that a request belongs to; nk is not known. */
static void shape_problem(struct problem *p, const int64_t size[4], int64_t dv)
{
    *p = (struct problem){.nb = size[0], .hq = size[1], .nq = size[2], .dv = dv};
}

int64_t attend_stats_raw_size(const attend_stats *request, int64_t dv)
{
    struct problem p;
    attend_stats plain;

    if (!request || dv < 0 ||
        attendi_stats_request_read(request, &plain, NULL) != ATTEND_OK)
        return 0;
    plain.raw.data = NULL;
    shape_problem(&p, plain.rows.data ? plain.rows.size : plain.raw.size, dv);
    return attendi_stats_init(&p, &plain, NULL) == ATTEND_OK ? p.stats.sums_length : 0;
}

/* The outputs: raw sums alone, unless statistics are read. */
static attend_status add_outputs(const struct run *run, struct operands *all,
                                 attend_error *err)
{
    if (run->ends)
        attendi_stats_add_operands(run->problem, all);
    else
        attendi_add_output(all, "stats.raw", &run->problem->stats.raw);
    return attendi_operands_check(all, err);
}

static attend_status check_parts(const struct run *run, attend_error *err)
{
    const struct problem *const p = run->problem;
    const attend_stats_part *const parts = run->parts;
    const int64_t count = run->count;
    const int64_t want[4] = {p->nb, p->hq, p->nq, p->stats.sums_length};
    struct operands outputs;

    outputs.count = 0;
    TRY(add_outputs(run, &outputs, err));

    for (int64_t x = 0; x < count; x++) {
        char name[32];

        const attend_view *const raw = &parts[x].raw;

        snprintf(name, sizeof name, "parts[%lld].raw", LL(x));
        TRY(attendi_view_check(name, raw, err));
        TRY(attendi_dtype_check(name, raw->dtype, ATTEND_F64, err));
        TRY(attendi_size_check(name, raw->size, want, err));
        if (parts[x].first_key < 0 ||
            (parts[x].first_key > 0 && parts[x].first_key < SUMS_SINK_KEYS))
            return attendi_fail(err, ATTEND_EINVAL,
                                "parts[%lld].first_key (%lld) is neither 0 nor at least "
                                "%d",
                                LL(x), LL(parts[x].first_key), SUMS_SINK_KEYS);
        if (!attendi_is_same_tensor(&p->stats.raw, raw))
            TRY(attendi_part_check(&outputs, x, "raw", raw, err));
    }
    return ATTEND_OK;
}

/* A row of a part, with its keys counted in the sequence. */
static void load_record(const struct sums_layout *layout, const attend_stats_part *part,
                        int64_t b, int64_t h, int64_t i, double *to)
{
    const attend_view *const raw = &part->raw;
    const double *const from = attendi_view_row(raw, b, h, i);

    for (int64_t x = 0; x < raw->size[3]; x++)
        to[x] = from[x * raw->stride[3]];
    attendi_sums_move(layout, to, part->first_key);
}

/* One head: its rows, and its summaries. */
static void merge_head(void *arg, int64_t head, int worker)
{
    struct run *const run = arg;
    const struct problem *const p = run->problem;
    const struct sums_layout *const layout = &p->stats.sums;
    const int64_t length = p->stats.sums_length, b = head / p->hq, h = head % p->hq;
    double *const sums = run->sums + 2 * worker * length, *const next = sums + length;

    for (int64_t i = 0; i < p->nq; i++) {
        attendi_sums_clear(layout, sums);
        for (int64_t x = 0; x < run->count; x++) {
            load_record(layout, &run->parts[x], b, h, i, next);
            attendi_sums_combine(layout, sums, next);
            memcpy(sums, next, (size_t)length * sizeof *sums);
        }
        if (run->ends)
            attendi_stats_finish(p, b, h, i, sums);
        else
            attendi_stats_store_raw(p, b, h, i, sums);
    }
    if (run->ends && p->stats.summaries)
        attendi_stats_summarise(p, b, h);
}

static attend_status check_arguments(const attend_stats *request, int64_t dv,
                                     const attend_stats_part *parts, int64_t count,
                                     int64_t least, attend_error *err)
{
    if (!request)
        return attendi_fail(err, ATTEND_EINVAL, "request is NULL");
    TRY(attendi_parts_check(parts, count, least, err));
    if (dv < 0 || dv > INT32_MAX)
        return attendi_fail(err, ATTEND_EINVAL, "dv (%lld) is outside 0..%d", LL(dv),
                            INT32_MAX);
    return ATTEND_OK;
}

static attend_status merge(attend_context *ctx, struct run *run, attend_error *err)
{
    struct problem *const p = run->problem;
    const bool summarises = run->ends && p->stats.summaries;
    size_t total = 0;

    TRY(check_parts(run, err));
    if (!p->stats.needs || p->nq == 0)
        return ATTEND_OK;
    if (ctx->backend->memory != ATTEND_MEMORY_HOST)
        return attendi_cuda_merge_stats(ctx, p, run->ends, run->parts, run->count, err);
    const int workers = (int)min_i64(ctx->threads, p->nb * p->hq);
    attendi_reserve(&total, 2 * (int64_t)workers * p->stats.sums_length, sizeof(double));
    const size_t digest_at = total;
    const bool fits = attendi_reserve(&total, summarises ? p->nb * p->hq * p->nq : 0,
                                      ATTEND_SUMMARY_COUNT * sizeof *p->stats.digest);
    char *const base = fits ? attendi_context_scratch(ctx, total) : NULL;
    if (!base)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for %zu bytes of scratch",
                            total);
    if (summarises)
        p->stats.digest = (double *)(void *)(base + digest_at);
    run->sums = (double *)(void *)base;
    return attendi_parallel_tasks(ctx, workers, p->nb * p->hq, true, merge_head, run,
                                  err);
}

static attend_status merge_parts(attend_context *ctx, const attend_stats *request,
                                 int64_t dv, const attend_stats_part *parts,
                                 int64_t count, attend_error *err)
{
    struct problem p;
    struct run run = {.problem = &p, .parts = parts, .count = count, .ends = true};

    TRY(check_arguments(request, dv, parts, count, 1, err));
    shape_problem(&p, parts[0].raw.size, dv);
    if (!ctx->cuda)
        TRY(attendi_needs_host(ctx, "attend_stats_merge", err));
    TRY(attendi_stats_init(&p, request, err));
    return merge(ctx, &run, err);
}

attend_status attend_stats_merge(attend_context *ctx, const attend_stats *request,
                                 int64_t dv, const attend_stats_part *parts,
                                 int64_t count, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, merge_parts(ctx, request, dv, parts, count, err));
}

static attend_status reduce_parts(attend_context *ctx, const attend_stats *request,
                                  int64_t dv, const attend_stats_part *parts,
                                  int64_t count, attend_error *err)
{
    struct problem p;
    struct run run = {.problem = &p, .parts = parts, .count = count};
    attend_stats own;

    TRY(check_arguments(request, dv, parts, count, 0, err));
    TRY(attendi_stats_request_read(request, &own, err));
    if (!own.raw.data)
        return attendi_fail(err, ATTEND_EINVAL, "stats.raw.data is NULL");
    shape_problem(&p, own.raw.size, dv);
    if (!ctx->cuda)
        TRY(attendi_needs_host(ctx, "attend_stats_reduce", err));
    TRY(attendi_stats_init(&p, &own, err));
    return merge(ctx, &run, err);
}

attend_status attend_stats_reduce(attend_context *ctx, const attend_stats *request,
                                  int64_t dv, const attend_stats_part *parts,
                                  int64_t count, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, reduce_parts(ctx, request, dv, parts, count, err));
}
