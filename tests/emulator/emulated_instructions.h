/* SPDX-License-Identifier: MIT */
/* Emulates src/cuda/instructions.cuh. */
#ifndef TESTS_EMULATED_INSTRUCTIONS_H
#define TESTS_EMULATED_INSTRUCTIONS_H

#include "base/half.h"

#define DEVICE inline

DEVICE uint32_t shared_address(const void *p) { return gpu_shared_address(p); }

DEVICE float ex2(float x)
{
    const float y = exp2f(x);

    return y < FLT_MIN ? 0.f : y;
}

DEVICE uint32_t pack_bf16(float low, float high)
{
    return (uint32_t)attendi_f32_to_bf16(high) << 16 | attendi_f32_to_bf16(low);
}
DEVICE uint32_t pack_f16(float low, float high)
{
    return (uint32_t)attendi_f32_to_f16(high) << 16 | attendi_f32_to_f16(low);
}

template <class T> DEVICE T load_shared_as(uint32_t at)
{
    T x;

    memcpy(&x, gpu_shared(at, sizeof x, sizeof x, ACCESS_READ), sizeof x);
    return x;
}
template <class T> DEVICE void store_shared_as(uint32_t at, T x)
{
    memcpy(gpu_shared(at, sizeof x, sizeof x, ACCESS_WRITE), &x, sizeof x);
}

DEVICE int load_shared(uint32_t at) { return load_shared_as<int>(at); }
DEVICE void store_shared(uint32_t at, int x) { store_shared_as(at, x); }
DEVICE void load_shared_2(uint32_t at, float &x, float &y)
{
    const uint2 both = load_shared_as<uint2>(at);

    x = __uint_as_float(both.x);
    y = __uint_as_float(both.y);
}
DEVICE uint4 load_shared_4(uint32_t at) { return load_shared_as<uint4>(at); }
DEVICE void store_shared_4(uint32_t at, uint4 x) { store_shared_as(at, x); }

#endif
