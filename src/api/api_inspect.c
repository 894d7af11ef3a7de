/* SPDX-License-Identifier: MIT */
/* attend_inspect: validate, compute. */
#include "attend/stats.h"
#include "api/entry.h"
#include "core/backend.h"
#include "core/inspect_request.h"

static attend_status inspect(attend_context *ctx, const attend_rule *rule,
                             const attend_inspection *inspection, attend_error *err)
{
    struct problem problem;
    struct inspection s;

    TRY(attendi_inspect_init(&problem, &s, rule, inspection, err));
    return attendi_compute(ctx, &problem, err);
}

attend_status attend_inspect(attend_context *ctx, const attend_rule *rule,
                             const attend_inspection *inspection, attend_error *err)
{
    TRY(attendi_enter(ctx, err));
    return attendi_leave(ctx, inspect(ctx, rule, inspection, err));
}
