/* SPDX-License-Identifier: MIT */
/*
 * Not a header: 2^x and tanh x.  EXP2_TERMS are the coefficients of f .. f^k in 2^f for
 * |f| <= 1/2, EXP2_MIN is the smallest normal exponent.
 */

/*
 * (2^f - 1) / f for |f| <= 1/2.  The constant of the polynomial for 2^f is exactly 1,
 * so 2^0 is 1: the largest weight of a row is exact, and a one-hot row copies.
 */
static inline vec exp2_slope(vec f)
{
    static const REAL term[] = EXP2_TERMS;
    const int last = (int)(sizeof term / sizeof term[0]) - 1;
    vec sum = vec_set1(term[last]);

    for (int k = last - 1; k >= 0; k--)
        sum = vec_fma(sum, f, vec_set1(term[k]));
    return sum;
}

/*
 * 2^x for x <= 0.  Below the smallest normal number the result is 0 in every set: such a
 * weight changes no sum, and denormal products cost some machines a hundred cycles each.
 * So does x = -inf, where the reduction would give NaN.  NaN stays NaN.
 */
static inline vec vec_exp2(vec x)
{
    const vec n = vec_nearest(x), f = vec_sub(x, n);
    const vec p = vec_fma(exp2_slope(f), f, vec_set1(1));

    return vec_keep_ge(x, vec_set1(EXP2_MIN), vec_times_pow2(p, n));
}

/*
 * tanh x, relative error a few ulp at any x: with e = exp(-2|x|) - 1, formed
 * without cancellation, tanh |x| = -e / (2 + e).  Beyond 20 it is 1 in double.
 */
static inline vec vec_tanh(vec x)
{
    const vec minus_abs = vec_or(x, vec_set1((REAL)-0.0));
    const vec y =
        vec_mul(vec_max(vec_set1(-20), minus_abs), vec_set1((REAL)(2 * LOG2_E)));
    const vec n = vec_nearest(y), f = vec_sub(y, n);
    const vec pow2n = vec_times_pow2(vec_set1(1), n);
    const vec fraction = vec_mul(exp2_slope(f), f);
    const vec e = vec_fma(pow2n, fraction, vec_sub(pow2n, vec_set1(1)));
    const vec t = vec_div(e, vec_add(vec_set1(2), e));

    return vec_blend(x, t, vec_sub(vec_set1(0), t));
}
