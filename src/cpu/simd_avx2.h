/* SPDX-License-Identifier: MIT */
/* The vocabulary on x86-64-v3; the words are explained in simd_scalar.h. */
#ifndef ATTEND_CPU_SIMD_H
#define ATTEND_CPU_SIMD_H

#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__)
#error "compile this file for x86-64-v3"
#endif

#include <immintrin.h>
#include <stdint.h>

typedef __m256 vf;
typedef __m256d vd;

enum { VF_LEN = 8, VD_LEN = 4 };

static inline vf vf_set1(float x) { return _mm256_set1_ps(x); }
static inline vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm256_storeu_ps(p, x); }
static inline vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
static inline vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf vf_mark_lt(vf a, vf b)
{
    return _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ), _mm256_set1_ps(-0.0f));
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

static inline vd vd_set1(double x) { return _mm256_set1_pd(x); }
static inline vd vd_load(const double *p) { return _mm256_loadu_pd(p); }
static inline void vd_store(double *p, vd x) { _mm256_storeu_pd(p, x); }
static inline vd vd_add(vd a, vd b) { return _mm256_add_pd(a, b); }
static inline vd vd_sub(vd a, vd b) { return _mm256_sub_pd(a, b); }
static inline vd vd_mul(vd a, vd b) { return _mm256_mul_pd(a, b); }
static inline vd vd_div(vd a, vd b) { return _mm256_div_pd(a, b); }
static inline vd vd_fma(vd a, vd b, vd c) { return _mm256_fmadd_pd(a, b, c); }
static inline vd vd_max(vd a, vd b) { return _mm256_max_pd(a, b); }
static inline vd vd_mark_lt(vd a, vd b)
{
    return _mm256_and_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ), _mm256_set1_pd(-0.0));
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

#endif
