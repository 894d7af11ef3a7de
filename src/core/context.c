/* SPDX-License-Identifier: MIT */
#include "core/context.h"

#include "base/base.h"
#include "base/error.h"

attend_status attendi_grow(attend_context *ctx, struct reused *reused, size_t size,
                           void **memory, attend_error *err)
{
    if (reused->size < size) {
        attendi_release(&ctx->allocator, reused->memory);
        reused->memory = size < SIZE_MAX ? attendi_allocate(&ctx->allocator, size) : NULL;
        reused->size = reused->memory ? size : 0;
    }
    *memory = reused->memory;
    if (!reused->memory && size > 0)
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory for %zu bytes of scratch",
                            size);
    return ATTEND_OK;
}

attend_status attendi_scratch(attend_context *ctx, size_t size, void **scratch,
                              attend_error *err)
{
    if (!ctx->lent)
        return attendi_grow(ctx, &ctx->scratch, size, scratch, err);
    if (size > ctx->lent_size)
        return attendi_fail(
            err, ATTEND_ENOMEM,
            "out of memory: the workspace has %zu bytes, the call needs %zu",
            ctx->lent_size, size);
    *scratch = ctx->lent;
    return ATTEND_OK;
}

size_t attendi_reserve(size_t *total, int64_t count, size_t size)
{
    const size_t at = *total, bytes = count_bytes(count, size);
    const size_t lines = add_bytes(bytes, ATTENDI_ALIGN) / ATTENDI_ALIGN;

    *total = add_bytes(at, count_bytes((int64_t)lines, ATTENDI_ALIGN));
    if (*total > SIZE_MAX >> 1)
        *total = SIZE_MAX;
    return at;
}
