/* SPDX-License-Identifier: MIT */
#include "api/entry.h"

#include "base/float_env.h"

attend_status attendi_enter(attend_context *ctx, attend_error *err)
{
    if (!ctx)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    if (atomic_flag_test_and_set_explicit(&ctx->busy, memory_order_acquire))
        return attendi_fail(err, ATTEND_EBUSY, "ctx is in use by another call");
    ctx->float_env = set_default_float_env();
    return ATTEND_OK;
}

attend_status attendi_leave(attend_context *ctx, attend_status status)
{
    restore_float_env(ctx->float_env);
    atomic_flag_clear_explicit(&ctx->busy, memory_order_release);
    return status;
}
