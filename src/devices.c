/* SPDX-License-Identifier: MIT */
/* What a context does on a device, and what is said where the build has no kernels. */
#include <stdio.h>
#include <string.h>

#include "attend/attend.h"
#include "backend.h"
#include "backend_cuda.h"
#include "base/error.h"
#include "entry.h"
#ifdef ATTEND_HAVE_CUDA
#include "cuda/host/device.h"
#endif

#ifndef ATTEND_HAVE_CUDA
attend_status attendi_device_attach(attend_context *ctx, const attend_options *options,
                                    attend_error *err)
{
    (void)ctx;
    return attendi_fail(err, ATTEND_EUNSUPPORTED,
                        "options.device (\"%.40s\"): no CUDA kernels in this build: "
                        "%s",
                        options->device, ATTENDI_NO_CUDA);
}

void attendi_device_detach(attend_context *ctx) { (void)ctx; }

attend_status attendi_cuda_combine(attend_context *ctx, struct problem *p,
                                   const attend_tensor *records, const int64_t *start,
                                   int64_t count, attend_error *err)
{
    (void)ctx, (void)p, (void)records, (void)start, (void)count;
    return attendi_fail(err, ATTEND_EUNSUPPORTED, "this build has no CUDA kernels");
}

attend_status attendi_cuda_combine_parts(attend_context *ctx, struct problem *p,
                                         attend_dtype dtype,
                                         const struct part_records *parts,
                                         int64_t part_count, const int64_t *start,
                                         int64_t count, attend_error *err)
{
    (void)ctx, (void)p, (void)dtype, (void)parts, (void)part_count, (void)start,
        (void)count;
    return attendi_fail(err, ATTEND_EUNSUPPORTED, "this build has no CUDA kernels");
}

attend_status attendi_cuda_merge(attend_context *ctx, const attend_part *parts,
                                 int64_t count, const attend_tensor *out,
                                 const attend_tensor *lse, int64_t rows,
                                 attend_error *err)
{
    (void)ctx, (void)parts, (void)count, (void)out, (void)lse, (void)rows;
    return attendi_fail(err, ATTEND_EUNSUPPORTED, "this build has no CUDA kernels");
}

attend_status attendi_cuda_merge_stats(attend_context *ctx, struct problem *p, bool ends,
                                       const attend_stats_part *parts, int64_t count,
                                       attend_error *err)
{
    (void)ctx, (void)p, (void)ends, (void)parts, (void)count;
    return attendi_fail(err, ATTEND_EUNSUPPORTED, "this build has no CUDA kernels");
}
#endif

static void describe(char *text, size_t size)
{
#ifdef ATTEND_HAVE_CUDA
    attendi_cuda_describe(text, size);
#else
    snprintf(text, size, "no CUDA kernels in this build: %s", ATTENDI_NO_CUDA);
#endif
}

size_t attend_devices(char *text, size_t size)
{
    char words[2048] = "";

    describe(words, sizeof words);
    if (text && size > 0)
        snprintf(text, size, "%s", words);
    return strlen(words);
}

static attend_status wait_for_device(attend_context *ctx, attend_error *err)
{
#ifdef ATTEND_HAVE_CUDA
    if (ctx->cuda)
        return attendi_cuda_wait(ctx->cuda, err);
#endif
    (void)ctx, (void)err;
    return ATTEND_OK;
}

attend_status attend_context_wait(attend_context *ctx, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, wait_for_device(ctx, err));
}

static attend_status needs_device(const attend_context *ctx, const char *call,
                                  attend_error *err)
{
    if (!ctx->cuda)
        return attendi_fail(err, ATTEND_EINVAL, "%s: the context has no device", call);
    return ATTEND_OK;
}

static attend_status set_stream(attend_context *ctx, void *stream, attend_error *err)
{
    TRY(needs_device(ctx, "attend_context_set_stream", err));
#ifdef ATTEND_HAVE_CUDA
    ctx->cuda->stream = stream;
#else
    (void)stream;
#endif
    return ATTEND_OK;
}

attend_status attend_context_set_stream(attend_context *ctx, void *stream,
                                        attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, set_stream(ctx, stream, err));
}

static attend_status set_workspace(attend_context *ctx, void *memory, size_t size,
                                   attend_error *err)
{
    TRY(needs_device(ctx, "attend_context_set_workspace", err));
#ifdef ATTEND_HAVE_CUDA
    if ((uintptr_t)memory % 256 != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "workspace (%p) is not aligned to 256 bytes", memory);
    ctx->cuda->lent = memory;
    ctx->cuda->lent_size = memory ? size : 0;
#else
    (void)memory, (void)size;
#endif
    return ATTEND_OK;
}

attend_status attend_context_set_workspace(attend_context *ctx, void *memory, size_t size,
                                           attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, set_workspace(ctx, memory, size, err));
}
