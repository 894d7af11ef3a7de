/* SPDX-License-Identifier: MIT */
#include "lab/measure/moments.h"

#include <math.h>

#include "attend/theory.h"

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
    const double excess = moments->m4 / n - variance * variance * (n - 3) / (n - 1);

    return moments->count > 1 ? sqrt(fmax(excess, 0) / n) : NAN;
}

double lab_moments_probability_se(const struct lab_moments *moments)
{
    const double p = moments->mean;

    return moments->count > 0 ? sqrt(fmax(p * (1 - p), 0) / (double)moments->count) : NAN;
}

double lab_moments_events(const struct lab_moments *moments)
{
    return moments->m4 > 0 ? moments->m2 * moments->m2 / moments->m4 : 0;
}

/* Rounding of one value. */
static double value_rounding(const struct lab_moments *moments)
{
    const double own = fabs(moments->mean) +
                       sqrt(fmax(moments->m2, 0) / fmax((double)moments->count, 1));

    return moments->rounding * (moments->size > 0 ? moments->size : own);
}

/* (x + e)^2 - x^2 where x^2 is `square`. */
static double square_rounding(double square, double e)
{
    return 2 * e * sqrt(fmax(square, 0)) + e * e;
}

/* Values without bounds: a sample that rests on few trials has no interval. */
static void mark_rare(struct lab_estimate *estimate, const struct lab_moments *moments)
{
    if (!(moments->m2 > 0) || lab_moments_events(moments) >= LAB_RARE)
        return;
    estimate->rare = 1;
    estimate->low = estimate->high = NAN;
}

struct lab_estimate lab_estimate_mean(const struct lab_moments *moments)
{
    struct lab_estimate estimate = {.value = moments->count > 0 ? moments->mean : NAN,
                                    .se = lab_moments_mean_se(moments),
                                    .allowed = value_rounding(moments)};

    mark_rare(&estimate, moments);
    return estimate;
}

struct lab_estimate lab_estimate_variance(const struct lab_moments *moments)
{
    const double n = (double)moments->count;
    struct lab_estimate estimate = {.value = moments->count > 1
                                                 ? moments->m2 / (n - 1)
                                                 : lab_moments_variance(moments),
                                    .se = lab_moments_variance_se(moments)};

    estimate.allowed = square_rounding(estimate.value, value_rounding(moments));
    mark_rare(&estimate, moments);
    return estimate;
}

/*
 * Values that are all alike, although drawn, and have come to an end of their range, or
 * halfway by two heads at different ends, hold none of the events that would move them.
 */
static int is_rare(const struct lab_moments *moments, double lo, double hi)
{
    if (moments->count < 2)
        return 0;
    if (moments->m2 > 0)
        return lab_moments_events(moments) < LAB_RARE;
    const double mean = moments->mean;
    return !moments->sure && (mean <= lo || mean >= hi || mean == (lo + hi) / 2);
}

/* `share` of the way from lo to hi, the values' mean over so many trials. */
static void set_interval(struct lab_estimate *estimate, double share, int64_t trials,
                         double lo, double hi)
{
    const struct lab_interval interval =
        lab_interval_mean(fmin(fmax(share, 0), 1), trials);

    estimate->rare = 1;
    estimate->low = lo + (hi - lo) * interval.low;
    estimate->high = lo + (hi - lo) * interval.high;
}

struct lab_estimate lab_estimate_mean_within(const struct lab_moments *moments, double lo,
                                             double hi)
{
    struct lab_estimate estimate = lab_estimate_mean(moments);

    estimate.rare = 0;
    if (is_rare(moments, lo, hi))
        set_interval(&estimate, (estimate.value - lo) / (hi - lo), moments->count, lo,
                     hi);
    return estimate;
}

struct lab_estimate lab_estimate_variance_within(const struct lab_moments *moments,
                                                 double lo, double hi)
{
    const double most = (hi - lo) * (hi - lo);
    struct lab_estimate estimate = lab_estimate_variance(moments);

    /* A mean of squares, each within [0, (hi - lo)^2]. */
    estimate.rare = 0;
    if (is_rare(moments, lo, hi))
        set_interval(&estimate, estimate.value / most, moments->count, 0, most);
    return estimate;
}

struct lab_estimate lab_estimate_distance(const struct lab_moments *moments, double most)
{
    struct lab_moments distance = *moments;

    distance.size = 1;
    return lab_estimate_mean_within(&distance, 0, most);
}

struct lab_estimate lab_estimate_square(const struct lab_moments *moments, double lo,
                                        double most)
{
    struct lab_estimate estimate = lab_estimate_mean_within(moments, lo, most);

    estimate.allowed = square_rounding(fabs(estimate.value), moments->rounding);
    return estimate;
}

struct lab_estimate lab_estimate_probability(const struct lab_moments *moments)
{
    const int64_t n = moments->count;
    const int64_t events = n > 0 ? llround(moments->mean * (double)n) : 0;
    struct lab_estimate estimate = {.value = n > 0 ? moments->mean : NAN,
                                    .se = lab_moments_probability_se(moments)};

    if (n > 0 && (events < LAB_RARE || n - events < LAB_RARE)) {
        const struct lab_interval interval = lab_interval_probability(events, n);
        estimate.rare = 1;
        estimate.low = interval.low;
        estimate.high = interval.high;
    }
    return estimate;
}

struct lab_estimate lab_estimate_by(enum lab_estimator how,
                                    const struct lab_moments *moments, double most)
{
    struct lab_moments gap = *moments;

    gap.size = 1;
    switch (how) {
    case LAB_VARIANCE_OF_GAP:
        return lab_estimate_variance(&gap);
    case LAB_MEAN:
    case LAB_VANISHING_MEAN:
        return lab_estimate_mean(moments);
    case LAB_VARIANCE:
    case LAB_VANISHING_VARIANCE:
        return lab_estimate_variance(moments);
    case LAB_MEAN_WITHIN:
        return lab_estimate_mean_within(moments, 0, most);
    case LAB_VARIANCE_WITHIN:
        return lab_estimate_variance_within(moments, 0, most);
    case LAB_DISTANCE:
        return lab_estimate_distance(moments, most);
    case LAB_SQUARE:
        return lab_estimate_square(moments, 0, most);
    case LAB_PROBABILITY:
        break;
    }
    return lab_estimate_probability(moments);
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

/* ---- intervals -------------------------------------------------------------- */

/* A condition that holds at the lower end, and not at the upper. */
struct search {
    double events, trials, mean;
};

/* The x in [lo, hi] where is_below() turns from 1 to 0. */
static double bisect(double lo, double hi, const struct search *search,
                     int (*is_below)(const struct search *search, double x))
{
    for (int step = 0; step < 200; step++) {
        const double middle = lo + (hi - lo) / 2;
        *(is_below(search, middle) ? &lo : &hi) = middle;
    }
    return hi;
}

/* P(as many events or more) is too small: x is below the interval. */
static int is_too_low(const struct search *s, double x)
{
    return attend_theory_beta(s->events, s->trials - s->events + 1, x) < LAB_MISS / 2;
}

/* P(as few events or fewer) is not too small yet. */
static int is_not_too_high(const struct search *s, double x)
{
    return attend_theory_beta(s->trials - s->events, s->events + 1, 1 - x) >=
           LAB_MISS / 2;
}

struct lab_interval lab_interval_probability(int64_t events, int64_t trials)
{
    const struct search search = {.events = (double)events, .trials = (double)trials};

    return (struct lab_interval){
        .low = events > 0 ? bisect(0, 1, &search, is_too_low) : 0,
        .high = events < trials ? bisect(0, 1, &search, is_not_too_high) : 1};
}

/* The divergence of a coin of `mean` from a coin of x, times the trials, is too large. */
static int is_far(const struct search *s, double x)
{
    const double p = s->mean, q = 1 - p;
    const double divergence =
        (p > 0 ? p * log(p / x) : 0) + (q > 0 ? q * log(q / (1 - x)) : 0);

    return !(s->trials * divergence <= log(2 / LAB_MISS));
}

static int is_near(const struct search *s, double x) { return !is_far(s, x); }

struct lab_interval lab_interval_mean(double mean, int64_t trials)
{
    const struct search search = {.trials = (double)trials, .mean = mean};

    return (struct lab_interval){.low = mean > 0 ? bisect(0, mean, &search, is_far) : 0,
                                 .high =
                                     mean < 1 ? bisect(mean, 1, &search, is_near) : 1};
}
