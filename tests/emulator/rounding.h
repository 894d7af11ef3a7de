/* SPDX-License-Identifier: MIT */
/* Doubles to half floats, rounded once. */
#ifndef TESTS_EMULATOR_ROUNDING_H
#define TESTS_EMULATOR_ROUNDING_H

#include <math.h>

#include "base/half.h"

/*
 * A float that rounds to any shorter format as x does: towards 0, with its last bit set
 * where x is not a float (round to odd).
 */
static inline float round_to_odd(double x)
{
    float y = (float)x;

    if (isnan(x) || isinf(x) || (double)y == x)
        return y;
    if (fabs((double)y) > fabs(x))
        y = nextafterf(y, 0);
    return bits_float(float_bits(y) | 1u);
}

#endif
