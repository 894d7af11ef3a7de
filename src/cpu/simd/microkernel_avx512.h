/* SPDX-License-Identifier: MIT */
/*
 * The microkernel of the products in AVX-512: 8 numbers by 3 or 2 vectors, summed from
 * zero over n steps. products_fma_tmpl.h says what it computes. 8 by 3 takes 28 of 32
 * registers: 24 sums, 3 vectors and the broadcast, 24 multiply-adds for 11 loads.
 *
 * One asm statement holds the whole loop.  A C loop is as fast only with an asm statement
 * for each instruction, and GCC then unrolls and peels it: 34 KB more machine code.
 */
#ifndef ATTEND_CPU_MICROKERNEL_AVX512_H
#define ATTEND_CPU_MICROKERNEL_AVX512_H

/* microkernel() of products_fma_tmpl.h calls microkernel_3 and microkernel_2. */
#define MICROKERNEL_BY_HAND

/* Numbers are pairs in bf16; the sums are f32. */
#ifdef ELEMENT_BF16
#define MK_MAC "vdpbf16ps"
#else
#define MK_MAC ASM_FMA
#endif

/* Scratch registers: a, a + 4 row, 3 row, b, remaining steps; x and y0 .. y2. */
#define MK_BEGIN                                                                         \
    "mov %[a], %%rax\n\t"                                                                \
    "lea (%[a], %[row], 4), %%rcx\n\t"                                                   \
    "lea (%[row], %[row], 2), %%rdx\n\t"                                                 \
    "mov %[b], %%rsi\n\t"                                                                \
    "mov %[n], %%rdi\n\t"                                                                \
    "test %%rdi, %%rdi\n\t"                                                              \
    "jle 2f\n\t"                                                                         \
    ".p2align 5\n"                                                                       \
    "1:\n\t"
#define MK_END                                                                           \
    "add %[step], %%rax\n\t"                                                             \
    "add %[step], %%rcx\n\t"                                                             \
    "add %[b_row], %%rsi\n\t"                                                            \
    "dec %%rdi\n\t"                                                                      \
    "jnz 1b\n"                                                                           \
    "2:"
#define MK_SCRATCH                                                                       \
    "rax", "rcx", "rdx", "rsi", "rdi", "xmm28", "xmm29", "xmm30", "xmm31", "cc", "memory"

#define MK_ZERO(p) "vpxord %x" p ", %x" p ", %x" p "\n\t"
#define MK_ZERO4(p, q, r, s) MK_ZERO(p) MK_ZERO(q) MK_ZERO(r) MK_ZERO(s)

/* Sums p, q, r += the number at `from` times y0, y1, y2. */
#define MK_ROW2(broadcast, mac, from, p, q)                                              \
    broadcast " " from ", %%zmm31\n\t" mac " %%zmm28, %%zmm31, %" p "\n\t" mac           \
              " %%zmm29, %%zmm31, %" q "\n\t"
#define MK_ROW3(broadcast, mac, from, p, q, r)                                           \
    MK_ROW2(broadcast, mac, from, p, q) mac " %%zmm30, %%zmm31, %" r "\n\t"

#define MK_SUMS4(acc, i)                                                                 \
    "=&v"((acc)[i]), "=&v"((acc)[i + 1]), "=&v"((acc)[i + 2]), "=&v"((acc)[i + 3])
#define MK_SUMS8(acc, i) MK_SUMS4(acc, i), MK_SUMS4(acc, i + 4)

/* clang-format off */
#define MK_8X3(broadcast, mac)                                                           \
    MK_ZERO4("0", "1", "2", "3")                                                         \
    MK_ZERO4("4", "5", "6", "7")                                                         \
    MK_ZERO4("8", "9", "10", "11")                                                       \
    MK_ZERO4("12", "13", "14", "15")                                                     \
    MK_ZERO4("16", "17", "18", "19")                                                     \
    MK_ZERO4("20", "21", "22", "23")                                                     \
    MK_BEGIN                                                                             \
    "vmovups (%%rsi), %%zmm28\n\t"                                                       \
    "vmovups 64(%%rsi), %%zmm29\n\t"                                                     \
    "vmovups 128(%%rsi), %%zmm30\n\t"                                                    \
    MK_ROW3(broadcast, mac, "(%%rax)", "0", "1", "2")                                    \
    MK_ROW3(broadcast, mac, "(%%rax, %[row])", "3", "4", "5")                            \
    MK_ROW3(broadcast, mac, "(%%rax, %[row], 2)", "6", "7", "8")                         \
    MK_ROW3(broadcast, mac, "(%%rax, %%rdx)", "9", "10", "11")                           \
    MK_ROW3(broadcast, mac, "(%%rcx)", "12", "13", "14")                                 \
    MK_ROW3(broadcast, mac, "(%%rcx, %[row])", "15", "16", "17")                         \
    MK_ROW3(broadcast, mac, "(%%rcx, %[row], 2)", "18", "19", "20")                      \
    MK_ROW3(broadcast, mac, "(%%rcx, %%rdx)", "21", "22", "23")                          \
    MK_END

#define MK_8X2(broadcast, mac)                                                           \
    MK_ZERO4("0", "1", "2", "3")                                                         \
    MK_ZERO4("4", "5", "6", "7")                                                         \
    MK_ZERO4("8", "9", "10", "11")                                                       \
    MK_ZERO4("12", "13", "14", "15")                                                     \
    MK_BEGIN                                                                             \
    "vmovups (%%rsi), %%zmm28\n\t"                                                       \
    "vmovups 64(%%rsi), %%zmm29\n\t"                                                     \
    MK_ROW2(broadcast, mac, "(%%rax)", "0", "1")                                         \
    MK_ROW2(broadcast, mac, "(%%rax, %[row])", "2", "3")                                 \
    MK_ROW2(broadcast, mac, "(%%rax, %[row], 2)", "4", "5")                              \
    MK_ROW2(broadcast, mac, "(%%rax, %%rdx)", "6", "7")                                  \
    MK_ROW2(broadcast, mac, "(%%rcx)", "8", "9")                                         \
    MK_ROW2(broadcast, mac, "(%%rcx, %[row])", "10", "11")                               \
    MK_ROW2(broadcast, mac, "(%%rcx, %[row], 2)", "12", "13")                            \
    MK_ROW2(broadcast, mac, "(%%rcx, %%rdx)", "14", "15")                                \
    MK_END
/* clang-format on */

/*
 * acc[i][v] = sum over t < n of the number at a + i row + t step by the vector at b + t
 * 192 + 64 v, all in bytes.  A row of b has three vectors even if two are used.
 */
static inline void microkernel_3(vec *acc, const void *a, int64_t row, int64_t step,
                                 const void *b, int64_t n)
{
    __asm__(MK_8X3(ASM_BROADCAST, MK_MAC)
            : MK_SUMS8(acc, 0), MK_SUMS8(acc, 8), MK_SUMS8(acc, 16)
            : [a] "r"(a), [row] "r"(row), [step] "r"(step), [b] "r"(b), [n] "r"(n),
              [b_row] "i"(3 * sizeof(vec))
            : MK_SCRATCH);
}

static inline void microkernel_2(vec *acc, const void *a, int64_t row, int64_t step,
                                 const void *b, int64_t n)
{
    __asm__(MK_8X2(ASM_BROADCAST, MK_MAC)
            : MK_SUMS8(acc, 0), MK_SUMS8(acc, 8)
            : [a] "r"(a), [row] "r"(row), [step] "r"(step), [b] "r"(b), [n] "r"(n),
              [b_row] "i"(3 * sizeof(vec))
            : MK_SCRATCH);
}

#endif
