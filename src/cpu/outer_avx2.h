/* SPDX-License-Identifier: MIT */
/*
 * The loop of the products on x86-64-v3, for the full register tile of 4 numbers by 3
 * vectors: products_fma_tmpl.h says what it computes.  It takes all 16 registers, 12
 * of them sums; GCC 12 keeps some of the sums in memory, which costs a third of the
 * speed.  Each turn is 12 multiply-adds for 7 loads, and 12 sums are enough to hide
 * the latency of two multiply-adds a cycle.
 */
#ifndef ATTEND_CPU_OUTER_AVX2_H
#define ATTEND_CPU_OUTER_AVX2_H

#include "cpu/simd_avx2.h"

#define OUTER_BY_HAND

/* Sums p, q, r += the number at `from` times the three vectors; `type`: s or d. */
#define OUTER_ROW(type, from, p, q, r)                                                   \
    "vbroadcasts" type " " from ", %[x]\n\t"                                             \
    "vfmadd231p" type " %[y0], %[x], %" p "\n\t"                                         \
    "vfmadd231p" type " %[y1], %[x], %" q "\n\t"                                         \
    "vfmadd231p" type " %[y2], %[x], %" r "\n\t"

#define OUTER_ZERO(p) "vxorps %" p ", %" p ", %" p "\n\t"

/* Steps are in bytes; the compiler picks the registers, and none is left to spare. */
#define OUTER_LOOP(type)                                                                 \
    OUTER_ZERO("0") OUTER_ZERO("1") OUTER_ZERO("2") OUTER_ZERO("3") OUTER_ZERO("4")      \
    OUTER_ZERO("5") OUTER_ZERO("6") OUTER_ZERO("7") OUTER_ZERO("8") OUTER_ZERO("9")      \
    OUTER_ZERO("10") OUTER_ZERO("11")                                                    \
    "test %[n], %[n]\n\t"                                                                \
    "jle 2f\n\t"                                                                         \
    ".p2align 5\n"                                                                       \
    "1:\n\t"                                                                             \
    "vmovups (%[b]), %[y0]\n\t"                                                          \
    "vmovups 32(%[b]), %[y1]\n\t"                                                        \
    "vmovups 64(%[b]), %[y2]\n\t"                                                        \
    OUTER_ROW(type, "(%[a])", "0", "1", "2")                                             \
    OUTER_ROW(type, "(%[a], %[row])", "3", "4", "5")                                     \
    OUTER_ROW(type, "(%[a], %[row], 2)", "6", "7", "8")                                  \
    OUTER_ROW(type, "(%[a], %[row3])", "9", "10", "11")                                  \
    "add %[b_row], %[b]\n\t"                                                             \
    "add %[step], %[a]\n\t"                                                              \
    "dec %[n]\n\t"                                                                       \
    "jnz 1b\n"                                                                           \
    "2:"

#define OUTER_FUNCTION(name, real, vec, type)                                            \
    static inline void name(vec acc[12], const real *a, int64_t row, int64_t step,       \
                            const real *b, int64_t b_row, int64_t n)                     \
    {                                                                                    \
        const int64_t size = sizeof(real);                                               \
        vec x, y0, y1, y2;                                                               \
                                                                                         \
        __asm__(OUTER_LOOP(type)                                                         \
                : "=&x"(acc[0]), "=&x"(acc[1]), "=&x"(acc[2]), "=&x"(acc[3]),            \
                  "=&x"(acc[4]), "=&x"(acc[5]), "=&x"(acc[6]), "=&x"(acc[7]),            \
                  "=&x"(acc[8]), "=&x"(acc[9]), "=&x"(acc[10]), "=&x"(acc[11]),          \
                  [x] "=&x"(x), [y0] "=&x"(y0), [y1] "=&x"(y1), [y2] "=&x"(y2),          \
                  [a] "+r"(a), [b] "+r"(b), [n] "+r"(n)                                  \
                : [row] "r"(row * size), [row3] "r"(3 * row * size),                     \
                  [step] "r"(step * size), [b_row] "r"(b_row * size)                     \
                : "cc", "memory");                                                       \
    }

OUTER_FUNCTION(vf_outer_4x3, float, vf, "s")
OUTER_FUNCTION(vd_outer_4x3, double, vd, "d")

#endif
