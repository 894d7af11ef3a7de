/* SPDX-License-Identifier: MIT */
/* Also compiled for GPUs: cuda/general/sums.cu includes it. */
#include "core/row_sums.h"

#include <math.h>
#include <string.h>

DEVICE_TOO void attendi_sums_clear(const struct sums_layout *s, double *record)
{
    memset(record, 0, (size_t)attendi_sums_length(s) * sizeof *record);
    record[ROW_MAX] = -INFINITY;
}

DEVICE_TOO void attendi_sums_move(const struct sums_layout *s, double *record,
                                  int64_t first_key)
{
    double *const keys = record + attendi_sums_top(s) + s->top;

    if (first_key == 0 || record[ROW_MAX] == -INFINITY)
        return;
    for (int x = 0; x < s->top; x++)
        if (keys[x] >= 0)
            keys[x] += (double)first_key;
    record[ROW_SINK1] = record[ROW_SINK4] = 0;
}

/* to = to f + from g */
static DEVICE_TOO void scale_and_add(double *to, double f, const double *from, double g,
                                     int count)
{
    for (int x = 0; x < count; x++)
        to[x] = to[x] * f + from[x] * g;
}

/* Moves the spread and its square to a maximum that differs by `by` <= 0. */
static DEVICE_TOO void move_spread(const double *record, double by, double *spread,
                                   double *spread2)
{
    const double l = 1 + record[ROW_REST];

    *spread = record[ROW_SPREAD] + by * l;
    *spread2 = record[ROW_SPREAD2] + by * (record[ROW_SPREAD] + *spread);
}

/* Combines number, mean and squares about the mean. */
static DEVICE_TOO void combine_raw(const double *before, double *record)
{
    const double keys = before[ROW_KEYS] + record[ROW_KEYS];
    const double gap = before[ROW_RAW_MEAN] - record[ROW_RAW_MEAN];

    if (before[ROW_KEYS] == 0)
        return;
    record[ROW_RAW_MEAN] += gap * (before[ROW_KEYS] / keys);
    record[ROW_RAW_M2] +=
        before[ROW_RAW_M2] + gap * gap * (before[ROW_KEYS] * record[ROW_KEYS] / keys);
    record[ROW_KEYS] = keys;
}

/*
 * Merges the largest scores; of equal scores, those of `before` come first; -inf past the
 * last.
 */
static DEVICE_TOO void combine_top(const double *before, double *top, int count)
{
    double score[ATTEND_TOP_MAX], key[ATTEND_TOP_MAX];
    int x = 0, y = 0;

    for (int n = 0; n < count; n++) {
        const int first = before[x] >= top[y];
        const double *const from = first ? before + x++ : top + y++;

        score[n] = from[0];
        key[n] = from[count];
    }
    memcpy(top, score, (size_t)count * sizeof *top);
    memcpy(top + count, key, (size_t)count * sizeof *top);
}

DEVICE_TOO void attendi_sums_combine(const struct sums_layout *s, const double *before,
                                     double *record)
{
    if (before[ROW_MAX] == -INFINITY)
        return;
    if (record[ROW_MAX] == -INFINITY) {
        memcpy(record, before, (size_t)attendi_sums_length(s) * sizeof *record);
        return;
    }
    const double m_before = before[ROW_MAX], m_after = record[ROW_MAX];
    const double m = isnan(m_before) || m_before > m_after ? m_before : m_after;
    const double f = m_after == m ? 1 : exp(m_after - m);
    const double g = m_before == m ? 1 : exp(m_before - m);
    const int linear = ROW_SQUARES - ROW_SINK1, values = attendi_sums_bins(s);
    const int squares = attendi_sums_noise(s, 0);
    double u, w, u_before, w_before;

    /* If the factor underflowed, the term is 0, even if the difference is inf. */
    move_spread(record, f == 0 ? 0 : m_after - m, &u, &w);
    move_spread(before, g == 0 ? 0 : m_before - m, &u_before, &w_before);
    record[ROW_SPREAD] = u * f + u_before * g;
    record[ROW_SPREAD2] = w * f + w_before * g;
    /*
     * The largest e of one side is 1 and not part of ROW_REST; that of the other side is.
     */
    record[ROW_REST] = m_after == m ? record[ROW_REST] + (before[ROW_REST] * g + g)
                                    : before[ROW_REST] + (record[ROW_REST] * f + f);
    record[ROW_MAX] = m;
    combine_raw(before, record);
    combine_top(before + attendi_sums_top(s), record + attendi_sums_top(s), s->top);
    scale_and_add(record + ROW_SINK1, f, before + ROW_SINK1, g, linear);
    scale_and_add(record + values, f, before + values, g, squares - values);
    scale_and_add(record + ROW_SQUARES, f * f, before + ROW_SQUARES, g * g, 1);
    scale_and_add(record + squares, f * f, before + squares, g * g,
                  attendi_sums_length(s) - squares);
}
