/* SPDX-License-Identifier: MIT */
/* Vector operations on x86-64-v4; simd_scalar.h explains them. */
#ifndef ATTEND_CPU_SIMD_H
#define ATTEND_CPU_SIMD_H

#if !defined(__AVX512F__) || !defined(__AVX512VL__) || !defined(__AVX512DQ__) ||         \
    !defined(__AVX512BW__)
#error "compile this file for x86-64-v4"
#endif

#include <immintrin.h>
#include <stdint.h>

typedef __m512 vec_f32;

/* OP(add) is the intrinsic of this element type. */
#ifdef ELEMENT_F64
typedef __m512d vec;
enum { VLEN = 8, F32_LEN = 16, TRANSPOSED = 8 };
#define OP(name) _mm512_##name##_pd
#define OP_CMP _mm512_cmp_pd_mask
#define ASM_BROADCAST "vbroadcastsd"
#define ASM_FMA "vfmadd231pd"
#define ASM_TO_ALL "%{1to8%}"
#else
typedef __m512 vec;
enum { VLEN = 16, F32_LEN = 16, TRANSPOSED = 8 };
#define OP(name) _mm512_##name##_ps
#define OP_CMP _mm512_cmp_ps_mask
#define ASM_BROADCAST "vbroadcastss"
#define ASM_FMA "vfmadd231ps"
#define ASM_TO_ALL "%{1to16%}"
#endif

static inline vec vec_set1(REAL x) { return OP(set1)(x); }
static inline vec vec_load(const REAL *p) { return OP(loadu)(p); }
static inline void vec_store(REAL *p, vec x) { OP(storeu)(p, x); }
static inline vec vec_add(vec a, vec b) { return OP(add)(a, b); }
static inline vec vec_sub(vec a, vec b) { return OP(sub)(a, b); }
static inline vec vec_mul(vec a, vec b) { return OP(mul)(a, b); }
static inline vec vec_div(vec a, vec b) { return OP(div)(a, b); }
static inline vec vec_fma(vec a, vec b, vec c) { return OP(fmadd)(a, b, c); }
static inline vec vec_broadcast(const REAL *p)
{
    vec x;

    __asm__ volatile(ASM_BROADCAST " %1, %0" : "=v"(x) : "m"(*p));
    return x;
}
static inline void vec_mac(vec *acc, vec x, vec y)
{
    __asm__ volatile(ASM_FMA " %2, %1, %0" : "+v"(*acc) : "v"(x), "v"(y));
}
static inline void vec_mac_at(vec *acc, const REAL *x, vec y)
{
    __asm__ volatile(ASM_FMA " %1" ASM_TO_ALL ", %2, %0" : "+v"(*acc) : "m"(*x), "v"(y));
}
static inline vec vec_max(vec a, vec b) { return OP(max)(a, b); }
static inline vec vec_mask_lt(vec a, vec b)
{
    return OP(maskz_mov)(OP_CMP(a, b, _CMP_LT_OQ), vec_set1((REAL)-0.0));
}
static inline unsigned vec_lanes_lt(vec a, vec b) { return OP_CMP(a, b, _CMP_LT_OQ); }
static inline vec vec_blend_lt(vec a, vec b, vec x, vec y)
{
    return OP(mask_blend)(OP_CMP(a, b, _CMP_LT_OQ), y, x);
}
static inline vec vec_add_lt(vec sum, vec x, vec y)
{
    return OP(mask_add)(sum, OP_CMP(x, y, _CMP_LT_OQ), sum, x);
}
static inline vec vec_or(vec a, vec b) { return OP(or)(a, b); }
static inline vec vec_keep_ge(vec x, vec lo, vec y)
{
    return OP(maskz_mov)(OP_CMP(x, lo, _CMP_NLT_UQ), y);
}
static inline vec vec_nearest(vec x)
{
    return OP(roundscale)(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vec vec_times_pow2(vec x, vec n) { return OP(scalef)(x, n); }

static inline uint32_t zero_bytes(const unsigned char *p)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)p);

    return _mm256_cmpeq_epi8_mask(bytes, _mm256_setzero_si256());
}

/* ---- floats, and halves as floats ---- */

static inline vec_f32 f32_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void f32_store(float *p, vec_f32 x) { _mm512_storeu_ps(p, x); }
static inline vec_f32 f32_load_f16(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
static inline vec_f32 f32_from_bf16(__m256i x)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}
static inline vec_f32 f32_load_bf16(const uint16_t *p)
{
    return f32_from_bf16(_mm256_loadu_si256((const __m256i *)p));
}
static inline void f32_store_f16(uint16_t *p, vec_f32 x)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
static inline void f32_store_bf16(uint16_t *p, vec_f32 x)
{
    const __m512i u = _mm512_castps_si512(x);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
    const __m512i rounded = _mm512_add_epi32(u, up);
    const __m512i quiet = _mm512_or_si512(u, _mm512_set1_epi32(0x400000));
    const __m512i y =
        _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), quiet);

    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(_mm512_srli_epi32(y, 16)));
}

#ifdef ELEMENT_F64

static inline vec vec_blend(vec mask, vec a, vec b)
{
    return _mm512_mask_blend_pd(_mm512_movepi64_mask(_mm512_castpd_si512(mask)), b, a);
}
static inline vec vec_times(vec x, double y) { return vec_mul(x, vec_set1(y)); }
static inline void vec_from_f32(vec_f32 x, vec y[2])
{
    y[0] = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    y[1] = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
}
static inline vec_f32 vec_to_f32(const vec y[2])
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(y[0])),
                              _mm512_cvtpd_ps(y[1]), 1);
}
static inline vec vec_mask_zero_bytes(const unsigned char *p)
{
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)p);
    const __mmask16 zero = _mm_cmpeq_epi8_mask(bytes, _mm_setzero_si128());

    return _mm512_maskz_mov_pd((__mmask8)zero, _mm512_set1_pd(-0.0));
}
static inline vec vec_mask_bit(const uint32_t *words, int bit)
{
    const __m512i w = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)words));
    const __m512i high = _mm512_sll_epi64(w, _mm_cvtsi32_si128(63 - bit));

    return _mm512_and_pd(_mm512_castsi512_pd(high), _mm512_set1_pd(-0.0));
}
static inline __attribute__((always_inline)) void vec_transpose(vec x[VLEN])
{
    vec y[VLEN];

    for (int i = 0; i < VLEN; i += 2) {
        y[i] = _mm512_unpacklo_pd(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_pd(x[i], x[i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        const vec a = _mm512_shuffle_f64x2(y[i], y[i + 2], 0x88);
        const vec b = _mm512_shuffle_f64x2(y[i], y[i + 2], 0xdd);
        const vec c = _mm512_shuffle_f64x2(y[i + 4], y[i + 6], 0x88);
        const vec d = _mm512_shuffle_f64x2(y[i + 4], y[i + 6], 0xdd);

        x[i] = _mm512_shuffle_f64x2(a, c, 0x88);
        x[i + 4] = _mm512_shuffle_f64x2(a, c, 0xdd);
        x[i + 2] = _mm512_shuffle_f64x2(b, d, 0x88);
        x[i + 6] = _mm512_shuffle_f64x2(b, d, 0xdd);
    }
}
static inline __attribute__((always_inline)) void
vec_load_transposed(vec x[TRANSPOSED], const char *rows, int64_t step)
{
    for (int i = 0; i < VLEN; i++)
        x[i] = _mm512_loadu_pd((const void *)(rows + i * step));
    vec_transpose(x);
}

#else

static inline vec vec_blend(vec mask, vec a, vec b)
{
    return _mm512_mask_blend_ps(_mm512_movepi32_mask(_mm512_castps_si512(mask)), b, a);
}
static inline vec vec_times(vec x, double y)
{
    const __m512d by = _mm512_set1_pd(y);
    const __m256 low =
        _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(x)), by));
    const __m256 high =
        _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)), by));

    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
static inline vec vec_mask_zero_bytes(const unsigned char *p)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    const __mmask16 zero = _mm_cmpeq_epi8_mask(bytes, _mm_setzero_si128());

    return _mm512_maskz_mov_ps(zero, _mm512_set1_ps(-0.0f));
}
static inline vec vec_mask_bit(const uint32_t *words, int bit)
{
    const __m512i w = _mm512_loadu_si512(words);
    const __m512i high = _mm512_sll_epi32(w, _mm_cvtsi32_si128(31 - bit));

    return _mm512_and_ps(_mm512_castsi512_ps(high), _mm512_set1_ps(-0.0f));
}
/* Transposes 4 x 4 blocks within each quarter. */
static inline __attribute__((always_inline)) void transpose_quarters(vec y[4],
                                                                     const vec x[4])
{
    const vec a = _mm512_unpacklo_ps(x[0], x[1]), b = _mm512_unpackhi_ps(x[0], x[1]);
    const vec c = _mm512_unpacklo_ps(x[2], x[3]), d = _mm512_unpackhi_ps(x[2], x[3]);

    y[0] = _mm512_shuffle_ps(a, c, 0x44);
    y[1] = _mm512_shuffle_ps(a, c, 0xee);
    y[2] = _mm512_shuffle_ps(b, d, 0x44);
    y[3] = _mm512_shuffle_ps(b, d, 0xee);
}
static inline __attribute__((always_inline)) void vec_transpose(vec x[VLEN])
{
    vec y[VLEN];

    for (int i = 0; i < VLEN; i += 4)
        transpose_quarters(y + i, x + i);
    for (int i = 0; i < 4; i++) {
        const vec a = _mm512_shuffle_f32x4(y[i], y[i + 4], 0x88);
        const vec b = _mm512_shuffle_f32x4(y[i], y[i + 4], 0xdd);
        const vec c = _mm512_shuffle_f32x4(y[i + 8], y[i + 12], 0x88);
        const vec d = _mm512_shuffle_f32x4(y[i + 8], y[i + 12], 0xdd);

        x[i] = _mm512_shuffle_f32x4(a, c, 0x88);
        x[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
        x[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
        x[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
}

/*
 * Hides the origin of `rows` from the compiler, so that four rows are addressed by two
 * registers: it would otherwise keep an address for each row and spill.
 */
static inline const char *rows_at(const char *rows)
{
    __asm__("" : "+r"(rows));
    return rows;
}
static inline __attribute__((always_inline)) void
vec_load_transposed(vec x[TRANSPOSED], const char *rows, int64_t step)
{
    vec y[8], z[8];

    for (int i = 0; i < 8; i += 4) {
        const char *const low = rows_at(rows + 2 * i * step);
        const char *const high = rows_at(low + 4 * step);

        for (int j = 0; j < 4; j++)
            y[i + j] = _mm512_castpd_ps(_mm512_insertf64x4(
                _mm512_castpd256_pd512(_mm256_loadu_pd((const void *)(low + j * step))),
                _mm256_loadu_pd((const void *)(high + j * step)), 1));
        transpose_quarters(z + i, y + i);
    }
    for (int i = 0; i < 4; i++) {
        x[i] = _mm512_shuffle_f32x4(z[i], z[i + 4], 0x88);
        x[i + 4] = _mm512_shuffle_f32x4(z[i], z[i + 4], 0xdd);
    }
}

/* 8 by 8 halves are transposed in each half of the vectors. */
static inline __attribute__((always_inline)) void
transpose_halves(__m256i y[8], const char *rows, int64_t step)
{
    __m256i z[8];

    for (int i = 0; i < 8; i += 4) {
        const char *const low = rows_at(rows + i * step);
        const char *const high = rows_at(low + 8 * step);

        for (int j = 0; j < 4; j++)
            z[i + j] = _mm256_inserti128_si256(
                _mm256_castsi128_si256(_mm_loadu_si128((const void *)(low + j * step))),
                _mm_loadu_si128((const void *)(high + j * step)), 1);
    }
    for (int i = 0; i < 8; i += 2) {
        y[i] = _mm256_unpacklo_epi16(z[i], z[i + 1]);
        y[i + 1] = _mm256_unpackhi_epi16(z[i], z[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++) {
            z[i + 2 * j] = _mm256_unpacklo_epi32(y[i + j], y[i + j + 2]);
            z[i + 2 * j + 1] = _mm256_unpackhi_epi32(y[i + j], y[i + j + 2]);
        }
    for (int i = 0; i < 4; i++) {
        y[2 * i] = _mm256_unpacklo_epi64(z[i], z[i + 4]);
        y[2 * i + 1] = _mm256_unpackhi_epi64(z[i], z[i + 4]);
    }
}
static inline __attribute__((always_inline)) void
vec_load_transposed_f16(vec x[TRANSPOSED], const char *rows, int64_t step)
{
    __m256i y[8];

    transpose_halves(y, rows, step);
    for (int i = 0; i < 8; i++)
        x[i] = _mm512_cvtph_ps(y[i]);
}
static inline __attribute__((always_inline)) void
vec_load_transposed_bf16(vec x[TRANSPOSED], const char *rows, int64_t step)
{
    __m256i y[8];

    transpose_halves(y, rows, step);
    for (int i = 0; i < 8; i++)
        x[i] = f32_from_bf16(y[i]);
}

#endif
#endif
