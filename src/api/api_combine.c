/* SPDX-License-Identifier: MIT */
/* attend_combine and attend_reduce: validate, compute. */
#include "api/entry.h"
#include "core/backend.h"

static int has_rows(const struct problem *p) { return p->nb * p->hq * p->nq > 0; }

static attend_status combine(attend_context *ctx, const attend_rule *rule,
                             const attend_partials *parts, int64_t count,
                             const attend_tensor *out, const attend_tensor *lse,
                             attend_error *err)
{
    struct combination c;

    if (!ctx->backend->combine)
        return attendi_unsupported(ctx, "attend_combine", err);
    TRY(attendi_combine_init(&c, rule, parts, count, out, lse, err));
    if (ctx->backend->memory == ATTEND_MEMORY_HOST)
        TRY(attendi_problem_check_host(&c.problem, err));
    return has_rows(&c.problem) ? ctx->backend->combine(ctx, &c, err) : ATTEND_OK;
}

attend_status attend_combine(attend_context *ctx, const attend_rule *rule,
                             const attend_partials *parts, int64_t count,
                             const attend_tensor *out, const attend_tensor *lse,
                             attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, combine(ctx, rule, parts, count, out, lse, err));
}

static attend_status reduce(attend_context *ctx, const attend_partials *parts,
                            int64_t count, const attend_partials *to, attend_error *err)
{
    struct combination c;

    if (!ctx->backend->reduce)
        return attendi_unsupported(ctx, "attend_reduce", err);
    TRY(attendi_reduce_init(&c, parts, count, to, err));
    return has_rows(&c.problem) ? ctx->backend->reduce(ctx, &c, err) : ATTEND_OK;
}

attend_status attend_reduce(attend_context *ctx, const attend_partials *parts,
                            int64_t count, const attend_partials *to, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, reduce(ctx, parts, count, to, err));
}
