/* SPDX-License-Identifier: MIT */
/*
 * Statistics of a row: the request, the sums that a pass accumulates for it, and the
 * statistics computed from them.
 */
#ifndef ATTEND_CORE_ROW_STATS_H
#define ATTEND_CORE_ROW_STATS_H

#include <math.h>

#include "attend/stats.h"
#include "core/row_sums.h"

/* Sums of a row that a pass computes on request. */
enum stats_needs {
    STATS_NONE = 0,
    STATS_ROWS = 1 << 0,    /* ROW_REST, ROW_SPREAD, ROW_SQUARES: part of every request */
    STATS_SPREAD2 = 1 << 1, /* ROW_SPREAD2 */
    STATS_RAW = 1 << 2,     /* ROW_KEYS, ROW_RAW_MEAN, ROW_RAW_M2 */
    STATS_TOP = 1 << 3,     /* the largest scores and their keys */
    STATS_SINK = 1 << 4,    /* ROW_SINK1, ROW_SINK4 */
    STATS_NEAR = 1 << 5,    /* ROW_NEAR */
    STATS_DISTANCE = 1 << 6,         /* ROW_DISTANCE */
    STATS_LOG_DISTANCE = 1 << 7,     /* ROW_LOG_DISTANCE */
    STATS_BINS = 1 << 8,             /* sums by distance */
    STATS_CLASSES = 1 << 9,          /* sums by class */
    STATS_NORM = 1 << 10,            /* ROW_NORM, sums of values */
    STATS_KEY_NOISE = 1 << 11,       /* sums of noise, ROW_QUERY2 */
    STATS_MAGNITUDE_NOISE = 1 << 12, /* sums of noise */
};

/* Maximum number of distance bins and of classes. */
enum { STATS_BINS_MAX = 64 };
/* Summary layout of the 0.1 ABI, which has no summary_stride and summary_kinds. */
enum { SUMMARY_BYTES_0_1 = 552, SUMMARY_KINDS_0_1 = 5 };
/* Upper limits: a larger number is not initialised memory. */
enum { SUMMARY_BYTES_MOST = 4096, SUMMARY_KINDS_MOST = 1024 };

/* A validated request. */
struct stats {
    unsigned needs;  /* STATS_NONE: no statistics */
    unsigned wanted; /* bit x: statistic x is a column */
    int columns;
    attend_stat column[ATTEND_STAT_COUNT];
    attend_tensor rows, top_weights, distances, class_mass, raw;
    int64_t *top_keys;
    int top, named; /* largest scores to find; number of them that are stored as top
                       keys */
    int bins, class_count;
    const int32_t *classes;
    void *summaries;
    int64_t summary_stride;  /* bytes from one to the next */
    int summary_kinds;       /* capacity of the caller's array */
    struct sums_layout sums; /* layout of the raw sums of a row */
    int sums_length;
    double *ln; /* ln(1 + x) for x < ln_count, if logarithms of distances are requested */
    int64_t ln_count;
    double *digest; /* [nb][hq][nq][ATTEND_SUMMARY_COUNT], for the summaries */
};

struct problem;

/*
 * Fills and validates p->stats, except the values of classes; the other fields of *p are
 * set.  `request` may be NULL.
 */
attend_status attendi_stats_init(struct problem *p, const attend_stats *request,
                                 attend_error *err);

/* ln(1 + |gap|) */
static inline double attendi_ln_distance(const struct stats *s, int64_t gap)
{
    const int64_t far = gap < 0 ? -gap : gap;

    return far < s->ln_count ? s->ln[far] : log1p((double)far);
}

/* The statistics of one row. */
struct row_stats {
    double value[ATTEND_STAT_COUNT];
    double top_weight[ATTEND_TOP_MAX];
    int64_t top_key[ATTEND_TOP_MAX];
    double bin[STATS_BINS_MAX], class_mass[STATS_BINS_MAX];
};

/* Stores the requested statistics of query i of head h. */
void attendi_stats_store(const struct problem *p, int64_t b, int64_t h, int64_t i,
                         const struct row_stats *row);

/*
 * Stores the row's raw sums, if requested; converts `sums` to positions in the sequence.
 */
void attendi_stats_store_raw(const struct problem *p, int64_t b, int64_t h, int64_t i,
                             double *sums);

/* The same, and stores the statistics computed from them. */
void attendi_stats_finish(const struct problem *p, int64_t b, int64_t h, int64_t i,
                          double *sums);

/* Writes the summaries of one head of one batch from the digests of its rows. */
void attendi_stats_summarise(const struct problem *p, int64_t b, int64_t h);

#endif
