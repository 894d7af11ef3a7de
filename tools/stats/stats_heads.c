/* SPDX-License-Identifier: MIT */
/* A head in numbers and in a word. */
#include "stats_tool.h"

#include <math.h>

/* Adds row i to the sums; returns the number of keys it sees, 0 if it has NaN. */
static double add_row(const struct stats_result *r, int64_t b, int64_t h, int64_t i,
                      double sum[ATTEND_STAT_COUNT])
{
    const double keys = stats_element(&r->rows.rows, b, h, i, STATS_COLUMN_KEYS);

    if (!(keys >= 1) || isnan(stats_element(&r->rows.rows, b, h, i, STATS_COLUMN_MAX)))
        return 0;
    for (int c = 0; c < r->columns; c++)
        if (r->column[c] != ATTEND_STAT_MARGIN || keys >= 2)
            sum[r->column[c]] += stats_element(&r->rows.rows, b, h, i, c);
    return keys;
}

void stats_head_read(const struct stats_result *r, double noise, int64_t b, int64_t h,
                     struct stats_head *to)
{
    int64_t rows = 0, with_choice = 0;

    for (int x = 0; x < ATTEND_STAT_COUNT; x++)
        to->mean[x] = 0;
    for (int64_t i = 0; i < r->nq; i++) {
        const double keys = add_row(r, b, h, i, to->mean);

        rows += keys >= 1;
        with_choice += keys >= 2;
    }
    for (int x = 0; x < ATTEND_STAT_COUNT; x++)
        to->mean[x] /= (double)(x == ATTEND_STAT_MARGIN ? with_choice : rows);
    to->head = attend_head_default();
    attend_head_read(&r->rows, b, h, &to->head, NULL);
    to->character =
        attend_head_character(&to->head, noise, to->reason, sizeof to->reason);
}
