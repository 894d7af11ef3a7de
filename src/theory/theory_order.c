/* SPDX-License-Identifier: MIT */
/* Order of tokens: permutations and sinusoids (T25, T26). */
#include <math.h>
#include <stdlib.h>

#include "attend/theory.h"

static int is_permutation(const int64_t *order, int64_t n)
{
    unsigned char *seen = n > 0 ? calloc((size_t)n, 1) : NULL;
    int good = seen != NULL;

    for (int64_t i = 0; good && i < n; i++) {
        good = order[i] >= 0 && order[i] < n && !seen[order[i]];
        if (good)
            seen[order[i]] = 1;
    }
    free(seen);
    return good;
}

int attend_theory_permute_rows(const double *X, int64_t n, int64_t d,
                               const int64_t *order, double *out)
{
    if (d < 1 || !is_permutation(order, n))
        return -1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < d; c++)
            out[i * d + c] = X[order[i] * d + c];
    return 0;
}

int attend_theory_permute_columns(const double *X, int64_t n, int64_t d,
                                  const int64_t *order, double *out)
{
    if (n < 1 || !is_permutation(order, d))
        return -1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < d; c++)
            out[i * d + c] = X[i * d + order[c]];
    return 0;
}

static double frequency(int64_t i, int64_t d)
{
    return pow(1e4, -2.0 * (double)i / (double)d);
}

static int is_width(int64_t d) { return d >= 2 && d % 2 == 0; }

int attend_theory_sinusoid(double t, int64_t d, double *phi)
{
    if (!is_width(d) || !isfinite(t))
        return -1;
    for (int64_t i = 0; i < d / 2; i++) {
        phi[2 * i] = sin(frequency(i, d) * t);
        phi[2 * i + 1] = cos(frequency(i, d) * t);
    }
    return 0;
}

double attend_theory_sinusoid_dot(int64_t d, double offset)
{
    double sum = 0.0;

    if (!is_width(d) || !isfinite(offset))
        return NAN;
    for (int64_t i = 0; i < d / 2; i++)
        sum += cos(frequency(i, d) * offset);
    return sum;
}

/*
 * |phi_t - phi_t'|^2 = sum 4 sin^2(w (t - t') / 2): no cancellation for small distances.
 */
double attend_theory_sinusoid_distance(int64_t d, double offset)
{
    double sum = 0.0;

    if (!is_width(d) || !isfinite(offset))
        return NAN;
    for (int64_t i = 0; i < d / 2; i++) {
        const double half = sin(0.5 * frequency(i, d) * offset);

        sum += 4.0 * half * half;
    }
    return sqrt(sum);
}

int64_t attend_theory_sinusoid_nearest(int64_t d, int64_t T, double *distance)
{
    double *w, best = INFINITY;
    int64_t where = -1;

    if (!is_width(d) || T < 2)
        return -1;
    w = malloc((size_t)(d / 2) * sizeof *w);
    if (w == NULL)
        return -1;
    for (int64_t i = 0; i < d / 2; i++)
        w[i] = frequency(i, d);
    for (int64_t t = 1; t < T; t++) {
        double sum = 0.0;

        for (int64_t i = 0; i < d / 2 && sum < best; i++) {
            const double half = sin(0.5 * w[i] * (double)t);

            sum += 4.0 * half * half;
        }
        if (sum < best) {
            best = sum;
            where = t;
        }
    }
    free(w);
    if (distance != NULL)
        *distance = sqrt(best);
    return where;
}
