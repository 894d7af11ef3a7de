/* SPDX-License-Identifier: MIT */
/* The vocabulary on x86-64-v3; the words are explained in simd_scalar.h. */
#ifndef ATTEND_CPU_SIMD_H
#define ATTEND_CPU_SIMD_H

#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "compile this file for x86-64-v3"
#endif

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m256 vf;
typedef __m256d vd;

enum { VF_LEN = 8, VD_LEN = 4, VF_TURN = VF_LEN, VD_TURN = VD_LEN };

static inline vf vf_set1(float x) { return _mm256_set1_ps(x); }
static inline vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm256_storeu_ps(p, x); }
static inline vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
static inline vf vf_spread(const float *p) { return vf_set1(*p); }
static inline void vf_mac(vf *acc, vf x, vf y) { *acc = vf_fma(x, y, *acc); }
static inline void vf_mac_at(vf *acc, const float *x, vf y)
{
    *acc = vf_fma(vf_set1(*x), y, *acc);
}
static inline vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf vf_mark_lt(vf a, vf b)
{
    return _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ), _mm256_set1_ps(-0.0f));
}
static inline unsigned vf_lanes_lt(vf a, vf b)
{
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
static inline vf vf_pick_lt(vf a, vf b, vf x, vf y)
{
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
static inline vf vf_add_lt(vf sum, vf x, vf y)
{
    return _mm256_add_ps(sum, _mm256_and_ps(_mm256_cmp_ps(x, y, _CMP_LT_OQ), x));
}
static inline vf vf_either(vf a, vf b) { return _mm256_or_ps(a, b); }
static inline vf vf_pick(vf mark, vf a, vf b) { return _mm256_blendv_ps(b, a, mark); }
static inline vf vf_keep_ge(vf x, vf lo, vf y)
{
    return _mm256_and_ps(_mm256_cmp_ps(x, lo, _CMP_NLT_UQ), y);
}
static inline vf vf_nearest(vf x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vf vf_times_pow2(vf x, vf n)
{
    const __m256i e = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));

    return _mm256_mul_ps(x, _mm256_castsi256_ps(_mm256_slli_epi32(e, 23)));
}
static inline vf vf_load_f16(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
static inline vf vf_load_bf16(const uint16_t *p)
{
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));

    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

static inline vf vf_times(vf x, double y)
{
    const __m256d by = _mm256_set1_pd(y);
    const __m128 low =
        _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x)), by));
    const __m128 high =
        _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)), by));

    return _mm256_set_m128(high, low);
}
static inline void vf_store_f16(uint16_t *p, vf x)
{
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
static inline void vf_store_bf16(uint16_t *p, vf x)
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
static inline vf vf_mark_zero_bytes(const unsigned char *p)
{
    const __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    const __m256i zero = _mm256_cmpeq_epi32(wide, _mm256_setzero_si256());

    return _mm256_castsi256_ps(_mm256_slli_epi32(zero, 31));
}
static inline uint32_t zero_bytes(const unsigned char *p)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)p);

    return (uint32_t)_mm256_movemask_epi8(
        _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256()));
}
static inline vf vf_mark_bit(const uint32_t *words, int bit)
{
    const __m256i w = _mm256_loadu_si256((const __m256i *)words);
    const __m256i high = _mm256_sll_epi32(w, _mm_cvtsi32_si128(31 - bit));

    return _mm256_and_ps(_mm256_castsi256_ps(high), _mm256_set1_ps(-0.0f));
}
static inline __attribute__((always_inline)) void vf_transpose(vf x[VF_LEN])
{
    vf y[VF_LEN];

    for (int i = 0; i < VF_LEN; i += 4) {
        const vf a = _mm256_unpacklo_ps(x[i], x[i + 1]);
        const vf b = _mm256_unpackhi_ps(x[i], x[i + 1]);
        const vf c = _mm256_unpacklo_ps(x[i + 2], x[i + 3]);
        const vf d = _mm256_unpackhi_ps(x[i + 2], x[i + 3]);

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

static inline __attribute__((always_inline)) void vf_turn(vf x[VF_TURN], const char *rows,
                                                          int64_t step)
{
    for (int i = 0; i < VF_LEN; i++)
        x[i] = vf_load((const void *)(rows + i * step));
    vf_transpose(x);
}
static inline __attribute__((always_inline)) void
vf_turn_f16(vf x[VF_TURN], const char *rows, int64_t step)
{
    for (int i = 0; i < VF_LEN; i++)
        x[i] = vf_load_f16((const void *)(rows + i * step));
    vf_transpose(x);
}
static inline __attribute__((always_inline)) void
vf_turn_bf16(vf x[VF_TURN], const char *rows, int64_t step)
{
    for (int i = 0; i < VF_LEN; i++)
        x[i] = vf_load_bf16((const void *)(rows + i * step));
    vf_transpose(x);
}

static inline vd vd_set1(double x) { return _mm256_set1_pd(x); }
static inline vd vd_load(const double *p) { return _mm256_loadu_pd(p); }
static inline void vd_store(double *p, vd x) { _mm256_storeu_pd(p, x); }
static inline vd vd_add(vd a, vd b) { return _mm256_add_pd(a, b); }
static inline vd vd_sub(vd a, vd b) { return _mm256_sub_pd(a, b); }
static inline vd vd_mul(vd a, vd b) { return _mm256_mul_pd(a, b); }
static inline vd vd_div(vd a, vd b) { return _mm256_div_pd(a, b); }
static inline vd vd_fma(vd a, vd b, vd c) { return _mm256_fmadd_pd(a, b, c); }
static inline vd vd_spread(const double *p) { return vd_set1(*p); }
static inline void vd_mac(vd *acc, vd x, vd y) { *acc = vd_fma(x, y, *acc); }
static inline void vd_mac_at(vd *acc, const double *x, vd y)
{
    *acc = vd_fma(vd_set1(*x), y, *acc);
}
static inline vd vd_max(vd a, vd b) { return _mm256_max_pd(a, b); }
static inline vd vd_mark_lt(vd a, vd b)
{
    return _mm256_and_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ), _mm256_set1_pd(-0.0));
}
static inline unsigned vd_lanes_lt(vd a, vd b)
{
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ));
}
static inline vd vd_pick_lt(vd a, vd b, vd x, vd y)
{
    return _mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_LT_OQ));
}
static inline vd vd_add_lt(vd sum, vd x, vd y)
{
    return _mm256_add_pd(sum, _mm256_and_pd(_mm256_cmp_pd(x, y, _CMP_LT_OQ), x));
}
static inline vd vd_either(vd a, vd b) { return _mm256_or_pd(a, b); }
static inline vd vd_pick(vd mark, vd a, vd b) { return _mm256_blendv_pd(b, a, mark); }
static inline vd vd_keep_ge(vd x, vd lo, vd y)
{
    return _mm256_and_pd(_mm256_cmp_pd(x, lo, _CMP_NLT_UQ), y);
}
static inline vd vd_nearest(vd x)
{
    return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vd vd_times_pow2(vd x, vd n)
{
    /* AVX2 cannot convert to 64-bit integers: 1.5 2^52 + n holds n in its low bits. */
    const __m256i low = _mm256_castpd_si256(_mm256_add_pd(n, _mm256_set1_pd(0x1.8p52)));
    const __m256i e = _mm256_add_epi64(low, _mm256_set1_epi64x(1023));

    return _mm256_mul_pd(x, _mm256_castsi256_pd(_mm256_slli_epi64(e, 52)));
}
static inline vd vd_times(vd x, double y) { return _mm256_mul_pd(x, _mm256_set1_pd(y)); }
static inline vd vd_mark_zero_bytes(const unsigned char *p)
{
    int32_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    const __m256i wide = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes));
    const __m256i zero = _mm256_cmpeq_epi64(wide, _mm256_setzero_si256());
    return _mm256_castsi256_pd(_mm256_slli_epi64(zero, 63));
}
static inline vd vd_mark_bit(const uint32_t *words, int bit)
{
    const __m256i w = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)words));
    const __m256i high = _mm256_sll_epi64(w, _mm_cvtsi32_si128(63 - bit));

    return _mm256_and_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(-0.0));
}
static inline __attribute__((always_inline)) void vd_transpose(vd x[VD_LEN])
{
    const vd a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]);
    const vd c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);

    x[0] = _mm256_permute2f128_pd(a, c, 0x20);
    x[1] = _mm256_permute2f128_pd(b, d, 0x20);
    x[2] = _mm256_permute2f128_pd(a, c, 0x31);
    x[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

static inline __attribute__((always_inline)) void vd_turn(vd x[VD_TURN], const char *rows,
                                                          int64_t step)
{
    for (int i = 0; i < VD_LEN; i++)
        x[i] = vd_load((const void *)(rows + i * step));
    vd_transpose(x);
}

static inline void vf_widen(vf x, vd y[2])
{
    y[0] = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    y[1] = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}
static inline vf vf_narrow(const vd y[2])
{
    return _mm256_set_m128(_mm256_cvtpd_ps(y[1]), _mm256_cvtpd_ps(y[0]));
}

#endif
