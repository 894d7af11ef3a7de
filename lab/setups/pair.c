/* SPDX-License-Identifier: MIT */
#include "lab/setups/pair.h"

#include <math.h>
#include <stdlib.h>

#include "lab/measure/forward.h"
#include "lab/setups/scene.h"

enum { A, B, REST, KINDS };

void lab_pair_set_keys(double *key, int64_t rows, double gamma_a, double gamma_b,
                       double overlap)
{
    for (int64_t i = 0; i < rows; i++, key += KINDS) {
        key[0] = i == 0 ? gamma_a : i == 1 ? gamma_b * overlap : 0;
        key[1] = i == 1 ? gamma_b * sqrt(1 - overlap * overlap) : 0;
        key[2] = i > 1 ? 1 : 0;
    }
}

void lab_pair_set_query(double *q, double a, double b, double rest, double overlap)
{
    q[0] = a + b * overlap;
    q[1] = b * sqrt(1 - overlap * overlap);
    q[2] = rest;
}

/* Rows of one problem: the one head, and the two. */
enum { ONE, FIRST, SECOND, ROWS };

/*
 * weights[t][row][kind]: of a, b and all the others together, for gamma[t], t < trials.
 * 0, or -1 after lab_fail().
 */
static int weigh(const struct lab_exact_pair *pair, double C, const double *gamma,
                 int64_t trials, double *weights)
{
    const double n = pair->n;
    const size_t q_size = (size_t)trials * ROWS * KINDS;
    const double bias[KINDS] = {0, 0, n > 2 ? log(n - 2) : -INFINITY};
    double *const q = malloc(2 * q_size * sizeof *q), *const k = q + q_size;

    if (!q)
        return lab_fail(pair->session, "out of memory");
    for (int64_t t = 0; t < trials; t++) {
        for (int row = 0; row < ROWS; row++)
            lab_pair_set_query(q + (t * ROWS + row) * KINDS, row == SECOND ? 0 : C,
                               row == FIRST ? 0 : C, 0, 0);
        lab_pair_set_keys(k + t * KINDS * KINDS, KINDS, gamma[t], 1, 0);
    }
    const int failed =
        lab_measure(pair->session, pair->ctx,
                    &LAB_PROBLEM(KINDS, KINDS, q, k, 1, .nb = trials, .nq = ROWS,
                                 .bias = bias, .weights = weights));
    free(q);
    return failed;
}

/* Squared distance to the middle of v_a and v_b of the mean of `heads` rows. */
static double squared_error(const double *weights, int heads, double n)
{
    double c[KINDS] = {0};

    for (int h = 0; h < heads; h++)
        for (int x = 0; x < KINDS; x++)
            c[x] += weights[h * KINDS + x] / heads;
    return lab_pair_error(c[A], c[B], n > 2 ? c[REST] * c[REST] / (n - 2) : 0);
}

/*
 * The integrand is a smooth function of C gamma times the Gaussian: equal steps of 0.6
 * in C gamma and of 1/2 in z leave errors of e^-33.
 */
int lab_pair_measure_mse(const struct lab_exact_pair *pair, double C,
                         struct lab_pair_mse *mse)
{
    const double n = pair->n, sigma = sqrt(pair->sigma2), z_max = 9;
    const double step = fmin(0.5, 0.6 / (C * sigma));
    const int64_t half = sigma > 0 ? (int64_t)ceil(z_max / step) : 0;
    const int64_t trials = 2 * half + 1;
    double *const gamma = calloc((size_t)trials * (1 + ROWS * KINDS), sizeof *gamma);
    double *const weights = gamma + trials;

    if (!gamma)
        return lab_fail(pair->session, "out of memory");
    for (int64_t t = 0; t < trials; t++)
        gamma[t] = 1 + sigma * step * (double)(t - half);
    const int failed = weigh(pair, C, gamma, trials, weights);
    double sum = 0;
    *mse = (struct lab_pair_mse){0};
    for (int64_t t = 0; t < trials && !failed; t++) {
        const double z = step * (double)(t - half), weight = exp(-z * z / 2);
        const double *const rows = weights + t * ROWS * KINDS;
        sum += weight;
        mse->one += weight * squared_error(rows, 1, n);
        mse->two += weight * squared_error(rows + FIRST * KINDS, 2, n);
    }
    mse->one /= sum;
    mse->two /= sum;
    free(gamma);
    return failed;
}

/* ---- scales ------------------------------------------------------------------ */

/* Scales that are searched, by equal factors. */
#define SCALE_LO 0.25
#define SCALE_HI 100.0
#define FACTOR 1.5

/* A function of the scale of a pair. */
typedef int (*function)(const struct lab_exact_pair *pair, double C, double *value);

/* Slope of the one-head mse in ln C, to fourth order. */
static int slope(const struct lab_exact_pair *pair, double C, double *value)
{
    static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    const double step = 0.003;
    struct lab_pair_mse mse;

    *value = 0;
    for (int x = 0; x < 4; x++) {
        if (lab_pair_measure_mse(pair, C * exp(step * at[x]), &mse))
            return -1;
        *value += weight[x] * mse.one / (12 * step);
    }
    return 0;
}

static int difference(const struct lab_exact_pair *pair, double C, double *value)
{
    struct lab_pair_mse mse;
    const int failed = lab_pair_measure_mse(pair, C, &mse);

    *value = mse.one - mse.two;
    return failed;
}

/*
 * The root of f between lo, where it is f_lo <= 0, and hi, where it is f_hi > 0: regula
 * falsi, halving the value of an end that stays.
 */
static int root_between(const struct lab_exact_pair *pair, function f, double lo,
                        double f_lo, double hi, double f_hi, double *C)
{
    int last = 0;

    for (int step = 0; step < 60 && hi - lo > 1e-10 * hi; step++) {
        double value;
        *C = hi - f_hi * (hi - lo) / (f_hi - f_lo);
        if (f(pair, *C, &value))
            return -1;
        if (fabs(value) < 1e-15)
            break;
        const int side = value > 0 ? 1 : -1;
        *(value > 0 ? &hi : &lo) = *C;
        *(value > 0 ? &f_hi : &f_lo) = value;
        if (side == last)
            *(value > 0 ? &f_lo : &f_hi) /= 2;
        last = side;
    }
    return 0;
}

/* The largest C where f turns from negative to positive; NaN when it does not. */
static int last_rise(const struct lab_exact_pair *pair, function f, double *C)
{
    double hi = SCALE_HI, f_hi;

    *C = NAN;
    if (f(pair, hi, &f_hi))
        return -1;
    while (f_hi > 0 && hi / FACTOR > SCALE_LO) {
        const double lo = hi / FACTOR;
        double f_lo;
        if (f(pair, lo, &f_lo))
            return -1;
        if (!(f_lo > 0))
            return root_between(pair, f, lo, f_lo, hi, f_hi, C);
        hi = lo;
        f_hi = f_lo;
    }
    return 0;
}

int lab_pair_best_scale(const struct lab_exact_pair *pair, double *C)
{
    return last_rise(pair, slope, C);
}

int lab_pair_crossover(const struct lab_exact_pair *pair, double *C)
{
    return last_rise(pair, difference, C);
}
