/* SPDX-License-Identifier: MIT */
/* The half functions that kernels use, with the rounding of a GPU. */
#ifndef TESTS_EMULATOR_CUDA_FP16_H
#define TESTS_EMULATOR_CUDA_FP16_H

#include "round_to_odd.h"

struct __half {
    uint16_t bits;
};
static inline float __half2float(__half x) { return attendi_f16_to_f32(x.bits); }
static inline __half __float2half_rn(float x) { return {attendi_f32_to_f16(x)}; }
static inline __half __float2half(float x) { return __float2half_rn(x); }
static inline __half __double2half(double x)
{
    return {attendi_f32_to_f16(round_to_odd(x))};
}

#endif
