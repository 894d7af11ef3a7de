/* SPDX-License-Identifier: MIT */
/*
 * Vector operations on WebAssembly with 128-bit vectors; simd_scalar.h explains them.
 * There is no fused multiply-add, and every operation rounds as in simd_scalar.h: both
 * sets give the same bits.
 */
#ifndef ATTEND_CPU_SIMD_H
#define ATTEND_CPU_SIMD_H

#if !defined(__wasm_simd128__)
#error "compile this file with -msimd128"
#endif

#include <stdint.h>
#include <string.h>
#include <wasm_simd128.h>

typedef v128_t vec_f32;
typedef v128_t vec;

/* OP(add) is the intrinsic of this element type, BITS_OP(add) that of its integers. */
#ifdef ELEMENT_F64
enum { VLEN = 2, F32_LEN = 4, TRANSPOSED = VLEN };
enum { EXPONENT_BIAS = 1023, FRACTION_BITS = 52 };
#define OP(name) wasm_f64x2_##name
#define BITS_OP(name) wasm_i64x2_##name
#define LOAD_SPLAT wasm_v128_load64_splat
#define MAGIC 0x1.8p52
#else
enum { VLEN = 4, F32_LEN = 4, TRANSPOSED = VLEN };
enum { EXPONENT_BIAS = 127, FRACTION_BITS = 23 };
#define OP(name) wasm_f32x4_##name
#define BITS_OP(name) wasm_i32x4_##name
#define LOAD_SPLAT wasm_v128_load32_splat
#define MAGIC 0x1.8p23f
#endif

static inline vec vec_set1(REAL x) { return OP(splat)(x); }
static inline vec vec_load(const REAL *p) { return wasm_v128_load(p); }
static inline void vec_store(REAL *p, vec x) { wasm_v128_store(p, x); }
static inline vec vec_add(vec a, vec b) { return OP(add)(a, b); }
static inline vec vec_sub(vec a, vec b) { return OP(sub)(a, b); }
static inline vec vec_mul(vec a, vec b) { return OP(mul)(a, b); }
static inline vec vec_div(vec a, vec b) { return OP(div)(a, b); }
static inline vec vec_fma(vec a, vec b, vec c) { return vec_add(vec_mul(a, b), c); }
static inline vec vec_broadcast(const REAL *p) { return LOAD_SPLAT(p); }
static inline void vec_mac(vec *acc, vec x, vec y) { *acc = vec_fma(x, y, *acc); }
static inline void vec_mac_at(vec *acc, const REAL *x, vec y)
{
    *acc = vec_fma(vec_broadcast(x), y, *acc);
}
/* pmax(b, a) is a where b < a, else b. */
static inline vec vec_max(vec a, vec b) { return OP(pmax)(b, a); }
static inline vec vec_mask_lt(vec a, vec b)
{
    return wasm_v128_and(OP(lt)(a, b), vec_set1((REAL)-0.0));
}
static inline unsigned vec_lanes_lt(vec a, vec b)
{
    return (unsigned)BITS_OP(bitmask)(OP(lt)(a, b));
}
static inline vec vec_blend_lt(vec a, vec b, vec x, vec y)
{
    return wasm_v128_bitselect(x, y, OP(lt)(a, b));
}
static inline vec vec_add_lt(vec sum, vec x, vec y)
{
    return OP(add)(sum, wasm_v128_and(OP(lt)(x, y), x));
}
static inline vec vec_or(vec a, vec b) { return wasm_v128_or(a, b); }
static inline vec vec_blend(vec mask, vec a, vec b)
{
    return wasm_v128_bitselect(a, b, BITS_OP(shr)(mask, 8 * sizeof(REAL) - 1));
}
static inline vec vec_keep_ge(vec x, vec lo, vec y)
{
    return wasm_v128_andnot(y, OP(lt)(x, lo));
}
static inline vec vec_nearest(vec x) { return OP(nearest)(x); }
/* 1.5 2^fraction + n holds n in its low bits. */
static inline vec vec_times_pow2(vec x, vec n)
{
    const vec low = vec_add(n, vec_set1(MAGIC));
    const vec exponent = BITS_OP(add)(low, BITS_OP(splat)(EXPONENT_BIAS));

    return vec_mul(x, BITS_OP(shl)(exponent, FRACTION_BITS));
}

/* Bit x: whether byte x of 32 is 0. */
static inline uint32_t zero_bytes(const unsigned char *p)
{
    const v128_t zero = wasm_i8x16_splat(0);
    const uint32_t low =
        (uint32_t)wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(p), zero));
    const uint32_t high =
        (uint32_t)wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(p + 16), zero));

    return high << 16 | (low & 0xffff);
}

/* ---- floats, and halves as floats ---- */

static inline vec_f32 f32_load(const float *p) { return wasm_v128_load(p); }
static inline void f32_store(float *p, vec_f32 x) { wasm_v128_store(p, x); }

/* The steps of attendi_f16_to_f32, four at a time. */
static inline vec_f32 f32_load_f16(const uint16_t *p)
{
    const v128_t half = wasm_u32x4_load16x4(p);
    const v128_t magnitude = wasm_v128_and(half, wasm_i32x4_splat(0x7fff));
    const v128_t sign = wasm_i32x4_shl(wasm_v128_xor(half, magnitude), 16);
    const v128_t shifted = wasm_i32x4_shl(magnitude, 13);
    const v128_t normal = wasm_i32x4_add(shifted, wasm_i32x4_splat((127 - 15) << 23));
    const v128_t special = wasm_v128_or(shifted, wasm_i32x4_splat(0x7f800000));
    const v128_t quiet = wasm_v128_and(wasm_i32x4_gt(magnitude, wasm_i32x4_splat(0x7c00)),
                                       wasm_i32x4_splat(0x400000));
    const v128_t small =
        wasm_f32x4_mul(wasm_f32x4_convert_i32x4(magnitude), wasm_f32x4_splat(0x1p-24f));
    const v128_t finite = wasm_v128_bitselect(
        small, normal, wasm_i32x4_lt(magnitude, wasm_i32x4_splat(0x0400)));

    return wasm_v128_or(
        sign, wasm_v128_bitselect(wasm_v128_or(special, quiet), finite,
                                  wasm_i32x4_gt(magnitude, wasm_i32x4_splat(0x7bff))));
}
static inline vec_f32 f32_load_bf16(const uint16_t *p)
{
    return wasm_i32x4_shl(wasm_u32x4_load16x4(p), 16);
}

/* The low 16 bits of each lane. */
static inline void store_low_halves(uint16_t *p, v128_t x)
{
    const v128_t low =
        wasm_i8x16_shuffle(x, x, 0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13);
    const int64_t halves = wasm_i64x2_extract_lane(low, 0);

    memcpy(p, &halves, sizeof halves);
}

/* The steps of attendi_f32_to_f16, four at a time. */
static inline void f32_store_f16(uint16_t *p, vec_f32 x)
{
    const v128_t magnitude = wasm_v128_and(x, wasm_i32x4_splat(0x7fffffff));
    const v128_t sign = wasm_v128_and(wasm_u32x4_shr(x, 16), wasm_i32x4_splat(0x8000));
    const v128_t nan = wasm_v128_or(
        wasm_i32x4_splat(0x7e00),
        wasm_v128_and(wasm_u32x4_shr(magnitude, 13), wasm_i32x4_splat(0x3ff)));
    const v128_t rebased = wasm_i32x4_sub(magnitude, wasm_i32x4_splat((127 - 15) << 23));
    const v128_t odd = wasm_v128_and(wasm_u32x4_shr(rebased, 13), wasm_i32x4_splat(1));
    const v128_t normal = wasm_u32x4_shr(
        wasm_i32x4_add(wasm_i32x4_add(rebased, wasm_i32x4_splat(0xfff)), odd), 13);
    const v128_t small = wasm_i32x4_sub(wasm_f32x4_add(magnitude, wasm_f32x4_splat(0.5f)),
                                        wasm_f32x4_splat(0.5f));
    v128_t half = wasm_v128_bitselect(
        small, normal, wasm_i32x4_lt(magnitude, wasm_i32x4_splat(0x38800000)));

    half = wasm_v128_bitselect(wasm_i32x4_splat(0x7c00), half,
                               wasm_i32x4_gt(magnitude, wasm_i32x4_splat(0x477fefff)));
    half = wasm_v128_bitselect(nan, half,
                               wasm_i32x4_gt(magnitude, wasm_i32x4_splat(0x7f800000)));
    store_low_halves(p, wasm_v128_or(sign, half));
}
static inline void f32_store_bf16(uint16_t *p, vec_f32 x)
{
    const v128_t odd = wasm_v128_and(wasm_u32x4_shr(x, 16), wasm_i32x4_splat(1));
    const v128_t rounded =
        wasm_i32x4_add(x, wasm_i32x4_add(odd, wasm_i32x4_splat(0x7fff)));
    const v128_t quiet = wasm_v128_or(x, wasm_i32x4_splat(0x400000));

    store_low_halves(
        p, wasm_u32x4_shr(wasm_v128_bitselect(rounded, quiet, wasm_f32x4_eq(x, x)), 16));
}

#ifdef ELEMENT_F64

static inline vec vec_times(vec x, double y) { return vec_mul(x, vec_set1(y)); }
static inline void vec_from_f32(vec_f32 x, vec y[2])
{
    y[0] = wasm_f64x2_promote_low_f32x4(x);
    y[1] = wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(x, x, 1, 1));
}
static inline vec_f32 vec_to_f32(const vec y[2])
{
    return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(y[0]),
                              wasm_f32x4_demote_f64x2_zero(y[1]), 0, 2);
}
static inline vec vec_mask_zero_bytes(const unsigned char *p)
{
    return wasm_f64x2_make(p[0] ? 0 : -0.0, p[1] ? 0 : -0.0);
}
static inline vec vec_mask_bit(const uint32_t *words, int bit)
{
    return wasm_v128_and(wasm_i64x2_shl(wasm_u64x2_load32x2(words), (uint32_t)(63 - bit)),
                         vec_set1(-0.0));
}
static inline void vec_transpose(vec x[VLEN])
{
    const vec a = wasm_i64x2_shuffle(x[0], x[1], 0, 2);
    const vec b = wasm_i64x2_shuffle(x[0], x[1], 1, 3);

    x[0] = a;
    x[1] = b;
}

#else

static inline vec vec_times(vec x, double y)
{
    const v128_t by = wasm_f64x2_splat(y);
    const v128_t high = wasm_i64x2_shuffle(x, x, 1, 1);
    const v128_t a = wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(x), by);
    const v128_t b = wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(high), by);

    return wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(a),
                              wasm_f32x4_demote_f64x2_zero(b), 0, 2);
}
static inline vec vec_mask_zero_bytes(const unsigned char *p)
{
    const v128_t wider = wasm_u32x4_extend_low_u16x8(
        wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p)));

    return wasm_i32x4_shl(wasm_i32x4_eq(wider, wasm_i32x4_splat(0)), 31);
}
static inline vec vec_mask_bit(const uint32_t *words, int bit)
{
    return wasm_v128_and(wasm_i32x4_shl(wasm_v128_load(words), (uint32_t)(31 - bit)),
                         vec_set1(-0.0f));
}
static inline void vec_transpose(vec x[VLEN])
{
    const vec a = wasm_i32x4_shuffle(x[0], x[1], 0, 4, 1, 5);
    const vec b = wasm_i32x4_shuffle(x[0], x[1], 2, 6, 3, 7);
    const vec c = wasm_i32x4_shuffle(x[2], x[3], 0, 4, 1, 5);
    const vec d = wasm_i32x4_shuffle(x[2], x[3], 2, 6, 3, 7);

    x[0] = wasm_i64x2_shuffle(a, c, 0, 2);
    x[1] = wasm_i64x2_shuffle(a, c, 1, 3);
    x[2] = wasm_i64x2_shuffle(b, d, 0, 2);
    x[3] = wasm_i64x2_shuffle(b, d, 1, 3);
}
static inline void vec_load_transposed_f16(vec x[TRANSPOSED], const char *rows,
                                           int64_t step)
{
    for (int i = 0; i < VLEN; i++)
        x[i] = f32_load_f16((const void *)(rows + i * step));
    vec_transpose(x);
}
static inline void vec_load_transposed_bf16(vec x[TRANSPOSED], const char *rows,
                                            int64_t step)
{
    for (int i = 0; i < VLEN; i++)
        x[i] = f32_load_bf16((const void *)(rows + i * step));
    vec_transpose(x);
}

#endif

static inline void vec_load_transposed(vec x[TRANSPOSED], const char *rows, int64_t step)
{
    for (int i = 0; i < VLEN; i++)
        x[i] = vec_load((const void *)(rows + i * step));
    vec_transpose(x);
}

#endif
