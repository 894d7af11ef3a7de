/* SPDX-License-Identifier: MIT */
/* Vector operations on x86-64-v3; simd_scalar.h explains them. */
#ifndef ATTEND_CPU_SIMD_H
#define ATTEND_CPU_SIMD_H

#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "compile this file for x86-64-v3"
#endif

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m256 vec_f32;

/* OP(add): the intrinsic for this element type. */
#ifdef ELEMENT_F64
typedef __m256d vec;
enum { VLEN = 4, F32_LEN = 8, TRANSPOSED = VLEN };
#define OP(name) _mm256_##name##_pd
#define ASM_TYPE "d"
#else
typedef __m256 vec;
enum { VLEN = 8, F32_LEN = 8, TRANSPOSED = VLEN };
#define OP(name) _mm256_##name##_ps
#define ASM_TYPE "s"
#endif

static inline vec vec_set1(REAL x) { return OP(set1)(x); }
static inline vec vec_load(const REAL *p) { return OP(loadu)(p); }
static inline void vec_store(REAL *p, vec x) { OP(storeu)(p, x); }
static inline vec vec_add(vec a, vec b) { return OP(add)(a, b); }
static inline vec vec_sub(vec a, vec b) { return OP(sub)(a, b); }
static inline vec vec_mul(vec a, vec b) { return OP(mul)(a, b); }
static inline vec vec_div(vec a, vec b) { return OP(div)(a, b); }
static inline vec vec_fma(vec a, vec b, vec c) { return OP(fmadd)(a, b, c); }
static inline vec vec_broadcast(const REAL *p) { return vec_set1(*p); }
static inline void vec_mac(vec *acc, vec x, vec y) { *acc = vec_fma(x, y, *acc); }
static inline void vec_mac_at(vec *acc, const REAL *x, vec y)
{
    *acc = vec_fma(vec_set1(*x), y, *acc);
}
static inline vec vec_max(vec a, vec b) { return OP(max)(a, b); }
static inline vec vec_mask_lt(vec a, vec b)
{
    return OP(and)(OP(cmp)(a, b, _CMP_LT_OQ), vec_set1((REAL)-0.0));
}
static inline unsigned vec_lanes_lt(vec a, vec b)
{
    return (unsigned)OP(movemask)(OP(cmp)(a, b, _CMP_LT_OQ));
}
static inline vec vec_blend_lt(vec a, vec b, vec x, vec y)
{
    return OP(blendv)(y, x, OP(cmp)(a, b, _CMP_LT_OQ));
}
static inline vec vec_add_lt(vec sum, vec x, vec y)
{
    return OP(add)(sum, OP(and)(OP(cmp)(x, y, _CMP_LT_OQ), x));
}
static inline vec vec_or(vec a, vec b) { return OP(or)(a, b); }
static inline vec vec_blend(vec mask, vec a, vec b) { return OP(blendv)(b, a, mask); }
static inline vec vec_keep_ge(vec x, vec lo, vec y)
{
    return OP(and)(OP(cmp)(x, lo, _CMP_NLT_UQ), y);
}
static inline vec vec_nearest(vec x)
{
    return OP(round)(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline uint32_t zero_bytes(const unsigned char *p)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)p);

    return (uint32_t)_mm256_movemask_epi8(
        _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256()));
}

/* ---- floats, and halves as floats ---- */

static inline vec_f32 f32_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void f32_store(float *p, vec_f32 x) { _mm256_storeu_ps(p, x); }
static inline vec_f32 f32_load_f16(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
static inline vec_f32 f32_load_bf16(const uint16_t *p)
{
    const __m256i wider = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));

    return _mm256_castsi256_ps(_mm256_slli_epi32(wider, 16));
}
static inline void f32_store_f16(uint16_t *p, vec_f32 x)
{
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
static inline void f32_store_bf16(uint16_t *p, vec_f32 x)
{
    const __m256i u = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    const __m256i rounded = _mm256_add_epi32(u, up);
    const __m256i quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m256i y = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);

    _mm_storeu_si128((__m128i *)p, _mm_packus_epi32(_mm256_castsi256_si128(y),
                                                    _mm256_extracti128_si256(y, 1)));
}

#ifdef ELEMENT_F64

static inline vec vec_times_pow2(vec x, vec n)
{
    /* AVX2 cannot convert to 64-bit integers: 1.5 2^52 + n holds n in its low bits. */
    const __m256i low = _mm256_castpd_si256(_mm256_add_pd(n, _mm256_set1_pd(0x1.8p52)));
    const __m256i e = _mm256_add_epi64(low, _mm256_set1_epi64x(1023));

    return _mm256_mul_pd(x, _mm256_castsi256_pd(_mm256_slli_epi64(e, 52)));
}
static inline vec vec_times(vec x, double y) { return vec_mul(x, vec_set1(y)); }
static inline void vec_from_f32(vec_f32 x, vec y[2])
{
    y[0] = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    y[1] = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}
static inline vec_f32 vec_to_f32(const vec y[2])
{
    return _mm256_set_m128(_mm256_cvtpd_ps(y[1]), _mm256_cvtpd_ps(y[0]));
}
static inline vec vec_mask_zero_bytes(const unsigned char *p)
{
    int32_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    const __m256i wider = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes));
    const __m256i zero = _mm256_cmpeq_epi64(wider, _mm256_setzero_si256());
    return _mm256_castsi256_pd(_mm256_slli_epi64(zero, 63));
}
static inline vec vec_mask_bit(const uint32_t *words, int bit)
{
    const __m256i w = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)words));
    const __m256i high = _mm256_sll_epi64(w, _mm_cvtsi32_si128(63 - bit));

    return _mm256_and_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(-0.0));
}
static inline __attribute__((always_inline)) void vec_transpose(vec x[VLEN])
{
    const vec a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]);
    const vec c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);

    x[0] = _mm256_permute2f128_pd(a, c, 0x20);
    x[1] = _mm256_permute2f128_pd(b, d, 0x20);
    x[2] = _mm256_permute2f128_pd(a, c, 0x31);
    x[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

#else

static inline vec vec_times_pow2(vec x, vec n)
{
    const __m256i e = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));

    return _mm256_mul_ps(x, _mm256_castsi256_ps(_mm256_slli_epi32(e, 23)));
}
static inline vec vec_times(vec x, double y)
{
    const __m256d by = _mm256_set1_pd(y);
    const __m128 low =
        _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x)), by));
    const __m128 high =
        _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)), by));

    return _mm256_set_m128(high, low);
}
static inline vec vec_mask_zero_bytes(const unsigned char *p)
{
    const __m256i wider = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    const __m256i zero = _mm256_cmpeq_epi32(wider, _mm256_setzero_si256());

    return _mm256_castsi256_ps(_mm256_slli_epi32(zero, 31));
}
static inline vec vec_mask_bit(const uint32_t *words, int bit)
{
    const __m256i w = _mm256_loadu_si256((const __m256i *)words);
    const __m256i high = _mm256_sll_epi32(w, _mm_cvtsi32_si128(31 - bit));

    return _mm256_and_ps(_mm256_castsi256_ps(high), _mm256_set1_ps(-0.0f));
}
static inline __attribute__((always_inline)) void vec_transpose(vec x[VLEN])
{
    vec y[VLEN];

    for (int i = 0; i < VLEN; i += 4) {
        const vec a = _mm256_unpacklo_ps(x[i], x[i + 1]);
        const vec b = _mm256_unpackhi_ps(x[i], x[i + 1]);
        const vec c = _mm256_unpacklo_ps(x[i + 2], x[i + 3]);
        const vec d = _mm256_unpackhi_ps(x[i + 2], x[i + 3]);

        y[i] = _mm256_shuffle_ps(a, c, 0x44);
        y[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
        y[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
        y[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
    }
    for (int i = 0; i < 4; i++) {
        x[i] = _mm256_permute2f128_ps(y[i], y[i + 4], 0x20);
        x[i + 4] = _mm256_permute2f128_ps(y[i], y[i + 4], 0x31);
    }
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
