/* SPDX-License-Identifier: MIT */
/*
 * Not a header: parameters and common macros of the templates.  A translation unit has
 * the kernels of one kernel set for one element type.  All its functions are static: no
 * code compiled for one machine is linked into a caller for another.  Its one global name
 * is its table.
 *
 * <isa>_<element>.c
 *   KERNELS            the name of the table
 * element_<element>.h
 *   REAL, REAL_*       the type of scores and sums, and its limits
 *   EXP2_TERMS, EXP2_MIN  simd/exp2_tmpl.h
 *   WIDENS_HALVES      f16 and bf16 are widened to REAL
 *   ELEMENT_F64, ELEMENT_BF16  one of them, or neither
 * simd_<isa>.h
 *   vec, VLEN, vec_*   a vector of REAL, its lanes, its operations
 *   TRANSPOSED         columns that vec_load_transposed() loads
 * microkernel_<isa>.h, if there is one
 *   MICROKERNEL_BY_HAND  it has microkernel_3() and microkernel_2()
 * set_<isa>.h
 *   QV                 vectors of query rows in a full tile, 2 or 3
 *   KR                 keys, or columns of V, in a register tile
 *   DECODE_ROWS        decode: rows at a time, 4 or 8
 *   DECODE_TILES       decode: tiles of VLEN keys that alternate
 *   DECODE_VECTORS     decode: vectors of columns of V at a time
 * optional, with defaults below
 *   LANES_STEP         lanes are used in multiples of this
 *   TILES_MAX          tiles of an item at most
 *   DECODE_REST        rows past whole vectors that take the decode path, at most
 *   BC, DECODE_BC      keys of a block, prefill and decode
 *   WEIGHT_PIECE       decode: keys whose weights are summed apart
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "base/half.h"
#include "cpu/dispatch/kernels.h"
#include "cpu/merge/merge_rows.h"
#include "core/inspect_pool.h"
#include "core/inspect_store.h"
#include "core/tensor.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
/* For a loop whose arrays must stay in registers. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define UNROLL _Pragma("GCC unroll 16")
/* For a loop that is not worth unrolling. */
#define ROLLED _Pragma("GCC unroll 1")
#endif
/*
 * For the microkernel's loop.  For WebAssembly, LLVM hoists loads of several steps, more
 * than there are registers.
 */
#ifdef __wasm__
#define STEPS_UNROLLED ROLLED
#else
#define STEPS_UNROLLED _Pragma("GCC unroll 4")
#endif
#define LOG2_E 1.44269504088896340736

/* Keys of a block, even: the scores of a full tile stay close to the size of L1. */
#ifndef BC
#define BC 128
#endif
/* The same on the decode path. */
#ifndef DECODE_BC
#define DECODE_BC 128
#endif
/*
 * Keys whose weights are summed separately, in order, before the sum is added to the
 * block's.
 */
#ifndef WEIGHT_PIECE
#define WEIGHT_PIECE DECODE_BC
#endif
/* Rows of a tile. */
#define BR (QV * VLEN)
#ifndef LANES_STEP
#define LANES_STEP VLEN
#endif
#ifndef DECODE_REST
#define DECODE_REST (VLEN / 4)
#endif
#ifndef TILES_MAX
#define TILES_MAX 4
#endif
/* Additional bytes for products of squared weights, for statistics. */
#ifndef PARTS_BYTES
#define PARTS_BYTES 0
#endif
/* Keys of a split. */
#define SPLIT ATTEND_SPLIT_KEYS
/* Columns of a partial sum of a score. */
#define SUM_COLUMNS 128
_Static_assert(SPLIT % BC == 0 && BC % DECODE_BC == 0, "a block lies in one split");

/*
 * Bytes of scratch of the products: a tile of Q, a block of K and of V, and working
 * memory.
 */
struct operand_sizes {
    size_t q, k, v, work;
};

/* Row x of a block is at data + x * row, in elements of the products. */
struct operand {
    const void *data;
    int64_t row;
};

/*
 * Reasons why a key of a block is hidden from some row: the row's range of keys, or the
 * mask.
 */
enum { EDGE_RANGE = 1, EDGE_MASK = 2 };
/* Granularity, in keys, to which a masked block is trimmed. */
#define MASK_STEP 8

/*
 * Decode: elements of a row of scores: a block, and a tile of keys that starts inside it.
 */
#define S_ROW (DECODE_BC + DECODE_TILES * VLEN)
/* Prefetch distance of K, in keys. */
#define PREFETCH_KEYS 48
/*
 * Bytes of V, and minimum number of keys, that all rows and columns use before the next
 * ones; also the prefetch distance of V.
 */
#define VALUES_BYTES 8192
#define VALUES_LEAST 16
/* Bytes of a cache line. */
#define LINE 64
/*
 * A load that brings its line into the cache: hardware prefetchers follow loads, not
 * prefetches.
 */
#define TOUCH(at) ((void)*(const volatile char *)(at))
#define PREFETCH_L1(at) __builtin_prefetch((at), 0, 3)
#define PREFETCH_L2(at) __builtin_prefetch((at), 0, 2)
/* Maximum number of vectors of a row of a register tile. */
#define NV_MAX 4

/* f(..., n) with n, the number of vectors in use, as a constant. */
#if QV == 3
#define FOR_VECTORS(n, f, ...)                                                           \
    ((n) == 1 ? f(__VA_ARGS__, 1) : (n) == 2 ? f(__VA_ARGS__, 2) : f(__VA_ARGS__, 3))
#elif QV == 2
#define FOR_VECTORS(n, f, ...) ((n) == 1 ? f(__VA_ARGS__, 1) : f(__VA_ARGS__, 2))
#else
#error "a tile has two or three vectors of queries"
#endif

/* f(..., dtype) with the dtype of Q, K or V, or a probable one of O, as a constant. */
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

/* The same for K and V on the decode path. */
#define FOR_DECODE_DTYPES(dtype, f, ...)                                                 \
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
 * f(..., r, n) for rows r .. r + n - 1, with n a constant.  The last rows may lie past
 * `rows`, which costs less than a pass for the remainder.
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
