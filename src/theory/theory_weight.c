/* SPDX-License-Identifier: MIT */
/* The law of one weight: T9 - T12, and the usable window of T8. */
#include <float.h>
#include <math.h>

#include "attend/theory.h"
#include "theory/quadrature.h"

static const double pi = 3.14159265358979323846;
static const struct attendi_theory_accuracy accuracy = {1e-13, 0.0};

static const attend_theory_law no_law = {NAN, NAN, NAN};

static int is_law(attend_theory_law law)
{
    return isfinite(law.mean) && law.sd >= 0.0 && isfinite(law.sd) &&
           law.floor < INFINITY && (law.sd > 0.0 || law.mean > law.floor);
}

/* ln(1 + m e^-x), m >= 0. */
static double log_rivals(double m, double x)
{
    const double y = log(m) - x;

    return fmax(y, 0.0) + log1p(exp(-fabs(y)));
}

attend_theory_law attend_theory_law_one_head(double n, double C, double sigma2)
{
    if (!(n >= 2.0 && isfinite(n) && isfinite(C) && sigma2 >= 0.0 && isfinite(sigma2)))
        return no_law;
    return (attend_theory_law){-log_rivals(n - 2.0, C), fabs(C) * sqrt(sigma2),
                               -INFINITY};
}

attend_theory_law attend_theory_law_pair(double C, double sigma2, double alpha)
{
    if (!(isfinite(C) && sigma2 >= 0.0 && alpha >= 0.0 && isfinite(sigma2 + alpha)))
        return no_law;
    return (attend_theory_law){0.0, fabs(C) * sqrt(4.0 * alpha + sigma2), -INFINITY};
}

attend_theory_law attend_theory_law_two_heads(double n, double C, double sigma2)
{
    if (!(n >= 2.0 && isfinite(n) && isfinite(C) && sigma2 >= 0.0 && isfinite(sigma2)))
        return no_law;
    return (attend_theory_law){C - log(n - 1.0), fabs(C) * sqrt(sigma2), -INFINITY};
}

attend_theory_law attend_theory_law_given_positive(attend_theory_law law, double sigma2)
{
    if (!is_law(law) || !(sigma2 >= 0.0))
        return no_law;
    if (law.sd > 0.0 && sigma2 > 0.0)
        law.floor = fmax(law.floor, law.mean - law.sd / sqrt(sigma2));
    return law;
}

/*
 * The logistic at y minus its value at a reference, without cancellation; and its square.
 */
static void deviations(void *arg, double y, double *f)
{
    const double reference = *(const double *)arg;
    const double high = fmax(y, reference), low = fmin(y, reference);
    const double rise =
        attend_theory_logistic(high) * attend_theory_logistic(-low) * -expm1(low - high);

    f[0] = y >= reference ? rise : -rise;
    f[1] = f[0] * f[0];
}

static void distance_to_half(void *arg, double y, double *f)
{
    (void)arg;
    f[0] = 0.5 * fabs(tanh(0.5 * y));
}

static void weight_itself(void *arg, double y, double *f)
{
    (void)arg;
    f[0] = attend_theory_logistic(y);
}

static void law_mean(attend_theory_law law, attendi_theory_integrand f, int count,
                     double *result)
{
    const struct attendi_theory_transition logistic = {0.0, 1.0};
    double reference = fmax(law.mean, law.floor);

    if (!is_law(law)) {
        for (int k = 0; k < count; k++)
            result[k] = NAN;
        return;
    }
    attendi_theory_normal_mean(f, &reference, count, law.mean, law.sd, law.floor,
                               &logistic, 1, accuracy, result);
}

double attend_theory_weight_mean(attend_theory_law law)
{
    double result;

    law_mean(law, weight_itself, 1, &result);
    return result;
}

double attend_theory_weight_variance(attend_theory_law law)
{
    double result[2], variance;

    law_mean(law, deviations, 2, result);
    variance = result[1] - result[0] * result[0];
    return variance < 0.0 ? 0.0 : variance; /* by rounding */
}

double attend_theory_weight_abs_deviation(attend_theory_law law)
{
    double result;

    law_mean(law, distance_to_half, 1, &result);
    return result;
}

/* P(Y <= y) under the law. */
static double logit_cdf(attend_theory_law law, double y)
{
    const double floor = (law.floor - law.mean) / law.sd;
    const double z = (y - law.mean) / law.sd;

    if (law.sd == 0.0)
        return law.mean <= y ? 1.0 : 0.0;
    if (law.floor == -INFINITY)
        return attend_theory_normal_cdf(z);
    return z <= floor
               ? 0.0
               : 1.0 - attend_theory_normal_cdf(-z) / attend_theory_normal_cdf(-floor);
}

double attend_theory_weight_cdf(attend_theory_law law, double x)
{
    return is_law(law) && x >= 0.0 && x <= 1.0 ? logit_cdf(law, attend_theory_logit(x))
                                               : NAN;
}

double attend_theory_weight_quantile(attend_theory_law law, double probability)
{
    double z;

    if (!is_law(law) || !(probability >= 0.0 && probability <= 1.0))
        return NAN;
    if (law.sd == 0.0)
        return attend_theory_logistic(law.mean);
    if (law.floor == -INFINITY) {
        z = attend_theory_normal_quantile(probability);
    } else {
        const double above = attend_theory_normal_cdf((law.mean - law.floor) / law.sd);

        z = -attend_theory_normal_quantile((1.0 - probability) * above);
    }
    return attend_theory_logistic(law.mean + law.sd * z);
}

double attend_theory_weight_density(attend_theory_law law, double w)
{
    const double y = attend_theory_logit(w), z = (y - law.mean) / law.sd;
    double above;

    if (!is_law(law) || law.sd == 0.0 || isnan(y))
        return NAN;
    if (w == 0.0 || w == 1.0 || y <= law.floor)
        return 0.0;
    above = attend_theory_normal_cdf((law.mean - law.floor) / law.sd);
    return exp(-0.5 * z * z) / (law.sd * sqrt(2.0 * pi) * w * (1.0 - w)) / above;
}

double attend_theory_weight_outside(attend_theory_law law, double delta)
{
    const double l = attend_theory_logit(delta);

    if (!is_law(law) || !(delta > 0.0 && delta <= 0.5))
        return NAN;
    if (law.sd == 0.0)
        return law.mean < l || law.mean > -l ? 1.0 : 0.0;
    if (law.floor == -INFINITY)
        return attend_theory_normal_cdf((l - law.mean) / law.sd) +
               attend_theory_normal_cdf((l + law.mean) / law.sd);
    return logit_cdf(law, l) + 1.0 - logit_cdf(law, -l);
}

/* The root of y - mean - T2 tanh(y/2), increasing on [lo, hi]. */
static double mode_between(double mean, double T2, double lo, double hi)
{
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (lo + hi);

        if (middle - mean - T2 * tanh(0.5 * middle) < 0.0)
            lo = middle;
        else
            hi = middle;
    }
    return attend_theory_logistic(0.5 * (lo + hi));
}

/*
 * The density of logistic(Y) has two modes iff |mean of Y| is less than this: the
 * height of the extremes of T2 tanh(y/2) - y, at tanh(y/2) = +-sqrt(1 - 2/T2).
 */
static double bimodal_mean(double T2)
{
    const double t = T2 > 2.0 ? sqrt(1.0 - 2.0 / T2) : 0.0;

    /* 2 atanh(t), accurate for small 1 - t. */
    return T2 * t - log((1.0 + t) * (1.0 + t) * 0.5 * T2);
}

int attend_theory_weight_modes(attend_theory_law law, double mode[2])
{
    const double T2 = fmin(law.sd * law.sd, 0.25 * DBL_MAX);
    const double lo = law.mean - T2 - 1.0, hi = law.mean + T2 + 1.0;
    double inflection;

    if (!is_law(law) || law.sd == 0.0 || law.floor != -INFINITY)
        return -1;
    if (T2 <= 2.0 * (1.0 + 1e-14)) { /* sd is rounded */
        mode[0] = mode_between(law.mean, T2, lo, hi);
        return 1;
    }
    inflection = 2.0 * atanh(sqrt(1.0 - 2.0 / T2));
    if (fabs(law.mean) < bimodal_mean(T2)) {
        mode[0] = mode_between(law.mean, T2, lo, -inflection);
        mode[1] = mode_between(law.mean, T2, inflection, hi);
        return 2;
    }
    mode[0] = law.mean < 0.0 ? mode_between(law.mean, T2, lo, -inflection)
                             : mode_between(law.mean, T2, inflection, hi);
    return 1;
}

double attend_theory_bimodal_scale(double n, double sigma2)
{
    double lo, hi;

    if (!(n >= 2.0 && isfinite(n) && sigma2 > 0.0 && isfinite(sigma2)))
        return NAN;
    lo = sqrt(2.0 / sigma2);
    if (n == 2.0)
        return lo;
    hi = 2.0 * lo;
    while (log_rivals(n - 2.0, hi) >= bimodal_mean(hi * hi * sigma2))
        hi *= 2.0;
    for (int i = 0; i < 100; i++) {
        const double C = 0.5 * (lo + hi);

        if (log_rivals(n - 2.0, C) >= bimodal_mean(C * C * sigma2))
            lo = C;
        else
            hi = C;
    }
    return 0.5 * (lo + hi);
}

double attend_theory_weight_variance_small(double T)
{
    return T >= 0.0 ? T * T / 16.0 : NAN;
}

double attend_theory_weight_variance_large(double T)
{
    return T >= 0.0 ? 0.25 - (1.0 - pi * pi / (6.0 * T * T)) / (T * sqrt(2.0 * pi)) : NAN;
}

double attend_theory_weight_variance_arcsin(double T)
{
    const double x = pi * T * T / 8.0;

    return T >= 0.0 ? asin(1.0 / (1.0 + 1.0 / x)) / (2.0 * pi) : NAN;
}

double attend_theory_weight_abs_deviation_arctan(double T)
{
    return T >= 0.0 ? atan(T * sqrt(pi / 8.0)) / pi : NAN;
}

double attend_theory_weight_mean_probit(attend_theory_law law)
{
    const double l = sqrt(pi / 8.0);

    if (!is_law(law) || law.floor != -INFINITY)
        return NAN;
    return attend_theory_normal_cdf(l * law.mean / hypot(1.0, l * law.sd));
}

double attend_theory_spread_for_variance(double variance)
{
    attend_theory_law law = {0.0, 0.0, -INFINITY};
    double lo, hi;

    if (!(variance >= 0.0 && variance < 0.25))
        return NAN;
    if (variance == 0.0)
        return 0.0;
    lo = 4.0 * sqrt(variance); /* Var w <= T^2 / 16 */
    for (hi = 2.0 * lo;; hi *= 2.0) {
        law.sd = hi;
        if (attend_theory_weight_variance(law) >= variance || hi > 1e16)
            break;
    }
    while (hi - lo > 1e-15 * hi) {
        law.sd = 0.5 * (lo + hi);
        if (!(law.sd > lo && law.sd < hi))
            break;
        if (attend_theory_weight_variance(law) < variance)
            lo = law.sd;
        else
            hi = law.sd;
    }
    return 0.5 * (lo + hi);
}

double attend_theory_swap_probability(double margin, double sd)
{
    return margin >= 0.0 && sd >= 0.0
               ? attend_theory_normal_cdf(-margin / (sd * sqrt(2.0)))
               : NAN;
}

double attend_theory_window_scale_min(double n, double eps)
{
    return attend_theory_average_scale_needed(n, 2.0, eps, 1.0);
}

double attend_theory_window_scale_max(double alpha, double sigma2, double variance)
{
    if (!(alpha >= 0.0 && sigma2 >= 0.0 && variance > 0.0 && variance < 0.25))
        return NAN;
    return attend_theory_spread_for_variance(variance) / sqrt(4.0 * alpha + sigma2);
}

double attend_theory_window_alpha_max(double C, double sigma2, double variance)
{
    double T;

    if (!(C > 0.0 && sigma2 >= 0.0 && variance > 0.0 && variance < 0.25))
        return NAN;
    T = attend_theory_spread_for_variance(variance);
    return fmax(0.0, 0.25 * (T * T / (C * C) - sigma2));
}

double attend_theory_window_scale_limit(double alpha)
{
    return alpha >= 0.0 ? 0.5 / sqrt(alpha) : NAN;
}

double attend_theory_window_alpha_limit(double n, double eps)
{
    double needed;

    if (!(n >= 2.0 && eps > 0.0 && eps < 1.0 && n > 2.0 * eps))
        return NAN;
    needed = log(n / (2.0 * eps));
    return 0.25 / (needed * needed);
}
