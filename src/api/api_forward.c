/* SPDX-License-Identifier: MIT */
/* attend_forward and attend_forward_partials: validate, compute. */
#include "attend/attend.h"
#include "api/entry.h"
#include "core/backend.h"
#include "core/shard.h"

static int nothing_to_write(const struct problem *p)
{
    return p->dv == 0 && !p->stats.needs && !p->lse.data &&
           (!p->weights.data || p->nk == 0);
}

static attend_status forward(attend_context *ctx, const attend_rule *rule,
                             const attend_io *io, attend_error *err)
{
    struct problem problem;

    TRY(attendi_problem_init(&problem, rule, io, err));
    if (nothing_to_write(&problem))
        return ctx->backend->supports(ctx, &problem, err);
    return attendi_compute(ctx, &problem, err);
}

attend_status attend_forward(attend_context *ctx, const attend_rule *rule,
                             const attend_io *io, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, forward(ctx, rule, io, err));
}

/* The error of problem x: its number before the message. */
static attend_status number_error(int64_t x, attend_status status, attend_error *err)
{
    if (!err)
        return status;
    const attend_error one = *err;
    attendi_fail(err, status, "problem %lld: %.220s", LL(x), one.message);
    err->field = one.field;
    err->member = one.member;
    return status;
}

/* Validates all problems; those without outputs are left out of *count. */
static attend_status read_problems(attend_context *ctx, const attend_rule *const *rules,
                                   const attend_io *const *ios, struct problem *problem,
                                   int64_t *count, attend_error *err)
{
    int64_t kept = 0;

    for (int64_t x = 0; x < *count; x++) {
        struct problem *const p = &problem[kept];
        attend_status status =
            attendi_problem_init(p, rules ? rules[x] : NULL, ios[x], err);
        if (status == ATTEND_OK)
            status = ctx->backend->supports(ctx, p, err);
        if (status != ATTEND_OK)
            return number_error(x, status, err);
        kept += !nothing_to_write(p);
    }
    *count = kept;
    return ATTEND_OK;
}

static attend_status forward_many(attend_context *ctx, int64_t count,
                                  const attend_rule *const *rules,
                                  const attend_io *const *ios, attend_error *err)
{
    struct problem *problem;

    if (count < 0)
        return attendi_fail(err, ATTEND_EINVAL, "count (%lld) is negative", LL(count));
    if (count > 0 && !ios)
        return attendi_fail(err, ATTEND_EINVAL, "ios is NULL, and count is %lld",
                            LL(count));
    TRY(attendi_problems(ctx, count, &problem, err));
    TRY(read_problems(ctx, rules, ios, problem, &count, err));
    return count == 0 ? ATTEND_OK : attendi_compute_many(ctx, problem, count, err);
}

attend_status attend_forward_many(attend_context *ctx, int64_t count,
                                  const attend_rule *const *rules,
                                  const attend_io *const *ios, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, forward_many(ctx, count, rules, ios, err));
}

static attend_status forward_workspace(attend_context *ctx, const attend_rule *rule,
                                       const attend_io *io, size_t *bytes,
                                       attend_error *err)
{
    struct problem problem;

    if (!bytes)
        return attendi_fail(err, ATTEND_EINVAL, "bytes is NULL");
    *bytes = 0;
    TRY(attendi_problem_init(&problem, rule, io, err));
    return nothing_to_write(&problem) ? ATTEND_OK
                                      : attendi_workspace_size(ctx, &problem, bytes, err);
}

attend_status attend_forward_workspace(attend_context *ctx, const attend_rule *rule,
                                       const attend_io *io, size_t *bytes,
                                       attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, forward_workspace(ctx, rule, io, bytes, err));
}

static attend_status forward_partials(attend_context *ctx, const attend_rule *rule,
                                      const attend_io *io,
                                      const attend_partials *partials, attend_error *err)
{
    struct problem problem;
    struct shard shard;

    const attend_status status =
        attendi_problem_init_shard(&problem, &shard, rule, io, partials, err);
    if (status != ATTEND_OK || shard.records == 0)
        return status;
    return attendi_compute(ctx, &problem, err);
}

attend_status attend_forward_partials(attend_context *ctx, const attend_rule *rule,
                                      const attend_io *io,
                                      const attend_partials *partials, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, forward_partials(ctx, rule, io, partials, err));
}
