/* SPDX-License-Identifier: MIT */
/*
 * Pairs of neighbouring bf16 in the lanes of a vector, by BFDOT, which adds the sum of
 * two products to a float; and quads, two rows of four bf16, by BFMMLA, which adds to
 * each of 2 by 2 floats the sum of the first two products, then that of the others.  Both
 * round each sum to an odd number and treat denormals as 0, so they give the same bits,
 * unless the host has set FPCR.EBF.
 */
#ifndef ATTEND_CPU_PAIRS_H
#define ATTEND_CPU_PAIRS_H

#if !defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#error "compile this file with FEAT_BF16"
#endif

#include "base/base.h"

static inline bfloat16x8_t to_bf16s(vec x) { return vreinterpretq_bf16_f32(x); }
static inline uint16x8_t to_halves(vec x) { return vreinterpretq_u16_f32(x); }
static inline vec from_halves(uint16x8_t x) { return vreinterpretq_f32_u16(x); }

/* Pairs c / 2 .. of columns c .. c + 7 of a row of d columns; 0 past the last. */
static inline vec load_row_pairs(const uint16_t *row, int64_t step, int64_t c, int64_t d)
{
    const int64_t n = min_i64(2 * VLEN, d - c);
    uint16_t lanes[2 * VLEN] = {0};

    if (step == 1 && n == 2 * VLEN)
        return from_halves(vld1q_u16(row + c));
    for (int64_t x = 0; x < n; x++)
        lanes[x] = row[(c + x) * step];
    return from_halves(vld1q_u16(lanes));
}

/* sum += the pair at p by those of `key`. */
static inline void mac_pair_at(vec *sum, const float *p, vec key)
{
    const float32x2_t pair = vset_lane_f32(*p, vdup_n_f32(0), 0);

    *sum = vbfdotq_lane_f32(*sum, to_bf16s(key), vreinterpret_bf16_f32(pair), 0);
}

/* sum + pairs of `weight` times those of `value`; skips masked pairs if `select`. */
static inline vec add_pairs(vec sum, vec weight, vec value, const int select)
{
    const uint16x8_t masked = vcltzq_s16(vreinterpretq_s16_f32(weight));
    const vec seen = from_halves(vbicq_u16(to_halves(value), masked));

    return vbfdotq_f32(sum, to_bf16s(select ? seen : value), to_bf16s(weight));
}

static inline void store_rounded(uint16_t *to, vec x)
{
    vst1_u16(to, vreinterpret_u16_bf16(vcvt_bf16_f32(x)));
}

/* A row of 8 columns, or zeros. */
static inline vec load_row_if(const void *row, int have)
{
    return have ? vec_load(row) : vec_set1(0);
}

/* Rows of two keys as pairs: y[0] has those of columns 0 .. 3, y[1] those of 4 .. 7. */
static inline void interleave_rows(vec *y, vec even, vec odd)
{
    y[0] = from_halves(vzip1q_u16(to_halves(even), to_halves(odd)));
    y[1] = from_halves(vzip2q_u16(to_halves(even), to_halves(odd)));
}

/* Sums of columns c .. c + 3. */
static inline vec in_order(const float *sums, int64_t c) { return vec_load(sums + c); }

/* Weights of two keys as pairs of bf16. */
static inline void store_pairs(REAL *to, vec even, vec odd)
{
    const bfloat16x8_t low = vcvtq_low_bf16_f32(even), high = vcvtq_low_bf16_f32(odd);

    vec_store(to, from_halves(vzip1q_u16(vreinterpretq_u16_bf16(low),
                                         vreinterpretq_u16_bf16(high))));
}

/* ---- quads ---- */

/*
 * Zips pairs a of four rows with their next pairs b, to quads of rows 0 and 1, and of
 * rows 2 and 3.
 */
static inline void zip_pairs(vec *low, vec *high, vec a, vec b)
{
    *low = vzip1q_f32(a, b);
    *high = vzip2q_f32(a, b);
}

/* Quads with their first or second pairs; the other pairs are 0. */
static inline vec keep_pairs(vec quads, int second)
{
    const uint64_t kept = second ? 0xffffffff00000000u : 0xffffffffu;

    return vreinterpretq_f32_u64(
        vandq_u64(vreinterpretq_u64_f32(quads), vdupq_n_u64(kept)));
}

/* sum[i][j] += row i of x by row j of y, in the order written. */
static inline void mac_quads(vec *sum, vec x, vec y)
{
    __asm__ volatile("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(*sum) : "w"(x), "w"(y));
}

#endif
