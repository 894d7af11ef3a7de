/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary in plain C: vectors of 16 bytes that the compiler maps to
 * whatever the machine has.  No fused multiply-add, since most machines that need
 * this set have none.  The words are those of every simd_<isa>.h:
 *
 *   spread(p)          the number at p in every lane   } of the inner loops, in the
 *   mac(&acc, x, y)    acc = fma(x, y, acc)            } order written
 *   mac_at(&acc, p, y) acc = fma(the number at p, y, acc)
 *   max(a, b)          b where either is NaN
 *   mark_lt(a, b)      -0.0 where a < b, else +0.0: a mark is a sign bit
 *   lanes_lt(a, b)     bit i: whether a < b in lane i
 *   pick_lt(a, b, x, y) x where a < b, else y
 *   add_lt(sum, x, y)  sum + x where x < y, else sum
 *   either(a, b)       bitwise or: joins marks, or marks a number that is >= +0
 *   pick(mark, a, b)   a where marked, else b
 *   keep_ge(x, lo, v)  +0.0 where x < lo, else v (NaN is not below lo)
 *   nearest(x)         to an integer, for |x| < 2^22 (2^51)
 *   times_pow2(x, n)   x 2^n, n integer-valued in the range of normal exponents
 *   times(x, y)        the exact product by a double, rounded once
 *   widen(x, y)        the lanes as doubles in y[0] and y[1]
 *   narrow(y)          the same back, rounded to f32
 *   mark_zero_bytes(p) a mark for each byte that is 0
 *   mark_bit(words, k) a mark where bit k of the lane's word is set
 *   transpose(x)       lane j of vector i becomes lane i of vector j
 *   turn(x, rows, step) the first TURN columns of as many rows as lanes, `step` bytes
 *                      apart: x[i] is column i
 *   turn_f16, turn_bf16  the same of rows of 16 bits, widened
 */
#ifndef ATTEND_CPU_SIMD_H
#define ATTEND_CPU_SIMD_H

#include <stdint.h>
#include <string.h>

#include "base/half.h"

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vf_bits __attribute__((vector_size(16)));
typedef uint32_t vf_unsigned __attribute__((vector_size(16)));
typedef double vd __attribute__((vector_size(16)));
typedef int64_t vd_bits __attribute__((vector_size(16)));
typedef uint64_t vd_unsigned __attribute__((vector_size(16)));

enum { VF_LEN = 4, VD_LEN = 2, VF_TURN = VF_LEN, VD_TURN = VD_LEN };

static inline vf vf_set1(float x) { return (vf){x, x, x, x}; }
static inline vd vd_set1(double x) { return (vd){x, x}; }

#define SCALAR_WORDS(v, real, sign, magic, bias, fraction)                               \
    static inline v v##_load(const real *p)                                              \
    {                                                                                    \
        v x;                                                                             \
                                                                                         \
        memcpy(&x, p, sizeof x);                                                         \
        return x;                                                                        \
    }                                                                                    \
    static inline void v##_store(real *p, v x) { memcpy(p, &x, sizeof x); }              \
    static inline v v##_add(v a, v b) { return a + b; }                                  \
    static inline v v##_sub(v a, v b) { return a - b; }                                  \
    static inline v v##_mul(v a, v b) { return a * b; }                                  \
    static inline v v##_div(v a, v b) { return a / b; }                                  \
    static inline v v##_fma(v a, v b, v c) { return a * b + c; }                         \
    static inline v v##_spread(const real *p) { return v##_set1(*p); }                   \
    static inline void v##_mac(v *acc, v x, v y) { *acc = v##_fma(x, y, *acc); }         \
    static inline void v##_mac_at(v *acc, const real *x, v y)                            \
    {                                                                                    \
        *acc = v##_fma(v##_set1(*x), y, *acc);                                           \
    }                                                                                    \
    static inline v v##_where(v##_bits mask, v a, v b)                                   \
    {                                                                                    \
        return (v)((mask & (v##_bits)a) | (~mask & (v##_bits)b));                        \
    }                                                                                    \
    static inline v v##_max(v a, v b) { return v##_where(a > b, a, b); }                 \
    static inline v v##_mark_lt(v a, v b)                                                \
    {                                                                                    \
        return (v)((a < b) & (v##_bits)v##_set1(sign));                                  \
    }                                                                                    \
    static inline unsigned v##_lanes_lt(v a, v b)                                        \
    {                                                                                    \
        unsigned bits = 0;                                                               \
                                                                                         \
        for (unsigned i = 0; i < sizeof a / sizeof a[0]; i++)                            \
            bits |= (unsigned)(a[i] < b[i]) << i;                                        \
        return bits;                                                                     \
    }                                                                                    \
    static inline v v##_pick_lt(v a, v b, v x, v y) { return v##_where(a < b, x, y); }   \
    static inline v v##_add_lt(v sum, v x, v y)                                          \
    {                                                                                    \
        return sum + (v)((x < y) & (v##_bits)x);                                         \
    }                                                                                    \
    static inline v v##_either(v a, v b) { return (v)((v##_bits)a | (v##_bits)b); }      \
    static inline v v##_pick(v mark, v a, v b)                                           \
    {                                                                                    \
        return v##_where((v##_bits)mark < 0, a, b);                                      \
    }                                                                                    \
    static inline v v##_keep_ge(v x, v lo, v y) { return (v)(~(x < lo) & (v##_bits)y); } \
    /* Adding 1.5 2^fraction leaves the integer in the low bits and rounds the rest. */  \
    static inline v v##_nearest(v x) { return (x + v##_set1(magic)) - v##_set1(magic); } \
    static inline v v##_times_pow2(v x, v n)                                             \
    {                                                                                    \
        const v##_unsigned exponent = (v##_unsigned)(n + v##_set1(magic)) + bias;        \
        return x * (v)(exponent << fraction);                                            \
    }                                                                                    \
    static inline v v##_times(v x, double y)                                             \
    {                                                                                    \
        for (unsigned i = 0; i < sizeof x / sizeof x[0]; i++)                            \
            x[i] = (real)((double)x[i] * y);                                             \
        return x;                                                                        \
    }                                                                                    \
    static inline v v##_mark_zero_bytes(const unsigned char *p)                          \
    {                                                                                    \
        v x;                                                                             \
                                                                                         \
        for (unsigned i = 0; i < sizeof x / sizeof x[0]; i++)                            \
            x[i] = p[i] ? 0 : sign;                                                      \
        return x;                                                                        \
    }                                                                                    \
    static inline v v##_mark_bit(const uint32_t *words, int bit)                         \
    {                                                                                    \
        v x;                                                                             \
                                                                                         \
        for (unsigned i = 0; i < sizeof x / sizeof x[0]; i++)                            \
            x[i] = words[i] >> bit & 1 ? sign : 0;                                       \
        return x;                                                                        \
    }                                                                                    \
    static inline void v##_transpose(v x[])                                              \
    {                                                                                    \
        for (unsigned i = 0; i < sizeof x[0] / sizeof x[0][0]; i++)                      \
            for (unsigned j = 0; j < i; j++) {                                           \
                const real swap = x[i][j];                                               \
                x[i][j] = x[j][i];                                                       \
                x[j][i] = swap;                                                          \
            }                                                                            \
    }                                                                                    \
    static inline void v##_turn(v x[], const char *rows, int64_t step)                   \
    {                                                                                    \
        for (unsigned i = 0; i < sizeof x[0] / sizeof x[0][0]; i++)                      \
            memcpy(&x[i], rows + (int64_t)i * step, sizeof x[i]);                        \
        v##_transpose(x);                                                                \
    }

SCALAR_WORDS(vf, float, -0.0f, 0x1.8p23f, 127, 23)
SCALAR_WORDS(vd, double, -0.0, 0x1.8p52, 1023, 52)

static inline void vf_widen(vf x, vd y[2])
{
    y[0] = (vd){x[0], x[1]};
    y[1] = (vd){x[2], x[3]};
}
static inline vf vf_narrow(const vd y[2])
{
    return (vf){(float)y[0][0], (float)y[0][1], (float)y[1][0], (float)y[1][1]};
}

/* Bit x: whether byte x of 32 is 0. */
static inline uint32_t zero_bytes(const unsigned char *p)
{
    uint32_t bits = 0;

    for (int x = 0; x < 32; x++)
        bits |= (uint32_t)(p[x] == 0) << x;
    return bits;
}

static inline vf vf_load_f16(const uint16_t *p)
{
    return (vf){attendi_f16_to_f32(p[0]), attendi_f16_to_f32(p[1]),
                attendi_f16_to_f32(p[2]), attendi_f16_to_f32(p[3])};
}

static inline vf vf_load_bf16(const uint16_t *p)
{
    return (vf){attendi_bf16_to_f32(p[0]), attendi_bf16_to_f32(p[1]),
                attendi_bf16_to_f32(p[2]), attendi_bf16_to_f32(p[3])};
}

static inline void vf_turn_f16(vf x[], const char *rows, int64_t step)
{
    for (int i = 0; i < VF_LEN; i++)
        x[i] = vf_load_f16((const void *)(rows + i * step));
    vf_transpose(x);
}

static inline void vf_turn_bf16(vf x[], const char *rows, int64_t step)
{
    for (int i = 0; i < VF_LEN; i++)
        x[i] = vf_load_bf16((const void *)(rows + i * step));
    vf_transpose(x);
}

static inline void vf_store_f16(uint16_t *p, vf x)
{
    for (int i = 0; i < VF_LEN; i++)
        p[i] = attendi_f32_to_f16(x[i]);
}

static inline void vf_store_bf16(uint16_t *p, vf x)
{
    for (int i = 0; i < VF_LEN; i++)
        p[i] = attendi_f32_to_bf16(x[i]);
}

#endif
