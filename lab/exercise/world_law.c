/* SPDX-License-Identifier: MIT */
/* The law of the keys' magnitudes as nodes of a quadrature. */
#include <math.h>
#include <stdlib.h>

#include "lab/exercise/world.h"

enum { PANEL = 8, BREAKS = 128, OTHER = 5 };

/* Gauss-Legendre on [-1, 1]; the rule is symmetric. */
static const double node[PANEL / 2] = {0.1834346424956498, 0.5255324099163290,
                                       0.7966664774136267, 0.9602898564975363};
static const double share[PANEL / 2] = {0.3626837833783620, 0.3137066458778873,
                                        0.2223810344533745, 0.1012285362903763};

/* Gauss-Hermite, for a standard normal: exact for polynomials up to degree 9. */
static const double other_node[OTHER] = {-2.856970013872806, -1.355626179974266, 0,
                                         1.355626179974266, 2.856970013872806};
static const double other_share[OTHER] = {0.01125741132772069, 0.2220759220056126,
                                          0.5333333333333333, 0.2220759220056126,
                                          0.01125741132772069};

static double density(double x, double sd)
{
    const double z = (x - 1) / sd;
    return exp(-z * z / 2);
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static int add_break(double *breaks, int count, double at, double low, double high)
{
    if (at <= low || at >= high)
        return count;
    breaks[count] = at;
    return count + 1;
}

/*
 * Breaks of the quadrature: gamma = 0, gamma = 1, the gamma at which k_a equals n - 1
 * rivals, on the scale 1 / (tau C); the nodes of gamma_b; and the thresholds of claims
 * about gamma.
 */
static int set_breaks(const struct lab_point *point, double sd, double *breaks)
{
    static const double sides[] = {-1, 0, 0.5, 1, 1.5};
    const double low = fmax(1 - 9 * sd, point->given_positive ? 0 : -INFINITY);
    const double high = 1 + 9 * sd;
    const double width = 1 / fmax(lab_point_tau(point) * point->scale, 1e-3);
    const double centre[] = {0, 1, width * log((double)point->n)};
    int count = 0;

    breaks[count++] = low;
    breaks[count++] = high;
    for (int z = -8; z <= 8; z++)
        count = add_break(breaks, count, 1 + sd * z, low, high);
    for (int s = 0; s < 5; s++)
        count = add_break(breaks, count, sides[s], low, high);
    for (int i = 0; i < OTHER && point->exercise->sigma2_b > 0; i++)
        count = add_break(breaks, count,
                          1 + sqrt(point->exercise->sigma2_b) * other_node[i], low, high);
    for (int c = 0; c < 3; c++)
        for (int k = -3; k <= 6; k++) {
            count = add_break(breaks, count, centre[c] - width * exp2(k), low, high);
            count = add_break(breaks, count, centre[c] + width * exp2(k), low, high);
        }
    qsort(breaks, (size_t)count, sizeof *breaks, ascending);
    return count;
}

/* Nodes between the breaks: positions and weights, which need not add up to 1. */
static int64_t set_panels(const double *breaks, int points, double sd,
                          struct lab_draw *draw)
{
    int64_t count = 0;
    for (int p = 1; p < points; p++) {
        const double middle = (breaks[p] + breaks[p - 1]) / 2;
        const double half = (breaks[p] - breaks[p - 1]) / 2;
        for (int i = 0; i < PANEL && half > 0; i++) {
            const double at = middle + (i % 2 ? half : -half) * node[i / 2];
            draw[count++] =
                (struct lab_draw){.weight = half * share[i / 2] * density(at, sd),
                                  .gamma = at,
                                  .gamma_b = 1};
        }
    }
    return count;
}

/* Every draw once for each node of gamma_b, from the last to the first in place. */
static int64_t spread_other(const struct lab_exercise *exercise, struct lab_draw *draw,
                            int64_t count)
{
    const double sd = sqrt(exercise->sigma2_b);
    if (!(sd > 0))
        return count;
    for (int64_t x = count; x-- > 0;) {
        const struct lab_draw one = draw[x];
        for (int i = OTHER; i-- > 0;) {
            struct lab_draw *const both = &draw[x * OTHER + i];
            *both = one;
            both->weight *= other_share[i];
            both->gamma_b = 1 + sd * other_node[i];
        }
    }
    return count * OTHER;
}

int64_t lab_world_law(const struct lab_point *point, int magnitude,
                      struct lab_draw **draw)
{
    const double sd = magnitude ? sqrt(point->exercise->sigma2) : 0;
    double breaks[BREAKS], sum = 0;
    int64_t count = 1;

    *draw = calloc((sd > 0 ? BREAKS * PANEL : 1) *
                       (point->exercise->sigma2_b > 0 ? (size_t)OTHER : 1),
                   sizeof **draw);
    if (!*draw)
        return -1;
    **draw = (struct lab_draw){.weight = 1, .gamma = 1, .gamma_b = 1};
    if (sd > 0)
        count = set_panels(breaks, set_breaks(point, sd, breaks), sd, *draw);
    if (magnitude)
        count = spread_other(point->exercise, *draw, count);
    for (int64_t x = 0; x < count; x++)
        sum += (*draw)[x].weight;
    for (int64_t x = 0; x < count; x++)
        (*draw)[x].weight /= sum;
    return count;
}

/* ---- moments ----------------------------------------------------------------- */

static double entry(const struct lab_draws *draws, int64_t i, size_t at)
{
    return *(const double *)((const char *)&draws->draw[i] + at);
}

/* Relative to the first draw, so that a constant has a variance of exactly 0. */
double lab_draws_covariance(const struct lab_draws *draws, size_t x, size_t y)
{
    double mean_x = 0, mean_y = 0, sum = 0;
    for (int64_t i = 0; i < draws->count; i++) {
        const double weight = draws->draw[i].weight;
        mean_x += weight * (entry(draws, i, x) - entry(draws, 0, x));
        mean_y += weight * (entry(draws, i, y) - entry(draws, 0, y));
    }
    for (int64_t i = 0; i < draws->count; i++)
        sum += draws->draw[i].weight *
               (entry(draws, i, x) - entry(draws, 0, x) - mean_x) *
               (entry(draws, i, y) - entry(draws, 0, y) - mean_y);
    return sum;
}

double lab_draws_trace(const struct lab_draws *draws, size_t h, size_t g)
{
    double sum = 0;
    for (size_t i = 0; i < LAB_SPACE; i++)
        sum += lab_draws_covariance(draws, LAB_DRAW_OUTPUT(h, i), LAB_DRAW_OUTPUT(g, i));
    return sum;
}

struct lab_spread lab_draws_spread(const struct lab_draws *draws, int heads)
{
    struct lab_spread spread = {.cross = heads == 2 ? lab_draws_trace(draws, 0, 1) : 0};
    for (size_t h = 0; h < (size_t)heads; h++)
        spread.head[h] = lab_draws_trace(draws, h, h);
    spread.mean = heads == 2 ? (spread.head[0] + spread.head[1] + 2 * spread.cross) / 4
                             : spread.head[0];
    return spread;
}
