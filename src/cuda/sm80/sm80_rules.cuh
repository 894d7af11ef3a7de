/* SPDX-License-Identifier: MIT */
/*
 * Which keys a row sees, masks and score_mod.  Accumulator layout of m16n8: S[n][e] of a
 * thread is row lane / 4 + 8 (e / 2) of 16, column 8 n + 2 (lane % 4) + e % 2.
 */
#ifndef ATTEND_CUDA_SM80_RULES_CUH
#define ATTEND_CUDA_SM80_RULES_CUH

#include "cuda/sm80/sm80.h"
#include "cuda/sm80/sm80_element.cuh"
#include "cuda/tile.cuh"

/* More than any distance of a row from a key. */
enum { SM80_FAR = 1 << 30 };

/* A tile of rows: of query head `head`, or with pack_gqa of key/value head `head`. */
struct tile_rows {
    int b, head, first, rows; /* rows: of the head; a tile may extend past the last */
    int begin, end, length; /* row i sees max(begin + i, 0) .. min(end + i, length) - 1 */
    int split;
};

DEVICE void find_bounds(const struct problem &p, struct tile_rows &t)
{
    int64_t at = p.first_query, begin = -SM80_FAR, end = SM80_FAR;

    if (p.causal == ATTEND_CAUSAL_BOTTOM_RIGHT)
        at += p.nk - p.nq;
    else if (p.causal == ATTEND_CAUSAL_OFFSET)
        at += clamp_i64(p.causal_offset[t.b], -POSITION_MAX, POSITION_MAX);
    ATTENDI_CLIP_KEYS(p, at, begin, end);
    t.begin = (int)clamp_i64(begin, -SM80_FAR, SM80_FAR);
    t.end = (int)clamp_i64(end, -SM80_FAR, SM80_FAR);
    t.length = p.key_lengths ? (int)clamp_i64(p.key_lengths[t.b], 0, p.nk) : (int)p.nk;
}

/* The query of a row: with pack_gqa, query 0 for all rows. */
DEVICE int query_of(const sm80_launch &a, int row) { return a.pack_gqa ? 0 : row; }
DEVICE int head_of(const sm80_launch &a, const struct tile_rows &t, int row)
{
    return a.pack_gqa ? t.head * (int)a.p.group + row : t.head;
}
DEVICE int row_begin(const sm80_launch &a, const struct tile_rows &t, int row)
{
    return max(t.begin + query_of(a, row), 0);
}
DEVICE int row_end(const sm80_launch &a, const struct tile_rows &t, int row)
{
    return min(t.end + query_of(a, row), t.length);
}

/* Offset of row 0 of a tile's head in a tensor, and the stride of rows; in elements. */
struct row_layout {
    int64_t first, step;
};
DEVICE struct row_layout layout_of(const sm80_launch &a, const struct tile_rows &t,
                                   const int64_t (&stride)[4])
{
    return {t.b * stride[0] + t.head * (a.pack_gqa ? a.p.group : 1) * stride[1],
            a.pack_gqa ? stride[1] : stride[2]};
}

/* The key that ALiBi distances are computed from; see attendi_anchor(). */
DEVICE int anchor_of(const sm80_launch &a, const struct tile_rows &t, int row)
{
    return a.p.alibi[head_of(a, t, row)] < 0 ? row_begin(a, t, row)
                                             : row_end(a, t, row) - 1;
}

/* Add it to a score with ALiBi relative to the anchor to get the score. */
DEVICE double row_shift(const sm80_launch &a, const struct tile_rows &t, int row)
{
    if (!a.p.alibi)
        return 0;
    int64_t at = a.p.first_query + query_of(a, row);
    if (a.p.causal == ATTEND_CAUSAL_BOTTOM_RIGHT)
        at += a.p.nk - a.p.nq;
    else if (a.p.causal == ATTEND_CAUSAL_OFFSET)
        at += clamp_i64(a.p.causal_offset[t.b], -POSITION_MAX, POSITION_MAX);
    return a.p.alibi[head_of(a, t, row)] * (double)(anchor_of(a, t, row) - at);
}

/*
 * Sets scores outside causal rule, window and length to -inf.  `row` and `key` are those
 * of the thread's first score.
 */
template <int N>
DEVICE void mask_by_bounds(const sm80_launch &a, const struct tile_rows &t,
                           float (&S)[N][4], int row, int key)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int own = min(row + rematerialize(8 * r), t.rows - 1);
        const int lo = row_begin(a, t, own) - key, hi = row_end(a, t, own) - key;
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                if (8 * n + e < lo || 8 * n + e >= hi)
                    S[n][2 * r + e] = -CUDART_INF_F;
        pin(S); /* one pair of bounds at a time in registers */
    }
}

/* Bit 4 n + e is set where causal rule, window and length let S[n][e] be seen. */
template <int N>
DEVICE uint32_t bound_bits(const sm80_launch &a, const struct tile_rows &t, int row,
                           int key)
{
    uint32_t bits = 0;

#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int own = min(row + 8 * r, t.rows - 1);
        const int lo = row_begin(a, t, own) - key, hi = row_end(a, t, own) - key;
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                if (8 * n + e >= lo && 8 * n + e < hi)
                    bits |= 1u << (4 * n + 2 * r + e);
    }
    return bits;
}

/*
 * Clears those of `bits` that the mask hides.  `inside`: the block has no keys past nk,
 * so that two keys of the mask may be read at a time.
 */
template <int N>
DEVICE uint32_t mask_bits(const sm80_launch &a, const struct tile_rows &t, int row,
                          int key, bool inside, uint32_t bits)
{
    const struct row_layout at = layout_of(a, t, a.p.mask.stride);
    const int64_t step = a.p.mask.stride[3];

#pragma unroll
    for (int r = 0; r < 2; r++) {
        const unsigned char *const mask =
            (const unsigned char *)a.p.mask.data + at.first +
            min(row + 8 * r, t.rows - 1) * at.step + key * step;
        if (a.mask_pairs && inside) {
#pragma unroll
            for (int n = 0; n < N; n++) {
                const uint32_t two = *(const uint16_t *)(mask + 8 * n);
                bits &= ~((two & 0xff ? 0u : 1u) << (4 * n + 2 * r));
                bits &= ~((two >> 8 ? 0u : 2u) << (4 * n + 2 * r));
            }
            continue;
        }
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const uint32_t bit = 1u << (4 * n + 2 * r + e);
                if (bits & bit && !mask[(8 * n + e) * step])
                    bits &= ~bit;
            }
    }
    return bits;
}

template <int N> DEVICE void mask_by_bits(float (&S)[N][4], uint32_t bits)
{
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (!(bits >> (4 * n + e) & 1))
                S[n][e] = -CUDART_INF_F;
}

DEVICE float load_bias(const double *at) { return narrow_bias<float>(*at); }
template <class T> DEVICE float load_bias(const T *at) { return load_number(at); }

/* Reads the bias of seen keys only: others may be outside of the tensor. */
template <class T, int N>
DEVICE void add_bias(const sm80_launch &a, const struct tile_rows &t, float (&S)[N][4],
                     int row, int key, uint32_t bits)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int own = min(row + 8 * r, t.rows - 1);
        const struct row_layout at = layout_of(a, t, a.p.bias.stride);
        const T *const bias = (const T *)a.p.bias.data + at.first + own * at.step +
                              key * a.p.bias.stride[3];
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                if (bits >> (4 * n + 2 * r + e) & 1)
                    S[n][2 * r + e] += load_bias(bias + (8 * n + e) * a.p.bias.stride[3]);
    }
}

/* Scores in nats, in the order of attend.h: scale, softcap, bias, ALiBi. */
template <int N>
DEVICE void apply_score_mod(const sm80_launch &a, const struct tile_rows &t,
                            float (&S)[N][4], int row, int key, uint32_t bits)
{
    const float scale = (float)a.p.scale, cap = (float)a.p.softcap;

#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            S[n][e] *= scale;
    if (cap > 0) {
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                S[n][e] = cap * tanhf(S[n][e] / cap);
    }
    if (a.p.bias.data) {
        if (a.p.bias.dtype == ATTEND_F64)
            add_bias<double>(a, t, S, row, key, bits);
        else if (a.p.bias.dtype == ATTEND_F32)
            add_bias<float>(a, t, S, row, key, bits);
        else if (a.p.bias.dtype == ATTEND_F16)
            add_bias<__half>(a, t, S, row, key, bits);
        else
            add_bias<__nv_bfloat16>(a, t, S, row, key, bits);
    }
    if (a.p.alibi) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int own = min(row + 8 * r, t.rows - 1);
            const float slope = (float)a.p.alibi[head_of(a, t, own)];
            const int far = key - anchor_of(a, t, own);
#pragma unroll
            for (int n = 0; n < N; n++)
#pragma unroll
                for (int e = 0; e < 2; e++)
                    S[n][2 * r + e] =
                        __fmaf_rn(slope, (float)(far + 8 * n + e), S[n][2 * r + e]);
        }
    }
}

#endif
