/* SPDX-License-Identifier: MIT */
/*
 * attend/fields.h: the arguments that attend_error.field can name.  attend/attend.h
 * includes this header.
 *
 * ATTEND_FIELDS(FIELD) is FIELD(identifier, number, name) for each of them.  Numbers are
 * permanent, and new fields are appended.
 */
#ifndef ATTEND_FIELDS_H
#define ATTEND_FIELDS_H

/* clang-format off */
#define ATTEND_FIELDS(FIELD)                                                             \
    /* contexts */                                                                       \
    FIELD(CTX, 1, "ctx")                                                                 \
    FIELD(OPTIONS, 2, "options")                                                         \
    FIELD(OPTIONS_THREADS, 3, "options.threads")                                         \
    FIELD(OPTIONS_ISA, 4, "options.isa")                                                 \
    FIELD(OPTIONS_ALLOC, 5, "options.alloc")                                             \
    FIELD(OPTIONS_FREE, 6, "options.free")                                               \
    FIELD(OPTIONS_ORDER, 7, "options.order")                                             \
    FIELD(OPTIONS_DEVICE, 8, "options.device")                                           \
    FIELD(OPTIONS_STREAM, 9, "options.stream")                                           \
    FIELD(OPTIONS_HOST_TENSORS, 10, "options.host_tensors")                              \
    FIELD(OPTIONS_CANCELLED, 11, "options.cancelled")                                    \
    FIELD(BYTES, 12, "bytes")                                                            \
    FIELD(WORKSPACE, 13, "workspace")                                                    \
    /* tensors of a call, attend_io */                                                   \
    FIELD(IO, 14, "io")                                                                  \
    FIELD(Q, 15, "q")                                                                    \
    FIELD(K, 16, "k")                                                                    \
    FIELD(V, 17, "v")                                                                    \
    FIELD(OUT, 18, "out")                                                                \
    FIELD(LSE, 19, "lse")                                                                \
    FIELD(WEIGHTS, 20, "weights")                                                        \
    /* sizes taken from several tensors, or given alone */                               \
    FIELD(NB, 21, "nb")                                                                  \
    FIELD(HQ, 22, "hq")                                                                  \
    FIELD(HKV, 23, "hkv")                                                                \
    FIELD(D, 24, "d")                                                                    \
    FIELD(DV, 25, "dv")                                                                  \
    /* attend_rule */                                                                    \
    FIELD(RULE, 26, "rule")                                                              \
    FIELD(SCALE_IS_SET, 27, "scale_is_set")                                              \
    FIELD(SCALE, 28, "scale")                                                            \
    FIELD(SOFTCAP, 29, "softcap")                                                        \
    FIELD(CAUSAL, 30, "causal")                                                          \
    FIELD(CAUSAL_OFFSET, 31, "causal_offset")                                            \
    FIELD(WINDOW_LEFT, 32, "window_left")                                                \
    FIELD(WINDOW_RIGHT, 33, "window_right")                                              \
    FIELD(KEY_LENGTHS, 34, "key_lengths")                                                \
    FIELD(MASK, 35, "mask")                                                              \
    FIELD(BIAS, 36, "bias")                                                              \
    FIELD(ALIBI, 37, "alibi")                                                            \
    FIELD(SINKS, 38, "sinks")                                                            \
    FIELD(FIRST_QUERY, 39, "first_query")                                                \
    /* parts and shards */                                                               \
    FIELD(PARTS, 40, "parts")                                                            \
    FIELD(COUNT, 41, "count")                                                            \
    FIELD(PARTIALS, 42, "partials")                                                      \
    FIELD(TO, 43, "to")                                                                  \
    FIELD(REQUEST, 44, "request")                                                        \
    /* attend_stats, attend_head, attend_isa */                                          \
    FIELD(STATS, 45, "stats")                                                            \
    FIELD(STATS_COLUMNS, 46, "stats.columns")                                            \
    FIELD(STATS_ROWS, 47, "stats.rows")                                                  \
    FIELD(STATS_TOP_WEIGHTS, 48, "stats.top_weights")                                    \
    FIELD(STATS_TOP_KEYS, 49, "stats.top_keys")                                          \
    FIELD(STATS_DISTANCES, 50, "stats.distances")                                        \
    FIELD(STATS_CLASS_MASS, 51, "stats.class_mass")                                      \
    FIELD(STATS_CLASSES, 52, "stats.classes")                                            \
    FIELD(STATS_SUMMARIES, 53, "stats.summaries")                                        \
    FIELD(STATS_SUMMARY_STRIDE, 54, "stats.summary_stride")                              \
    FIELD(STATS_SUMMARY_KINDS, 55, "stats.summary_kinds")                                \
    FIELD(STATS_RAW, 56, "stats.raw")                                                    \
    FIELD(HEAD, 57, "head")                                                              \
    FIELD(B, 58, "b")                                                                    \
    FIELD(H, 59, "h")                                                                    \
    FIELD(ISA, 60, "isa")                                                                \
    /* attend_inspection */                                                              \
    FIELD(INSPECTION, 61, "inspection")                                                  \
    FIELD(COLUMN_MASS, 62, "column_mass")                                                \
    FIELD(COLUMN_MAX, 63, "column_max")                                                  \
    FIELD(COLUMN_LAST, 64, "column_last")                                                \
    FIELD(LAST_QUERIES, 65, "last_queries")                                              \
    FIELD(POOLED, 66, "pooled")                                                          \
    FIELD(POOLED_BLOCK, 67, "pooled_block")                                              \
    FIELD(ZOOM, 68, "zoom")                                                              \
    FIELD(ZOOM_QUERY, 69, "zoom_query")                                                  \
    FIELD(ZOOM_KEY, 70, "zoom_key")                                                      \
    FIELD(PROBES, 71, "probes")                                                          \
    FIELD(PROBE_COUNT, 72, "probe_count")                                                \
    FIELD(PROBE_WEIGHTS, 73, "probe_weights")                                            \
    /* attend/mpi.h */                                                                   \
    FIELD(COMM, 74, "comm")                                                              \
    FIELD(DIST, 75, "dist")                                                              \
    FIELD(DIST_QUERIES, 76, "dist.queries")                                              \
    FIELD(DIST_KEYS, 77, "dist.keys")                                                    \
    FIELD(DIST_STRATEGY, 78, "dist.strategy")                                            \
    FIELD(DIST_CHUNK_KEYS, 79, "dist.chunk_keys")                                        \
    /* attend_forward_many */                                                            \
    FIELD(IOS, 80, "ios")
/* clang-format on */

#define ATTEND_FIELD_ENUMERATOR(identifier, number, name)                                \
    ATTEND_FIELD_##identifier = number,
typedef enum attend_field {
    ATTEND_FIELDS(ATTEND_FIELD_ENUMERATOR) ATTEND_FIELD_NONE = 0 /* no argument */
} attend_field;
#undef ATTEND_FIELD_ENUMERATOR

/* The part of the argument that is wrong, where it is a tensor or a struct. */
typedef enum attend_member {
    ATTEND_MEMBER_NONE = 0,
    ATTEND_MEMBER_DATA = 1,
    ATTEND_MEMBER_DTYPE = 2,
    ATTEND_MEMBER_SIZE = 3,
    ATTEND_MEMBER_STRIDE = 4,
    ATTEND_MEMBER_STRUCT_SIZE = 5
} attend_member;

#endif
