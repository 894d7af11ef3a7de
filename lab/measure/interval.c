/* SPDX-License-Identifier: MIT */
#include "lab/measure/interval.h"

#include <math.h>

#include "attend/theory.h"

/* What is searched for a root: `low` at the lower end, not at the upper. */
struct search {
    double events, trials, mean;
};

/* The x in [lo, hi] where is_below() turns from 1 to 0. */
static double turn(double lo, double hi, const struct search *search,
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
        .low = events > 0 ? turn(0, 1, &search, is_too_low) : 0,
        .high = events < trials ? turn(0, 1, &search, is_not_too_high) : 1};
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

    return (struct lab_interval){.low = mean > 0 ? turn(0, mean, &search, is_far) : 0,
                                 .high = mean < 1 ? turn(mean, 1, &search, is_near) : 1};
}
