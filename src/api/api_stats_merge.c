/* SPDX-License-Identifier: MIT */
/* attend_stats_merge and attend_stats_reduce: merge raw sums of parts of the keys. */
#include <stdio.h>

#include "api/entry.h"
#include "base/published.h"
#include "core/backend.h"
#include "core/operands.h"
#include "core/tensor.h"

/* The shape of the problem of a request; nk is unknown. */
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

/* The outputs: only the raw sums for attend_stats_reduce(). */
static attend_status add_outputs(const struct stats_merge *m, struct operands *all,
                                 attend_error *err)
{
    if (m->ends)
        attendi_stats_add_operands(m->problem, all);
    else
        attendi_add_output(all, "stats.raw", &m->problem->stats.raw);
    return attendi_operands_check(all, err);
}

static attend_status check_parts(const struct stats_merge *m, attend_error *err)
{
    const struct problem *const p = m->problem;
    const attend_stats_part *const parts = m->parts;
    const int64_t count = m->count;
    const int64_t want[4] = {p->nb, p->hq, p->nq, p->stats.sums_length};
    struct operands outputs;

    outputs.count = 0;
    TRY(add_outputs(m, &outputs, err));
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

/* Whether there is any row to write. */
static bool has_rows(const struct problem *p)
{
    return p->stats.needs && p->nb > 0 && p->hq > 0 && p->nq > 0;
}

static attend_status merge_parts(attend_context *ctx, const attend_stats *request,
                                 int64_t dv, const attend_stats_part *parts,
                                 int64_t count, attend_error *err)
{
    struct problem p;
    struct stats_merge m = {.problem = &p, .parts = parts, .count = count, .ends = true};

    if (!ctx->backend->merge_stats)
        return attendi_unsupported(ctx, "attend_stats_merge", err);
    TRY(check_arguments(request, dv, parts, count, 1, err));
    shape_problem(&p, parts[0].raw.size, dv);
    TRY(attendi_stats_init(&p, request, err));
    TRY(check_parts(&m, err));
    return has_rows(&p) ? ctx->backend->merge_stats(ctx, &m, err) : ATTEND_OK;
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
    struct stats_merge m = {.problem = &p, .parts = parts, .count = count};
    attend_stats own;

    if (!ctx->backend->reduce_stats)
        return attendi_unsupported(ctx, "attend_stats_reduce", err);
    TRY(check_arguments(request, dv, parts, count, 0, err));
    TRY(attendi_stats_request_read(request, &own, err));
    if (!own.raw.data)
        return attendi_fail(err, ATTEND_EINVAL, "stats.raw.data is NULL");
    shape_problem(&p, own.raw.size, dv);
    TRY(attendi_stats_init(&p, &own, err));
    TRY(check_parts(&m, err));
    return has_rows(&p) ? ctx->backend->reduce_stats(ctx, &m, err) : ATTEND_OK;
}

attend_status attend_stats_reduce(attend_context *ctx, const attend_stats *request,
                                  int64_t dv, const attend_stats_part *parts,
                                  int64_t count, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, reduce_parts(ctx, request, dv, parts, count, err));
}
