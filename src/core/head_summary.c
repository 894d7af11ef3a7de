/* SPDX-License-Identifier: MIT */
/* Summaries of a head over its rows: moments, extremes and a histogram. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "core/problem.h"

static int bin_of(int what, double x)
{
    const double width = what == ATTEND_SUMMARY_MARGIN ? ATTEND_SUMMARY_MARGIN_BIN
                                                       : 1.0 / ATTEND_SUMMARY_BINS;
    const double bin = floor(x / width);

    return bin < 0 ? 0 : bin < ATTEND_SUMMARY_BINS ? (int)bin : ATTEND_SUMMARY_BINS - 1;
}

/* Rows first .. end - 1, in two passes: the sd has no cancellation. */
static void summarise(const double *digest, int what, int64_t first, int64_t end,
                      attend_summary *to)
{
    double sum = 0, squares = 0;

    memset(to, 0, sizeof *to);
    to->min = INFINITY;
    to->max = -INFINITY;
    for (int64_t i = first; i < end; i++) {
        const double x = digest[i * ATTEND_SUMMARY_COUNT + what];

        if (isnan(x))
            continue;
        to->rows++;
        to->histogram[bin_of(what, x)]++;
        to->min = fmin(to->min, x);
        to->max = fmax(to->max, x);
        sum += x;
    }
    to->mean = sum / (double)to->rows;
    for (int64_t i = first; i < end; i++) {
        const double x = digest[i * ATTEND_SUMMARY_COUNT + what];

        if (!isnan(x))
            squares += (x - to->mean) * (x - to->mean);
    }
    to->sd = sqrt(squares / (double)to->rows);
    if (to->rows == 0)
        to->mean = to->sd = to->min = to->max = NAN;
}

/* The caller's struct may be larger than this version's: the rest of it is 0. */
static attend_summary *summary_at(const struct problem *p, int64_t index)
{
    const size_t stride = (size_t)p->stats.summary_stride;
    void *const at = (char *)p->stats.summaries + (size_t)index * stride;

    memset(at, 0, stride);
    return at;
}

void attendi_stats_summarise(const struct problem *p, int64_t b, int64_t h)
{
    const int64_t head = b * p->hq + h, tenths = ATTEND_SUMMARY_GROUPS - 1;
    const double *const digest = p->stats.digest + head * p->nq * ATTEND_SUMMARY_COUNT;

    for (int what = 0; what < p->stats.summary_kinds; what++) {
        const int64_t at = (head * p->stats.summary_kinds + what) * ATTEND_SUMMARY_GROUPS;

        if (what >= ATTEND_SUMMARY_COUNT) { /* a kind of a newer header: no rows */
            for (int64_t x = 0; x < ATTEND_SUMMARY_GROUPS; x++)
                summary_at(p, at + x);
            continue;
        }
        summarise(digest, what, 0, p->nq, summary_at(p, at));
        for (int64_t x = 0; x < tenths; x++)
            summarise(digest, what, ceil_div_i64(p->nq * x, tenths),
                      ceil_div_i64(p->nq * (x + 1), tenths), summary_at(p, at + 1 + x));
    }
}
