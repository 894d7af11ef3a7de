/* SPDX-License-Identifier: MIT */
/* Pairs of neighbouring bf16 in the lanes of a vector, by AVX512_BF16. */
#ifndef ATTEND_CPU_PAIRS_H
#define ATTEND_CPU_PAIRS_H

#if !defined(__AVX512BF16__)
#error "compile this file with AVX512_BF16"
#endif

#include "base/base.h"

static inline __m512bh set1_pair(uint32_t pair)
{
    return (__m512bh)_mm512_set1_epi32((int)pair);
}

static inline __m512bh load_pairs(const void *p)
{
    return (__m512bh)_mm512_loadu_si512(p);
}

/* Pairs c / 2 .. of columns c .. c + 31 of a row of d columns; 0 past the last. */
static inline __m512 load_row_pairs(const uint16_t *row, int64_t step, int64_t c,
                                    int64_t d)
{
    const int64_t n = min_i64(2 * VLEN, d - c);

    if (step == 1) {
        const __mmask32 have = n == 2 * VLEN ? ~0u : (1u << n) - 1;
        return _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(have, row + c));
    }
    uint16_t lanes[2 * VLEN] = {0};

    for (int64_t x = 0; x < n; x++)
        lanes[x] = row[(c + x) * step];
    return _mm512_castsi512_ps(_mm512_loadu_si512(lanes));
}

/* The pair at p in every lane, and acc += x y, both in the order written. */
static inline __m512bh broadcast_pair(const void *p)
{
    __m512bh x;

    __asm__ volatile("vbroadcastss %1, %0" : "=v"(x) : "m"(*(const uint32_t *)p));
    return x;
}

static inline void mac_pairs(__m512 *acc, __m512bh x, __m512bh y)
{
    __asm__ volatile("vdpbf16ps %2, %1, %0" : "+v"(*acc) : "v"(x), "v"(y));
}

/* Replaces values whose weight is masked by 0. */
static inline __m512bh seen_pairs(__m512bh value, __m512bh weight)
{
    const __mmask32 seen = ~_mm512_movepi16_mask((__m512i)weight);

    return (__m512bh)_mm512_maskz_mov_epi16(seen, (__m512i)value);
}

/* Weights of two keys as pairs of bf16. */
static inline void store_pairs(REAL *to, vec even, vec odd)
{
    const __m512i lane =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i upper = _mm512_add_epi32(lane, _mm512_set1_epi32(16));
    const __m512i interleave = _mm512_or_si512(lane, _mm512_slli_epi32(upper, 16));
    const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(odd, even);

    _mm512_storeu_si512(to, _mm512_permutexvar_epi16(interleave, both));
}

/* sum += the pair at p by those of `key`. */
static inline void mac_pair_at(__m512 *sum, const float *p, __m512 key)
{
    __asm__ volatile("vdpbf16ps %1%{1to16%}, %2, %0" : "+v"(*sum) : "m"(*p), "v"(key));
}

/* sum + pairs of `weight` times those of `value`; skips masked pairs if `select`. */
static inline __m512 add_pairs(__m512 sum, __m512 weight, __m512 value, const int select)
{
    const __m512bh w = (__m512bh)_mm512_castps_si512(weight);
    const __m512bh v = (__m512bh)_mm512_castps_si512(value);

    return _mm512_dpbf16_ps(sum, select ? seen_pairs(v, w) : v, w);
}

static inline void store_rounded(uint16_t *to, __m512 x)
{
    _mm256_storeu_si256((void *)to, (__m256i)_mm512_cvtneps_pbh(x));
}

/* A row of 32 columns, or zeros. */
static inline __m512 load_row_if(const void *row, int have)
{
    return _mm512_castsi512_ps(_mm512_maskz_loadu_epi32(have ? 0xffff : 0, row));
}

/*
 * Interleaves the rows of two keys to pairs: y[0] and y[1] hold 32 columns in groups of
 * 4. in_order() returns the sums of columns c .. c + 15.
 */
static inline void interleave_rows(__m512 *y, __m512 even, __m512 odd)
{
    const __m512i a = _mm512_castps_si512(even), b = _mm512_castps_si512(odd);

    y[0] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(a, b));
    y[1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(a, b));
}

static inline __m512 in_order(const float *sums, int64_t c)
{
    const __m512i low =
        _mm512_set_epi32(23, 22, 21, 20, 7, 6, 5, 4, 19, 18, 17, 16, 3, 2, 1, 0);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    const float *const two = sums + c / (2 * VLEN) * (2 * VLEN);

    return _mm512_permutex2var_ps(_mm512_loadu_ps(two), c % (2 * VLEN) ? high : low,
                                  _mm512_loadu_ps(two + VLEN));
}

#endif
