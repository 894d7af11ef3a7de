/* SPDX-License-Identifier: MIT */
/*
 * Raw sums of a row over some of its keys: statistics are computed from them, and they
 * combine over splits, shards and machines.  A record has `length` doubles.  With m the
 * largest score of its keys, e = exp(s - m) and l = sum e:
 */
#ifndef ATTEND_CORE_ROW_SUMS_H
#define ATTEND_CORE_ROW_SUMS_H

#include <stdint.h>

#include "attend/stats.h"
#include "base/base.h"

/*
 * Number of keys at and before a row's position in ROW_NEAR, and of first keys in
 * ROW_SINK4.
 */
enum { SUMS_NEAR_KEYS = 3, SUMS_SINK_KEYS = 4 };

enum row_sum {
    ROW_MAX,     /* m; -inf: no keys; NaN: only the number of keys is valid */
    ROW_REST,    /* l - 1, without the rounding error of 1 + x for small x */
    ROW_SPREAD,  /* sum (s - m) e */
    ROW_SPREAD2, /* sum (s - m)^2 e */
    ROW_KEYS,    /* number of keys, mean of s, sum (s - mean)^2 */
    ROW_RAW_MEAN,
    ROW_RAW_M2,
    ROW_QUERY2, /* scale^2 |q|^2, the same in every record of a row */
    /* Sums of e times a factor. */
    ROW_SINK1,
    ROW_SINK4,
    ROW_NEAR, /* keys at the row's position and before it */
    ROW_DISTANCE = ROW_NEAR + SUMS_NEAR_KEYS,
    ROW_LOG_DISTANCE,
    ROW_NORM,
    /* Sums of e^2 times a factor. */
    ROW_SQUARES,
    ROW_FIXED /* what follows depends on the request */
};

/* Layout of the rest of a record, in the order of these fields. */
struct sums_layout {
    int top;                        /* largest scores, then their keys */
    int bins, class_count;          /* sums of e by distance and by class */
    int columns;                    /* dv if sums of values are requested, else 0 */
    int key_noise, magnitude_noise; /* 1: sums of x^2 |v|^2, x^2, x^2 v; x = e, e s */
};

static inline DEVICE_TOO int attendi_sums_top(const struct sums_layout *s)
{
    (void)s;
    return ROW_FIXED;
}

static inline DEVICE_TOO int attendi_sums_bins(const struct sums_layout *s)
{
    return ROW_FIXED + 2 * s->top;
}

static inline DEVICE_TOO int attendi_sums_classes(const struct sums_layout *s)
{
    return attendi_sums_bins(s) + s->bins;
}

/* sum e v */
static inline DEVICE_TOO int attendi_sums_values(const struct sums_layout *s)
{
    return attendi_sums_classes(s) + s->class_count;
}

/* `kind` 0: noise of keys, 1: noise of their magnitude. */
static inline DEVICE_TOO int attendi_sums_noise(const struct sums_layout *s, int kind)
{
    return attendi_sums_values(s) + s->columns +
           (kind == 1 && s->key_noise ? 2 + s->columns : 0);
}

static inline DEVICE_TOO int attendi_sums_length(const struct sums_layout *s)
{
    return attendi_sums_noise(s, 1) + (s->magnitude_noise ? 2 + s->columns : 0);
}

/*
 * Converts a record whose keys start at key first_key of the sequence, which is 0 or at
 * least SUMS_SINK_KEYS: top keys become indices in the sequence, and sums of first keys
 * become 0 unless first_key is 0.
 */
DEVICE_TOO void attendi_sums_move(const struct sums_layout *s, double *record,
                                  int64_t first_key);

/* A record of no keys. */
DEVICE_TOO void attendi_sums_clear(const struct sums_layout *s, double *record);

/* Combines `before`, of earlier keys, into `record`. */
DEVICE_TOO void attendi_sums_combine(const struct sums_layout *s, const double *before,
                                     double *record);

#endif
