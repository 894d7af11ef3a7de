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

enum { VF_LEN = 16, VD_LEN = 8 };

static inline vf vf_set1(float x) { return _mm512_set1_ps(x); }
static inline vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm512_storeu_ps(p, x); }
static inline vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
static inline vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
static inline vf vf_mark_lt(vf a, vf b)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ),
                               _mm512_set1_ps(-0.0f));
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
static inline vf vf_load_bf16(const uint16_t *p)
{
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));

    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

static inline vd vd_set1(double x) { return _mm512_set1_pd(x); }
static inline vd vd_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void vd_store(double *p, vd x) { _mm512_storeu_pd(p, x); }
static inline vd vd_add(vd a, vd b) { return _mm512_add_pd(a, b); }
static inline vd vd_sub(vd a, vd b) { return _mm512_sub_pd(a, b); }
static inline vd vd_mul(vd a, vd b) { return _mm512_mul_pd(a, b); }
static inline vd vd_div(vd a, vd b) { return _mm512_div_pd(a, b); }
static inline vd vd_fma(vd a, vd b, vd c) { return _mm512_fmadd_pd(a, b, c); }
static inline vd vd_max(vd a, vd b) { return _mm512_max_pd(a, b); }
static inline vd vd_mark_lt(vd a, vd b)
{
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ),
                               _mm512_set1_pd(-0.0));
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

#endif
