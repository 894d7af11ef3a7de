/* SPDX-License-Identifier: MIT */
/*
 * Not a header: 2^x and tanh x for one floating type.  Parameters as in
 * forward_tmpl.h, and EXP2_TERMS, the coefficients of f .. f^k in 2^f for
 * |f| <= 1/2, and EXP2_MIN, the smallest normal exponent.
 */

/*
 * (2^f - 1) / f for |f| <= 1/2.  The constant of the polynomial for 2^f is exactly 1,
 * so 2^0 is 1: the largest weight of a row is exact, and a one-hot row copies.
 */
static inline VEC N(exp2_slope)(VEC f)
{
    static const REAL term[] = EXP2_TERMS;
    const int last = (int)(sizeof term / sizeof term[0]) - 1;
    VEC sum = V(set1)(term[last]);

    for (int k = last - 1; k >= 0; k--)
        sum = V(fma)(sum, f, V(set1)(term[k]));
    return sum;
}

/*
 * 2^x for x <= 0.  Below the smallest normal number the result is 0, in every set
 * alike: a weight that small changes no sum, and denormal products cost some
 * machines a hundred cycles each.  That also catches x = -inf, where the
 * reduction would give NaN.  NaN stays NaN.
 */
static inline VEC N(exp2)(VEC x)
{
    const VEC n = V(nearest)(x), f = V(sub)(x, n);
    const VEC p = V(fma)(N(exp2_slope)(f), f, V(set1)(1));

    return V(keep_ge)(x, V(set1)(EXP2_MIN), V(times_pow2)(p, n));
}

/*
 * tanh x, relative error a few ulp at any x: with e = exp(-2|x|) - 1, formed
 * without cancellation, tanh |x| = -e / (2 + e).  Beyond 20 it is 1 in double.
 */
static inline VEC N(tanh)(VEC x)
{
    const VEC minus_abs = V(either)(x, V(set1)((REAL)-0.0));
    const VEC y = V(mul)(V(max)(V(set1)(-20), minus_abs), V(set1)((REAL)(2 * LOG2_E)));
    const VEC n = V(nearest)(y), f = V(sub)(y, n);
    const VEC pow2n = V(times_pow2)(V(set1)(1), n);
    const VEC fraction = V(mul)(N(exp2_slope)(f), f);
    const VEC e = V(fma)(pow2n, fraction, V(sub)(pow2n, V(set1)(1)));
    const VEC t = V(div)(e, V(add)(V(set1)(2), e));

    return V(pick)(x, t, V(sub)(V(set1)(0), t));
}
