/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the parameters of the templates, and what all of them share.  A
 * translation unit has the kernels of one kernel set for one element type.  All its
 * functions are static: no code compiled for one machine is linked into a caller for
 * another.  Its one global name is its table.
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
/* Of a loop whose arrays must stay in registers, however long its body. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define UNROLL _Pragma("GCC unroll 16")
/* Of a loop that is not worth its copies. */
#define ROLLED _Pragma("GCC unroll 1")
#endif
/* Of the microkernel's loop.  LLVM gathers the loads of several steps for WebAssembly,
 * more than there are registers. */
#ifdef __wasm__
#define STEPS_UNROLLED ROLLED
#else
#define STEPS_UNROLLED _Pragma("GCC unroll 4")
#endif
#define LOG2_E 1.44269504088896340736

/* Keys of a block, even: scores of a full tile stay near L1. */
#ifndef BC
#define BC 128
#endif
/* The same on the decode path. */
#ifndef DECODE_BC
#define DECODE_BC 128
#endif
/* Keys whose weights are summed apart, in order, before they are added to the block's
 * sum. */
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
/* Bytes that a product of squares of weights needs besides, for statistics. */
#ifndef PARTS_BYTES
#define PARTS_BYTES 0
#endif
/* Keys of a split: the share of one worker. */
#define SPLIT ATTEND_SPLIT_KEYS
/* Columns summed in one go by a score. */
#define SUM_COLUMNS 128
_Static_assert(SPLIT % BC == 0 && BC % DECODE_BC == 0, "a block lies in one split");

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
/* What a mask leaves of a block begins and ends here: keys that products use at once. */
#define MASK_STEP 8

/* Decode: scores of a row: a block, and room for a tile of keys that starts inside it. */
#define S_ROW (DECODE_BC + DECODE_TILES * VLEN)
/* How far before its use a key of K is prefetched, in keys. */
#define PREFETCH_KEYS 48
/*
 * Bytes of V, and keys at least, that all rows and columns use before the next ones; V is
 * prefetched so many bytes before its use.
 */
#define VALUES_BYTES 8192
#define VALUES_LEAST 16
/* Bytes of a cache line. */
#define LINE 64
/* A load for the sake of its line: hardware prefetchers follow loads, not prefetches. */
#define TOUCH(at) ((void)*(const volatile char *)(at))
#define PREFETCH_L1(at) __builtin_prefetch((at), 0, 3)
#define PREFETCH_L2(at) __builtin_prefetch((at), 0, 2)
/* Most vectors of a row of a register tile. */
#define NV_MAX 4

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
 * f(..., r, n) for rows r .. r + n - 1, n known to the compiler.  The last may lie past
 * `rows`: that costs less than a pass of their own for those that are left.
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
