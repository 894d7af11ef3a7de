/* SPDX-License-Identifier: MIT */
/* Matrix products of 16-bit elements with float accumulators, as on tensor cores. */
#ifndef TESTS_EMULATED_PRODUCTS_H
#define TESTS_EMULATED_PRODUCTS_H

#include "base/half.h"
#include "emulator.h"

/* d (rows x columns) += a (rows x 16) b (16 x columns). */
static inline void multiply_add(const float *a, const float *b, float *d, int rows,
                                int columns)
{
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < 16; k++)
            for (int c = 0; c < columns; c++)
                d[r * columns + c] += a[r * 16 + k] * b[k * columns + c];
}

/* Unpacks a lane's four registers of operand A into a 16 x 16 matrix. */
template <float WIDEN(uint16_t)>
static inline void unpack_left(const uint32_t *registers, int lane, float *a)
{
    const int r = lane / 4, k = 2 * (lane % 4);

    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 2; y++)
            a[(r + 8 * (x & 1)) * 16 + k + y + 8 * (x >> 1)] =
                WIDEN((uint16_t)(registers[x] >> 16 * y));
}

#endif
