/* SPDX-License-Identifier: MIT */
/*
 * attend: statistics of the attention distribution.
 *
 * Rows: attend_io.stats requests statistics of each row, computed in the pass of
 * attend_forward().  Columns: attend_inspect() recomputes P from the LSE and sums it over
 * queries.  Heads: summaries over rows, and classes of heads.  Memory grows with nq + nk,
 * never nq nk, except for a zoom into P.
 */
#ifndef ATTEND_STATS_H
#define ATTEND_STATS_H

#include "attend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statistics of the attention distribution -------------------------- */

/*
 * One number per row.  Over the keys j that the row sees with a score above -inf: s the
 * score, p the softmax of s over these keys (without the sink logit), m the largest s, l
 * = sum exp(s - m), c = sum p v.  A row without such a key has the value in brackets,
 * else 0; with a score of +inf or NaN all statistics except KEYS are NaN.
 */
typedef enum attend_stat {
    ATTEND_STAT_KEYS = 0,             /* number of keys */
    ATTEND_STAT_MAX = 1,              /* m [-inf] */
    ATTEND_STAT_LSE = 2,              /* m + ln l [-inf] */
    ATTEND_STAT_TOP_WEIGHT = 3,       /* the largest p */
    ATTEND_STAT_ENTROPY = 4,          /* H = -sum p ln p */
    ATTEND_STAT_KEYS_EFF = 5,         /* exp H */
    ATTEND_STAT_N_EFF = 6,            /* 1 / sum p^2 */
    ATTEND_STAT_SCORE_VARIANCE = 7,   /* sum p s^2 - (sum p s)^2 */
    ATTEND_STAT_RAW_MEAN = 8,         /* unweighted mean of s */
    ATTEND_STAT_RAW_VARIANCE = 9,     /* unweighted variance of s, over the number of
                                         keys */
    ATTEND_STAT_MARGIN = 10,          /* m minus the second largest s; +inf for one key */
    ATTEND_STAT_SINK1 = 11,           /* p of key 0 */
    ATTEND_STAT_SINK4 = 12,           /* p of keys 0 .. 3 */
    ATTEND_STAT_SELF = 13,            /* p of key position(i) */
    ATTEND_STAT_PREVIOUS = 14,        /* p of key position(i) - 1 */
    ATTEND_STAT_SECOND_PREVIOUS = 15, /* p of key position(i) - 2 */
    ATTEND_STAT_DISTANCE = 16,        /* sum p |position(i) - j| */
    ATTEND_STAT_LOG_DISTANCE = 17,    /* sum p ln(1 + |position(i) - j|) */
    ATTEND_STAT_VALUE_NORM = 18,      /* sum p |v| */
    ATTEND_STAT_CANCELLATION = 19,    /* |c| / sum p |v|, in 0 .. 1 */
    /*
     * scale^2 |q|^2 sum p^2 |v - c|^2 and sum p^2 s^2 |v - c|^2.  Where scores are scale
     * times the product alone, without softcap, bias and ALiBi, that is the variance of
     * the output, summed over its columns and to first order, for independent noise of
     * variance 1 in every entry of the keys, and for keys of norm 1 + noise of variance
     * 1; multiply by the noise's variance.  Each costs another product with V.
     */
    ATTEND_STAT_KEY_NOISE = 20,
    ATTEND_STAT_MAGNITUDE_NOISE = 21,
    ATTEND_STAT_COUNT = 22
} attend_stat;

/* "keys", "max", "lse" and so on, the names above; "unknown" for another number. */
ATTEND_API const char *attend_stat_name(attend_stat stat);

/* Maximum number of top keys of a row.  It never changes. */
#define ATTEND_TOP_MAX 8

/* Kinds of summaries of a head. */
typedef enum attend_summarised {
    ATTEND_SUMMARY_ENTROPY = 0, /* H / ln keys, over rows with at least two keys */
    ATTEND_SUMMARY_N_EFF = 1,   /* n_eff / keys */
    ATTEND_SUMMARY_TOP_WEIGHT = 2,
    ATTEND_SUMMARY_MARGIN = 3, /* over rows with at least two keys */
    ATTEND_SUMMARY_SINK1 = 4,
    ATTEND_SUMMARY_COUNT = 5
} attend_summarised;

/*
 * All rows of a head, then the tenths of its queries in order: query i is in tenth
 * floor(10 i / nq).  These numbers never change.
 */
#define ATTEND_SUMMARY_GROUPS 11
#define ATTEND_SUMMARY_BINS 64
/* Bins of the margin are 0.5 wide; the last one is from 31.5 to infinity. */
#define ATTEND_SUMMARY_MARGIN_BIN 0.5

/*
 * Over rows with a key and without NaN.  Bins divide 0 .. 1 evenly, with 1 in the last;
 * those of the margin are ATTEND_SUMMARY_MARGIN_BIN wide.
 */
typedef struct attend_summary {
    int64_t rows;
    double mean, sd, min, max; /* NaN without rows; sd over the number of rows */
    int64_t histogram[ATTEND_SUMMARY_BINS];
} attend_summary;

/*
 * A request for statistics, filled by attend_forward() in the pass that computes O.
 * Start from attend_stats_default(); NULL: not requested.  Tensors are f32 or f64,
 * whatever the inputs: f64 keeps an LSE near 1e4 exact for attend_inspect().  Statistics
 * change no bit of O.
 */
struct attend_stats {
    size_t struct_size;
    const attend_stat *columns; /* of `rows`, each at most once */
    attend_tensor rows;         /* (nb, hq, nq, number of columns) */
    /*
     * (nb, hq, nq, k), 1 <= k <= ATTEND_TOP_MAX: the k largest p and their keys, the
     * earlier key first for equal scores; 0 and -1 past the last key. top_keys is
     * contiguous.
     */
    attend_tensor top_weights;
    int64_t *top_keys;
    /*
     * (nb, hq, nq, bins): p of the keys with 2^x <= 1 + |position(i) - j| < 2^(x+1), the
     * last bin without an upper end; 1 <= bins <= 64.
     */
    attend_tensor distances;
    /* (nb, hq, nq, classes): p of the keys of each class, 1 .. 64 classes. */
    attend_tensor class_mass;
    const int32_t *classes;    /* [nb][nk]: a class, or -1 for none */
    attend_summary *summaries; /* [nb][hq][summary_kinds][ATTEND_SUMMARY_GROUPS] */
    /*
     * (nb, hq, nq, attend_stats_raw_size()), f64: the sums from which all statistics are
     * computed.  attend_stats_merge() merges these, not final values.
     */
    attend_tensor raw;
    /*
     * Bytes from one summary to the next, a multiple of 8, and the number of kinds of
     * attend_summarised in the array, both of the caller's header. 0: those of header
     * 0.1, 552 and 5.  Kinds unknown to this library become 0, with rows.
     */
    int64_t summary_stride, summary_kinds;
};

static inline attend_stats attend_stats_default(void)
{
    const attend_tensor none = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    attend_stats stats;

    stats.struct_size = sizeof stats;
    stats.columns = NULL;
    stats.rows = none;
    stats.top_weights = none;
    stats.top_keys = NULL;
    stats.distances = none;
    stats.class_mass = none;
    stats.classes = NULL;
    stats.summaries = NULL;
    stats.raw = none;
    stats.summary_stride = (int64_t)sizeof(attend_summary);
    stats.summary_kinds = ATTEND_SUMMARY_COUNT;
    return stats;
}

/*
 * Numbers per row of attend_stats.raw for values of dv columns; 0 for NULL and for an
 * invalid request.
 */
ATTEND_API int64_t attend_stats_raw_size(const attend_stats *request, int64_t dv);

/* The raw sums of a part of the keys, and its first key. */
typedef struct attend_stats_part {
    attend_view raw;   /* (nb, hq, nq, raw size), f64 */
    int64_t first_key; /* index in the sequence of the part's key 0: 0 or at least 4,
                          so that ATTEND_STAT_SINK4 counts keys of one part */
} attend_stats_part;

/*
 * Computes the statistics of `request` from the raw sums of parts of the keys, made by
 * the same request, in the order of keys.  Each part comes from attend_forward() over its
 * keys alone, with positions counted from its own first key (ATTEND_CAUSAL_OFFSET), or
 * from attend_forward_partials(), whose sums count keys in the sequence: their first_key
 * is 0.  Top keys become indices in the sequence, and the first keys of a part other than
 * the first are not counted by ATTEND_STAT_SINK1 and _SINK4. request->raw, if set,
 * receives the sums of all keys, and may be the tensor of a part.  `dv` is that of the
 * values.
 */
ATTEND_API attend_status attend_stats_merge(attend_context *ctx,
                                            const attend_stats *request, int64_t dv,
                                            const attend_stats_part *parts, int64_t count,
                                            attend_error *err);

/*
 * The same without statistics: only request->raw is written, which may be the tensor of a
 * part.  With count 0 these are the sums of no keys.
 */
ATTEND_API attend_status attend_stats_reduce(attend_context *ctx,
                                             const attend_stats *request, int64_t dv,
                                             const attend_stats_part *parts,
                                             int64_t count, attend_error *err);

/* ---- inspection: P once the LSE is known --------------------------------- */

typedef struct attend_probe {
    int64_t b, h, i, j; /* batch, query head, query, key */
} attend_probe;

/*
 * A second pass over P: column sums, pooled map, rectangles, single entries.  P[i][j] =
 * exp(score - lse[i]) is recomputed from scores and LSE and not stored.  Start from
 * attend_inspection_default(); NULL: not requested.  Output tensors are f32, f64 for f64
 * inputs.  A row whose lse is -inf has P = 0.
 */
typedef struct attend_inspection {
    size_t struct_size;
    attend_view q, k; /* as in attend_io */
    /*
     * (nb, hq, nq, 1), f32 or f64: ATTEND_STAT_LSE for a P that sums to 1 over the keys,
     * or attend_io.lse, which includes the sink.
     */
    attend_view lse;
    attend_tensor column_mass; /* (nb, hq, 1, nk): sum over i of P */
    attend_tensor column_max;  /* (nb, hq, 1, nk): the largest over i */
    attend_tensor column_last; /* (nb, hq, 1, nk): sum over the last last_queries i */
    int64_t last_queries;      /* 1 .. nq, for column_last only */
    /*
     * (nb, hq, ceil(nq / block), ceil(nk / block)): sums of P over blocks of
     * pooled_block queries by as many keys.
     */
    attend_tensor pooled;
    int64_t pooled_block;
    /* (nb, hq, rows, columns): P of queries zoom_query .. and keys zoom_key .. */
    attend_tensor zoom;
    int64_t zoom_query, zoom_key;
    const attend_probe *probes; /* [probe_count], P of each to probe_weights */
    int64_t probe_count;        /* 0: none; else neither pointer is NULL */
    double *probe_weights;
} attend_inspection;

static inline attend_inspection attend_inspection_default(void)
{
    const attend_view no_view = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    const attend_tensor no_tensor = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    attend_inspection inspection;

    inspection.struct_size = sizeof inspection;
    inspection.q = no_view;
    inspection.k = no_view;
    inspection.lse = no_view;
    inspection.column_mass = no_tensor;
    inspection.column_max = no_tensor;
    inspection.column_last = no_tensor;
    inspection.last_queries = 0;
    inspection.pooled = no_tensor;
    inspection.pooled_block = 0;
    inspection.zoom = no_tensor;
    inspection.zoom_query = 0;
    inspection.zoom_key = 0;
    inspection.probes = NULL;
    inspection.probe_count = 0;
    inspection.probe_weights = NULL;
    return inspection;
}

/*
 * Computes the requested outputs.  `rule` as in attend_forward(); sinks are validated and
 * have no influence.  The same bits for any number of threads.  Failures as in
 * attend_forward().
 */
ATTEND_API attend_status attend_inspect(attend_context *ctx, const attend_rule *rule,
                                        const attend_inspection *inspection,
                                        attend_error *err);

/* ---- a head's character ------------------------------------------------- */

/*
 * The class of a head, from means over its rows: the first in this order whose test
 * holds.  Two tests come first: a pair that noise can swap, and nearly even attention,
 * where the weight of one key means little.  Classes by position precede classes by
 * sharpness.
 */
typedef enum attend_character {
    /* An average of 2 whose margin is below the sd of the difference of their scores. */
    ATTEND_CHARACTER_FRAGILE_PAIR = 0,
    ATTEND_CHARACTER_DIFFUSE = 1,  /* entropy_share > ATTEND_HEAD_DIFFUSE */
    ATTEND_CHARACTER_PREVIOUS = 2, /* previous > ATTEND_HEAD_PREVIOUS */
    ATTEND_CHARACTER_SINK = 3,     /* sink1 > ATTEND_HEAD_SINK */
    /*
     * exp(log_distance) - 1, a typical distance, is below sqrt(keys) and below keys / 8,
     * half of the minimum for even attention.
     */
    ATTEND_CHARACTER_LOCAL = 4,
    ATTEND_CHARACTER_COPY = 5, /* top_mass[0] > ATTEND_HEAD_TOP */
    /* Of m = n_eff, rounded, in 2 .. ATTEND_TOP_MAX: top_mass[m - 1] > ATTEND_HEAD_TOP */
    ATTEND_CHARACTER_AVERAGE = 6,
    ATTEND_CHARACTER_FROZEN = 7, /* raw_sd > sqrt(2 ln keys): the largest scores decide */
    ATTEND_CHARACTER_MIXED = 8,  /* none of these */
    ATTEND_CHARACTER_COUNT = 9
} attend_character;

#define ATTEND_HEAD_DIFFUSE 0.9
#define ATTEND_HEAD_PREVIOUS 0.5
#define ATTEND_HEAD_SINK 0.3
#define ATTEND_HEAD_TOP 0.9
/* Default relative standard deviation of the norms of keys. */
#define ATTEND_HEAD_NOISE 0.1

/* "fragile pair", "diffuse", "previous token" and so on; "unknown" for another number. */
ATTEND_API const char *attend_character_name(attend_character character);

/*
 * The row statistics that attend_head_read() needs: an initialiser of
 * attend_stats.columns.
 */
#define ATTEND_HEAD_STATS                                                                \
    {                                                                                    \
        ATTEND_STAT_KEYS, ATTEND_STAT_MAX, ATTEND_STAT_TOP_WEIGHT, ATTEND_STAT_ENTROPY,  \
            ATTEND_STAT_N_EFF, ATTEND_STAT_RAW_VARIANCE, ATTEND_STAT_MARGIN,             \
            ATTEND_STAT_SINK1, ATTEND_STAT_PREVIOUS, ATTEND_STAT_LOG_DISTANCE            \
    }
#define ATTEND_HEAD_STATS_COUNT 10

/*
 * Means over the rows that have a key and no NaN; NaN without rows, or if unknown.  Start
 * from attend_head_default().
 */
typedef struct attend_head {
    size_t struct_size;
    int64_t rows;
    double keys, max, n_eff, sink1, previous, log_distance;
    double raw_sd;                   /* mean of sqrt(raw_variance) */
    double entropy_share, margin;    /* over rows with at least two keys; H / ln keys */
    double top_mass[ATTEND_TOP_MAX]; /* of the x + 1 top keys */
} attend_head;

static inline attend_head attend_head_default(void)
{
    attend_head head;

    head.struct_size = sizeof head;
    head.rows = 0;
    head.keys = head.max = head.n_eff = head.sink1 = head.previous = 0;
    head.log_distance = head.raw_sd = head.entropy_share = head.margin = 0;
    for (int x = 0; x < ATTEND_TOP_MAX; x++)
        head.top_mass[x] = 0;
    return head;
}

/*
 * Computes head (b, h) from statistics of attend_forward(): ATTEND_HEAD_STATS and any
 * others, in any order. top_weights are needed for top_mass past its first element.
 */
ATTEND_API attend_status attend_head_read(const attend_stats *stats, int64_t b, int64_t h,
                                          attend_head *head, attend_error *err);

/*
 * The class of `head`, and in `reason` the deciding numbers in words, cut to `size` bytes
 * and always terminated (if size > 0).  `noise` is the relative sd of the norms of keys:
 * the difference of the two largest scores has the sd noise sqrt(max^2 + (max -
 * margin)^2), and noise swaps them with a probability above 0.15 if the margin is
 * smaller.  A head that is NULL or has a wrong struct_size is MIXED, with the reason.
 * `reason` may be NULL.
 */
ATTEND_API attend_character attend_head_character(const attend_head *head, double noise,
                                                  char *reason, size_t size);

#ifdef __cplusplus
}
#endif

#endif
