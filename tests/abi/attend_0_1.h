/* SPDX-License-Identifier: MIT */
/*
 * attend: exact softmax attention.
 *
 * For every batch b, query head h and query i, with g = h / (hq / hkv):
 *
 *     O[b][h][i]    = sum_j P[j] V[b][g][j]
 *     P             = softmax over the keys j that row i sees of score[j]
 *     score[j]      = cap(scale * <Q[b][h][i], K[b][g][j]>)
 *                     + bias[b][h][i][j] + alibi[h] * (j - position(i))
 *     cap(x)        = softcap * tanh(x / softcap)  if softcap > 0,  else x
 *
 * What row i sees is set by the causal rule, the window, the key lengths and
 * the boolean mask together.  A key that is not seen influences no bit of any
 * output, whatever K and V hold there.  A row that sees no key, or whose scores
 * are all -inf, yields O = 0 and LSE = -inf.  A score of +inf or NaN yields NaN.
 *
 * Results are the same, bit for bit, for any number of threads, any batch and
 * heads around a row, and any strides of the same values.
 *
 * The library prints nothing, never aborts and keeps no global state.
 *
 * A struct that may grow starts with struct_size, which its _default() function sets;
 * a size this library does not know is refused, never guessed.
 */
#ifndef ATTEND_ATTEND_H
#define ATTEND_ATTEND_H

#include <stddef.h>
#include <stdint.h>

#define ATTEND_VERSION_MAJOR 0
#define ATTEND_VERSION_MINOR 1
#define ATTEND_VERSION_PATCH 0

#ifdef ATTEND_BUILD
#define ATTEND_API __attribute__((visibility("default")))
#else
#define ATTEND_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "major.minor.patch" of the library that runs, which may be newer than this header. */
ATTEND_API const char *attend_version(void);

/* ---- status and errors ------------------------------------------------- */

typedef enum attend_status {
    ATTEND_OK = 0,
    ATTEND_EINVAL = 1,       /* an argument is wrong; the error names field and value */
    ATTEND_ENOMEM = 2,       /* an allocation failed; nothing is leaked */
    ATTEND_EUNSUPPORTED = 3, /* well-formed, but not on this machine or in this build */
    ATTEND_ETOOBIG = 4       /* weights above ATTEND_WEIGHTS_MAX without force */
} attend_status;

/* Filled by a call that fails, untouched by one that succeeds. */
typedef struct attend_error {
    attend_status status;
    char message[252]; /* one line, no newline, always terminated */
} attend_error;

/* "ATTEND_OK" and so on; "unknown status" for any other number. */
ATTEND_API const char *attend_status_name(attend_status status);

/* ---- tensors ----------------------------------------------------------- */

typedef enum attend_dtype {
    ATTEND_F64 = 1,
    ATTEND_F32 = 2,
    ATTEND_F16 = 3,
    ATTEND_BF16 = 4,
    ATTEND_BOOL = 5 /* one byte; 0 is false, anything else true */
} attend_dtype;

/* Bytes per element; 0 for a number that is no dtype. */
ATTEND_API size_t attend_dtype_size(attend_dtype dtype);
/* "f64", "f32", "f16", "bf16", "bool"; "unknown" for a number that is no dtype. */
ATTEND_API const char *attend_dtype_name(attend_dtype dtype);

/*
 * A strided view of memory the caller owns, axes in the order b, h, l, d:
 * element (b, h, l, d) is data[b*stride[0] + h*stride[1] + l*stride[2] +
 * d*stride[3]].  Strides count elements and may be 0 or negative.  `data` needs
 * the alignment of its element only, and may be NULL when a size is 0.  Nothing
 * outside the view is read.
 */
typedef struct attend_view {
    const void *data;
    attend_dtype dtype;
    int64_t size[4];
    int64_t stride[4];
} attend_view;

/*
 * The same for an output.  No two elements may share an address (an axis longer
 * than 1 needs a stride other than 0), and outputs must not overlap inputs.
 */
typedef struct attend_tensor {
    void *data;
    attend_dtype dtype;
    int64_t size[4];
    int64_t stride[4];
} attend_tensor;

/* ---- context ----------------------------------------------------------- */

/*
 * A context holds threads, kernel set and scratch.  Create once, call many
 * times, one caller at a time; different contexts may run at once.  A call
 * whose shapes fit the scratch of an earlier one allocates nothing.
 */
typedef struct attend_context attend_context;

/*
 * A pool that a host lends: call body(arg, w) once for every w in 0 .. n-1, in
 * any order, at once or in turn, and return when all have returned.
 */
typedef void (*attend_parallel_for)(void *user, int n, void (*body)(void *arg, int w),
                                    void *arg);
/* Memory of `size` > 0 bytes aligned to `alignment` (a power of two), or NULL. */
typedef void *(*attend_alloc)(void *user, size_t alignment, size_t size);
typedef void (*attend_free)(void *user, void *memory);
/*
 * Called between pieces of work with how many of `total` are done, from any worker
 * but never from two at once, and not for every piece.
 */
typedef void (*attend_progress)(void *user, int64_t done, int64_t total);

/* Start from attend_options_default(). */
typedef struct attend_options {
    size_t struct_size;
    /*
     * 0: OMP_NUM_THREADS, else every core this process may use.  An OpenMP runtime
     * may end the process when the system refuses it a thread: where that matters,
     * lend a pool.
     */
    int threads;
    const char *isa;    /* NULL: the variable ATTEND_ISA, else the best that runs here */
    attend_alloc alloc; /* both or neither; NULL: the C library's */
    attend_free free;
    void *alloc_user;
    attend_parallel_for parallel_for; /* NULL: OpenMP */
    void *parallel_user;
    attend_progress progress; /* NULL: none */
    void *progress_user;
} attend_options;

static inline attend_options attend_options_default(void)
{
    attend_options options;

    options.struct_size = sizeof options;
    options.threads = 0;
    options.isa = NULL;
    options.alloc = NULL;
    options.free = NULL;
    options.alloc_user = NULL;
    options.parallel_for = NULL;
    options.parallel_user = NULL;
    options.progress = NULL;
    options.progress_user = NULL;
    return options;
}

/*
 * `options` may be NULL for the defaults.  On success *ctx is the caller's, who
 * gives it to attend_context_destroy(); on failure *ctx is NULL.  An isa that
 * this build does not have is EINVAL, one that this machine cannot run
 * EUNSUPPORTED; there is no silent fallback.  `err` may be NULL, here and below.
 */
ATTEND_API attend_status attend_context_create(attend_context **ctx,
                                               const attend_options *options,
                                               attend_error *err);
/* NULL is allowed. */
ATTEND_API void attend_context_destroy(attend_context *ctx);
ATTEND_API const char *attend_context_isa(const attend_context *ctx);
ATTEND_API int attend_context_threads(const attend_context *ctx);

/* ---- what this build and this machine have ----------------------------- */

typedef struct attend_isa {
    const char *name;  /* what attend_options.isa takes */
    const char *needs; /* CPU features, separated by spaces; "" for none */
    int runs;          /* 1 if this machine has them and the system allows them */
} attend_isa;

/* Kernel sets of this build, best first; `ref`, the definition in double, last. */
ATTEND_API int attend_isa_count(void);
/* EINVAL unless 0 <= index < attend_isa_count(). */
ATTEND_API attend_status attend_isa_get(int index, attend_isa *isa);
/*
 * Names of the CPU features that the kernel sets ask for and this machine has,
 * separated by spaces, into `text` of `size` bytes, cut if it does not fit and
 * always terminated (if size > 0).  Returns the length needed without the
 * terminator.
 */
ATTEND_API size_t attend_cpu_features(char *text, size_t size);

/* ---- attention --------------------------------------------------------- */

/*
 * The causal rule gives row i a position and hides the keys after it.
 * OFFSET reads attend_rule.causal_offset[b].
 */
typedef enum attend_causal {
    ATTEND_CAUSAL_NONE = 0,         /* position(i) = i, nothing hidden */
    ATTEND_CAUSAL_TOP_LEFT = 1,     /* position(i) = i */
    ATTEND_CAUSAL_BOTTOM_RIGHT = 2, /* position(i) = i + nk - nq, nk of the tensor */
    ATTEND_CAUSAL_OFFSET = 3        /* position(i) = i + causal_offset[b] */
} attend_causal;

/* What the scores are and who sees whom.  Start from attend_rule_default(). */
typedef struct attend_rule {
    size_t struct_size;
    int scale_is_set; /* 0: scale = 1 / sqrt(d), 1 for d = 0 */
    double scale;     /* any finite value, zero and negative included */
    double softcap;   /* 0: none; else finite and positive */
    attend_causal causal;
    const int64_t *causal_offset; /* [nb], for ATTEND_CAUSAL_OFFSET only */
    /* position(i) - window_left <= j <= position(i) + window_right is seen; -1: open. */
    int64_t window_left, window_right;
    const int64_t *key_lengths; /* [nb], each 0 .. nk: row i sees j < it; NULL: nk */
    /* Each axis of (nb, hq, nq, nk), or 1 for an axis it is broadcast over. */
    attend_view mask;    /* ATTEND_BOOL, true = seen; data NULL: none */
    attend_view bias;    /* any floating dtype; data NULL: none */
    const double *alibi; /* [hq] slopes; NULL: none */
    const double *sinks; /* [hq] logits: exp(sink) joins the denominator; NULL: none */
} attend_rule;

static inline attend_rule attend_rule_default(void)
{
    const attend_view none = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    attend_rule rule;

    rule.struct_size = sizeof rule;
    rule.scale_is_set = 0;
    rule.scale = 0.0;
    rule.softcap = 0.0;
    rule.causal = ATTEND_CAUSAL_NONE;
    rule.causal_offset = NULL;
    rule.window_left = -1;
    rule.window_right = -1;
    rule.key_lengths = NULL;
    rule.mask = none;
    rule.bias = none;
    rule.alibi = NULL;
    rule.sinks = NULL;
    return rule;
}

/* ---- statistics of the attention distribution -------------------------- */

/*
 * One number of each row.  Over the keys j that the row sees with a score above -inf:
 * s the score, p the softmax of s over these keys alone (a sink logit is left out),
 * m the largest s, l = sum exp(s - m), c = sum p v.  A row without such a key has the
 * value in brackets, 0 where none is given; a score of +inf or NaN makes all but KEYS
 * NaN.
 */
typedef enum attend_stat {
    ATTEND_STAT_KEYS = 0,           /* how many keys */
    ATTEND_STAT_MAX = 1,            /* m [-inf] */
    ATTEND_STAT_LSE = 2,            /* m + ln l [-inf] */
    ATTEND_STAT_TOP_WEIGHT = 3,     /* the largest p */
    ATTEND_STAT_ENTROPY = 4,        /* H = -sum p ln p */
    ATTEND_STAT_KEYS_EFF = 5,       /* exp H */
    ATTEND_STAT_N_EFF = 6,          /* 1 / sum p^2 */
    ATTEND_STAT_SCORE_VARIANCE = 7, /* sum p s^2 - (sum p s)^2 */
    ATTEND_STAT_RAW_MEAN = 8,       /* mean of s, every key alike */
    ATTEND_STAT_RAW_VARIANCE = 9,   /* variance of s about it, over the number of keys */
    ATTEND_STAT_MARGIN = 10,        /* m minus the second largest s; +inf for one key */
    ATTEND_STAT_SINK1 = 11,         /* p of key 0 */
    ATTEND_STAT_SINK4 = 12,         /* p of keys 0 .. 3 */
    ATTEND_STAT_SELF = 13,          /* p of key position(i) */
    ATTEND_STAT_PREVIOUS = 14,      /* p of key position(i) - 1 */
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

/* Keys of largest weight that a row can name. */
#define ATTEND_TOP_MAX 8

/* What the summary of a head is of. */
typedef enum attend_summarised {
    ATTEND_SUMMARY_ENTROPY = 0, /* H / ln keys, of rows with two keys or more */
    ATTEND_SUMMARY_N_EFF = 1,   /* n_eff / keys */
    ATTEND_SUMMARY_TOP_WEIGHT = 2,
    ATTEND_SUMMARY_MARGIN = 3, /* of rows with two keys or more */
    ATTEND_SUMMARY_SINK1 = 4,
    ATTEND_SUMMARY_COUNT = 5
} attend_summarised;

/* All rows of a head, then the ten tenths of its queries, in order. */
#define ATTEND_SUMMARY_GROUPS 11
#define ATTEND_SUMMARY_BINS 64
/* The bins of the margin are half as wide as 1: the last reaches from 31.5 to infinity.
 */
#define ATTEND_SUMMARY_MARGIN_BIN 0.5

/*
 * Rows without a key, and rows with NaN, are left out.  The bins share 0 .. 1 evenly, 1
 * in the last; those of the margin are ATTEND_SUMMARY_MARGIN_BIN wide.
 */
typedef struct attend_summary {
    int64_t rows;
    double mean, sd, min, max; /* NaN without rows; sd over the number of rows */
    int64_t histogram[ATTEND_SUMMARY_BINS];
} attend_summary;

/*
 * A request for statistics, filled by attend_forward() in the pass that computes O.
 * Start from attend_stats_default(); what is NULL is not wanted.  Tensors are f32 or
 * f64, whatever the inputs: f64 keeps an LSE near 1e4 exact for attend_second_pass().
 * Statistics change no bit of O, but for bf16 where a set leaves it to another: `amx` all
 * statistics to `avx512bf16`, and that the two kinds of noise to `avx512`.
 */
typedef struct attend_stats {
    size_t struct_size;
    const attend_stat *columns; /* of `rows`, each at most once */
    attend_tensor rows;         /* (nb, hq, nq, number of columns) */
    /*
     * (nb, hq, nq, k), 1 <= k <= ATTEND_TOP_MAX: the k largest p and their keys, of equal
     * scores the earlier key first; 0 and -1 past the last key.  top_keys is contiguous.
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
    attend_summary *summaries; /* [nb][hq][ATTEND_SUMMARY_COUNT][ATTEND_SUMMARY_GROUPS] */
} attend_stats;

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
    return stats;
}

/* ---- attention, the call --------------------------------------------- */

/* More elements of weights than this need attend_io.force_weights: 1 GiB of f32. */
#define ATTEND_WEIGHTS_MAX ((int64_t)1 << 28)

/* Start from attend_io_default(); an output whose data is NULL is not wanted. */
typedef struct attend_io {
    size_t struct_size;
    /* q (nb, hq, nq, d), k (nb, hkv, nk, d), v (nb, hkv, nk, dv); one dtype. */
    attend_view q, k, v;
    attend_tensor out; /* (nb, hq, nq, dv), of q's dtype or f32; always wanted */
    /*
     * lse (nb, hq, nq, 1): ln of the sum of exp(score), the sink's included, in
     * natural units.  weights (nb, hq, nq, nk): P.  Both f32, f64 for f64 inputs.
     */
    attend_tensor lse, weights;
    int force_weights;
    const attend_stats *stats; /* NULL: none */
} attend_io;

static inline attend_io attend_io_default(void)
{
    const attend_view no_view = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    const attend_tensor no_tensor = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    attend_io io;

    io.struct_size = sizeof io;
    io.q = no_view;
    io.k = no_view;
    io.v = no_view;
    io.out = no_tensor;
    io.lse = no_tensor;
    io.weights = no_tensor;
    io.force_weights = 0;
    io.stats = NULL;
    return io;
}

/*
 * Compute the outputs.  `rule` may be NULL for plain attention.  On failure no
 * output element has been written.
 */
ATTEND_API attend_status attend_forward(attend_context *ctx, const attend_rule *rule,
                                        const attend_io *io, attend_error *err);

/* ---- the second pass --------------------------------------------------- */

typedef struct attend_probe {
    int64_t b, h, i, j; /* batch, query head, query, key */
} attend_probe;

/*
 * What can be told of P, whole columns included, once the LSE of every row is known:
 * P[i][j] = exp(score - lse[i]), computed again and never kept.  Start from
 * attend_second_default(); what is NULL is not wanted.  Output tensors are f32, f64 for
 * f64 inputs.  A row whose lse is -inf has P = 0.
 */
typedef struct attend_second {
    size_t struct_size;
    attend_view q, k; /* as in attend_io */
    /*
     * (nb, hq, nq, 1), f32 or f64: ATTEND_STAT_LSE for a P that sums to 1 over the keys,
     * or attend_io.lse, which has the sink's share.
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
    int64_t probe_count;
    double *probe_weights;
} attend_second;

static inline attend_second attend_second_default(void)
{
    const attend_view no_view = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    const attend_tensor no_tensor = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    attend_second second;

    second.struct_size = sizeof second;
    second.q = no_view;
    second.k = no_view;
    second.lse = no_view;
    second.column_mass = no_tensor;
    second.column_max = no_tensor;
    second.column_last = no_tensor;
    second.last_queries = 0;
    second.pooled = no_tensor;
    second.pooled_block = 0;
    second.zoom = no_tensor;
    second.zoom_query = 0;
    second.zoom_key = 0;
    second.probes = NULL;
    second.probe_count = 0;
    second.probe_weights = NULL;
    return second;
}

/*
 * Compute what is wanted; `rule` as in attend_forward(), its sinks without influence.
 * The same bits for any number of threads.  On failure no output has been written.
 */
ATTEND_API attend_status attend_second_pass(attend_context *ctx, const attend_rule *rule,
                                            const attend_second *second,
                                            attend_error *err);

/* ---- a head's character ------------------------------------------------- */

/*
 * What a head does, told from means over its rows: the first of these whose test holds.
 * Where the head looks names it before how sharply it does; only a pair that noise can
 * turn, and even attention, of which any key's mass says little, come before that.
 */
typedef enum attend_character {
    /* An average of 2 whose margin is below the sd of the difference of their scores. */
    ATTEND_CHARACTER_FRAGILE_PAIR = 0,
    ATTEND_CHARACTER_DIFFUSE = 1,  /* entropy_share > ATTEND_HEAD_DIFFUSE */
    ATTEND_CHARACTER_PREVIOUS = 2, /* previous > ATTEND_HEAD_PREVIOUS */
    ATTEND_CHARACTER_SINK = 3,     /* sink1 > ATTEND_HEAD_SINK */
    /*
     * exp(log_distance) - 1, a typical distance, is below sqrt(keys) and keys / 8, half
     * of what even attention has at least.
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
/* How much the keys' lengths may vary, where nothing better is known: a tenth. */
#define ATTEND_HEAD_NOISE 0.1

/* "fragile pair", "diffuse", "previous token" and so on; "unknown" for another number. */
ATTEND_API const char *attend_character_name(attend_character character);

/* The row statistics that a head is read from: an initialiser of attend_stats.columns. */
#define ATTEND_HEAD_STATS                                                                \
    {                                                                                    \
        ATTEND_STAT_KEYS, ATTEND_STAT_MAX, ATTEND_STAT_TOP_WEIGHT, ATTEND_STAT_ENTROPY,  \
            ATTEND_STAT_N_EFF, ATTEND_STAT_RAW_VARIANCE, ATTEND_STAT_MARGIN,             \
            ATTEND_STAT_SINK1, ATTEND_STAT_PREVIOUS, ATTEND_STAT_LOG_DISTANCE            \
    }
#define ATTEND_HEAD_STATS_COUNT 10

/* Means over the rows that have a key and no NaN; NaN without rows, or if not known. */
typedef struct attend_head {
    int64_t rows;
    double keys, max, n_eff, sink1, previous, log_distance;
    double raw_sd;                   /* mean of sqrt(raw_variance) */
    double entropy_share, margin;    /* of rows with two keys or more; H / ln keys */
    double top_mass[ATTEND_TOP_MAX]; /* of the x + 1 best keys */
} attend_head;

/*
 * Reads head (b, h) out of statistics that attend_forward() has filled: ATTEND_HEAD_STATS
 * and any others, in any order.  top_weights give top_mass past its first element.
 */
ATTEND_API attend_status attend_head_read(const attend_stats *stats, int64_t b, int64_t h,
                                          attend_head *head, attend_error *err);

/*
 * What `head` is like, and in `reason` the numbers that decided, in words: cut if `size`
 * bytes do not hold them and always terminated (if size > 0).  `noise` is the relative
 * sd of the keys' lengths: that of the difference of the two best scores is
 * noise sqrt(max^2 + (max - margin)^2), and noise swaps them with a probability above
 * 0.15 where the margin is smaller.
 */
ATTEND_API attend_character attend_head_character(const attend_head *head, double noise,
                                                  char *reason, size_t size);

/* ---- parts -------------------------------------------------------------- */

/* Attention over a part of the keys, as attend_forward() gave it. */
typedef struct attend_part {
    attend_view out; /* (nb, hq, nq, dv), any floating dtype */
    attend_view lse; /* (nb, hq, nq, 1), f32 or f64 */
} attend_part;

/*
 * Join parts that split the keys of one problem: O = sum_p w_p O_p with
 * w_p = exp(lse_p - lse), in the order given.  A part with lse = -inf has no
 * influence.  `lse` may be NULL or have data NULL.  Parts and outputs may differ
 * in dtype; f32 parts keep the error independent of their number.  Allocates
 * nothing; any number of threads may call it at once.
 */
ATTEND_API attend_status attend_merge(const attend_part *parts, int64_t count,
                                      const attend_tensor *out, const attend_tensor *lse,
                                      attend_error *err);

/*
 * y[i] = 2^x[i] by the routine the context's f32 kernels weigh keys with, so
 * that its accuracy can be checked where it runs.  Defined for x <= 0: 0 below
 * -126, NaN for NaN.
 */
ATTEND_API void attend_exp2(const attend_context *ctx, const float *x, float *y,
                            int64_t n);

#ifdef __cplusplus
}
#endif

#endif
