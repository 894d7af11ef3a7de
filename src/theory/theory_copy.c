/* SPDX-License-Identifier: MIT */
/* Copies and averages without noise: T1, T2, T4 - T6. */
#include <math.h>
#include <stddef.h>

#include "attend/theory.h"

static const double ln2 = 0.693147180559945309417;

/* 1 / (1 + ratio e^-x), ratio >= 0, without overflow; and its difference from 1. */
static double share(double ratio, double x)
{
    return ratio == 0.0 ? 1.0 : attend_theory_logistic(x - log(ratio));
}

static double rest(double ratio, double x)
{
    return ratio == 0.0 ? 0.0 : attend_theory_logistic(log(ratio) - x);
}

double attend_theory_copy_weight(double n, double gap)
{
    return n >= 1.0 ? share(n - 1.0, gap) : NAN;
}

double attend_theory_copy_weight_gaps(const double *gaps, int64_t count)
{
    double low = 0.0, sum;

    if (count < 0)
        return NAN;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(gaps[i]))
            return NAN;
        low = fmin(low, gaps[i]);
    }
    if (isinf(low))
        return 0.0;
    sum = exp(low);
    for (int64_t i = 0; i < count; i++)
        sum += exp(low - gaps[i]);
    return exp(low) / sum;
}

double attend_theory_copy_weight_lower_bound(double n, double gap)
{
    return n >= 2.0 ? share(n - 1.0, gap) : NAN;
}

double attend_theory_copy_weight_upper_bound(double n, double gap)
{
    return n >= 2.0 ? attend_theory_logistic(gap) : NAN;
}

double attend_theory_copy_gap_needed(double n, double eps)
{
    return n >= 1.0 && eps > 0.0 && eps < 1.0 ? log(n - 1.0) - attend_theory_logit(eps)
                                              : NAN;
}

double attend_theory_copy_error_bound(double weight, double largest_distance)
{
    return weight >= 0.0 && weight <= 1.0 && largest_distance >= 0.0
               ? (1.0 - weight) * largest_distance
               : NAN;
}

double attend_theory_copy_error(double n, double gap)
{
    /* 1 - p_j by its own formula, since p_j may be 1 in double. */
    return n >= 2.0 ? rest(n - 1.0, gap) * sqrt(1.0 + 1.0 / (n - 1.0)) : NAN;
}

/*
 * Bits of the significand; exponents of the smallest normal and the smallest positive
 * number.
 */
static const struct format {
    double bits, normal, least;
} formats[] = {[ATTEND_F64] = {53.0, -1022.0, -1074.0},
               [ATTEND_F32] = {24.0, -126.0, -149.0},
               [ATTEND_F16] = {11.0, -14.0, -24.0},
               [ATTEND_BF16] = {8.0, -126.0, -133.0}};

/* NULL unless it is a floating dtype. */
static const struct format *format_of(attend_dtype dtype)
{
    const size_t count = sizeof formats / sizeof formats[0];

    return (size_t)dtype < count && formats[dtype].bits > 0.0 ? &formats[dtype] : NULL;
}

double attend_theory_gap_sum_exact(double n, attend_dtype format)
{
    const struct format *const f = format_of(format);

    /* Half a unit above 1 is 2^-bits. */
    return n >= 2.0 && f ? f->bits * ln2 + log(n - 1.0) : NAN;
}

double attend_theory_gap_weight_exact(double n, attend_dtype format)
{
    const struct format *const f = format_of(format);

    /* Half a unit below 1 is 2^-(bits + 1), and the weight 1 / (1 + (n-1) e^-gap). */
    return n >= 2.0 && f
               ? log(n - 1.0) + (f->bits + 1.0) * ln2 + log1p(-exp2(-f->bits - 1.0))
               : NAN;
}

double attend_theory_gap_underflow(attend_dtype format, int flush)
{
    const struct format *const f = format_of(format);

    return !f ? NAN : flush ? -f->normal * ln2 : (1.0 - f->least) * ln2;
}

static int is_subset(double n, double m) { return m >= 1.0 && n >= m && isfinite(n); }

double attend_theory_extract_error(double n, double beta)
{
    return attend_theory_average_leak(n, 2.0, beta);
}

double attend_theory_average_weight(double n, double m, double beta)
{
    return is_subset(n, m) ? share((n - m) / m, beta) / m : NAN;
}

double attend_theory_average_leak(double n, double m, double beta)
{
    return is_subset(n, m) ? rest((n - m) / m, beta) : NAN;
}

double attend_theory_average_scale_needed(double n, double m, double eps, double tau)
{
    if (!(is_subset(n, m) && eps > 0.0 && eps < 1.0 && tau > 0.0))
        return NAN;
    return (log((n - m) / m) - attend_theory_logit(eps)) / tau;
}

int attend_theory_weighted_query(const double *w, int64_t m, double beta, double tau,
                                 double *coefficient)
{
    double sum = 0.0;

    if (m < 1 || !(tau > 0.0) || !isfinite(beta))
        return -1;
    for (int64_t i = 0; i < m; i++) {
        if (!(w[i] > 0.0))
            return -1;
        sum += w[i];
    }
    if (!(fabs(sum - 1.0) <= 1e-9))
        return -1;
    for (int64_t i = 0; i < m; i++)
        coefficient[i] = (beta + log(w[i])) / tau;
    return 0;
}

double attend_theory_weighted_leak(double n, double m, double beta)
{
    return is_subset(n, m) ? rest(n - m, beta) : NAN;
}

double attend_theory_weighted_scale_needed(double n, double m, double eps, double tau)
{
    if (!(is_subset(n, m) && eps > 0.0 && eps < 1.0 && tau > 0.0))
        return NAN;
    return (log(n - m) - attend_theory_logit(eps)) / tau;
}
