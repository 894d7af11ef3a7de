/* SPDX-License-Identifier: MIT */
/*
 * Statistics of a row: what is asked for, what a pass has to sum for it, and how sums
 * become the numbers that the header defines.
 */
#ifndef ATTEND_CORE_STATS_H
#define ATTEND_CORE_STATS_H

#include <math.h>

#include "attend/attend.h"

/* Sums that a pass keeps for each row besides those that cost next to nothing. */
enum stats_needs {
    STATS_NONE = 0,
    STATS_ROWS = 1 << 0,             /* rest, spread, squares: part of every request */
    STATS_SPREAD2 = 1 << 1,          /* spread2 */
    STATS_RAW = 1 << 2,              /* keys, raw_mean, raw_m2 */
    STATS_TOP = 1 << 3,              /* margin, top, top_key */
    STATS_SINK = 1 << 4,             /* sink1, sink4 */
    STATS_NEAR = 1 << 5,             /* near */
    STATS_DISTANCE = 1 << 6,         /* distance */
    STATS_LOG_DISTANCE = 1 << 7,     /* log_distance */
    STATS_BINS = 1 << 8,             /* bin */
    STATS_CLASSES = 1 << 9,          /* class_mass */
    STATS_NORM = 1 << 10,            /* norm, output2 */
    STATS_KEY_NOISE = 1 << 11,       /* key_noise, query2 */
    STATS_MAGNITUDE_NOISE = 1 << 12, /* magnitude_noise */
};

/* Of distances and of classes. */
enum { STATS_BINS_MAX = 64, STATS_NEAR_KEYS = 3 };

/* A validated request. */
struct stats {
    unsigned needs;  /* STATS_NONE: no statistics */
    unsigned wanted; /* bit x: statistic x is a column */
    int columns;
    attend_stat column[ATTEND_STAT_COUNT];
    attend_tensor rows, top_weights, distances, class_mass;
    int64_t *top_keys;
    int top, named; /* keys to find, and how many of them the caller wants by name */
    int bins, class_count;
    const int32_t *classes;
    attend_summary *summaries;
    double *ln; /* ln(1 + x) for x < ln_count, where distances are asked for in logs */
    int64_t ln_count;
    double *digest; /* [nb][hq][nq][ATTEND_SUMMARY_COUNT], for the summaries */
};

struct problem;

/*
 * Fills and validates p->stats, but for the values of classes; the rest of *p is known.
 * `request` may be NULL.
 */
attend_status attendi_stats_init(struct problem *p, const attend_stats *request,
                                 attend_error *err);

/* ln(1 + |gap|) */
static inline double attendi_ln_distance(const struct stats *s, int64_t gap)
{
    const int64_t far = gap < 0 ? -gap : gap;

    return far < s->ln_count ? s->ln[far] : log1p((double)far);
}

/* What is asked of one row, in double. */
struct row_stats {
    double value[ATTEND_STAT_COUNT];
    double top_weight[ATTEND_TOP_MAX];
    int64_t top_key[ATTEND_TOP_MAX];
    double bin[STATS_BINS_MAX], class_mass[STATS_BINS_MAX];
};

/* Every statistic of a row without keys, and of one whose scores are not numbers. */
void attendi_stats_no_keys(struct row_stats *row);
void attendi_stats_not_numbers(struct row_stats *row, double keys);

/*
 * Sums over the keys of a row with e = exp(s - m), m the largest score, as far as needs
 * ask for them; at least one key has e = 1.
 */
struct row_sums {
    double m, l;                     /* scores as defined, with every shift */
    double rest;                     /* l - 1, without the rounding of 1 + a little */
    double spread, spread2;          /* sum (s - m) e, sum (s - m)^2 e */
    double squares;                  /* sum e^2 */
    double keys, raw_mean, raw_m2;   /* number, mean of s, sum (s - mean)^2 */
    double margin;                   /* m minus the second largest score */
    double top[ATTEND_TOP_MAX];      /* e, largest first; 0 past the last */
    int64_t top_key[ATTEND_TOP_MAX]; /* -1 past the last */
    double sink1, sink4, near[STATS_NEAR_KEYS];
    double distance, log_distance;
    double norm, output2; /* sum e |v|; |sum p v|^2 */
    /* sum x^2 |v - c|^2 with x = e and x = e s. */
    double key_noise, magnitude_noise;
    double query2; /* |q|^2 */
    double bin[STATS_BINS_MAX], class_mass[STATS_BINS_MAX];
};

void attendi_stats_read(const struct problem *p, const struct row_sums *sums,
                        struct row_stats *row);

/* Writes what is asked for of query i of head h. */
void attendi_stats_store(const struct problem *p, int64_t b, int64_t h, int64_t i,
                         const struct row_stats *row);

/* Summaries of one head of one batch, from the digest of its rows. */
void attendi_stats_summarise(const struct problem *p, int64_t b, int64_t h);

#endif
