/* SPDX-License-Identifier: MIT */
/* The bfloat16 functions that kernels use, with the rounding of a GPU. */
#ifndef TESTS_EMULATOR_CUDA_BF16_H
#define TESTS_EMULATOR_CUDA_BF16_H

#include "round_to_odd.h"

struct __nv_bfloat16 {
    uint16_t bits;
};
static inline float __bfloat162float(__nv_bfloat16 x)
{
    return attendi_bf16_to_f32(x.bits);
}
static inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    return {attendi_f32_to_bf16(x)};
}
static inline __nv_bfloat16 __float2bfloat16(float x) { return __float2bfloat16_rn(x); }
static inline __nv_bfloat16 __double2bfloat16(double x)
{
    return {attendi_f32_to_bf16(round_to_odd(x))};
}

#endif
