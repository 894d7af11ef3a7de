/* SPDX-License-Identifier: MIT */
/*
 * The microkernel of the products on AArch64: 8 numbers by 3 or 2 vectors;
 * products_fma_tmpl.h says what it computes.  FMLA multiplies by one lane of a vector, so
 * adjacent numbers (columns of a key for scores, columns of V for values) are loaded
 * together and not broadcast: a broadcast load occupies a pipe of the multiply-adds. 24
 * sums, 4 vectors of numbers and 3 of the tile take 31 of 32 registers.
 */
#ifndef ATTEND_CPU_MICROKERNEL_NEON_H
#define ATTEND_CPU_MICROKERNEL_NEON_H

/* microkernel() of products_fma_tmpl.h calls microkernel_3 and microkernel_2. */
#define MICROKERNEL_BY_HAND

/*
 * sum += y * x[lane], in program order: GCC 12 reorders loads and multiplications until
 * sums spill to memory.
 */
#ifdef ELEMENT_F64
#define MK_FMA(sum, y, x, lane)                                                          \
    __asm__ volatile("fmla %0.2d, %1.2d, %2.d[" #lane "]" : "+w"(sum) : "w"(y), "w"(x))
#define MK_EACH_LANE(DO) DO(0) DO(1)
#else
#define MK_FMA(sum, y, x, lane)                                                          \
    __asm__ volatile("fmla %0.4s, %1.4s, %2.s[" #lane "]" : "+w"(sum) : "w"(y), "w"(x))
#define MK_EACH_LANE(DO) DO(0) DO(1) DO(2) DO(3)
#endif

/* Keeps loads from `pointer` behind the preceding multiplications. */
#define MK_LOADS_AFTER(pointer) __asm__ volatile("" : "+r"(pointer))

/*
 * Numbers of a register tile, and keys of scores multiplied by a vector of the tile at a
 * time.
 */
enum { MK_NUMBERS = 8, MK_KEYS = 4, MK_GROUPS = MK_NUMBERS / VLEN };

#ifdef __clang__
#define MK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MK_UNROLL _Pragma("GCC unroll 8")
#endif

/* One number at a time, for the remaining steps. */
static inline __attribute__((always_inline)) void
mk_step(vec *acc, const char *a, int64_t row, const REAL *b, const int nv)
{
    MK_UNROLL
    for (int i = 0; i < MK_NUMBERS; i++) {
        const vec x = vec_set1(*(const REAL *)(const void *)(a + i * row));

        MK_UNROLL
        for (int v = 0; v < nv; v++)
            acc[i * nv + v] = vec_fma(vec_load(b + v * VLEN), x, acc[i * nv + v]);
    }
}

/* Numbers t .. t + VLEN - 1 of each row are contiguous. */
static inline __attribute__((always_inline)) void mk_along(vec *acc, const char *a,
                                                           int64_t row, const REAL *b,
                                                           int64_t b_row, int64_t n,
                                                           const int nv)
{
    int64_t t = 0;

    for (; t + VLEN <= n; t += VLEN, a += sizeof(vec), b += VLEN * b_row) {
        MK_UNROLL
        for (int half = 0; half < MK_NUMBERS; half += MK_KEYS) {
            vec x[MK_KEYS];

            MK_UNROLL
            for (int i = 0; i < MK_KEYS; i++)
                x[i] = vec_load((const void *)(a + (half + i) * row));
#define MK_DO(lane)                                                                      \
    {                                                                                    \
        MK_LOADS_AFTER(b);                                                               \
        MK_UNROLL                                                                        \
        for (int v = 0; v < nv; v++) {                                                   \
            const vec y = vec_load(b + (lane)*b_row + v * VLEN);                         \
                                                                                         \
            MK_UNROLL                                                                    \
            for (int i = 0; i < MK_KEYS; i++)                                            \
                MK_FMA(acc[(half + i) * nv + v], y, x[i], lane);                         \
        }                                                                                \
    }
            MK_EACH_LANE(MK_DO)
#undef MK_DO
        }
    }
    for (; t < n; t++, a += sizeof(REAL), b += b_row)
        mk_step(acc, a, row, b, nv);
}

/* The numbers of each step are contiguous. */
static inline __attribute__((always_inline)) void mk_across(vec *acc, const char *a,
                                                            int64_t step, const REAL *b,
                                                            int64_t b_row, int64_t n,
                                                            const int nv)
{
    for (int64_t t = 0; t < n; t++, a += step, b += b_row) {
        vec y[3];

        MK_UNROLL
        for (int v = 0; v < nv; v++)
            y[v] = vec_load(b + v * VLEN);
        MK_UNROLL
        for (int group = 0; group < MK_GROUPS; group++) {
            const vec x = vec_load((const void *)(a + group * (int64_t)sizeof(vec)));
#define MK_DO(lane)                                                                      \
    MK_UNROLL                                                                            \
    for (int v = 0; v < nv; v++)                                                         \
        MK_FMA(acc[(group * VLEN + (lane)) * nv + v], y[v], x, lane);
            MK_EACH_LANE(MK_DO)
#undef MK_DO
        }
    }
}

/*
 * As in microkernel_avx512.h; a row of b has three vectors of 16 bytes.  Sums are copied
 * to locals: in the caller's array they would be stored in every step.
 */
static inline __attribute__((always_inline)) void
microkernel_any(vec *to, const void *a, int64_t row, int64_t step, const void *b,
                int64_t n, const int nv)
{
    vec acc[MK_NUMBERS * 3];

    MK_UNROLL
    for (int i = 0; i < MK_NUMBERS; i++) {
        MK_UNROLL
        for (int v = 0; v < nv; v++)
            acc[i * nv + v] = vec_set1(0);
    }
    if (step == sizeof(REAL))
        mk_along(acc, a, row, b, 3 * VLEN, n, nv);
    else
        mk_across(acc, a, step, b, 3 * VLEN, n, nv);
    MK_UNROLL
    for (int i = 0; i < MK_NUMBERS; i++) {
        MK_UNROLL
        for (int v = 0; v < nv; v++)
            to[i * nv + v] = acc[i * nv + v];
    }
}

static inline __attribute__((always_inline)) void microkernel_2(vec *acc, const void *a,
                                                                int64_t row, int64_t step,
                                                                const void *b, int64_t n)
{
    microkernel_any(acc, a, row, step, b, n, 2);
}

static inline __attribute__((always_inline)) void microkernel_3(vec *acc, const void *a,
                                                                int64_t row, int64_t step,
                                                                const void *b, int64_t n)
{
    microkernel_any(acc, a, row, step, b, n, 3);
}

#endif
