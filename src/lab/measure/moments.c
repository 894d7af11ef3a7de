/* SPDX-License-Identifier: MIT */
#include "lab/measure/moments.h"

#include <math.h>

void lab_moments_join(struct lab_moments *into, const struct lab_moments *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0) {
        *into = *from;
        return;
    }
    const double na = (double)into->count, nb = (double)from->count, n = na + nb;
    const double delta = from->mean - into->mean;
    const double step = delta / n, step2 = step * step;
    const double product = na * nb;
    const double m2a = into->m2, m2b = from->m2;
    const double m3a = into->m3, m3b = from->m3;

    into->m4 +=
        from->m4 + delta * step * step2 * product * (na * na - product + nb * nb) +
        6 * step2 * (na * na * m2b + nb * nb * m2a) + 4 * step * (na * m3b - nb * m3a);
    into->m3 +=
        m3b + delta * step2 * product * (na - nb) + 3 * step * (na * m2b - nb * m2a);
    into->m2 += m2b + delta * step * product;
    into->mean += step * nb;
    into->count += from->count;
}

void lab_moments_add(struct lab_moments *moments, double value)
{
    const struct lab_moments one = {.count = 1, .mean = value};

    lab_moments_join(moments, &one);
}

struct lab_moments lab_moments_of(const double *values, int64_t count)
{
    struct lab_moments moments = {.count = 0};
    double origin = 0, sum = 0;

    /* Sums from the first value on: equal values have a variance of exactly 0. */
    for (int64_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        if (moments.count++ == 0)
            origin = values[i];
        sum += values[i] - origin;
    }
    if (moments.count == 0)
        return moments;
    moments.mean = origin + sum / (double)moments.count;
    for (int64_t i = 0; i < count; i++) {
        const double x = isnan(values[i]) ? 0 : values[i] - moments.mean;
        moments.m2 += x * x;
        moments.m3 += x * x * x;
        moments.m4 += x * x * x * x;
    }
    return moments;
}

double lab_moments_variance(const struct lab_moments *moments)
{
    return moments->count > 0 ? moments->m2 / (double)moments->count : NAN;
}

double lab_moments_mean_se(const struct lab_moments *moments)
{
    return moments->count > 1
               ? sqrt(lab_moments_variance(moments) / (double)moments->count)
               : NAN;
}

double lab_moments_variance_se(const struct lab_moments *moments)
{
    const double n = (double)moments->count;
    const double variance = lab_moments_variance(moments);
    const double excess = moments->m4 / n - variance * variance;

    /* Two-valued samples have an excess of 0 but for rounding. */
    return moments->count > 1 ? sqrt(fmax(excess, 0) / n) : NAN;
}

double lab_moments_probability_se(const struct lab_moments *moments)
{
    const double p = moments->mean;

    return moments->count > 0 ? sqrt(fmax(p * (1 - p), 0) / (double)moments->count) : NAN;
}

double lab_moments_rare_se(const struct lab_moments *moments, double theory)
{
    const double n = (double)moments->count;
    const double seen = n * moments->mean * (1 - moments->mean);
    const double expected = n * theory * (1 - theory);

    if (isnan(theory) || (seen >= 25 && expected >= 25))
        return lab_moments_probability_se(moments);
    return sqrt(fmax(expected, 0)) / n;
}

void lab_histogram_add(struct lab_histogram *histogram, double value)
{
    const double place =
        (value - histogram->lo) / (histogram->hi - histogram->lo) * LAB_BINS;

    if (isnan(place))
        return;
    const int bin = place < 0 ? 0 : place >= LAB_BINS ? LAB_BINS - 1 : (int)place;
    histogram->bin[bin]++;
    histogram->count++;
}

void lab_histogram_join(struct lab_histogram *into, const struct lab_histogram *from)
{
    for (int b = 0; b < LAB_BINS; b++)
        into->bin[b] += from->bin[b];
    into->count += from->count;
}

double lab_histogram_density(const struct lab_histogram *histogram, int x)
{
    const double width = (histogram->hi - histogram->lo) / LAB_BINS;

    return histogram->count > 0
               ? (double)histogram->bin[x] / ((double)histogram->count * width)
               : NAN;
}

double lab_histogram_quantile(const struct lab_histogram *histogram, double share)
{
    const double width = (histogram->hi - histogram->lo) / LAB_BINS;
    double left = share * (double)histogram->count;

    if (histogram->count == 0)
        return NAN;
    for (int b = 0; b < LAB_BINS; b++) {
        const double here = (double)histogram->bin[b];
        if (here > 0 && left <= here)
            return histogram->lo + width * (b + left / here);
        left -= here;
    }
    return histogram->hi;
}
