/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the parameters of the templates, and what all of them share.  A
 * translation unit has the kernels of one kernel set for one element type.  All its
 * functions are static: no code compiled for one machine is linked into a caller for
 * another.  Its one global name is its table.
 *
 * <isa>_<element>.c         KERNELS           the name of the table
 * element_<element>.h       REAL, REAL_*      type of scores and sums, its limits
 *                           EXP2_TERMS, EXP2_MIN   exp2_tmpl.h
 *                           WIDENS_HALVES     f16 and bf16 become REAL
 *                           ELEMENT_F64, ELEMENT_BF16   one of them, or neither
 * simd_<isa>.h              vec, VLEN, vec_*  its vector and the operations
 *                           TRANSPOSED        columns that vec_load_transposed() loads
 * microkernel_<isa>.h       MICROKERNEL_BY_HAND   microkernel_3 and microkernel_2
 * set_<isa>.h               QV                vectors of query rows in a full tile, 2 or
 * 3 KR                keys (or columns of V) in a register tile NARROW_ROWS       rows at
 * a time in a narrow item, 4 or 8 NARROW_TILES      tiles of VLEN keys that alternate in
 * one NARROW_VECTORS    vectors of columns of V at a time in one optional LANES_STEP
 * lanes in use are a multiple: VLEN TILES_MAX         tiles of an item at most: 4
 *                           NARROW_REST       rows past whole vectors that are narrow, at
 *                                             most: VLEN / 4
 *                           BC, NARROW_BC     keys of a block, wide and narrow: 128
 *                           WEIGHT_PIECE      keys whose weights are summed apart:
 *                                             NARROW_BC
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/half.h"
#include "cpu/dispatch/kernels.h"
#include "cpu/merge/merge_rows.h"
#include "core/second_pool.h"
#include "core/second_store.h"
#include "core/tensor.h"
#include "cpu/dispatch/cpu_features.h"

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
/* Rows of a tile. */
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
        if (WIDENS && (dtype) == ATTEND_F16)                                             \
            f(__VA_ARGS__, ATTEND_F16);                                                  \
        else if (WIDENS && (dtype) == ATTEND_BF16)                                       \
            f(__VA_ARGS__, ATTEND_BF16);                                                 \
        else if ((dtype) == (attend_dtype)OWN_DTYPE)                                     \
            f(__VA_ARGS__, (attend_dtype)OWN_DTYPE);                                     \
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
