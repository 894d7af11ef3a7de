/* SPDX-License-Identifier: MIT */
#include "bench/peak_bfmmla.h"

#ifdef __aarch64__
#include <arm_neon.h>

static volatile float operand = 0.5f;

void bench_loop_bfmmla(int64_t rounds)
{
    const bfloat16x8_t x = vcvtq_low_bf16_f32(vdupq_n_f32(operand));
    float32x4_t acc[BENCH_BFMMLA_CHAINS];

#pragma GCC unroll 24
    for (int c = 0; c < BENCH_BFMMLA_CHAINS; c++)
        acc[c] = vdupq_n_f32((float)c);
    for (int64_t round = 0; round < rounds; round++) {
#pragma GCC unroll 24
        for (int c = 0; c < BENCH_BFMMLA_CHAINS; c++)
            acc[c] = vbfmmlaq_f32(acc[c], x, x);
    }
#pragma GCC unroll 24
    for (int c = 1; c < BENCH_BFMMLA_CHAINS; c++)
        acc[0] += acc[c];
    volatile float result = acc[0][0];
    (void)result;
}

#endif
