/* SPDX-License-Identifier: MIT */
/* Any row: the delta method, entropy and temperature (T24). */
#include <math.h>

#include "attend/theory.h"

static double output_entry(const double *p, const double *v, int64_t n, int64_t dv,
                           int64_t c)
{
    double sum = 0.0;

    for (int64_t j = 0; j < n; j++)
        sum += p[j] * v[j * dv + c];
    return sum;
}

int attend_theory_delta_covariance(const double *p, const double *v,
                                   const double *variance, int64_t n, int64_t dv,
                                   double *covariance)
{
    if (n < 1 || dv < 1)
        return -1;
    for (int64_t x = 0; x < dv; x++)
        for (int64_t y = 0; y <= x; y++) {
            const double cx = output_entry(p, v, n, dv, x);
            const double cy = output_entry(p, v, n, dv, y);
            double sum = 0.0;

            for (int64_t j = 0; j < n; j++)
                sum += p[j] * p[j] * variance[j] * (v[j * dv + x] - cx) *
                       (v[j * dv + y] - cy);
            covariance[x * dv + y] = covariance[y * dv + x] = sum;
        }
    return 0;
}

int attend_theory_delta_bias(const double *p, const double *v, const double *variance,
                             int64_t n, int64_t dv, double *bias)
{
    if (n < 1 || dv < 1)
        return -1;
    for (int64_t x = 0; x < dv; x++) {
        const double c = output_entry(p, v, n, dv, x);

        bias[x] = 0.0;
        for (int64_t j = 0; j < n; j++)
            bias[x] +=
                0.5 * variance[j] * p[j] * (1.0 - 2.0 * p[j]) * (v[j * dv + x] - c);
    }
    return 0;
}

int attend_theory_delta_jacobian(const double *p, const double *v, const double *K,
                                 int64_t n, int64_t dv, int64_t d, double tau,
                                 double *jacobian)
{
    if (n < 1 || dv < 1 || d < 1)
        return -1;
    for (int64_t x = 0; x < dv; x++) {
        const double c = output_entry(p, v, n, dv, x);

        for (int64_t y = 0; y < d; y++) {
            double sum = 0.0;

            for (int64_t j = 0; j < n; j++)
                sum += p[j] * (v[j * dv + x] - c) * K[j * d + y];
            jacobian[x * d + y] = tau * sum;
        }
    }
    return 0;
}

double attend_theory_value_noise(const double *p, int64_t n, double variance)
{
    double sum = 0.0;

    if (n < 1 || !(variance >= 0.0))
        return NAN;
    for (int64_t j = 0; j < n; j++)
        sum += p[j] * p[j];
    return variance * sum;
}

/* Mean and variance of x = beta s under softmax(x), and ln sum e^(x - max). */
struct tilt {
    double log_sum, mean, variance; /* mean of x - max */
};

static struct tilt tilted(const double *score, int64_t n, double beta)
{
    double max = -INFINITY, sum = 0.0, first = 0.0, second = 0.0;

    for (int64_t j = 0; j < n; j++)
        max = fmax(max, beta * score[j]);
    for (int64_t j = 0; j < n; j++) {
        const double x = beta * score[j] - max;

        sum += exp(x);
        first += x * exp(x);
    }
    first /= sum;
    for (int64_t j = 0; j < n; j++) {
        const double x = beta * score[j] - max, e = exp(x);

        if (e > 0.0)
            second += (x - first) * (x - first) * e;
    }
    return (struct tilt){log(sum), first, second / sum};
}

static int finite_scores(const double *score, int64_t n, double beta)
{
    for (int64_t j = 0; j < n; j++)
        if (!isfinite(beta * score[j]))
            return 0;
    return n >= 1;
}

double attend_theory_entropy(const double *score, int64_t n, double beta)
{
    struct tilt t;

    if (!finite_scores(score, n, beta))
        return NAN;
    t = tilted(score, n, beta);
    return t.log_sum - t.mean;
}

double attend_theory_entropy_slope(const double *score, int64_t n, double beta)
{
    return finite_scores(score, n, beta) ? -tilted(score, n, beta).variance : NAN;
}
