/* SPDX-License-Identifier: MIT */
/* attend_second_pass: validate, compute. */
#include "attend/attend.h"
#include "backend.h"
#include "base/error.h"
#include "core/second_request.h"

attend_status attend_second_pass(attend_context *ctx, const attend_rule *rule,
                                 const attend_second *second, attend_error *err)
{
    struct problem problem;
    struct second s;

    if (!ctx)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    const attend_status status = attendi_second_init(&problem, &s, rule, second, err);
    if (status != ATTEND_OK)
        return status;
    return attendi_compute(ctx, &problem, err);
}
