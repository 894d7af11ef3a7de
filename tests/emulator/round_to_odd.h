/* SPDX-License-Identifier: MIT */
/* Double to half precision with a single rounding. */
#ifndef TESTS_ROUND_TO_ODD_H
#define TESTS_ROUND_TO_ODD_H

#include <math.h>

#include "base/half.h"

/*
 * Round to odd: towards 0, with the last bit set if x is not a float.  Rounding the
 * result to a shorter format is then the same as rounding x.
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
