/* SPDX-License-Identifier: MIT */
/*
 * Masks, biases, ALiBi and softcap on a block of scores.  Modified scores are in nats, in
 * the order of attend.h: scale, softcap, bias, ALiBi from the row's anchor; see
 * attendi_anchor().
 */
#ifndef ATTEND_CUDA_SM90_RULES_CUH
#define ATTEND_CUDA_SM90_RULES_CUH

#include "cuda/sm90/sm90_tiles.cuh"

/* ---- masks --------------------------------------------------------------------------
 */

/* The words of a thread for the first unit of keys of a tile. */
DEVICE const uint2 *mask_bits(const sm90_launch &p, int tile)
{
    return (const uint2 *)p.rules.bits +
           (int64_t)tile * p.rules.units * SM90_TILE_THREADS + (threadIdx.x - 128);
}

/* Bit 2 x + y of a word is column 8 x + y of those of a thread; `upper`: from 64 on. */
template <int N> DEVICE void hide_bits(float (&S)[N], uint2 bits, bool upper)
{
    const uint32_t word[2] = {upper ? bits.x >> 16 : bits.x,
                              upper ? bits.y >> 16 : bits.y};
#pragma unroll
    for (int i = 0; i < N; i++)
        if (!(word[(i >> 1) & 1] >> (2 * (i / 4) + (i & 1)) & 1))
            S[i] = -CUDART_INF_F;
}

DEVICE bool mask_shows(const sm90_launch &p, const tile_of &t, int row, int key)
{
    const sm90_tensor &m = p.rules.mask;

    return !m.data ||
           ((const uint8_t *)m.data)[t.b * m.stride[0] + t.h * m.stride[1] +
                                     row * m.stride[2] + key * m.stride[3]] != 0;
}

/* ---- scores -------------------------------------------------------------------------
 */

/* Within 4 ulp: a series near 0, where the other form cancels. */
DEVICE float tanh_of(float x)
{
    const float y = x * x, e = ex2(2.885390081777926815f * x);
    float s = __fmaf_rn(y, 0.021869488536155202822f, -0.053968253968253968254f);

    s = __fmaf_rn(y, s, 0.13333333333333333333f);
    s = __fmaf_rn(y, s, -0.33333333333333333333f);
    s = __fmaf_rn(x * y, s, x);
    return fabsf(x) < 0.25f ? s : 1.f - __fdividef(2.f, 1.f + e);
}

/* Clamps to the range of float: the lowest finite f64 must not become -inf. */
DEVICE float narrow_bias(double x)
{
    const float most = 3.402823466e38f;

    return isinf(x) ? (float)x : x < -most ? -most : x > most ? most : (float)x;
}
DEVICE float narrow_bias(float x) { return x; }
DEVICE float narrow_bias(__half x) { return __half2float(x); }
DEVICE float narrow_bias(__nv_bfloat16 x) { return __bfloat162float(x); }

DEVICE int anchor_of(const sm90_launch &p, const tile_of &t, float slope, int row)
{
    return slope < 0 ? row_begin(p, t, row) : row_end(p, t, row) - 1;
}

/* A score minus the same score with ALiBi relative to the anchor. */
DEVICE double row_shift(const sm90_launch &p, const tile_of &t, int row)
{
    if (!p.rules.alibi)
        return 0;
    const double slope = p.rules.alibi[t.h];
    return slope * (double)(anchor_of(p, t, (float)slope, row) - (row * p.step + t.at));
}

/* Copies one column of `rows` of 16 rows to shared memory as float. */
template <class T>
DEVICE void stage_column(const char *at, int64_t step, int rows, uint32_t to)
{
#pragma unroll 4
    for (int r = 0; r < 16; r++) {
        const float x = r < rows ? narrow_bias(*(const T *)at) : 0.f;
        store_shared(to + r * SM90_STAGE_PITCH, __float_as_int(x));
        at += step;
    }
}

/*
 * Adds a bias to keys key .. of the warp's 16 rows from `top` on, 32 columns at a time,
 * through the warp's part of shared memory: read by rows, used in the register layout of
 * products.
 */
template <int N>
DEVICE void add_bias(const sm90_launch &p, uint32_t tile, float (&S)[N], int top, int key,
                     uint32_t stage)
{
    const sm90_tensor &bias = p.rules.bias; /* strides in bytes */
    const int lane = threadIdx.x & 31;
    const uint32_t to = stage + 4 * lane,
                   from = stage + (lane >> 2) * SM90_STAGE_PITCH + 8 * (lane & 3);
#pragma unroll
    for (int x = 0; x < N / 4; x += 4) {
        const int column = key + 8 * x + lane;
        const int rows = column < p.nk ? p.rows - top : 0;
        const char *const at = (const char *)bias.data +
                               load_shared(tile + OWN_B) * bias.stride[0] +
                               load_shared(tile + OWN_H) * bias.stride[1] +
                               top * bias.stride[2] + column * bias.stride[3];
        __syncwarp();
        if (p.rules.bias_type == 1)
            stage_column<double>(at, bias.stride[2], rows, to);
        else if (p.rules.bias_type == 2)
            stage_column<float>(at, bias.stride[2], rows, to);
        else if (p.rules.bias_type == 3)
            stage_column<__half>(at, bias.stride[2], rows, to);
        else
            stage_column<__nv_bfloat16>(at, bias.stride[2], rows, to);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float y[2];
            load_shared_2(from + (i / 2) * 32 + (i % 2) * 8 * SM90_STAGE_PITCH, y[0],
                          y[1]);
            S[4 * x + 2 * i] += y[0];
            S[4 * x + 2 * i + 1] += y[1];
        }
    }
}

template <int N>
DEVICE void finish_scores(const sm90_launch &p, uint32_t tile, float (&S)[N], int first,
                          int block_key, uint32_t stage)
{
    const int lane = threadIdx.x & 31, key = block_key + 2 * (lane & 3);

#pragma unroll
    for (int i = 0; i < N; i++)
        S[i] *= p.rules.scale;
    if (p.rules.cap > 0) {
        const float cap = p.rules.cap, inverse = 1.f / cap;
#pragma unroll
        for (int i = 0; i < N; i++)
            S[i] = cap * tanh_of(S[i] * inverse);
        pin(S);
    }
    if (p.rules.bias_type)
        add_bias(p, tile, S, first - (lane >> 2), block_key, stage);
    if (p.rules.alibi) {
        const tile_of t = kept_tile(tile);
        const float slope = (float)p.rules.alibi[t.h];
        const float far[2] = {(float)(key - anchor_of(p, t, slope, first)),
                              (float)(key - anchor_of(p, t, slope, first + 8))};
#pragma unroll
        for (int i = 0; i < N; i++)
            S[i] = __fmaf_rn(slope, far[(i >> 1) & 1] + (float)(8 * (i / 4) + (i & 1)),
                             S[i]);
    }
}

/* The same for one product, to find out whether it is NaN. */
DEVICE float finish_score(const sm90_launch &p, const tile_of &t, int row, int key,
                          float product)
{
    const sm90_tensor &bias = p.rules.bias;
    const char *const at = (const char *)bias.data + t.b * bias.stride[0] +
                           t.h * bias.stride[1] + row * bias.stride[2] +
                           key * bias.stride[3];
    float s = product * p.rules.scale;

    if (p.rules.cap > 0)
        s = p.rules.cap * tanh_of(s / p.rules.cap);
    if (p.rules.bias_type == 1)
        s += narrow_bias(*(const double *)at);
    else if (p.rules.bias_type == 2)
        s += *(const float *)at;
    else if (p.rules.bias_type == 3)
        s += narrow_bias(*(const __half *)at);
    else if (p.rules.bias_type == 4)
        s += narrow_bias(*(const __nv_bfloat16 *)at);
    if (p.rules.alibi) {
        const float slope = (float)p.rules.alibi[t.h];
        s = __fmaf_rn(slope, (float)(key - anchor_of(p, t, slope, row)), s);
    }
    return s;
}

#endif
