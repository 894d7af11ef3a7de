/* SPDX-License-Identifier: MIT */
/*
 * A tile of scores: TILE_ROWS queries of one head by TILE_KEYS keys, in shared memory.
 * All general kernels compute scores here, so that their scores have the same bits.
 */
#ifndef ATTEND_CUDA_TILE_CUH
#define ATTEND_CUDA_TILE_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

#include "cuda/instructions.cuh"
#include "cuda/launch.h"

/* Columns of Q and K in shared memory at a time. */
enum { TILE_DEPTH = 32 };

/* The type of scores and sums for an element type. */
template <class E> struct wide_of {
    typedef float type;
};
template <> struct wide_of<double> {
    typedef double type;
};

__device__ inline double load_number(const double *at) { return *at; }
__device__ inline float load_number(const float *at) { return *at; }
__device__ inline float load_number(const __half *at) { return __half2float(*at); }
__device__ inline float load_number(const __nv_bfloat16 *at)
{
    return __bfloat162float(*at);
}

__device__ inline double load_any(const void *at, attend_dtype dtype, int64_t offset)
{
    switch (dtype) {
    case ATTEND_F64:
        return ((const double *)at)[offset];
    case ATTEND_F32:
        return ((const float *)at)[offset];
    case ATTEND_F16:
        return __half2float(((const __half *)at)[offset]);
    case ATTEND_BF16:
        return __bfloat162float(((const __nv_bfloat16 *)at)[offset]);
    case ATTEND_BOOL:
        break;
    }
    return ((const unsigned char *)at)[offset] != 0;
}

/* Rounds once. */
__device__ inline void store_any(void *at, attend_dtype dtype, int64_t offset, double x)
{
    switch (dtype) {
    case ATTEND_F64:
        ((double *)at)[offset] = x;
        break;
    case ATTEND_F32:
        ((float *)at)[offset] = (float)x;
        break;
    case ATTEND_F16:
        ((__half *)at)[offset] = __double2half(x);
        break;
    case ATTEND_BF16:
        ((__nv_bfloat16 *)at)[offset] = __double2bfloat16(x);
        break;
    case ATTEND_BOOL:
        break;
    }
}

__device__ inline int64_t view_offset(const int64_t stride[4], int64_t b, int64_t h,
                                      int64_t l)
{
    return b * stride[0] + h * stride[1] + l * stride[2];
}

__device__ inline float exp_of(float x) { return ex2(x * 1.44269504088896340736f); }
__device__ inline double exp_of(double x) { return exp(x); }

/*
 * Lengths and offsets are in device memory and have not been validated.  They are
 * clamped, so that no access is outside of a tensor.
 */
__device__ inline int64_t clamp_i64(int64_t x, int64_t least, int64_t most)
{
    return x < least ? least : x > most ? most : x;
}

struct row_keys {
    int64_t position, lo, hi; /* lo and hi may be outside of the keys of the call */
};

__device__ inline struct row_keys keys_of_row(const struct problem &p, int64_t b,
                                              int64_t i)
{
    int64_t position = i + p.first_query - p.first_key;
    int64_t lo = -p.first_key, hi = p.all_keys;

    if (p.causal == ATTEND_CAUSAL_BOTTOM_RIGHT)
        position += p.all_keys - p.nq;
    else if (p.causal == ATTEND_CAUSAL_OFFSET)
        position += clamp_i64(p.causal_offset[b], -POSITION_MAX, POSITION_MAX);
    if (p.key_lengths)
        hi = clamp_i64(p.key_lengths[b], 0, p.all_keys);
    hi -= p.first_key;
    ATTENDI_CLIP_KEYS(p, position, lo, hi);
    return {position, lo, hi};
}

template <class T> struct tile {
    T q[TILE_ROWS][TILE_DEPTH + 1];
    T k[TILE_KEYS][TILE_DEPTH + 1];
    T score[TILE_ROWS][TILE_KEYS + 1];
    unsigned char seen[TILE_ROWS][TILE_KEYS];
    int64_t position[TILE_ROWS], lo[TILE_ROWS], hi[TILE_ROWS], anchor[TILE_ROWS];
    int64_t b, h, i;    /* the first row */
    int64_t first, end; /* keys that any row may see */
    int rows;
    T slope;
};

/* Starts the tile of rows from i on.  Called by all threads; ends with a barrier. */
template <class T>
__device__ void tile_begin(struct tile<T> &t, const struct problem &p, int64_t b,
                           int64_t h, int64_t i, int64_t queries_end)
{
    __syncthreads();
    if (threadIdx.x < TILE_ROWS) {
        const int r = (int)threadIdx.x;
        const struct row_keys keys = keys_of_row(p, b, i + r);

        t.position[r] = keys.position;
        t.lo[r] = max_i64(keys.lo, 0);
        t.hi[r] = i + r < queries_end ? min_i64(keys.hi, p.nk) : 0;
        t.anchor[r] = p.alibi && p.alibi[h] < 0 ? keys.lo : keys.hi - 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        t.b = b;
        t.h = h;
        t.i = i;
        t.rows = (int)min_i64(TILE_ROWS, queries_end - i);
        t.slope = p.alibi ? (T)p.alibi[h] : (T)0;
        t.first = p.nk;
        t.end = 0;
        for (int r = 0; r < t.rows; r++)
            if (t.lo[r] < t.hi[r]) {
                t.first = min_i64(t.first, t.lo[r]);
                t.end = max_i64(t.end, t.hi[r]);
            }
    }
    __syncthreads();
}

/* Add it to a score with ALiBi relative to the anchor to get the score. */
template <class T>
__device__ inline double tile_shift(const struct tile<T> &t, const struct problem &p,
                                    int r)
{
    return p.alibi ? p.alibi[t.h] * (double)(t.anchor[r] - t.position[r]) : 0;
}

/* Clamps to the range of float: the lowest finite f64 must not become -inf. */
template <class T> __device__ inline T narrow_bias(double x) { return (T)x; }
template <> __device__ inline float narrow_bias<float>(double x)
{
    const float most = 3.402823466e38f;

    return isinf(x) ? (float)x : x < -most ? -most : x > most ? most : (float)x;
}

/* Softcap, bias and ALiBi of a scaled score. */
template <class T>
__device__ inline T apply_score_mod(const struct problem &p, T s, int64_t b, int64_t h,
                                    int64_t i, int64_t j, T slope, int64_t anchor)
{
    if (p.softcap > 0)
        s = (T)p.softcap * tanh(s / (T)p.softcap);
    if (p.bias.data)
        s += narrow_bias<T>(
            load_any(p.bias.data, p.bias.dtype,
                     view_offset(p.bias.stride, b, h, i) + j * p.bias.stride[3]));
    if (p.alibi)
        s = fma(slope, (T)(j - anchor), s);
    return s;
}

__device__ inline bool mask_shows(const struct problem &p, int64_t b, int64_t h,
                                  int64_t i, int64_t j)
{
    return !p.mask.data ||
           ((const unsigned char *)
                p.mask.data)[view_offset(p.mask.stride, b, h, i) + j * p.mask.stride[3]];
}

/* Adds the products of `depth` columns of rows half .. half + ROWS - 1 with a key. */
template <int ROWS, class T>
__device__ inline void add_products(const struct tile<T> &t, int half, int key, int depth,
                                    T (&sum)[TILE_ROWS / 2])
{
#pragma unroll 4
    for (int c = 0; c < depth; c++) {
        const T x = t.k[key][c];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            sum[r] = fma(t.q[half + r][c], x, sum[r]);
    }
}

/*
 * Scores of keys j .. j + keys - 1, at most TILE_KEYS, and whether they are seen; scores
 * of hidden keys are -inf.  Ends with a barrier, and starts with one, so that other
 * threads may still read the scores of the previous block when it is called.  Columns
 * of Q and K are loaded while those before them are multiplied: where tiles are few, the
 * latency of these loads is most of the time.
 */
template <class T, class E>
__device__ void tile_scores(struct tile<T> &t, const struct problem &p, int64_t j,
                            int keys)
{
    enum { STEP = TILE_THREADS / TILE_DEPTH }; /* rows that threads load at a time */
    const int column = (int)threadIdx.x % TILE_DEPTH, own = (int)threadIdx.x / TILE_DEPTH;
    const E *const q = (const E *)p.q.data + view_offset(p.q.stride, t.b, t.h, t.i) +
                       own * p.q.stride[2];
    const E *const k = (const E *)p.k.data +
                       view_offset(p.k.stride, t.b, t.h / p.group, j) +
                       own * p.k.stride[2];
    const int key = (int)threadIdx.x % TILE_KEYS;
    const int half = (int)threadIdx.x / TILE_KEYS * (TILE_ROWS / 2);
    T sum[TILE_ROWS / 2], next_q[TILE_ROWS / STEP], next_k[TILE_KEYS / STEP];
    auto load = [&](int64_t c) {
#pragma unroll
        for (int x = 0; x < TILE_ROWS / STEP; x++)
            next_q[x] =
                own + x * STEP < t.rows && c < p.d
                    ? (T)load_number(q + x * STEP * p.q.stride[2] + c * p.q.stride[3])
                    : (T)0;
#pragma unroll
        for (int x = 0; x < TILE_KEYS / STEP; x++)
            next_k[x] =
                own + x * STEP < keys && c < p.d
                    ? (T)load_number(k + x * STEP * p.k.stride[2] + c * p.k.stride[3])
                    : (T)0;
    };

    for (int r = 0; r < TILE_ROWS / 2; r++)
        sum[r] = 0;
    load(column);
    __syncthreads();
    for (int64_t c0 = 0; c0 < p.d; c0 += TILE_DEPTH) {
        const int depth = (int)min_i64(TILE_DEPTH, p.d - c0);

#pragma unroll
        for (int x = 0; x < TILE_ROWS / STEP; x++)
            t.q[own + x * STEP][column] = next_q[x];
#pragma unroll
        for (int x = 0; x < TILE_KEYS / STEP; x++)
            t.k[own + x * STEP][column] = next_k[x];
        __syncthreads();
        if (c0 + TILE_DEPTH < p.d)
            load(c0 + TILE_DEPTH + column);
        if (t.rows == 1 && half == 0)
            add_products<1>(t, half, key, depth, sum);
        else if (half < t.rows)
            add_products<TILE_ROWS / 2>(t, half, key, depth, sum);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < TILE_ROWS / 2; r++) {
        const int row = half + r;
        const int64_t i = t.i + row;
        const bool seen = row < t.rows && key < keys && j + key >= t.lo[row] &&
                          j + key < t.hi[row] && mask_shows(p, t.b, t.h, i, j + key);

        t.seen[row][key] = seen;
        t.score[row][key] = seen ? apply_score_mod<T>(p, sum[r] * (T)p.scale, t.b, t.h, i,
                                                      j + key, t.slope, t.anchor[row])
                                 : (T)-CUDART_INF;
    }
    __syncthreads();
}

#endif
