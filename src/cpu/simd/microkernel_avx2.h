/* SPDX-License-Identifier: MIT */
/*
 * The microkernel of the products on x86-64-v3: 4 numbers by 3 or 2 vectors;
 * products_fma_tmpl.h says what it computes.  GCC 12 keeps some of the sums in memory,
 * which costs a third of the speed.  4 by 3 takes all 16 registers, 12 of them sums:
 * an iteration is 12 multiply-adds for 7 loads, and the sums hide the latency of two
 * multiply-adds a cycle; so do, just, the 8 sums of 4 by 2.
 */
#ifndef ATTEND_CPU_MICROKERNEL_AVX2_H
#define ATTEND_CPU_MICROKERNEL_AVX2_H

/* microkernel() of products_fma_tmpl.h takes microkernel_3 and microkernel_2 from here.
 */
#define MICROKERNEL_BY_HAND

#define MK_ZERO(p, q, r, s)                                                              \
    "vxorps %" p ", %" p ", %" p "\n\t"                                                  \
    "vxorps %" q ", %" q ", %" q "\n\t"                                                  \
    "vxorps %" r ", %" r ", %" r "\n\t"                                                  \
    "vxorps %" s ", %" s ", %" s "\n\t"

/* Sums p, q, r += the number at `from` times the vectors; `type` is s or d. */
#define MK_ROW2(type, from, p, q)                                                        \
    "vbroadcasts" type " " from ", %[x]\n\t"                                             \
    "vfmadd231p" type " %[y0], %[x], %" p "\n\t"                                         \
    "vfmadd231p" type " %[y1], %[x], %" q "\n\t"
#define MK_ROW3(type, from, p, q, r)                                                     \
    MK_ROW2(type, from, p, q) "vfmadd231p" type " %[y2], %[x], %" r "\n\t"

#define MK_LOOP(body)                                                                    \
    "test %[n], %[n]\n\t"                                                                \
    "jle 2f\n\t"                                                                         \
    ".p2align 5\n"                                                                       \
    "1:\n\t" body "add %[b_row], %[b]\n\t"                                               \
    "add %[step], %[a]\n\t"                                                              \
    "dec %[n]\n\t"                                                                       \
    "jnz 1b\n"                                                                           \
    "2:"

#define MK_4X2(type)                                                                     \
    "vmovups (%[b]), %[y0]\n\t"                                                          \
    "vmovups 32(%[b]), %[y1]\n\t" MK_ROW2(type, "(%[a])", "0", "1")                      \
        MK_ROW2(type, "(%[a], %[row])", "2", "3")                                        \
            MK_ROW2(type, "(%[a], %[row], 2)", "4", "5")                                 \
                MK_ROW2(type, "(%[a], %[row3])", "6", "7")

#define MK_4X3(type)                                                                     \
    "vmovups (%[b]), %[y0]\n\t"                                                          \
    "vmovups 32(%[b]), %[y1]\n\t"                                                        \
    "vmovups 64(%[b]), %[y2]\n\t" MK_ROW3(type, "(%[a])", "0", "1", "2")                 \
        MK_ROW3(type, "(%[a], %[row])", "3", "4", "5")                                   \
            MK_ROW3(type, "(%[a], %[row], 2)", "6", "7", "8")                            \
                MK_ROW3(type, "(%[a], %[row3])", "9", "10", "11")

#define MK_SUMS(acc, i)                                                                  \
    "=&x"((acc)[i]), "=&x"((acc)[i + 1]), "=&x"((acc)[i + 2]), "=&x"((acc)[i + 3])

/* As in microkernel_avx512.h; a row of b has three vectors of 32 bytes. */
static inline void microkernel_2(vec *acc, const void *a, int64_t row, int64_t step,
                                 const void *b, int64_t n)
{
    vec x, y0, y1;

    __asm__(MK_ZERO("0", "1", "2", "3") MK_ZERO("4", "5", "6", "7")
                MK_LOOP(MK_4X2(ASM_TYPE))
            : MK_SUMS(acc, 0), MK_SUMS(acc, 4), [x] "=&x"(x), [y0] "=&x"(y0),
              [y1] "=&x"(y1), [a] "+&r"(a), [b] "+&r"(b), [n] "+&r"(n)
            : [row] "r"(row), [row3] "r"(3 * row), [step] "r"(step),
              [b_row] "i"(3 * sizeof(vec))
            : "cc", "memory");
}

static inline void microkernel_3(vec *acc, const void *a, int64_t row, int64_t step,
                                 const void *b, int64_t n)
{
    vec x, y0, y1, y2;

    __asm__(MK_ZERO("0", "1", "2", "3") MK_ZERO("4", "5", "6", "7")
                MK_ZERO("8", "9", "10", "11") MK_LOOP(MK_4X3(ASM_TYPE))
            : MK_SUMS(acc, 0), MK_SUMS(acc, 4),
              MK_SUMS(acc, 8), [x] "=&x"(x), [y0] "=&x"(y0), [y1] "=&x"(y1),
              [y2] "=&x"(y2), [a] "+&r"(a), [b] "+&r"(b), [n] "+&r"(n)
            : [row] "r"(row), [row3] "r"(3 * row), [step] "r"(step),
              [b_row] "i"(3 * sizeof(vec))
            : "cc", "memory");
}

#endif
