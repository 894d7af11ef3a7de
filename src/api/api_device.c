/* SPDX-License-Identifier: MIT */
/* Device functions of the public interface. */
#include <stdio.h>
#include <string.h>

#include "api/entry.h"
#include "core/backend.h"
#include "cuda/cuda_open.h"

size_t attend_devices(char *text, size_t size)
{
    char words[2048] = "";

    attendi_cuda_describe(words, sizeof words);
    if (text && size > 0)
        snprintf(text, size, "%s", words);
    return strlen(words);
}

attend_status attend_context_wait(attend_context *ctx, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx,
                         ctx->backend->wait ? ctx->backend->wait(ctx, err) : ATTEND_OK);
}

static attend_status no_device(const char *call, attend_error *err)
{
    return attendi_fail(err, ATTEND_EINVAL, "ctx has no device, which %s() needs", call);
}

attend_status attend_context_set_stream(attend_context *ctx, void *stream,
                                        attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, ctx->backend->set_stream
                                  ? ctx->backend->set_stream(ctx, stream, err)
                                  : no_device("attend_context_set_stream", err));
}

attend_status attend_context_set_workspace(attend_context *ctx, void *memory, size_t size,
                                           attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(
        ctx, ctx->backend->set_workspace
                 ? ctx->backend->set_workspace(ctx, memory, size, err)
                 : attendi_unsupported(ctx, "attend_context_set_workspace", err));
}
