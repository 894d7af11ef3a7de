/* SPDX-License-Identifier: MIT */
#include "core/context.h"

#include "base/base.h"
#include "base/error.h"

attend_status attendi_scratch(attend_context *ctx, size_t size, void **scratch,
                              attend_error *err)
{
    if (ctx->scratch_size < size) {
        attendi_release(&ctx->allocator, ctx->scratch);
        ctx->scratch = size < SIZE_MAX ? attendi_allocate(&ctx->allocator, size) : NULL;
        ctx->scratch_size = ctx->scratch ? size : 0;
    }
    *scratch = ctx->scratch;
    if (!ctx->scratch && size > 0)
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory for %zu bytes of scratch",
                            size);
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
