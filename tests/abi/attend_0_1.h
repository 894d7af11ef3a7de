/* SPDX-License-Identifier: MIT */
/* attend/attend.h of 0.1 without its comments, for a program that was compiled then. */
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

ATTEND_API const char *attend_version(void);

typedef enum attend_status {
    ATTEND_OK = 0,
    ATTEND_EINVAL = 1,
    ATTEND_ENOMEM = 2,
    ATTEND_EUNSUPPORTED = 3,
    ATTEND_ETOOBIG = 4
} attend_status;

typedef struct attend_error {
    attend_status status;
    char message[252];
} attend_error;

ATTEND_API const char *attend_status_name(attend_status status);

typedef enum attend_dtype {
    ATTEND_F64 = 1,
    ATTEND_F32 = 2,
    ATTEND_F16 = 3,
    ATTEND_BF16 = 4,
    ATTEND_BOOL = 5
} attend_dtype;

ATTEND_API size_t attend_dtype_size(attend_dtype dtype);

ATTEND_API const char *attend_dtype_name(attend_dtype dtype);

typedef struct attend_view {
    const void *data;
    attend_dtype dtype;
    int64_t size[4];
    int64_t stride[4];
} attend_view;

typedef struct attend_tensor {
    void *data;
    attend_dtype dtype;
    int64_t size[4];
    int64_t stride[4];
} attend_tensor;

typedef struct attend_context attend_context;

typedef void (*attend_parallel_for)(void *user, int n, void (*body)(void *arg, int w),
                                    void *arg);

typedef void *(*attend_alloc)(void *user, size_t alignment, size_t size);
typedef void (*attend_free)(void *user, void *memory);

typedef void (*attend_progress)(void *user, int64_t done, int64_t total);

typedef struct attend_options {
    size_t struct_size;
    int threads;
    const char *isa;
    attend_alloc alloc;
    attend_free free;
    void *alloc_user;
    attend_parallel_for parallel_for;
    void *parallel_user;
    attend_progress progress;
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

ATTEND_API attend_status attend_context_create(attend_context **ctx,
                                               const attend_options *options,
                                               attend_error *err);

ATTEND_API void attend_context_destroy(attend_context *ctx);
ATTEND_API const char *attend_context_isa(const attend_context *ctx);
ATTEND_API int attend_context_threads(const attend_context *ctx);

typedef struct attend_isa {
    const char *name;
    const char *needs;
    int runs;
} attend_isa;

ATTEND_API int attend_isa_count(void);

ATTEND_API attend_status attend_isa_get(int index, attend_isa *isa);

ATTEND_API size_t attend_cpu_features(char *text, size_t size);

typedef enum attend_causal {
    ATTEND_CAUSAL_NONE = 0,
    ATTEND_CAUSAL_TOP_LEFT = 1,
    ATTEND_CAUSAL_BOTTOM_RIGHT = 2,
    ATTEND_CAUSAL_OFFSET = 3
} attend_causal;

typedef struct attend_rule {
    size_t struct_size;
    int scale_is_set;
    double scale;
    double softcap;
    attend_causal causal;
    const int64_t *causal_offset;
    int64_t window_left, window_right;
    const int64_t *key_lengths;
    attend_view mask;
    attend_view bias;
    const double *alibi;
    const double *sinks;
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

typedef enum attend_stat {
    ATTEND_STAT_KEYS = 0,
    ATTEND_STAT_MAX = 1,
    ATTEND_STAT_LSE = 2,
    ATTEND_STAT_TOP_WEIGHT = 3,
    ATTEND_STAT_ENTROPY = 4,
    ATTEND_STAT_KEYS_EFF = 5,
    ATTEND_STAT_N_EFF = 6,
    ATTEND_STAT_SCORE_VARIANCE = 7,
    ATTEND_STAT_RAW_MEAN = 8,
    ATTEND_STAT_RAW_VARIANCE = 9,
    ATTEND_STAT_MARGIN = 10,
    ATTEND_STAT_SINK1 = 11,
    ATTEND_STAT_SINK4 = 12,
    ATTEND_STAT_SELF = 13,
    ATTEND_STAT_PREVIOUS = 14,
    ATTEND_STAT_SECOND_PREVIOUS = 15,
    ATTEND_STAT_DISTANCE = 16,
    ATTEND_STAT_LOG_DISTANCE = 17,
    ATTEND_STAT_VALUE_NORM = 18,
    ATTEND_STAT_CANCELLATION = 19,
    ATTEND_STAT_KEY_NOISE = 20,
    ATTEND_STAT_MAGNITUDE_NOISE = 21,
    ATTEND_STAT_COUNT = 22
} attend_stat;

ATTEND_API const char *attend_stat_name(attend_stat stat);

#define ATTEND_TOP_MAX 8

typedef enum attend_summarised {
    ATTEND_SUMMARY_ENTROPY = 0,
    ATTEND_SUMMARY_N_EFF = 1,
    ATTEND_SUMMARY_TOP_WEIGHT = 2,
    ATTEND_SUMMARY_MARGIN = 3,
    ATTEND_SUMMARY_SINK1 = 4,
    ATTEND_SUMMARY_COUNT = 5
} attend_summarised;

#define ATTEND_SUMMARY_GROUPS 11
#define ATTEND_SUMMARY_BINS 64

#define ATTEND_SUMMARY_MARGIN_BIN 0.5

typedef struct attend_summary {
    int64_t rows;
    double mean, sd, min, max;
    int64_t histogram[ATTEND_SUMMARY_BINS];
} attend_summary;

typedef struct attend_stats {
    size_t struct_size;
    const attend_stat *columns;
    attend_tensor rows;
    attend_tensor top_weights;
    int64_t *top_keys;
    attend_tensor distances;
    attend_tensor class_mass;
    const int32_t *classes;
    attend_summary *summaries;
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

#define ATTEND_WEIGHTS_MAX ((int64_t)1 << 28)

typedef struct attend_io {
    size_t struct_size;
    attend_view q, k, v;
    attend_tensor out;
    attend_tensor lse, weights;
    int force_weights;
    const attend_stats *stats;
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

ATTEND_API attend_status attend_forward(attend_context *ctx, const attend_rule *rule,
                                        const attend_io *io, attend_error *err);

typedef struct attend_probe {
    int64_t b, h, i, j;
} attend_probe;

typedef struct attend_second {
    size_t struct_size;
    attend_view q, k;
    attend_view lse;
    attend_tensor column_mass;
    attend_tensor column_max;
    attend_tensor column_last;
    int64_t last_queries;
    attend_tensor pooled;
    int64_t pooled_block;
    attend_tensor zoom;
    int64_t zoom_query, zoom_key;
    const attend_probe *probes;
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

ATTEND_API attend_status attend_second_pass(attend_context *ctx, const attend_rule *rule,
                                            const attend_second *second,
                                            attend_error *err);

typedef enum attend_character {
    ATTEND_CHARACTER_FRAGILE_PAIR = 0,
    ATTEND_CHARACTER_DIFFUSE = 1,
    ATTEND_CHARACTER_PREVIOUS = 2,
    ATTEND_CHARACTER_SINK = 3,
    ATTEND_CHARACTER_LOCAL = 4,
    ATTEND_CHARACTER_COPY = 5,
    ATTEND_CHARACTER_AVERAGE = 6,
    ATTEND_CHARACTER_FROZEN = 7,
    ATTEND_CHARACTER_MIXED = 8,
    ATTEND_CHARACTER_COUNT = 9
} attend_character;

#define ATTEND_HEAD_DIFFUSE 0.9
#define ATTEND_HEAD_PREVIOUS 0.5
#define ATTEND_HEAD_SINK 0.3
#define ATTEND_HEAD_TOP 0.9

#define ATTEND_HEAD_NOISE 0.1

ATTEND_API const char *attend_character_name(attend_character character);

#define ATTEND_HEAD_STATS                                                                \
    {                                                                                    \
        ATTEND_STAT_KEYS, ATTEND_STAT_MAX, ATTEND_STAT_TOP_WEIGHT, ATTEND_STAT_ENTROPY,  \
            ATTEND_STAT_N_EFF, ATTEND_STAT_RAW_VARIANCE, ATTEND_STAT_MARGIN,             \
            ATTEND_STAT_SINK1, ATTEND_STAT_PREVIOUS, ATTEND_STAT_LOG_DISTANCE            \
    }
#define ATTEND_HEAD_STATS_COUNT 10

typedef struct attend_head {
    int64_t rows;
    double keys, max, n_eff, sink1, previous, log_distance;
    double raw_sd;
    double entropy_share, margin;
    double top_mass[ATTEND_TOP_MAX];
} attend_head;

ATTEND_API attend_status attend_head_read(const attend_stats *stats, int64_t b, int64_t h,
                                          attend_head *head, attend_error *err);

ATTEND_API attend_character attend_head_character(const attend_head *head, double noise,
                                                  char *reason, size_t size);

typedef struct attend_part {
    attend_view out;
    attend_view lse;
} attend_part;

ATTEND_API attend_status attend_merge(const attend_part *parts, int64_t count,
                                      const attend_tensor *out, const attend_tensor *lse,
                                      attend_error *err);

ATTEND_API void attend_exp2(const attend_context *ctx, const float *x, float *y,
                            int64_t n);

#ifdef __cplusplus
}
#endif

#endif
