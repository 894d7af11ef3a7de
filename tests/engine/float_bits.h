/* SPDX-License-Identifier: MIT */
/*
 * Half floats by their arithmetic definition, for tests to compare with: a value
 * is sign * significand * 2^exponent, and the nearest one is found by rounding
 * the scaled significand to an integer, ties to even.
 */
#ifndef TESTS_FLOAT_BITS_H
#define TESTS_FLOAT_BITS_H

#include <stdint.h>

/* The two types differ in the bits of the fraction and in the smallest exponent. */
typedef struct bits_format {
    int fraction; /* stored bits */
    int emin;     /* of the smallest normal number */
    int emax;
} bits_format;

extern const bits_format bits_f16, bits_bf16;

float bits_value(bits_format format, uint16_t bits);
/* NaN becomes a quiet NaN with any payload. */
uint16_t bits_nearest(bits_format format, float x);

#endif
