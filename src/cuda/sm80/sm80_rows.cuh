/* SPDX-License-Identifier: MIT */
/* Epilogue: O and LSE, or records; Inf and NaN of V for the rows that see them. */
#ifndef ATTEND_CUDA_SM80_ROWS_CUH
#define ATTEND_CUDA_SM80_ROWS_CUH

#include "cuda/sm80/sm80_tile.cuh"

DEVICE float quad_sum(float x)
{
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

/* Factor of the accumulators of a row; stores its LSE to *to, unless that is NULL. */
DEVICE float row_factor(const sm80_launch &a, const struct tile_rows &t, int row, float m,
                        float l, float *to)
{
    if (a.plain && !a.p.sinks) { /* ln 2 as a sum of two floats */
        if (to)
            *to = l == 0 ? -CUDART_INF_F
                         : __fmaf_rn(m, 0.693147182464599609375f,
                                     __fmaf_rn(m, -1.904654299957767879e-9f, logf(l)));
        return l == 0 ? 0.f : 1.f / l;
    }
    const double sink = a.p.sinks ? a.p.sinks[head_of(a, t, row)] : -CUDART_INF;
    const double own = m * a.unit + row_shift(a, t, row), top = sink > own ? sink : own;
    const double raise = own == top ? 1 : exp(own - top);
    const double sum = sink == -CUDART_INF ? l : l * raise + exp(sink - top);
    if (to)
        *to = (float)(l == 0 ? sink : top + log(sum));
    return l == 0 ? 0.f : (float)(raise / sum);
}

/* The record of a row: m, l, acc. */
DEVICE float *record_of(const sm80_launch &a, const struct tile_rows &t, int row)
{
    return a.records +
           ((t.b * a.p.hq + head_of(a, t, row)) * a.splits + t.split) * (a.p.dv + 2);
}

/* Stores m, l and acc of all rows to shared memory, over Q, K and V. */
template <class C>
DEVICE void stage_rows(const float (&O)[C::TILES][C::D / 8][4],
                       const float (&m)[C::TILES][2], const float (&l)[C::TILES][2],
                       float *acc, float *rows_m, float *rows_l)
{
    const int thread = thread_index(), lane = thread & 31;

#pragma unroll
    for (int x = 0; x < C::TILES; x++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int row = 16 * (C::TILES * (thread / 32) + x) + 8 * r + lane / 4;
            const float sum = quad_sum(l[x][r]);
            float *const to = acc + row * C::ACC_PITCH + 2 * (lane & 3);
#pragma unroll
            for (int n = 0; n < C::D / 8; n++)
                *(float2 *)(to + 8 * n) = make_float2(O[x][n][2 * r], O[x][n][2 * r + 1]);
            if ((lane & 3) == 0) {
                rows_m[row] = m[x][r];
                rows_l[row] = sum;
            }
        }
}

/* Stores eight columns of a row of O, as 16 bytes with vector_store. */
template <class C>
DEVICE void store_chunk(const sm80_launch &a, int64_t at, const float *from, int column,
                        float factor, bool empty)
{
    typedef typename C::E E;
    const float4 low = *(const float4 *)from, high = *(const float4 *)(from + 4);
    float x[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};

#pragma unroll
    for (int e = 0; e < 8; e++)
        x[e] = empty ? 0.f : __fmaf_rn(x[e], factor, 0.f);
    if (a.vector_store) {
        *(uint4 *)((E *)a.p.out.data + at + column) =
            make_uint4(element<E>::pair(x[0], x[1]), element<E>::pair(x[2], x[3]),
                       element<E>::pair(x[4], x[5]), element<E>::pair(x[6], x[7]));
        return;
    }
#pragma unroll
    for (int e = 0; e < 8; e++)
        if (column + e >= a.p.dv)
            return;
        else if (a.p.out.dtype == ATTEND_F32)
            ((float *)a.p.out.data)[at + (column + e) * a.p.out.stride[3]] = x[e];
        else
            ((E *)a.p.out.data)[at + (column + e) * a.p.out.stride[3]] =
                element<E>::narrow(x[e]);
}

/*
 * Stores O and LSE of the rows that stage_rows() left in shared memory.  Overwrites l
 * with the factors of rows, and m with 0 for empty rows, 1 for others.
 */
template <class C>
DEVICE void store_rows(const sm80_launch &a, const struct tile_rows &t, const float *acc,
                       float *rows_m, float *rows_l)
{
    const struct row_layout out = layout_of(a, t, a.p.out.stride),
                            lse = layout_of(a, t, a.p.lse.stride);
    const int own = t.first + (int)threadIdx.x;

    if (threadIdx.x < C::BM && own < t.rows) {
        const float l = rows_l[threadIdx.x];

        rows_l[threadIdx.x] = row_factor(
            a, t, own, rows_m[threadIdx.x], l,
            a.p.lse.data ? (float *)a.p.lse.data + lse.first + own * lse.step : NULL);
        rows_m[threadIdx.x] = l == 0 ? 0.f : 1.f;
    }
    __syncthreads();
    const int rows = min(C::BM, t.rows - t.first), dv = (int)a.p.dv;
#pragma unroll 2
    for (int x = (int)threadIdx.x; x < C::BM * C::CHUNKS; x += C::THREADS) {
        const int row = x / C::CHUNKS, column = 8 * (x % C::CHUNKS);
        if (row < rows && column < dv)
            store_chunk<C>(a, out.first + (t.first + row) * out.step,
                           acc + row * C::ACC_PITCH + column, column, rows_l[row],
                           rows_m[row] == 0);
    }
}

template <class C>
DEVICE void store_records(const sm80_launch &a, const struct tile_rows &t,
                          const float *acc, const float *rows_m, const float *rows_l)
{
    for (int row = 0; row < min(C::BM, t.rows - t.first); row++) {
        float *const to = record_of(a, t, t.first + row);

        if (threadIdx.x == 0) {
            to[0] = rows_m[row];
            to[1] = rows_l[row];
        }
        for (int c = (int)threadIdx.x; c < a.p.dv; c += C::THREADS)
            to[2 + c] = acc[row * C::ACC_PITCH + c];
    }
}

/*
 * Adds Inf and NaN of V to the rows that see them, where zero_nonfinite() removed them. A
 * thread has a column.  `seen` is 0 for empty rows.
 */
template <class C>
__device__ __noinline__ void add_nonfinite(const sm80_launch &a, int item,
                                           const float *seen)
{
    typedef typename C::E E;
    const struct problem &p = a.p;
    const struct tile_rows t = find_tile<C>(a, item);
    const int2 keys = find_keys<C>(a, t);
    const E *const v =
        (const E *)p.v.data +
        view_offset(p.v.stride, t.b, a.pack_gqa ? t.head : t.head / p.group, 0);
    const struct row_layout out = layout_of(a, t, p.out.stride);
    const int last = min(t.first + C::BM, t.rows);

    for (int c = (int)threadIdx.x; c < p.dv; c += C::THREADS)
        for (int j = keys.x; j < keys.y; j++) {
            const float x = load_number(v + j * p.v.stride[2] + c);

            for (int row = t.first; row < last && !isfinite(x); row++) {
                if (j < row_begin(a, t, row) || j >= row_end(a, t, row) ||
                    !mask_shows(p, t.b, head_of(a, t, row), query_of(a, row), j))
                    continue;
                const int64_t at = out.first + row * out.step + c * p.out.stride[3];
                if (C::SPLIT)
                    record_of(a, t, row)[2 + c] += x;
                else if (seen[row - t.first] != 0)
                    store_any(p.out.data, p.out.dtype, at,
                              load_any(p.out.data, p.out.dtype, at) + x);
            }
        }
}

#endif
