/* SPDX-License-Identifier: MIT */
/*
 * Entry and exit of a public call that takes a context: one call at a time, in the
 * default floating-point environment.
 */
#ifndef ATTEND_ENTRY_H
#define ATTEND_ENTRY_H

#include "base/error.h"
#include "base/float_env.h"
#include "context.h"

/* EINVAL without a context, EBUSY while another call uses it. */
static inline attend_status enter(attend_context *ctx, attend_error *err)
{
    if (!ctx)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    if (atomic_flag_test_and_set_explicit(&ctx->busy, memory_order_acquire))
        return attendi_fail(err, ATTEND_EBUSY, "ctx is in use by another call");
    ctx->float_env = set_default_float_env();
    return ATTEND_OK;
}

/* After a successful enter(); returns `status`. */
static inline attend_status leave(attend_context *ctx, attend_status status)
{
    restore_float_env(ctx->float_env);
    atomic_flag_clear_explicit(&ctx->busy, memory_order_release);
    return status;
}

#endif
