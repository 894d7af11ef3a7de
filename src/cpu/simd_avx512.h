/* SPDX-License-Identifier: MIT */
/* The vocabulary on x86-64-v4; the words are explained in simd_scalar.h. */
#ifndef ATTEND_CPU_SIMD_H
#define ATTEND_CPU_SIMD_H

#if !defined(__AVX512F__) || !defined(__AVX512VL__) || !defined(__AVX512DQ__) ||         \
    !defined(__AVX512BW__)
#error "compile this file for x86-64-v4"
#endif

#include <immintrin.h>
#include <stdint.h>

typedef __m512 vf;
typedef __m512d vd;

enum { VF_LEN = 16, VD_LEN = 8, VF_TURN = 8, VD_TURN = 8 };

static inline vf vf_set1(float x) { return _mm512_set1_ps(x); }
static inline vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm512_storeu_ps(p, x); }
static inline vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
static inline vf vf_spread(const float *p)
{
    vf x;

    __asm__ volatile("vbroadcastss %1, %0" : "=v"(x) : "m"(*p));
    return x;
}
static inline void vf_mac(vf *acc, vf x, vf y)
{
    __asm__ volatile("vfmadd231ps %2, %1, %0" : "+v"(*acc) : "v"(x), "v"(y));
}
static inline void vf_mac_at(vf *acc, const float *x, vf y)
{
    __asm__ volatile("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(*acc) : "m"(*x), "v"(y));
}
static inline vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
static inline vf vf_mark_lt(vf a, vf b)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ),
                               _mm512_set1_ps(-0.0f));
}
static inline unsigned vf_lanes_lt(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
static inline vf vf_pick_lt(vf a, vf b, vf x, vf y)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}
static inline vf vf_add_lt(vf sum, vf x, vf y)
{
    return _mm512_mask_add_ps(sum, _mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), sum, x);
}
static inline vf vf_either(vf a, vf b) { return _mm512_or_ps(a, b); }
static inline vf vf_pick(vf mark, vf a, vf b)
{
    return _mm512_mask_blend_ps(_mm512_movepi32_mask(_mm512_castps_si512(mark)), b, a);
}
static inline vf vf_keep_ge(vf x, vf lo, vf y)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, lo, _CMP_NLT_UQ), y);
}
static inline vf vf_nearest(vf x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vf vf_times_pow2(vf x, vf n) { return _mm512_scalef_ps(x, n); }
static inline vf vf_load_f16(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
static inline vf vf_from_bf16(__m256i x)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}
static inline vf vf_load_bf16(const uint16_t *p)
{
    return vf_from_bf16(_mm256_loadu_si256((const __m256i *)p));
}

static inline vf vf_times(vf x, double y)
{
    const __m512d by = _mm512_set1_pd(y);
    const __m256 low =
        _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(x)), by));
    const __m256 high =
        _mm512_cvtpd_ps(_mm512_mul_pd(_mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)), by));

    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
static inline void vf_store_f16(uint16_t *p, vf x)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
static inline void vf_store_bf16(uint16_t *p, vf x)
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
static inline vf vf_mark_zero_bytes(const unsigned char *p)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    const __mmask16 zero = _mm_cmpeq_epi8_mask(bytes, _mm_setzero_si128());

    return _mm512_maskz_mov_ps(zero, _mm512_set1_ps(-0.0f));
}
static inline uint32_t zero_bytes(const unsigned char *p)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)p);

    return _mm256_cmpeq_epi8_mask(bytes, _mm256_setzero_si256());
}
static inline vf vf_mark_bit(const uint32_t *words, int bit)
{
    const __m512i w = _mm512_loadu_si512(words);
    const __m512i high = _mm512_sll_epi32(w, _mm_cvtsi32_si128(31 - bit));

    return _mm512_and_ps(_mm512_castsi512_ps(high), _mm512_set1_ps(-0.0f));
}
/* 4 by 4 within each quarter. */
static inline __attribute__((always_inline)) void vf_transpose_quarters(vf y[4],
                                                                        const vf x[4])
{
    const vf a = _mm512_unpacklo_ps(x[0], x[1]), b = _mm512_unpackhi_ps(x[0], x[1]);
    const vf c = _mm512_unpacklo_ps(x[2], x[3]), d = _mm512_unpackhi_ps(x[2], x[3]);

    y[0] = _mm512_shuffle_ps(a, c, 0x44);
    y[1] = _mm512_shuffle_ps(a, c, 0xee);
    y[2] = _mm512_shuffle_ps(b, d, 0x44);
    y[3] = _mm512_shuffle_ps(b, d, 0xee);
}
static inline __attribute__((always_inline)) void vf_transpose(vf x[VF_LEN])
{
    vf y[VF_LEN];

    for (int i = 0; i < VF_LEN; i += 4)
        vf_transpose_quarters(y + i, x + i);
    for (int i = 0; i < 4; i++) {
        const vf a = _mm512_shuffle_f32x4(y[i], y[i + 4], 0x88);
        const vf b = _mm512_shuffle_f32x4(y[i], y[i + 4], 0xdd);
        const vf c = _mm512_shuffle_f32x4(y[i + 8], y[i + 12], 0x88);
        const vf d = _mm512_shuffle_f32x4(y[i + 8], y[i + 12], 0xdd);

        x[i] = _mm512_shuffle_f32x4(a, c, 0x88);
        x[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd);
        x[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
        x[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
}

/*
 * Where rows .. rows + 3 steps lie, for addresses of two registers each: the compiler
 * would keep one of each row, more than it has registers for.
 */
static inline const char *rows_at(const char *rows)
{
    __asm__("" : "+r"(rows));
    return rows;
}
static inline __attribute__((always_inline)) void vf_turn(vf x[VF_TURN], const char *rows,
                                                          int64_t step)
{
    vf y[8], z[8];

    for (int i = 0; i < 8; i += 4) {
        const char *const low = rows_at(rows + 2 * i * step);
        const char *const high = rows_at(low + 4 * step);

        for (int j = 0; j < 4; j++)
            y[i + j] = _mm512_castpd_ps(_mm512_insertf64x4(
                _mm512_castpd256_pd512(_mm256_loadu_pd((const void *)(low + j * step))),
                _mm256_loadu_pd((const void *)(high + j * step)), 1));
        vf_transpose_quarters(z + i, y + i);
    }
    for (int i = 0; i < 4; i++) {
        x[i] = _mm512_shuffle_f32x4(z[i], z[i + 4], 0x88);
        x[i + 4] = _mm512_shuffle_f32x4(z[i], z[i + 4], 0xdd);
    }
}

/* 8 by 8 halves change places in either half of the vectors. */
static inline __attribute__((always_inline)) void
turn_halves(__m256i y[8], const char *rows, int64_t step)
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
vf_turn_f16(vf x[VF_TURN], const char *rows, int64_t step)
{
    __m256i y[8];

    turn_halves(y, rows, step);
    for (int i = 0; i < 8; i++)
        x[i] = _mm512_cvtph_ps(y[i]);
}
static inline __attribute__((always_inline)) void
vf_turn_bf16(vf x[VF_TURN], const char *rows, int64_t step)
{
    __m256i y[8];

    turn_halves(y, rows, step);
    for (int i = 0; i < 8; i++)
        x[i] = vf_from_bf16(y[i]);
}

static inline vd vd_set1(double x) { return _mm512_set1_pd(x); }
static inline vd vd_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void vd_store(double *p, vd x) { _mm512_storeu_pd(p, x); }
static inline vd vd_add(vd a, vd b) { return _mm512_add_pd(a, b); }
static inline vd vd_sub(vd a, vd b) { return _mm512_sub_pd(a, b); }
static inline vd vd_mul(vd a, vd b) { return _mm512_mul_pd(a, b); }
static inline vd vd_div(vd a, vd b) { return _mm512_div_pd(a, b); }
static inline vd vd_fma(vd a, vd b, vd c) { return _mm512_fmadd_pd(a, b, c); }
static inline vd vd_spread(const double *p)
{
    vd x;

    __asm__ volatile("vbroadcastsd %1, %0" : "=v"(x) : "m"(*p));
    return x;
}
static inline void vd_mac(vd *acc, vd x, vd y)
{
    __asm__ volatile("vfmadd231pd %2, %1, %0" : "+v"(*acc) : "v"(x), "v"(y));
}
static inline void vd_mac_at(vd *acc, const double *x, vd y)
{
    __asm__ volatile("vfmadd231pd %1%{1to8%}, %2, %0" : "+v"(*acc) : "m"(*x), "v"(y));
}
static inline vd vd_max(vd a, vd b) { return _mm512_max_pd(a, b); }
static inline vd vd_mark_lt(vd a, vd b)
{
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ),
                               _mm512_set1_pd(-0.0));
}
static inline unsigned vd_lanes_lt(vd a, vd b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
static inline vd vd_pick_lt(vd a, vd b, vd x, vd y)
{
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), y, x);
}
static inline vd vd_add_lt(vd sum, vd x, vd y)
{
    return _mm512_mask_add_pd(sum, _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ), sum, x);
}
static inline vd vd_either(vd a, vd b) { return _mm512_or_pd(a, b); }
static inline vd vd_pick(vd mark, vd a, vd b)
{
    return _mm512_mask_blend_pd(_mm512_movepi64_mask(_mm512_castpd_si512(mark)), b, a);
}
static inline vd vd_keep_ge(vd x, vd lo, vd y)
{
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, lo, _CMP_NLT_UQ), y);
}
static inline vd vd_nearest(vd x)
{
    return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vd vd_times_pow2(vd x, vd n) { return _mm512_scalef_pd(x, n); }
static inline vd vd_times(vd x, double y) { return _mm512_mul_pd(x, _mm512_set1_pd(y)); }
static inline vd vd_mark_zero_bytes(const unsigned char *p)
{
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)p);
    const __mmask16 zero = _mm_cmpeq_epi8_mask(bytes, _mm_setzero_si128());

    return _mm512_maskz_mov_pd((__mmask8)zero, _mm512_set1_pd(-0.0));
}
static inline vd vd_mark_bit(const uint32_t *words, int bit)
{
    const __m512i w = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)words));
    const __m512i high = _mm512_sll_epi64(w, _mm_cvtsi32_si128(63 - bit));

    return _mm512_and_pd(_mm512_castsi512_pd(high), _mm512_set1_pd(-0.0));
}
static inline __attribute__((always_inline)) void vd_transpose(vd x[VD_LEN])
{
    vd y[VD_LEN];

    for (int i = 0; i < VD_LEN; i += 2) {
        y[i] = _mm512_unpacklo_pd(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_pd(x[i], x[i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        const vd a = _mm512_shuffle_f64x2(y[i], y[i + 2], 0x88);
        const vd b = _mm512_shuffle_f64x2(y[i], y[i + 2], 0xdd);
        const vd c = _mm512_shuffle_f64x2(y[i + 4], y[i + 6], 0x88);
        const vd d = _mm512_shuffle_f64x2(y[i + 4], y[i + 6], 0xdd);

        x[i] = _mm512_shuffle_f64x2(a, c, 0x88);
        x[i + 4] = _mm512_shuffle_f64x2(a, c, 0xdd);
        x[i + 2] = _mm512_shuffle_f64x2(b, d, 0x88);
        x[i + 6] = _mm512_shuffle_f64x2(b, d, 0xdd);
    }
}

static inline __attribute__((always_inline)) void vd_turn(vd x[VD_TURN], const char *rows,
                                                          int64_t step)
{
    for (int i = 0; i < VD_LEN; i++)
        x[i] = _mm512_loadu_pd((const void *)(rows + i * step));
    vd_transpose(x);
}

static inline void vf_widen(vf x, vd y[2])
{
    y[0] = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    y[1] = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
}
static inline vf vf_narrow(const vd y[2])
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(y[0])),
                              _mm512_cvtpd_ps(y[1]), 1);
}

#endif
