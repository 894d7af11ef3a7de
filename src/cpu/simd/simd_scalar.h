/* SPDX-License-Identifier: MIT */
/*
 * Vector operations in plain C: vectors of 16 bytes that the compiler maps to whatever
 * the machine has.  No fused multiply-add, since most machines that need this set have
 * none.  Every simd_<isa>.h has the same operations, on vectors of REAL:
 *
 *   broadcast(p)       the number at p in every lane   } of the inner loops, in the
 *   mac(&acc, x, y)    acc = fma(x, y, acc)            } order written
 *   mac_at(&acc, p, y) acc = fma(the number at p, y, acc)
 *   max(a, b)          b where either is NaN
 *   mask_lt(a, b)      -0.0 where a < b, else +0.0: the sign bit of a lane is its mask
 *   lanes_lt(a, b)     bit i: whether a < b in lane i
 *   blend_lt(a, b, x, y) x where a < b, else y
 *   add_lt(sum, x, y)  sum + x where x < y, else sum
 *   or(a, b)           bitwise or: of masks, or of a mask and a number that is >= +0
 *   blend(mask, a, b)  a where the mask is set, else b
 *   keep_ge(x, lo, v)  +0.0 where x < lo, else v (NaN is not below lo)
 *   nearest(x)         to an integer, for |x| < 2^22 (2^51)
 *   times_pow2(x, n)   x 2^n, n integer-valued in the range of normal exponents
 *   times(x, y)        the exact product by a double, rounded once
 *   mask_zero_bytes(p) set for each byte that is 0
 *   mask_bit(words, k) set where bit k of the lane's word is set
 *   transpose(x)       lane j of vector i becomes lane i of vector j
 *   load_transposed(x, rows, step)  the first TRANSPOSED columns of as many rows as
 *                      lanes, `step` bytes apart: x[i] is column i
 *   load_transposed_f16, load_transposed_bf16  the same of rows of 16 bits, widened
 *
 * and on F32_LEN floats f32_load, f32_store, and the same of f16 and bf16.  In f64,
 *   from_f32(x, y)     the floats as doubles in y[0] and y[1]
 *   to_f32(y)          the same back, rounded to f32
 */
#ifndef ATTEND_CPU_SIMD_H
#define ATTEND_CPU_SIMD_H

#include <stdint.h>
#include <string.h>

#include "base/half.h"

typedef float vec_f32 __attribute__((vector_size(16)));
typedef REAL vec __attribute__((vector_size(16)));
typedef REAL_INTEGER vec_bits __attribute__((vector_size(16)));
typedef REAL_UNSIGNED vec_unsigned __attribute__((vector_size(16)));

enum { F32_LEN = 4, VLEN = 16 / sizeof(REAL), TRANSPOSED = VLEN };

/* The exponent's bias, the bits of the fraction, and 1.5 2^fraction: see vec_nearest. */
#ifdef ELEMENT_F64
enum { EXPONENT_BIAS = 1023, FRACTION_BITS = 52 };
#define MAGIC 0x1.8p52
static inline vec vec_set1(double x) { return (vec){x, x}; }
#else
enum { EXPONENT_BIAS = 127, FRACTION_BITS = 23 };
#define MAGIC 0x1.8p23f
static inline vec vec_set1(float x) { return (vec){x, x, x, x}; }
#endif

static inline vec vec_load(const REAL *p)
{
    vec x;

    memcpy(&x, p, sizeof x);
    return x;
}
static inline void vec_store(REAL *p, vec x) { memcpy(p, &x, sizeof x); }
static inline vec vec_add(vec a, vec b) { return a + b; }
static inline vec vec_sub(vec a, vec b) { return a - b; }
static inline vec vec_mul(vec a, vec b) { return a * b; }
static inline vec vec_div(vec a, vec b) { return a / b; }
static inline vec vec_fma(vec a, vec b, vec c) { return a * b + c; }
static inline vec vec_broadcast(const REAL *p) { return vec_set1(*p); }
static inline void vec_mac(vec *acc, vec x, vec y) { *acc = vec_fma(x, y, *acc); }
static inline void vec_mac_at(vec *acc, const REAL *x, vec y)
{
    *acc = vec_fma(vec_set1(*x), y, *acc);
}
static inline vec vec_where(vec_bits mask, vec a, vec b)
{
    return (vec)((mask & (vec_bits)a) | (~mask & (vec_bits)b));
}
static inline vec vec_max(vec a, vec b) { return vec_where(a > b, a, b); }
static inline vec vec_mask_lt(vec a, vec b)
{
    return (vec)((a < b) & (vec_bits)vec_set1((REAL)-0.0));
}
static inline unsigned vec_lanes_lt(vec a, vec b)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < VLEN; i++)
        bits |= (unsigned)(a[i] < b[i]) << i;
    return bits;
}
static inline vec vec_blend_lt(vec a, vec b, vec x, vec y)
{
    return vec_where(a < b, x, y);
}
static inline vec vec_add_lt(vec sum, vec x, vec y)
{
    return sum + (vec)((x < y) & (vec_bits)x);
}
static inline vec vec_or(vec a, vec b) { return (vec)((vec_bits)a | (vec_bits)b); }
static inline vec vec_blend(vec mask, vec a, vec b)
{
    return vec_where((vec_bits)mask < 0, a, b);
}
static inline vec vec_keep_ge(vec x, vec lo, vec y)
{
    return (vec)(~(x < lo) & (vec_bits)y);
}
/* Adding 1.5 2^fraction leaves the integer in the low bits and rounds the rest. */
static inline vec vec_nearest(vec x) { return (x + vec_set1(MAGIC)) - vec_set1(MAGIC); }
static inline vec vec_times_pow2(vec x, vec n)
{
    const vec_unsigned exponent = (vec_unsigned)(n + vec_set1(MAGIC)) + EXPONENT_BIAS;

    return x * (vec)(exponent << FRACTION_BITS);
}
static inline vec vec_times(vec x, double y)
{
    for (unsigned i = 0; i < VLEN; i++)
        x[i] = (REAL)((double)x[i] * y);
    return x;
}
static inline vec vec_mask_zero_bytes(const unsigned char *p)
{
    vec x;

    for (unsigned i = 0; i < VLEN; i++)
        x[i] = p[i] ? 0 : (REAL)-0.0;
    return x;
}
static inline vec vec_mask_bit(const uint32_t *words, int bit)
{
    vec x;

    for (unsigned i = 0; i < VLEN; i++)
        x[i] = words[i] >> bit & 1 ? (REAL)-0.0 : 0;
    return x;
}
static inline void vec_transpose(vec x[])
{
    for (unsigned i = 0; i < VLEN; i++)
        for (unsigned j = 0; j < i; j++) {
            const REAL swap = x[i][j];
            x[i][j] = x[j][i];
            x[j][i] = swap;
        }
}
static inline void vec_load_transposed(vec x[], const char *rows, int64_t step)
{
    for (unsigned i = 0; i < VLEN; i++)
        memcpy(&x[i], rows + (int64_t)i * step, sizeof x[i]);
    vec_transpose(x);
}

/* Bit x: whether byte x of 32 is 0. */
static inline uint32_t zero_bytes(const unsigned char *p)
{
    uint32_t bits = 0;

    for (int x = 0; x < 32; x++)
        bits |= (uint32_t)(p[x] == 0) << x;
    return bits;
}

/* ---- floats, and halves as floats ---- */

static inline vec_f32 f32_load(const float *p)
{
    vec_f32 x;

    memcpy(&x, p, sizeof x);
    return x;
}
static inline void f32_store(float *p, vec_f32 x) { memcpy(p, &x, sizeof x); }
static inline vec_f32 f32_load_f16(const uint16_t *p)
{
    return (vec_f32){attendi_f16_to_f32(p[0]), attendi_f16_to_f32(p[1]),
                     attendi_f16_to_f32(p[2]), attendi_f16_to_f32(p[3])};
}
static inline vec_f32 f32_load_bf16(const uint16_t *p)
{
    return (vec_f32){attendi_bf16_to_f32(p[0]), attendi_bf16_to_f32(p[1]),
                     attendi_bf16_to_f32(p[2]), attendi_bf16_to_f32(p[3])};
}
static inline void f32_store_f16(uint16_t *p, vec_f32 x)
{
    for (int i = 0; i < F32_LEN; i++)
        p[i] = attendi_f32_to_f16(x[i]);
}
static inline void f32_store_bf16(uint16_t *p, vec_f32 x)
{
    for (int i = 0; i < F32_LEN; i++)
        p[i] = attendi_f32_to_bf16(x[i]);
}

#ifdef ELEMENT_F64

static inline void vec_from_f32(vec_f32 x, vec y[2])
{
    y[0] = (vec){x[0], x[1]};
    y[1] = (vec){x[2], x[3]};
}
static inline vec_f32 vec_to_f32(const vec y[2])
{
    return (vec_f32){(float)y[0][0], (float)y[0][1], (float)y[1][0], (float)y[1][1]};
}

#else

static inline void vec_load_transposed_f16(vec x[], const char *rows, int64_t step)
{
    for (int i = 0; i < VLEN; i++)
        x[i] = f32_load_f16((const void *)(rows + i * step));
    vec_transpose(x);
}
static inline void vec_load_transposed_bf16(vec x[], const char *rows, int64_t step)
{
    for (int i = 0; i < VLEN; i++)
        x[i] = f32_load_bf16((const void *)(rows + i * step));
    vec_transpose(x);
}

#endif
#endif
