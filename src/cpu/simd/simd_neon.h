/* SPDX-License-Identifier: MIT */
/* Vector operations on AArch64; simd_scalar.h explains them. */
#ifndef ATTEND_CPU_SIMD_H
#define ATTEND_CPU_SIMD_H

#if !defined(__aarch64__) || !defined(__ARM_NEON) || defined(__AARCH64EB__)
#error "compile this file for little-endian AArch64"
#endif

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

typedef float32x4_t vec_f32;

/*
 * OP(add) is the intrinsic of this element type, BITS() and REALS() read a vector as
 * integers and as REAL; MAGIC is 1.5 2^fraction: see vec_nearest.
 */
#ifdef ELEMENT_F64
typedef float64x2_t vec;
typedef uint64x2_t vec_bits;
enum { VLEN = 2, F32_LEN = 4, TRANSPOSED = VLEN };
enum { EXPONENT_BIAS = 1023, FRACTION_BITS = 52 };
#define OP(name) v##name##q_f64
#define BITS_OP(name) v##name##q_u64
#define BITS(x) vreinterpretq_u64_f64(x)
#define REALS(x) vreinterpretq_f64_u64(x)
#define MAGIC 0x1.8p52
#else
typedef float32x4_t vec;
typedef uint32x4_t vec_bits;
enum { VLEN = 4, F32_LEN = 4, TRANSPOSED = VLEN };
enum { EXPONENT_BIAS = 127, FRACTION_BITS = 23 };
#define OP(name) v##name##q_f32
#define BITS_OP(name) v##name##q_u32
#define BITS(x) vreinterpretq_u32_f32(x)
#define REALS(x) vreinterpretq_f32_u32(x)
#define MAGIC 0x1.8p23f
#endif

#ifdef ELEMENT_F64
static inline vec vec_set1(REAL x) { return vdupq_n_f64(x); }
static inline vec_bits bits_set1(uint64_t x) { return vdupq_n_u64(x); }
static inline vec_bits bits_to_exponent(vec_bits x)
{
    return vshlq_n_u64(x, FRACTION_BITS);
}
/* All ones where the sign bit is set. */
static inline vec_bits bits_of_signs(vec x)
{
    return vcltzq_s64(vreinterpretq_s64_f64(x));
}
#else
static inline vec vec_set1(REAL x) { return vdupq_n_f32(x); }
static inline vec_bits bits_set1(uint32_t x) { return vdupq_n_u32(x); }
static inline vec_bits bits_to_exponent(vec_bits x)
{
    return vshlq_n_u32(x, FRACTION_BITS);
}
/* All ones where the sign bit is set. */
static inline vec_bits bits_of_signs(vec x)
{
    return vcltzq_s32(vreinterpretq_s32_f32(x));
}
#endif

static inline vec vec_load(const REAL *p) { return OP(ld1)(p); }
static inline void vec_store(REAL *p, vec x) { OP(st1)(p, x); }
static inline vec vec_add(vec a, vec b) { return OP(add)(a, b); }
static inline vec vec_sub(vec a, vec b) { return OP(sub)(a, b); }
static inline vec vec_mul(vec a, vec b) { return OP(mul)(a, b); }
static inline vec vec_div(vec a, vec b) { return OP(div)(a, b); }
static inline vec vec_fma(vec a, vec b, vec c) { return OP(fma)(c, a, b); }
static inline vec vec_broadcast(const REAL *p) { return vec_set1(*p); }
static inline void vec_mac(vec *acc, vec x, vec y) { *acc = vec_fma(x, y, *acc); }
static inline void vec_mac_at(vec *acc, const REAL *x, vec y)
{
    *acc = vec_fma(y, vec_set1(*x), *acc);
}
static inline vec vec_max(vec a, vec b) { return OP(bsl)(OP(cgt)(a, b), a, b); }
static inline vec vec_mask_lt(vec a, vec b)
{
    return REALS(BITS_OP(and)(OP(clt)(a, b), BITS(vec_set1((REAL)-0.0))));
}
static inline vec vec_blend_lt(vec a, vec b, vec x, vec y)
{
    return OP(bsl)(OP(clt)(a, b), x, y);
}
static inline vec vec_add_lt(vec sum, vec x, vec y)
{
    return OP(add)(sum, REALS(BITS_OP(and)(OP(clt)(x, y), BITS(x))));
}
static inline vec vec_or(vec a, vec b) { return REALS(BITS_OP(orr)(BITS(a), BITS(b))); }
static inline vec vec_blend(vec mask, vec a, vec b)
{
    return OP(bsl)(bits_of_signs(mask), a, b);
}
static inline vec vec_keep_ge(vec x, vec lo, vec y)
{
    return REALS(BITS_OP(bic)(BITS(y), OP(clt)(x, lo)));
}
/*
 * Adding 1.5 2^fraction leaves the integer in the low bits and rounds the rest.  FRINTN
 * and FCVTZS would take two of four pipes twice each, sums take any.
 */
static inline vec vec_nearest(vec x)
{
    return vec_sub(vec_add(x, vec_set1(MAGIC)), vec_set1(MAGIC));
}
static inline vec vec_times_pow2(vec x, vec n)
{
    const vec_bits low = BITS(vec_add(n, vec_set1(MAGIC)));

    return vec_mul(x,
                   REALS(bits_to_exponent(BITS_OP(add)(low, bits_set1(EXPONENT_BIAS)))));
}

/* Bit x: whether byte x of 32 is 0. */
static inline uint32_t zero_bytes(const unsigned char *p)
{
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                        1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t weight = vld1q_u8(weights);
    const uint8x16_t low = vandq_u8(vceqzq_u8(vld1q_u8(p)), weight);
    const uint8x16_t high = vandq_u8(vceqzq_u8(vld1q_u8(p + 16)), weight);
    const uint8x16_t fours = vpaddq_u8(vpaddq_u8(low, high), vdupq_n_u8(0));

    return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(fours, fours)), 0);
}

/* ---- floats, and halves as floats ---- */

static inline vec_f32 f32_load(const float *p) { return vld1q_f32(p); }
static inline void f32_store(float *p, vec_f32 x) { vst1q_f32(p, x); }
static inline vec_f32 f32_load_f16(const uint16_t *p)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
static inline vec_f32 f32_load_bf16(const uint16_t *p)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
}
static inline void f32_store_f16(uint16_t *p, vec_f32 x)
{
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(x)));
}
static inline void f32_store_bf16(uint16_t *p, vec_f32 x)
{
    const uint32x4_t u = vreinterpretq_u32_f32(x);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(u, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    const uint32x4_t quiet = vorrq_u32(u, vdupq_n_u32(0x400000));

    vst1_u16(p, vshrn_n_u32(vbslq_u32(vceqq_f32(x, x), rounded, quiet), 16));
}

#ifdef ELEMENT_F64

static inline unsigned vec_lanes_lt(vec a, vec b)
{
    const uint64x2_t less = vcltq_f64(a, b);

    return (unsigned)((vgetq_lane_u64(less, 0) & 1) | (vgetq_lane_u64(less, 1) & 2));
}
static inline vec vec_times(vec x, double y) { return vec_mul(x, vec_set1(y)); }
static inline void vec_from_f32(vec_f32 x, vec y[2])
{
    y[0] = vcvt_f64_f32(vget_low_f32(x));
    y[1] = vcvt_high_f64_f32(x);
}
static inline vec_f32 vec_to_f32(const vec y[2])
{
    return vcvt_high_f32_f64(vcvt_f32_f64(y[0]), y[1]);
}
static inline vec vec_mask_zero_bytes(const unsigned char *p)
{
    const uint64x2_t wider = vcombine_u64(vcreate_u64(p[0]), vcreate_u64(p[1]));

    return REALS(vshlq_n_u64(vceqzq_u64(wider), 63));
}
static inline vec vec_mask_bit(const uint32_t *words, int bit)
{
    const uint64x2_t high = vshlq_u64(vmovl_u32(vld1_u32(words)), vdupq_n_s64(63 - bit));

    return REALS(vandq_u64(high, BITS(vec_set1(-0.0))));
}
static inline __attribute__((always_inline)) void vec_transpose(vec x[VLEN])
{
    const vec a = vtrn1q_f64(x[0], x[1]), b = vtrn2q_f64(x[0], x[1]);

    x[0] = a;
    x[1] = b;
}

#else

static inline unsigned vec_lanes_lt(vec a, vec b)
{
    static const uint32_t weights[4] = {1, 2, 4, 8};

    return vaddvq_u32(vandq_u32(vcltq_f32(a, b), vld1q_u32(weights)));
}
static inline vec vec_times(vec x, double y)
{
    const float64x2_t low = vmulq_n_f64(vcvt_f64_f32(vget_low_f32(x)), y);

    return vcvt_high_f32_f64(vcvt_f32_f64(low), vmulq_n_f64(vcvt_high_f64_f32(x), y));
}
static inline vec vec_mask_zero_bytes(const unsigned char *p)
{
    uint32_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    const uint16x8_t wider = vmovl_u8(vreinterpret_u8_u64(vcreate_u64(bytes)));
    return REALS(vshlq_n_u32(vceqzq_u32(vmovl_u16(vget_low_u16(wider))), 31));
}
static inline vec vec_mask_bit(const uint32_t *words, int bit)
{
    const uint32x4_t high = vshlq_u32(vld1q_u32(words), vdupq_n_s32(31 - bit));

    return REALS(vandq_u32(high, BITS(vec_set1(-0.0f))));
}
static inline vec join_low(vec a, vec b)
{
    return vreinterpretq_f32_f64(
        vtrn1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}
static inline vec join_high(vec a, vec b)
{
    return vreinterpretq_f32_f64(
        vtrn2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
}
static inline __attribute__((always_inline)) void vec_transpose(vec x[VLEN])
{
    const vec a = vtrn1q_f32(x[0], x[1]), b = vtrn2q_f32(x[0], x[1]);
    const vec c = vtrn1q_f32(x[2], x[3]), d = vtrn2q_f32(x[2], x[3]);

    x[0] = join_low(a, c);
    x[1] = join_low(b, d);
    x[2] = join_high(a, c);
    x[3] = join_high(b, d);
}
static inline __attribute__((always_inline)) void
vec_load_transposed_f16(vec x[TRANSPOSED], const char *rows, int64_t step)
{
    for (int i = 0; i < VLEN; i++)
        x[i] = f32_load_f16((const void *)(rows + i * step));
    vec_transpose(x);
}
static inline __attribute__((always_inline)) void
vec_load_transposed_bf16(vec x[TRANSPOSED], const char *rows, int64_t step)
{
    for (int i = 0; i < VLEN; i++)
        x[i] = f32_load_bf16((const void *)(rows + i * step));
    vec_transpose(x);
}

#endif

static inline __attribute__((always_inline)) void
vec_load_transposed(vec x[TRANSPOSED], const char *rows, int64_t step)
{
    for (int i = 0; i < VLEN; i++)
        x[i] = vec_load((const void *)(rows + i * step));
    vec_transpose(x);
}

#endif
