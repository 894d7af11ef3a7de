/* SPDX-License-Identifier: MIT */
#include "testing/exp2_probe.h"

#include "core/context.h"
#include "cpu/dispatch/kernels.h"

void attendi_exp2(const attend_context *ctx, const float *x, float *y, int64_t n)
{
    const struct kernel_set *const set = ctx->kernels;

    (set->bf16 ? set->bf16 : set->f32)->exp2(x, y, n);
}
