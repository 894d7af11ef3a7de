/* SPDX-License-Identifier: MIT */
/*
 * The loop of the products on x86-64-v3, for 4 numbers by 3 or 2 vectors:
 * products_fma_tmpl.h says what it computes.  GCC 12 keeps some of the sums in memory,
 * which costs a third of the speed.  4 by 3 takes all 16 registers, 12 of them sums:
 * a turn is 12 multiply-adds for 7 loads, and the sums hide the latency of two
 * multiply-adds a cycle; so do, just, the 8 sums of 4 by 2.
 */
#ifndef ATTEND_CPU_OUTER_AVX2_H
#define ATTEND_CPU_OUTER_AVX2_H

#include "cpu/simd_avx2.h"

/* N(outer) of 4 numbers by 3 or 2 vectors is V(outer_4x3) or V(outer_4x2). */
#define OUTER_BY_HAND

#define OUTER_ZERO(p, q, r, s)                                                           \
    "vxorps %" p ", %" p ", %" p "\n\t"                                                  \
    "vxorps %" q ", %" q ", %" q "\n\t"                                                  \
    "vxorps %" r ", %" r ", %" r "\n\t"                                                  \
    "vxorps %" s ", %" s ", %" s "\n\t"

/* Sums p, q, r += the number at `from` times the vectors; `type` is s or d. */
#define OUTER_ROW2(type, from, p, q)                                                     \
    "vbroadcasts" type " " from ", %[x]\n\t"                                             \
    "vfmadd231p" type " %[y0], %[x], %" p "\n\t"                                         \
    "vfmadd231p" type " %[y1], %[x], %" q "\n\t"
#define OUTER_ROW3(type, from, p, q, r)                                                  \
    OUTER_ROW2(type, from, p, q) "vfmadd231p" type " %[y2], %[x], %" r "\n\t"

#define OUTER_LOOP(turn)                                                                 \
    "test %[n], %[n]\n\t"                                                                \
    "jle 2f\n\t"                                                                         \
    ".p2align 5\n"                                                                       \
    "1:\n\t" turn "add %[b_row], %[b]\n\t"                                               \
    "add %[step], %[a]\n\t"                                                              \
    "dec %[n]\n\t"                                                                       \
    "jnz 1b\n"                                                                           \
    "2:"

#define OUTER_4X2(type)                                                                  \
    "vmovups (%[b]), %[y0]\n\t"                                                          \
    "vmovups 32(%[b]), %[y1]\n\t" OUTER_ROW2(type, "(%[a])", "0", "1")                   \
        OUTER_ROW2(type, "(%[a], %[row])", "2", "3")                                     \
            OUTER_ROW2(type, "(%[a], %[row], 2)", "4", "5")                              \
                OUTER_ROW2(type, "(%[a], %[row3])", "6", "7")

#define OUTER_4X3(type)                                                                  \
    "vmovups (%[b]), %[y0]\n\t"                                                          \
    "vmovups 32(%[b]), %[y1]\n\t"                                                        \
    "vmovups 64(%[b]), %[y2]\n\t" OUTER_ROW3(type, "(%[a])", "0", "1", "2")              \
        OUTER_ROW3(type, "(%[a], %[row])", "3", "4", "5")                                \
            OUTER_ROW3(type, "(%[a], %[row], 2)", "6", "7", "8")                         \
                OUTER_ROW3(type, "(%[a], %[row3])", "9", "10", "11")

#define OUTER_SUMS(acc, i)                                                               \
    "=&x"((acc)[i]), "=&x"((acc)[i + 1]), "=&x"((acc)[i + 2]), "=&x"((acc)[i + 3])

/* Steps are given to the loop in bytes. */
#define OUTER_FUNCTIONS(v, real, type)                                                   \
    static inline void v##_outer_4x2(v acc[8], const real *a, int64_t row, int64_t step, \
                                     const real *b, int64_t b_row, int64_t n)            \
    {                                                                                    \
        const int64_t size = sizeof(real);                                               \
        v x, y0, y1;                                                                     \
                                                                                         \
        __asm__(OUTER_ZERO("0", "1", "2", "3") OUTER_ZERO("4", "5", "6", "7")            \
                    OUTER_LOOP(OUTER_4X2(type))                                          \
                : OUTER_SUMS(acc, 0), OUTER_SUMS(acc, 4), [x] "=&x"(x), [y0] "=&x"(y0),  \
                  [y1] "=&x"(y1), [a] "+&r"(a), [b] "+&r"(b), [n] "+&r"(n)               \
                : [row] "r"(row * size), [row3] "r"(3 * row * size),                     \
                  [step] "r"(step * size), [b_row] "r"(b_row * size)                     \
                : "cc", "memory");                                                       \
    }                                                                                    \
    static inline void v##_outer_4x3(v acc[12], const real *a, int64_t row,              \
                                     int64_t step, const real *b, int64_t b_row,         \
                                     int64_t n)                                          \
    {                                                                                    \
        const int64_t size = sizeof(real);                                               \
        v x, y0, y1, y2;                                                                 \
                                                                                         \
        __asm__(OUTER_ZERO("0", "1", "2", "3") OUTER_ZERO("4", "5", "6", "7")            \
                    OUTER_ZERO("8", "9", "10", "11") OUTER_LOOP(OUTER_4X3(type))         \
                : OUTER_SUMS(acc, 0), OUTER_SUMS(acc, 4),                                \
                  OUTER_SUMS(acc, 8), [x] "=&x"(x), [y0] "=&x"(y0), [y1] "=&x"(y1),      \
                  [y2] "=&x"(y2), [a] "+&r"(a), [b] "+&r"(b), [n] "+&r"(n)               \
                : [row] "r"(row * size), [row3] "r"(3 * row * size),                     \
                  [step] "r"(step * size), [b_row] "r"(b_row * size)                     \
                : "cc", "memory");                                                       \
    }

OUTER_FUNCTIONS(vf, float, "s")
OUTER_FUNCTIONS(vd, double, "d")

#endif
