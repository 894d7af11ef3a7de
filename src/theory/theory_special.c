/* SPDX-License-Identifier: MIT */
/* The logistic, normal and beta functions. */
#include <math.h>

#include "attend/theory.h"

static const double pi = 3.14159265358979323846;

double attend_theory_logistic(double x)
{
    const double e = exp(-fabs(x));

    return x >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

double attend_theory_logit(double p)
{
    if (!(p >= 0.0 && p <= 1.0))
        return NAN;
    return log(p) - log1p(-p);
}

double attend_theory_normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }

/* The rational start of Abramowitz and Stegun 26.2.23, then Halley on the CDF. */
static double lower_quantile(double p)
{
    const double t = sqrt(-2.0 * log(p));
    double x = (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
               t;

    for (int i = 0; i < 4; i++) {
        /* In logarithms: p may be as small as the smallest double. */
        const double cdf = attend_theory_normal_cdf(x);
        const double hazard = exp(-0.5 * x * x) / (sqrt(2.0 * pi) * cdf);
        const double f = log(cdf / p), curve = -hazard * (x + hazard);

        x -= 2.0 * f * hazard / (2.0 * hazard * hazard - f * curve);
    }
    return x;
}

double attend_theory_normal_quantile(double p)
{
    if (!(p >= 0.0 && p <= 1.0))
        return NAN;
    if (p == 0.0 || p == 1.0)
        return p == 0.0 ? -INFINITY : INFINITY;
    return p <= 0.5 ? lower_quantile(p) : -lower_quantile(1.0 - p);
}

/* ln Gamma(x) - ((x - 1/2) ln x - x + ln(2 pi)/2), x >= 16: Stirling's series. */
static double stirling_rest(double x)
{
    const double r = 1.0 / x, r2 = r * r;

    return r * (1.0 / 12.0 -
                r2 * (1.0 / 360.0 -
                      r2 * (1.0 / 1260.0 - r2 * (1.0 / 1680.0 - r2 * (1.0 / 1188.0)))));
}

/*
 * ln(Gamma(a + b) / (Gamma(a) Gamma(b))).  The large terms of Stirling's formula cancel
 * on paper, not in arithmetic; small arguments are raised by Gamma(x + 1) = x Gamma(x).
 */
static double log_inverse_beta(double a, double b)
{
    double product = 1.0, result = 0.0;

    while (a < 16.0 || b < 16.0) {
        double *small = a < b ? &a : &b;

        /* 1/B(a, b) = 1/B(a + 1, b) * a / (a + b) */
        product *= *small / (a + b);
        *small += 1.0;
        if (product < 1e-200) {
            result += log(product);
            product = 1.0;
        }
    }
    result += log(product);
    result += a * log1p(b / a) + b * log1p(a / b);
    result += 0.5 * log(a / (a + b)) + 0.5 * log(b) - 0.5 * log(2.0 * pi);
    return result + stirling_rest(a + b) - stirling_rest(a) - stirling_rest(b);
}

/* The continued fraction of I_x(a, b), by the modified Lentz method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0), f;

    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m <= 1000000; m++) {
        double term = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)), change;

        d = 1.0 + term * d;
        c = 1.0 + term / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        f *= d * c;
        term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
        d = 1.0 + term * d;
        c = 1.0 + term / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        change = d * c;
        f *= change;
        if (fabs(change - 1.0) < 1e-16)
            break;
    }
    return f;
}

double attend_theory_beta(double a, double b, double x)
{
    double front;

    if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) || isinf(a) || isinf(b))
        return NAN;
    if (x == 0.0 || x == 1.0)
        return x;
    front = exp(log_inverse_beta(a, b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}
