/* SPDX-License-Identifier: MIT */
#include "backend.h"

#include "base/error.h"
#include "context.h"

attend_status attendi_compute(attend_context *ctx, struct problem *p, attend_error *err)
{
    const struct backend *const backend = ctx->backend;
    struct plan plan = {.workspace = 0};

    TRY(backend->supports(ctx, p, err));
    backend->plan(ctx, p, &plan);
    void *const workspace =
        plan.workspace < SIZE_MAX ? attendi_context_scratch(ctx, plan.workspace) : NULL;
    if (!workspace && plan.workspace > 0)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for %zu bytes of scratch",
                            plan.workspace);
    return backend->run(ctx, p, &plan, workspace, err);
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
    return ctx->backend->memory;
}
