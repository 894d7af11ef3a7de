/* SPDX-License-Identifier: MIT */
/* attend_merge and attend_merge_with: validate, compute. */
#include "api/entry.h"
#include "base/float_env.h"
#include "core/backend.h"
#include "cpu/backend/cpu_backend.h"

static attend_status merge(const attend_part *parts, int64_t count,
                           const attend_tensor *out, const attend_tensor *lse,
                           attend_error *err)
{
    struct merge m;

    TRY(attendi_merge_init(&m, parts, count, out, lse, err));
    if (m.rows > 0)
        attendi_cpu_merge_here(&m);
    return ATTEND_OK;
}

attend_status attend_merge(const attend_part *parts, int64_t count,
                           const attend_tensor *out, const attend_tensor *lse,
                           attend_error *err)
{
    const uint64_t float_env = set_default_float_env();
    const attend_status status = merge(parts, count, out, lse, err);

    restore_float_env(float_env);
    return status;
}

static attend_status merge_with(attend_context *ctx, const attend_part *parts,
                                int64_t count, const attend_tensor *out,
                                const attend_tensor *lse, attend_error *err)
{
    struct merge m;

    if (!ctx->backend->merge)
        return attendi_unsupported(ctx, "attend_merge_with", err);
    TRY(attendi_merge_init(&m, parts, count, out, lse, err));
    return m.rows > 0 ? ctx->backend->merge(ctx, &m, err) : ATTEND_OK;
}

attend_status attend_merge_with(attend_context *ctx, const attend_part *parts,
                                int64_t count, const attend_tensor *out,
                                const attend_tensor *lse, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, merge_with(ctx, parts, count, out, lse, err));
}
