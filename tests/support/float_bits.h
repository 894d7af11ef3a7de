/* SPDX-License-Identifier: MIT */
/*
 * Half floats by their arithmetic definition, for tests to compare with: a value
 * is sign * significand * 2^exponent, and the nearest one is found by rounding
 * the scaled significand to an integer, ties to even.
 */
#ifndef TESTS_FLOAT_BITS_H
#define TESTS_FLOAT_BITS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The two types differ in the bits of the fraction and in the smallest exponent. */
typedef struct bits_format {
    int fraction; /* stored bits */
    int emin;     /* of the smallest normal number */
    int emax;
} bits_format;

static const bits_format bits_f16 = {10, -14, 15};
static const bits_format bits_bf16 = {7, -126, 127};

static inline float bits_value(bits_format format, uint16_t bits)
{
    const int fraction = bits & ((1 << format.fraction) - 1);
    const int exponent = (bits & 0x7fff) >> format.fraction;
    const int special = format.emax - format.emin + 2;
    double value;

    if (exponent == special)
        value = fraction != 0 ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, format.emin - format.fraction);
    else
        value = ldexp(fraction + (1 << format.fraction),
                      format.emin + exponent - 1 - format.fraction);
    return (float)(bits & 0x8000 ? -value : value);
}

/* NaN becomes a quiet NaN of some payload. */
static inline uint16_t bits_nearest(bits_format format, float x)
{
    const int sign = signbit(x) ? 0x8000 : 0;
    const int special = format.emax - format.emin + 2;
    const double magnitude = fabs((double)x);
    int exponent = format.emin;

    if (isnan(x))
        return (uint16_t)(sign | special << format.fraction | 1 << (format.fraction - 1));
    if (isinf(x))
        return (uint16_t)(sign | special << format.fraction);
    if (magnitude > 0.0 && ilogb(magnitude) > exponent)
        exponent = ilogb(magnitude);
    const double units = rint(ldexp(magnitude, format.fraction - exponent));
    const double largest = (double)((1 << (format.fraction + 1)) - 1);

    if (exponent > format.emax || (exponent == format.emax && units > largest))
        return (uint16_t)(sign | special << format.fraction);
    /* A carry out of the significand, or out of the subnormals, lands right. */
    return (uint16_t)(sign + ((exponent - format.emin) << format.fraction) + (int)units);
}

/* The value out of a table, made at the first call; tests load halves on one thread. */
static inline float bits_f16_value(uint16_t bits)
{
    static float table[1 << 16];
    static int made;

    for (int x = 0; !made && x < 1 << 16; x++)
        table[x] = bits_value(bits_f16, (uint16_t)x);
    made = 1;
    return table[bits];
}

/* The upper half of the float of the same value. */
static inline float bits_bf16_value(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;

    memcpy(&value, &wide, sizeof value);
    return value;
}

static inline uint16_t bits_f16_nearest(float x) { return bits_nearest(bits_f16, x); }
static inline uint16_t bits_bf16_nearest(float x) { return bits_nearest(bits_bf16, x); }

#endif
