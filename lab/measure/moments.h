/* SPDX-License-Identifier: MIT */
/* Running moments and histograms: samples are never kept. */
#ifndef LAB_MOMENTS_H
#define LAB_MOMENTS_H

#include <stdint.h>

/* Count, mean, and sums of powers of deviations from it. */
struct lab_moments {
    int64_t count;
    double mean, m2, m3, m4;
    /* Rounding of a value, relative to its size; 0: computed in double. */
    double rounding;
    double size;  /* of the terms of a difference; 0: that of the value */
    int64_t sure; /* 1: nothing random was in the trials; set by the measurement */
};

void lab_moments_add(struct lab_moments *moments, double value);
/* Moments of `count` values, without those that are NaN. */
struct lab_moments lab_moments_of(const double *values, int64_t count);
/* Joins two disjoint samples; the order of joining is the caller's to fix. */
void lab_moments_join(struct lab_moments *into, const struct lab_moments *from);
double lab_moments_variance(const struct lab_moments *moments); /* m2 / count */
/* Standard errors are NaN for a single sample. */
double lab_moments_mean_se(const struct lab_moments *moments); /* s / sqrt(N) */
/* sqrt((m4 - s^4 (N - 3)/(N - 1)) / N), m4 the fourth central moment. */
double lab_moments_variance_se(const struct lab_moments *moments);
/* Standard error of a mean of 0s and 1s: sqrt(p (1 - p) / N). */
double lab_moments_probability_se(const struct lab_moments *moments);
/*
 * How many trials the variance rests on: (sum d^2)^2 / sum d^4 over the deviations d, the
 * trials divided by the kurtosis.  Of 0s and 1s, about the number of the rarer; 0 where
 * all values are equal.
 */
double lab_moments_events(const struct lab_moments *moments);

/* Fewer events than this are rare: they have an interval instead. */
enum { LAB_RARE = 25 };

/*
 * A number measured, with its standard error; NaN where there was no trial.  Where the
 * sample holds too few events it is rare, and [low, high] is to be judged by.  Everything
 * comes from the sample alone.
 */
struct lab_estimate {
    double value, se;
    int rare;
    double low, high; /* interval if rare, NaN if there is none; else 0 */
    double allowed;   /* absolute rounding error; 0: that of a double */
};

struct lab_estimate lab_estimate_mean(const struct lab_moments *moments);
/* Unbiased: m2 / (count - 1). */
struct lab_estimate lab_estimate_variance(const struct lab_moments *moments);
/* The same of values that lie within [lo, hi], by lab_interval_mean() if rare. */
struct lab_estimate lab_estimate_mean_within(const struct lab_moments *moments, double lo,
                                             double hi);
struct lab_estimate lab_estimate_variance_within(const struct lab_moments *moments,
                                                 double lo, double hi);
/* The mean of distances between numbers of size 1, each within [0, most]. */
struct lab_estimate lab_estimate_distance(const struct lab_moments *moments, double most);
/* The mean of squares of such distances, each within [lo, most]. */
struct lab_estimate lab_estimate_square(const struct lab_moments *moments, double lo,
                                        double most);
/* The mean of 0s and 1s, by lab_interval_probability() if rare. */
struct lab_estimate lab_estimate_probability(const struct lab_moments *moments);

/* One of the estimates above, of values within [0, most] where it has a range. */
enum lab_estimator {
    LAB_MEAN,
    LAB_VARIANCE,
    LAB_VARIANCE_OF_GAP, /* of differences of numbers of size 1 */
    LAB_MEAN_WITHIN,
    LAB_VARIANCE_WITHIN,
    LAB_DISTANCE,
    LAB_SQUARE,
    LAB_PROBABILITY,
    LAB_VANISHING_MEAN, /* of what is 0 but for rounding */
    LAB_VANISHING_VARIANCE
};
struct lab_estimate lab_estimate_by(enum lab_estimator how,
                                    const struct lab_moments *moments, double most);

enum { LAB_BINS = 64 };

struct lab_histogram {
    double lo, hi; /* values outside count in the first or last bin */
    int64_t bin[LAB_BINS];
    int64_t count;
};

void lab_histogram_add(struct lab_histogram *histogram, double value);
void lab_histogram_join(struct lab_histogram *into, const struct lab_histogram *from);
/* Density at the middle of bin x: integrates to 1 over [lo, hi]. */
double lab_histogram_density(const struct lab_histogram *histogram, int x);

/* ---- intervals ---------------------------------------------------------------- */

/*
 * Intervals for numbers that rest on few events, where a standard error is not enough.
 * Both cover the estimated number with the probability of |z| <= 4 or more: all but
 * LAB_MISS of the time.
 */
/* 2 Phi(-4), both sides together. */
#define LAB_MISS 6.334248366623996e-5

struct lab_interval {
    double low, high;
};

/* Interval of a probability, after `events` of `trials`: Clopper and Pearson. */
struct lab_interval lab_interval_probability(int64_t events, int64_t trials);
/*
 * Of a mean of `trials` independent values within [0, 1], whatever their law, by the
 * bound of Chernoff and Hoeffding: all x with trials KL(mean, x) <= ln(2 / LAB_MISS).
 */
struct lab_interval lab_interval_mean(double mean, int64_t trials);

#endif
