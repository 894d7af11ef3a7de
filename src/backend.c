/* SPDX-License-Identifier: MIT */
#include "backend.h"

#include "base/error.h"
#include "context.h"

static attend_status scratch(attend_context *ctx, size_t size, void **workspace,
                             attend_error *err)
{
    *workspace = size < SIZE_MAX ? attendi_context_scratch(ctx, size) : NULL;
    if (!*workspace && size > 0)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for %zu bytes of scratch",
                            size);
    return ATTEND_OK;
}

attend_status attendi_compute(attend_context *ctx, struct problem *p, attend_error *err)
{
    const struct backend *const backend = ctx->backend;
    struct plan plan = {.workspace = 0};

    void *workspace = NULL;

    TRY(backend->supports(ctx, p, err));
    backend->plan(ctx, p, &plan);
    TRY((backend->workspace ? backend->workspace : scratch)(ctx, plan.workspace,
                                                            &workspace, err));
    return backend->run(ctx, p, &plan, workspace, err);
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

attend_status attendi_needs_host(const attend_context *ctx, const char *call,
                                 attend_error *err)
{
    if (ctx->backend->memory == ATTEND_MEMORY_HOST)
        return ATTEND_OK;
    return attendi_fail(err, ATTEND_EUNSUPPORTED, "%s takes tensors in host memory alone",
                        call);
}

attend_memory attend_context_memory(const attend_context *ctx)
{
    return ctx ? ctx->backend->memory : ATTEND_MEMORY_HOST;
}
