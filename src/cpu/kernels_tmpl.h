/* SPDX-License-Identifier: MIT */
/*
 * Not a header: one kernel set.  kernels_<isa>.c includes simd_<isa>.h, defines
 *   ISA, ISA_NEEDS    name and the bits of cpu_features.h
 *   QV, KR            register tile: query vectors by keys; at most 3 vectors
 *   NARROW_TILES      tiles of keys that take turns where rows are few
 *   NARROW_VECTORS    vectors of columns of V at a time where rows are few
 *   BASE_ISA          optional: the set that is left all problems but those of bf16
 *                     that TAKES(p) is true for
 *   TILE_BF16         with it: products_amx.h in the place of products_bf16.h
 *   LANES_STEP, TILES_MAX, NARROW_REST, BC, NARROW_BC, WEIGHT_PIECE   optional: VLEN, 4,
 *                     VLEN / 4, 128, 128 and NARROW_BC if not given: forward_tmpl.h
 * and includes this file, which makes the f32 and f64 instances, or with BASE_ISA the
 * bf16 instance, and the table.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/half.h"
#include "cpu/kernels.h"
#include "cpu/merge_rows.h"
#include "core/second_pool.h"
#include "core/second_store.h"
#include "core/tensor.h"
#include "cpu/cpu_features.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
/* Of a loop whose arrays must stay in registers, however long its body. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define UNROLL _Pragma("GCC unroll 16")
/* Of a loop that is not worth its copies. */
#define ROLLED _Pragma("GCC unroll 1")
#endif
#define LOG2_E 1.44269504088896340736

/* Keys of a block, even: scores of a full tile stay near L1. */
#ifndef BC
#define BC 128
#endif
/* The same where rows are few. */
#ifndef NARROW_BC
#define NARROW_BC 128
#endif
/* Keys whose weights are summed apart, in order, before they join the block's sum. */
#ifndef WEIGHT_PIECE
#define WEIGHT_PIECE NARROW_BC
#endif
/* Keys of a split: the share of one worker. */
#define SPLIT ATTEND_SPLIT_KEYS
/* Columns summed in one go by a score. */
#define SUM_COLUMNS 128
_Static_assert(SPLIT % BC == 0 && BC % NARROW_BC == 0, "a block lies in one split");

/*
 * Bytes of scratch that the products want for one tile of Q and a block of K and V, and
 * for themselves.
 */
struct operand_sizes {
    size_t q, k, v, work;
};

/* Row x of a block stands at data + x * row, in elements as the products want them. */
struct operand {
    const void *data;
    int64_t row;
};

/* Why some row misses some key of a block: its range of keys, or the mask. */
enum { EDGE_RANGE = 1, EDGE_MASK = 2 };
/* What a mask leaves of a block begins and ends here: keys that products take at once. */
#define MASK_STEP 8

/* The types that each instance of the templates has of its own. */
#define STATE struct N(state)
#define ROWS struct N(rows)

/* Scores of a row of one: a block, and room for a tile of keys that starts inside it. */
#define S_ROW (NARROW_BC + NARROW_TILES * VLEN)
/* How far before its use a key of K is fetched, in keys. */
#define KEYS_AHEAD 48
/*
 * Bytes of V, and keys at least, that rows and columns take in turn; V is fetched so many
 * bytes before its use.
 */
#define VALUES_BYTES 8192
#define VALUES_LEAST 16
/* Bytes that are fetched at once. */
#define LINE 64
/* A load for the sake of its line: in order, the machine foresees loads, not fetches. */
#define TOUCH(at) ((void)*(const volatile char *)(at))
#define FETCH_L1(at) __builtin_prefetch((at), 0, 3)
#define FETCH_L2(at) __builtin_prefetch((at), 0, 2)
/* Most vectors beside each other in a register tile. */
#define NV_MAX 4

/*
 * Statistics: sums that scale with the weights (SUM_SPREAD2 follows SUM_SPREAD, bins of
 * distances and classes follow all), and with their squares: of each kind of noise sum
 * x^2 and sum x^2 |v|^2, where x is the weight, or the weight times the score.
 */
enum {
    SUM_SPREAD,
    SUM_SPREAD2,
    SUM_DISTANCE,
    SUM_LOG_DISTANCE,
    SUM_NORM,
    SUM_SINK1,
    SUM_SINK4,
    SUM_NEAR,
    SUM_KINDS = SUM_NEAR + SUMS_NEAR_KEYS
};
/* Score differences beyond this have weight 0; it stands in for -inf, since 0 inf is NaN.
 */
#define SPREAD_MAX 1000
enum { NOISE_OF_KEYS, NOISE_OF_NORMS, NOISE_KINDS };
#define SQUARES_OF(noise) (2 * (noise))
enum { SQUARE_WEIGHT = SQUARES_OF(NOISE_OF_KEYS), SQUARES = SQUARES_OF(NOISE_KINDS) };

/* f(..., n) with n, the number of vectors in use, known to the compiler. */
#if QV == 3
#define FOR_VECTORS(n, f, ...)                                                           \
    ((n) == 1 ? f(__VA_ARGS__, 1) : (n) == 2 ? f(__VA_ARGS__, 2) : f(__VA_ARGS__, 3))
#elif QV == 2
#define FOR_VECTORS(n, f, ...) ((n) == 1 ? f(__VA_ARGS__, 1) : f(__VA_ARGS__, 2))
#else
#error "a tile has two or three vectors of queries"
#endif

/* f(..., dtype) with the dtype of Q, K or V, or a guess at O's, known to the compiler. */
#define FOR_DTYPES(dtype, f, ...)                                                        \
    do {                                                                                 \
        if ((dtype) == REAL_DTYPE || sizeof(REAL) == sizeof(double))                     \
            f(__VA_ARGS__, REAL_DTYPE);                                                  \
        else if ((dtype) == ATTEND_F16)                                                  \
            f(__VA_ARGS__, ATTEND_F16);                                                  \
        else if ((dtype) == ATTEND_BF16)                                                 \
            f(__VA_ARGS__, ATTEND_BF16);                                                 \
        else                                                                             \
            __builtin_unreachable();                                                     \
    } while (0)

/* The same for K and V of a narrow item. */
#define FOR_NARROW_DTYPES(dtype, f, ...)                                                 \
    do {                                                                                 \
        if (N(widens) && (dtype) == ATTEND_F16)                                          \
            f(__VA_ARGS__, ATTEND_F16);                                                  \
        else if (N(widens) && (dtype) == ATTEND_BF16)                                    \
            f(__VA_ARGS__, ATTEND_BF16);                                                 \
        else if ((dtype) == (attend_dtype)N(own_dtype))                                  \
            f(__VA_ARGS__, (attend_dtype)N(own_dtype));                                  \
        else                                                                             \
            __builtin_unreachable();                                                     \
    } while (0)

/*
 * f(..., r, n) for rows r .. r + n - 1, n known to the compiler.  The last may lie past
 * `rows`: that costs less than a turn of their own for those that are left.
 */
#define FOR_ROWS_OF(many, rows, f, ...)                                                  \
    for (int64_t r_ = 0; r_ < (rows); r_ += (many)) {                                    \
        if ((many) > 4 && r_ + 4 < (rows))                                               \
            f(__VA_ARGS__, r_, (many) > 4 ? 8 : 1);                                      \
        else if ((many) > 2 && r_ + 2 < (rows))                                          \
            f(__VA_ARGS__, r_, (many) > 2 ? 4 : 1);                                      \
        else if (r_ + 1 < (rows))                                                        \
            f(__VA_ARGS__, r_, 2);                                                       \
        else                                                                             \
            f(__VA_ARGS__, r_, 1);                                                       \
    }

#define REAL float
#define REAL_INTEGER int32_t
#define REAL_DTYPE ATTEND_F32
#define REAL_MAX FLT_MAX
#define REAL_MIN FLT_MIN
#define REAL_EPSILON FLT_EPSILON
#define VEC vf
#define VLEN VF_LEN
#define BR (QV * VLEN)
#ifndef LANES_STEP
#define LANES_STEP VLEN
#endif
#ifndef NARROW_REST
#define NARROW_REST (VLEN / 4)
#endif
#ifndef TILES_MAX
#define TILES_MAX 4
#endif
#define V(word) vf_##word
#define TURN VF_TURN
/* scripts/fit_exp2.py: relative error below 1e-7 before rounding. */
#define EXP2_TERMS                                                                       \
    {                                                                                    \
        0x1.62e42ap-1f, 0x1.ebf9c2p-3f, 0x1.c6b6d8p-5f, 0x1.3ce8acp-7f, 0x1.5bda3cp-10f  \
    }
#define EXP2_MIN -126

#ifdef BASE_ISA
#define N(name) name##_bf16
#else
#define N(name) name##_f32
#endif
#define WIDENS_HALVES
#include "cpu/exp2_tmpl.h"
#include "cpu/state_tmpl.h"
#include "cpu/lanes_tmpl.h"
#include "cpu/partial_tmpl.h"
#include "cpu/finish_tmpl.h"
#include "cpu/mask_tmpl.h"
#if defined(TILE_BF16)
#include "cpu/pairs_bf16.h"
#include "cpu/products_amx.h"
#include "cpu/layout_amx.h"
#include "cpu/stats_tmpl.h"
#include "cpu/wide_tmpl.h"
#include "cpu/beside_amx.h"
#include "cpu/block_amx.h"
#include "cpu/narrow_amx.h"
#elif defined(BASE_ISA)
#include "cpu/pairs_bf16.h"
#include "cpu/products_bf16.h"
#include "cpu/products_tmpl.h"
#include "cpu/stats_tmpl.h"
#include "cpu/wide_tmpl.h"
#include "cpu/block_tmpl.h"
#include "cpu/narrow_bf16.h"
#include "cpu/narrow_products_tmpl.h"
#include "cpu/narrow_stats_tmpl.h"
#else
#include "cpu/products_fma_tmpl.h"
#include "cpu/products_tmpl.h"
#include "cpu/stats_tmpl.h"
#include "cpu/wide_tmpl.h"
#include "cpu/block_tmpl.h"
#include "cpu/narrow_fma_tmpl.h"
#include "cpu/narrow_products_tmpl.h"
#include "cpu/narrow_stats_tmpl.h"
#endif
#include "cpu/narrow_tmpl.h"
#include "cpu/forward_tmpl.h"
#ifndef TILE_BF16
#include "cpu/second_tmpl.h"
#endif

static void exp2_floats(const float *x, float *y, int64_t n)
{
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN)
        vf_store(y + i, N(exp2)(vf_load(x + i)));
    for (; i < n; i++) {
        float lanes[VF_LEN];

        vf_store(lanes, N(exp2)(vf_set1(x[i])));
        y[i] = lanes[0];
    }
}
#undef N

#ifndef BASE_ISA
#undef WIDENS_HALVES
#undef REAL
#undef REAL_INTEGER
#undef REAL_DTYPE
#undef REAL_MAX
#undef REAL_MIN
#undef REAL_EPSILON
#undef VEC
#undef VLEN
#undef V
#undef TURN
#undef EXP2_TERMS
#undef EXP2_MIN

#define REAL double
#define REAL_INTEGER int64_t
#define REAL_DTYPE ATTEND_F64
#define REAL_MAX DBL_MAX
#define REAL_MIN DBL_MIN
#define REAL_EPSILON DBL_EPSILON
#define VEC vd
#define VLEN VD_LEN
#define V(word) vd_##word
#define TURN VD_TURN
/* (ln 2)^k / k!: the first term left out is below 2^-57 of the sum. */
#define EXP2_TERMS                                                                       \
    {                                                                                    \
        0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0cp-5,                 \
            0x1.3b2ab6fba4e77p-7, 0x1.5d87fe78a6731p-10, 0x1.430912f86c787p-13,          \
            0x1.ffcbfc588b0c7p-17, 0x1.62c0223a5c824p-20, 0x1.b5253d395e7c4p-24,         \
            0x1.e4cf5158b8ecap-28, 0x1.e8cac7351bb25p-32, 0x1.c3bd650fc2986p-36,         \
            0x1.816193166d0f9p-40                                                        \
    }
#define EXP2_MIN -1022
#define N(name) name##_f64
#include "cpu/exp2_tmpl.h"
#include "cpu/state_tmpl.h"
#include "cpu/lanes_tmpl.h"
#include "cpu/partial_tmpl.h"
#include "cpu/finish_tmpl.h"
#include "cpu/mask_tmpl.h"
#include "cpu/products_fma_tmpl.h"
#include "cpu/products_tmpl.h"
#include "cpu/stats_tmpl.h"
#include "cpu/wide_tmpl.h"
#include "cpu/block_tmpl.h"
#include "cpu/narrow_fma_tmpl.h"
#include "cpu/narrow_products_tmpl.h"
#include "cpu/narrow_stats_tmpl.h"
#include "cpu/narrow_tmpl.h"
#include "cpu/forward_tmpl.h"
#include "cpu/second_tmpl.h"
#include "cpu/merge_tmpl.h"
#define MERGE(name) name

#else
#define MERGE(name) NULL
#endif

#define TABLE_OF(isa) attendi_cpu_##isa
#define TABLE(isa) TABLE_OF(isa)
#define NAME_OF(isa) #isa
#define NAME(isa) NAME_OF(isa)

#ifdef BASE_ISA
extern const struct kernels TABLE(BASE_ISA);
#define BASE_TABLE &TABLE(BASE_ISA)
/* `name` for problems of this dtype, called with the arguments. */
#define FOR_DTYPE(dtype, name, ...) ((void)(dtype), name##_bf16(__VA_ARGS__))
#else
#define BASE_TABLE NULL
#define TAKES(p) ((void)(p), true)
#define FOR_DTYPE(dtype, name, ...)                                                      \
    (attendi_wide_dtype(dtype) == ATTEND_F64 ? name##_f64(__VA_ARGS__)                   \
                                             : name##_f32(__VA_ARGS__))
#endif

static bool takes(const struct problem *p) { return TAKES(p); }

static int64_t tile_rows(attend_dtype dtype)
{
    return FOR_DTYPE(dtype, tile_rows, dtype);
}

static int tiles_max(attend_dtype dtype) { return FOR_DTYPE(dtype, tiles_max, dtype); }

static size_t scratch_size(const struct problem *p, int64_t rows)
{
    return FOR_DTYPE(p->dtype, scratch_size, p, rows);
}

static size_t partial_size(const struct problem *p, int64_t rows)
{
    return FOR_DTYPE(p->dtype, partial_size, p, rows);
}

static void forward(const struct problem *p, const struct tile *t, void *scratch)
{
    FOR_DTYPE(p->dtype, forward, p, t, scratch);
}

static void finish(const struct problem *p, const struct tile *t, void *partials,
                   const int64_t *start, int64_t count, void *scratch)
{
    FOR_DTYPE(p->dtype, finish, p, t, partials, start, count, scratch);
}

/* Scores of the second pass come from products that write them in one piece. */
#ifdef TILE_BF16
#define SECOND(name) NULL
#else
#define SECOND(name) name

static size_t second_scratch(const struct problem *p)
{
    return FOR_DTYPE(p->dtype, second_scratch, p);
}

static void second(const struct problem *p, const struct second_item *item, void *scratch)
{
    FOR_DTYPE(p->dtype, second, p, item, scratch);
}
#endif

extern const struct kernels TABLE(ISA);
const struct kernels TABLE(ISA) = {.isa = NAME(ISA),
                                   .needs = ISA_NEEDS,
                                   .takes = takes,
                                   .base = BASE_TABLE,
                                   .tile_rows = tile_rows,
                                   .tiles_max = tiles_max,
                                   .split_keys = SPLIT,
                                   .block_keys = BC,
                                   .scratch_size = scratch_size,
                                   .partial_size = partial_size,
                                   .forward = forward,
                                   .finish = finish,
                                   .second_scratch = SECOND(second_scratch),
                                   .second = SECOND(second),
                                   .merge = MERGE(merge),
                                   .merge_exp = MERGE(merge_exp),
                                   .exp2 = exp2_floats};
