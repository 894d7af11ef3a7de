/* SPDX-License-Identifier: MIT */
/* Statistics of a row from its sums, for the host and for GPU kernels. */
#ifndef ATTEND_CORE_ROW_STATS_READ_H
#define ATTEND_CORE_ROW_STATS_READ_H

#include <math.h>

#include "base/base.h"
#include "core/problem.h"

/* All statistics of a row without keys, and of a row with a NaN score. */
static inline DEVICE_TOO void attendi_stats_no_keys(struct row_stats *row)
{
    *row = (struct row_stats){0};
    row->value[ATTEND_STAT_MAX] = row->value[ATTEND_STAT_LSE] = -INFINITY;
    for (int x = 0; x < ATTEND_TOP_MAX; x++)
        row->top_key[x] = -1;
}

static inline DEVICE_TOO void attendi_stats_not_numbers(struct row_stats *row,
                                                        double keys)
{
    for (int x = 0; x < ATTEND_STAT_COUNT; x++)
        row->value[x] = x == ATTEND_STAT_KEYS ? keys : NAN;
    for (int x = 0; x < ATTEND_TOP_MAX; x++) {
        row->top_weight[x] = NAN;
        row->top_key[x] = -1;
    }
    for (int x = 0; x < STATS_BINS_MAX; x++)
        row->bin[x] = row->class_mass[x] = NAN;
}

/* Statistics that need ln l. */
enum {
    LN_WANTED =
        1u << ATTEND_STAT_LSE | 1u << ATTEND_STAT_ENTROPY | 1u << ATTEND_STAT_KEYS_EFF
};

/* Clamps rounding errors of x; NaN is unchanged. */
static inline DEVICE_TOO double attendi_stats_within(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* H = ln l - (sum (s - m) e) / l: two terms that are never negative. */
static inline DEVICE_TOO void
attendi_stats_spread(const struct stats *s, const double *sums, double l, double value[])
{
    const double mean = sums[ROW_SPREAD] / l;
    const double ln_l = s->wanted & LN_WANTED || s->digest ? log1p(sums[ROW_REST]) : 0;
    const double entropy = ln_l - mean;

    value[ATTEND_STAT_LSE] = sums[ROW_MAX] + ln_l;
    value[ATTEND_STAT_ENTROPY] = entropy;
    if (s->wanted & 1u << ATTEND_STAT_KEYS_EFF)
        value[ATTEND_STAT_KEYS_EFF] = exp(entropy);
    value[ATTEND_STAT_SCORE_VARIANCE] =
        attendi_stats_within(sums[ROW_SPREAD2] / l - mean * mean, 0, INFINITY);
}

/* With c = values / l: |c|^2, and c sum x^2 v for both kinds of noise. */
struct stats_products {
    double output2, inner[2];
};

/* Over columns first, first + step, ... */
static inline DEVICE_TOO struct stats_products
attendi_stats_products(const struct stats *s, const double *sums, int first, int step)
{
    const double *const values = sums + attendi_sums_values(&s->sums);
    const double l = 1 + sums[ROW_REST];
    const int wanted[2] = {s->sums.key_noise, s->sums.magnitude_noise};
    struct stats_products products = {0};

    for (int c = first; c < s->sums.columns; c += step) {
        const double mean = values[c] / l;

        products.output2 += mean * mean;
        for (int kind = 0; kind < 2; kind++)
            if (wanted[kind])
                products.inner[kind] +=
                    mean * sums[attendi_sums_noise(&s->sums, kind) + 2 + c];
    }
    return products;
}

/* sum x^2 |v - c|^2 = sum x^2 |v|^2 - 2 c sum x^2 v + |c|^2 sum x^2. */
static inline DEVICE_TOO double attendi_stats_noise(const struct stats *s,
                                                    const double *sums, double l,
                                                    const struct stats_products *of,
                                                    int kind)
{
    const double *const noise = sums + attendi_sums_noise(&s->sums, kind);

    return attendi_stats_within(noise[0] - 2 * of->inner[kind] + of->output2 * noise[1],
                                0, INFINITY) /
           (l * l);
}

static inline DEVICE_TOO void attendi_stats_values(const struct problem *p,
                                                   const double *sums, double l,
                                                   const struct stats_products *of,
                                                   double value[])
{
    const struct stats *const s = &p->stats;
    const double norm = sums[ROW_NORM] / l;

    value[ATTEND_STAT_VALUE_NORM] = norm;
    value[ATTEND_STAT_CANCELLATION] =
        norm == 0 ? 0 : attendi_stats_within(sqrt(of->output2) / norm, 0, 1);
    if (s->sums.key_noise)
        value[ATTEND_STAT_KEY_NOISE] =
            sums[ROW_QUERY2] * attendi_stats_noise(s, sums, l, of, 0);
    if (s->sums.magnitude_noise)
        value[ATTEND_STAT_MAGNITUDE_NOISE] = attendi_stats_noise(s, sums, l, of, 1);
}

/* The margin, and the weights of top keys first, first + step, ... */
static inline DEVICE_TOO void attendi_stats_top(const struct stats *s, const double *sums,
                                                double share, int first, int step,
                                                struct row_stats *row)
{
    const double *const top = sums + attendi_sums_top(&s->sums);

    if (s->top >= 2)
        row->value[ATTEND_STAT_MARGIN] = sums[ROW_MAX] - top[1];
    for (int x = first; x < s->named; x += step) {
        row->top_key[x] = (int64_t)top[s->top + x];
        row->top_weight[x] = x == 0 ? share : exp(top[x] - sums[ROW_MAX]) * share;
    }
}

/*
 * All values; of the top keys, the distances and the classes: first, first + step, ...
 * `of`: the products over all columns.
 */
static inline DEVICE_TOO void attendi_stats_read(const struct problem *p,
                                                 const double *sums,
                                                 const struct stats_products *of,
                                                 int first, int step,
                                                 struct row_stats *row)
{
    const struct stats *const s = &p->stats;
    const double l = 1 + sums[ROW_REST], share = 1 / l;
    const double *const bins = sums + attendi_sums_bins(&s->sums);
    const double *const classes = sums + attendi_sums_classes(&s->sums);
    double *const value = row->value;

    value[ATTEND_STAT_KEYS] = sums[ROW_KEYS];
    value[ATTEND_STAT_MAX] = sums[ROW_MAX];
    value[ATTEND_STAT_TOP_WEIGHT] = share;
    attendi_stats_spread(s, sums, l, value);
    value[ATTEND_STAT_N_EFF] = l * l / sums[ROW_SQUARES];
    value[ATTEND_STAT_RAW_MEAN] = sums[ROW_RAW_MEAN];
    value[ATTEND_STAT_RAW_VARIANCE] = sums[ROW_RAW_M2] / sums[ROW_KEYS];
    attendi_stats_top(s, sums, share, first, step, row);
    value[ATTEND_STAT_SINK1] = sums[ROW_SINK1] * share;
    value[ATTEND_STAT_SINK4] = sums[ROW_SINK4] * share;
    for (int x = 0; x < SUMS_NEAR_KEYS; x++)
        value[ATTEND_STAT_SELF + x] = sums[ROW_NEAR + x] * share;
    value[ATTEND_STAT_DISTANCE] = sums[ROW_DISTANCE] * share;
    value[ATTEND_STAT_LOG_DISTANCE] = sums[ROW_LOG_DISTANCE] * share;
    if (s->needs & (STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE))
        attendi_stats_values(p, sums, l, of, value);
    for (int x = first; x < s->bins; x += step)
        row->bin[x] = bins[x] * share;
    for (int x = first; x < s->class_count; x += step)
        row->class_mass[x] = classes[x] * share;
}

/* A row's terms of the summaries; NaN for a row that is not counted. */
static inline DEVICE_TOO void attendi_stats_digest(double *to, const double value[])
{
    const double keys = value[ATTEND_STAT_KEYS];

    to[ATTEND_SUMMARY_ENTROPY] = keys >= 2 ? value[ATTEND_STAT_ENTROPY] / log(keys) : NAN;
    to[ATTEND_SUMMARY_MARGIN] = keys >= 2 ? value[ATTEND_STAT_MARGIN] : NAN;
    to[ATTEND_SUMMARY_N_EFF] = keys >= 1 ? value[ATTEND_STAT_N_EFF] / keys : NAN;
    to[ATTEND_SUMMARY_TOP_WEIGHT] = keys >= 1 ? value[ATTEND_STAT_TOP_WEIGHT] : NAN;
    to[ATTEND_SUMMARY_SINK1] = keys >= 1 ? value[ATTEND_STAT_SINK1] : NAN;
}

#endif
