/* SPDX-License-Identifier: MIT */
#include "float_bits.h"

#include <math.h>

const bits_format bits_f16 = {10, -14, 15};
const bits_format bits_bf16 = {7, -126, 127};

float bits_value(bits_format format, uint16_t bits)
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

uint16_t bits_nearest(bits_format format, float x)
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
    /*
     * A carry out of the significand, or out of the subnormals, increments the exponent.
     */
    return (uint16_t)(sign + ((exponent - format.emin) << format.fraction) + (int)units);
}
