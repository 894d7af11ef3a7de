/* SPDX-License-Identifier: MIT */
/*
 * IEEE binary16 and bfloat16 as bit patterns, in portable C: widening is exact, narrowing
 * rounds to nearest even, NaN becomes a quiet NaN of the same sign.  Kernel sets use
 * instructions that give the same bits.
 */
#ifndef ATTEND_BASE_HALF_H
#define ATTEND_BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t float_bits(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float bits_float(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

static inline float attendi_bf16_to_f32(uint16_t h)
{
    return bits_float((uint32_t)h << 16);
}

static inline uint16_t attendi_f32_to_bf16(float x)
{
    const uint32_t u = float_bits(x);

    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)((u >> 16) | 0x40u);
    return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

static inline float attendi_f16_to_f32(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t magnitude = h & 0x7fffu;

    if (magnitude >= 0x7c00u) { /* Inf and NaN: all-ones exponent, NaN made quiet */
        const uint32_t quiet = magnitude > 0x7c00u ? 0x00400000u : 0u;
        return bits_float(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13) | quiet);
    }
    if (magnitude >= 0x0400u)
        return bits_float(sign | ((magnitude << 13) + ((127u - 15u) << 23)));
    /* Subnormals are whole multiples of 2^-24, exact in f32. */
    const float x = (float)magnitude * 0x1p-24f;
    return bits_float(sign | float_bits(x));
}

static inline uint16_t attendi_f32_to_f16(float x)
{
    const uint32_t u = float_bits(x);
    const uint16_t sign = (uint16_t)((u >> 16) & 0x8000u);
    const uint32_t magnitude = u & 0x7fffffffu;

    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    if (magnitude >= 0x477ff000u) /* 65520 = the tie above the largest finite half */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) { /* normal halves: from 2^-14 */
        const uint32_t rebased = magnitude - ((127u - 15u) << 23);
        return (uint16_t)(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
    }
    /*
     * Below 2^-14 a half is a multiple of 2^-24.  Adding 1/2 puts that unit at the
     * last bit of a float, so the addition itself rounds to nearest even.
     */
    const float shifted = bits_float(magnitude) + 0.5f;
    return (uint16_t)(sign | (float_bits(shifted) - float_bits(0.5f)));
}

#endif
