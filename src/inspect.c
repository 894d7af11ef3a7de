/* SPDX-License-Identifier: MIT */
/* attend_inspect: validate, compute. */
#include "attend/stats.h"
#include "backend.h"
#include "base/error.h"
#include "core/inspect_request.h"

attend_status attend_inspect(attend_context *ctx, const attend_rule *rule,
                             const attend_inspection *inspection, attend_error *err)
{
    struct problem problem;
    struct inspection s;

    if (!ctx)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    TRY(attendi_inspect_init(&problem, &s, rule, inspection, err));
    return attendi_compute(ctx, &problem, err);
}
