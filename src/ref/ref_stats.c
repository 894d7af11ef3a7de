/* SPDX-License-Identifier: MIT */
/*
 * Each statistic by its formula, summed over the keys of the row once P is known.
 * Formulas that would cancel are centred first.
 */
#include "ref/ref_stats.h"

#include <math.h>

#include "base/base.h"
#include "core/row_stats_read.h"

/* Keys with a score of -inf do not count. */
static bool counts(const struct ref_row *r, int64_t j)
{
    return r->score[j] != -INFINITY;
}

static double count_keys(const struct ref_row *r)
{
    double keys = 0;

    for (int64_t j = 0; j < r->p->nk; j++)
        keys += counts(r, j);
    return keys;
}

static int64_t distance(const struct ref_row *r, int64_t j)
{
    const int64_t away = attendi_position(r->p, r->b, r->i) - j;

    return away < 0 ? -away : away;
}

/*
 * Fills P and returns ln sum exp(s - m).  The term of the maximum, 1, is added last, by
 * log1p, which keeps a far smaller rest.
 */
static double fill_weights(const struct ref_row *r, double m)
{
    int64_t first = 0;
    double rest = 0;

    while (r->score[first] != m)
        first++;
    for (int64_t j = 0; j < r->p->nk; j++) {
        r->weight[j] = counts(r, j) ? exp(r->score[j] - m) : 0;
        rest += j == first ? 0 : r->weight[j];
    }
    for (int64_t j = 0; j < r->p->nk; j++)
        r->weight[j] /= 1 + rest;
    return log1p(rest);
}

/* Statistics of P and of the scores; ln p = s - m - log_l. */
static void weigh_scores(const struct ref_row *r, double m, double log_l, double value[])
{
    double entropy = 0, squares = 0, mean = 0, variance = 0;

    for (int64_t j = 0; j < r->p->nk; j++)
        if (counts(r, j)) {
            entropy -= r->weight[j] * (r->score[j] - m - log_l);
            squares += r->weight[j] * r->weight[j];
            mean += r->weight[j] * (r->score[j] - m);
        }
    for (int64_t j = 0; j < r->p->nk; j++)
        if (counts(r, j)) {
            const double away = r->score[j] - m - mean;

            variance += r->weight[j] * away * away;
        }
    value[ATTEND_STAT_MAX] = m;
    value[ATTEND_STAT_LSE] = m + log_l;
    value[ATTEND_STAT_TOP_WEIGHT] = exp(-log_l);
    value[ATTEND_STAT_ENTROPY] = entropy;
    value[ATTEND_STAT_KEYS_EFF] = exp(entropy);
    value[ATTEND_STAT_N_EFF] = 1 / squares;
    value[ATTEND_STAT_SCORE_VARIANCE] = variance;
}

static void count_scores(const struct ref_row *r, double value[])
{
    const double keys = count_keys(r);
    double sum = 0, squares = 0;

    for (int64_t j = 0; j < r->p->nk; j++)
        sum += counts(r, j) ? r->score[j] : 0;
    for (int64_t j = 0; j < r->p->nk; j++)
        if (counts(r, j)) {
            const double away = r->score[j] - sum / keys;

            squares += away * away;
        }
    value[ATTEND_STAT_KEYS] = keys;
    value[ATTEND_STAT_RAW_MEAN] = sum / keys;
    value[ATTEND_STAT_RAW_VARIANCE] = squares / keys;
}

/* Whether key `a` goes before key `b` among the largest. */
static bool precedes(const struct ref_row *r, int64_t a, int64_t b)
{
    return r->score[a] > r->score[b] || (r->score[a] == r->score[b] && a < b);
}

/* The key after `last` in descending order of score (-1: the first); -1: none. */
static int64_t next_key(const struct ref_row *r, int64_t last)
{
    int64_t best = -1;

    for (int64_t j = 0; j < r->p->nk; j++)
        if (counts(r, j) && (last < 0 || precedes(r, last, j)) &&
            (best < 0 || precedes(r, j, best)))
            best = j;
    return best;
}

static void find_top(const struct ref_row *r, double m, struct row_stats *row)
{
    const int wanted = r->p->stats.top;

    row->value[ATTEND_STAT_MARGIN] = INFINITY;
    for (int x = 0; x < ATTEND_TOP_MAX; x++) {
        row->top_key[x] = -1;
        row->top_weight[x] = 0;
    }
    for (int x = 0; x < wanted; x++) {
        const int64_t key = next_key(r, x == 0 ? -1 : row->top_key[x - 1]);

        if (key < 0)
            return;
        row->top_key[x] = key;
        row->top_weight[x] = r->weight[key];
        if (x == 1)
            row->value[ATTEND_STAT_MARGIN] = m - r->score[key];
    }
}

static double weight_of(const struct ref_row *r, int64_t j)
{
    return j >= 0 && j < r->p->nk ? r->weight[j] : 0;
}

static void weigh_places(const struct ref_row *r, double value[])
{
    const int64_t position = attendi_position(r->p, r->b, r->i);

    value[ATTEND_STAT_SINK1] = weight_of(r, 0);
    value[ATTEND_STAT_SINK4] =
        weight_of(r, 0) + weight_of(r, 1) + weight_of(r, 2) + weight_of(r, 3);
    value[ATTEND_STAT_SELF] = weight_of(r, position);
    value[ATTEND_STAT_PREVIOUS] = weight_of(r, position - 1);
    value[ATTEND_STAT_SECOND_PREVIOUS] = weight_of(r, position - 2);
    value[ATTEND_STAT_DISTANCE] = value[ATTEND_STAT_LOG_DISTANCE] = 0;
    for (int64_t j = 0; j < r->p->nk; j++) {
        const double away = (double)distance(r, j);

        value[ATTEND_STAT_DISTANCE] += r->weight[j] * away;
        value[ATTEND_STAT_LOG_DISTANCE] += r->weight[j] * log1p(away);
    }
}

static void fill_bins(const struct ref_row *r, struct row_stats *row)
{
    const struct stats *const s = &r->p->stats;

    for (int x = 0; x < STATS_BINS_MAX; x++)
        row->bin[x] = row->class_mass[x] = 0;
    for (int64_t j = 0; j < r->p->nk; j++) {
        int bin = 0;

        while (bin < s->bins - 1 && (1 + distance(r, j)) >> (bin + 1) > 0)
            bin++;
        row->bin[bin] += r->weight[j];
        if (s->classes && s->classes[r->b * r->p->nk + j] >= 0)
            row->class_mass[s->classes[r->b * r->p->nk + j]] += r->weight[j];
    }
}

/* |v - from|, `from` NULL for the origin. */
static double value_norm(const struct ref_row *r, int64_t j, const double *from)
{
    double squares = 0;

    for (int64_t c = 0; c < r->p->dv; c++) {
        const double away = attendi_ref_value(r, j, c) - (from ? from[c] : 0);

        squares += away * away;
    }
    return sqrt(squares);
}

/* Fills c = sum p v and returns its norm. */
static double fill_centre(const struct ref_row *r)
{
    const struct problem *p = r->p;
    double squares = 0;

    for (int64_t c = 0; c < p->dv; c++) {
        r->centre[c] = 0;
        for (int64_t j = 0; j < p->nk; j++)
            if (counts(r, j))
                r->centre[c] += r->weight[j] * attendi_ref_value(r, j, c);
        squares += r->centre[c] * r->centre[c];
    }
    return sqrt(squares);
}

static double query_norm2(const struct ref_row *r)
{
    const struct problem *p = r->p;
    const void *const q = attendi_view_row(&p->q, r->b, r->h, r->i);
    double squares = 0;

    for (int64_t c = 0; c < p->d; c++) {
        const double x = attendi_load(q, p->q.dtype, c * p->q.stride[3]);

        squares += x * x;
    }
    return squares;
}

static void weigh_values(const struct ref_row *r, double value[])
{
    const double scale2 = r->p->scale * r->p->scale, centre = fill_centre(r);
    double norm = 0, key_noise = 0, magnitude_noise = 0;

    for (int64_t j = 0; j < r->p->nk; j++)
        if (counts(r, j)) {
            const double moved = r->weight[j] * value_norm(r, j, r->centre);

            norm += r->weight[j] * value_norm(r, j, NULL);
            key_noise += moved * moved;
            magnitude_noise += moved * moved * r->score[j] * r->score[j];
        }
    value[ATTEND_STAT_VALUE_NORM] = norm;
    value[ATTEND_STAT_CANCELLATION] = norm == 0 ? 0 : centre / norm;
    if (value[ATTEND_STAT_CANCELLATION] > 1) /* only by rounding */
        value[ATTEND_STAT_CANCELLATION] = 1;
    value[ATTEND_STAT_KEY_NOISE] = scale2 * query_norm2(r) * key_noise;
    value[ATTEND_STAT_MAGNITUDE_NOISE] = magnitude_noise;
}

/* Sums over e = exp(s - m) of the row's statistics, as core/row_sums.h has them. */
static void sum_places(const struct ref_row *r, const struct row_stats *row, double l,
                       double *record)
{
    record[ROW_SINK1] = row->value[ATTEND_STAT_SINK1] * l;
    record[ROW_SINK4] = row->value[ATTEND_STAT_SINK4] * l;
    for (int x = 0; x < SUMS_NEAR_KEYS; x++)
        record[ROW_NEAR + x] = row->value[ATTEND_STAT_SELF + x] * l;
    record[ROW_DISTANCE] = row->value[ATTEND_STAT_DISTANCE] * l;
    record[ROW_LOG_DISTANCE] = row->value[ATTEND_STAT_LOG_DISTANCE] * l;
    for (int x = 0; x < r->p->stats.bins; x++)
        record[attendi_sums_bins(&r->p->stats.sums) + x] = row->bin[x] * l;
    for (int x = 0; x < r->p->stats.class_count; x++)
        record[attendi_sums_classes(&r->p->stats.sums) + x] = row->class_mass[x] * l;
}

static void sum_scores(const struct ref_row *r, double m, double l, double *record)
{
    record[ROW_MAX] = m;
    for (int64_t j = 0; j < r->p->nk; j++)
        if (counts(r, j)) {
            const double e = r->weight[j] * l, away = r->score[j] - m;

            record[ROW_SPREAD] += away * e;
            record[ROW_SPREAD2] += away * away * e;
            record[ROW_SQUARES] += e * e;
        }
}

static void sum_top(const struct ref_row *r, const struct row_stats *row, double *record)
{
    const int top = r->p->stats.top;
    double *const to = record + attendi_sums_top(&r->p->stats.sums);

    for (int x = 0; x < top; x++) {
        to[x] = row->top_key[x] < 0 ? -INFINITY : r->score[row->top_key[x]];
        to[top + x] = (double)row->top_key[x];
    }
}

/* Sums of e v, and of x^2 |v|^2, x^2, x^2 v for each kind of noise. */
static void sum_values(const struct ref_row *r, double l, double *record)
{
    const struct problem *p = r->p;
    const struct sums_layout *const s = &p->stats.sums;
    const bool wanted[2] = {s->key_noise, s->magnitude_noise};

    record[ROW_QUERY2] = p->scale * p->scale * query_norm2(r);
    for (int64_t j = 0; j < p->nk; j++) {
        if (!counts(r, j))
            continue;
        const double e = r->weight[j] * l, norm = value_norm(r, j, NULL);

        record[ROW_NORM] += e * norm;
        for (int64_t c = 0; c < p->dv; c++)
            record[attendi_sums_values(s) + c] += e * attendi_ref_value(r, j, c);
        for (int kind = 0; kind < 2; kind++) {
            double *const noise = record + attendi_sums_noise(s, kind);
            const double x = kind == 0 ? e : e * r->score[j];

            if (!wanted[kind])
                continue;
            noise[0] += x * x * norm * norm;
            noise[1] += x * x;
            for (int64_t c = 0; c < p->dv; c++)
                noise[2 + c] += x * x * attendi_ref_value(r, j, c);
        }
    }
}

/* Stores the raw sums of the row; its statistics are in `row`. */
static void store_sums(const struct ref_row *r, double m, const struct row_stats *row,
                       bool of_values)
{
    const struct stats *const s = &r->p->stats;
    double *const record = r->sums;

    attendi_sums_clear(&s->sums, record);
    if (isnan(m) || m == INFINITY)
        record[ROW_MAX] = NAN;
    record[ROW_KEYS] = row->value[ATTEND_STAT_KEYS];
    if (isfinite(m)) {
        const double rest = expm1(row->value[ATTEND_STAT_LSE] - m), l = 1 + rest;

        record[ROW_RAW_MEAN] = row->value[ATTEND_STAT_RAW_MEAN];
        record[ROW_RAW_M2] = row->value[ATTEND_STAT_RAW_VARIANCE] * record[ROW_KEYS];
        record[ROW_REST] = rest;
        sum_scores(r, m, l, record);
        sum_places(r, row, l, record);
        sum_top(r, row, record);
        if (of_values)
            sum_values(r, l, record);
    }
    attendi_stats_store_raw(r->p, r->b, r->h, r->i, record);
}

void attendi_ref_stats(const struct ref_row *r, double m)
{
    const unsigned of_values = STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE;
    struct row_stats row;

    if (m == -INFINITY)
        attendi_stats_no_keys(&row);
    else if (isnan(m) || m == INFINITY)
        attendi_stats_not_numbers(&row, count_keys(r));
    else {
        weigh_scores(r, m, fill_weights(r, m), row.value);
        count_scores(r, row.value);
        find_top(r, m, &row);
        weigh_places(r, row.value);
        fill_bins(r, &row);
        if (r->p->stats.needs & of_values)
            weigh_values(r, row.value);
    }
    if (r->p->stats.raw.data)
        store_sums(r, m, &row, (r->p->stats.needs & of_values) != 0);
    if (!r->p->shard)
        attendi_stats_store(r->p, r->b, r->h, r->i, &row);
}
