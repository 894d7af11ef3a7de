/* SPDX-License-Identifier: MIT */
#include "core/backend.h"

#include "base/error.h"

attend_status attendi_unsupported(const attend_context *ctx, const char *call,
                                  attend_error *err)
{
    return attendi_fail(err, ATTEND_EUNSUPPORTED,
                        "%s is not supported by the backend \"%s\"", call,
                        ctx->backend->name);
}

attend_status attendi_compute(attend_context *ctx, struct problem *p, attend_error *err)
{
    const struct backend *const backend = ctx->backend;
    backend_pass *const pass = p->inspection ? backend->inspect
                               : p->shard    ? backend->partials
                                             : backend->forward;
    struct plan plan = {.workspace = 0};
    void *workspace = NULL;

    if (!pass)
        return attendi_unsupported(ctx,
                                   p->inspection ? "attend_inspect"
                                   : p->shard    ? "attend_forward_partials"
                                                 : "attend_forward",
                                   err);
    TRY(backend->supports(ctx, p, err));
    backend->plan(ctx, p, &plan);
    TRY((backend->workspace ? backend->workspace : attendi_scratch)(ctx, plan.workspace,
                                                                    &workspace, err));
    return pass(ctx, p, &plan, workspace, err);
}

attend_status attendi_problems(attend_context *ctx, int64_t count,
                               struct problem **problems, attend_error *err)
{
    size_t size = 0;
    void *memory;

    attendi_reserve(&size, count, sizeof **problems);
    attendi_reserve(&size, count, ctx->backend->piece_size);
    TRY(attendi_grow(ctx, &ctx->problems, size, &memory, err));
    *problems = memory;
    return ATTEND_OK;
}

attend_status attendi_compute_many(attend_context *ctx, struct problem *p, int64_t count,
                                   attend_error *err)
{
    const struct backend *const backend = ctx->backend;
    size_t pieces = 0;

    if (backend->forward_many) {
        attendi_reserve(&pieces, count, sizeof *p);
        return backend->forward_many(ctx, p, count, (char *)p + pieces, err);
    }
    for (int64_t x = 0; x < count; x++)
        TRY(attendi_compute(ctx, &p[x], err));
    return ATTEND_OK;
}

attend_status attendi_workspace_size(attend_context *ctx, struct problem *p,
                                     size_t *bytes, attend_error *err)
{
    struct plan plan = {.workspace = 0};

    TRY(ctx->backend->supports(ctx, p, err));
    ctx->backend->plan(ctx, p, &plan);
    *bytes = plan.workspace;
    return ATTEND_OK;
}
