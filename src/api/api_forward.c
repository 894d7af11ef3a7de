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
