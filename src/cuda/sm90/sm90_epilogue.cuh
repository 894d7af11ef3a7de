/* SPDX-License-Identifier: MIT */
/* Epilogue of a tile: factors of rows, records, stores. */
#ifndef ATTEND_CUDA_SM90_EPILOGUE_CUH
#define ATTEND_CUDA_SM90_EPILOGUE_CUH

#include "cuda/sm90/sm90_softmax.cuh"

/* row_factor() with a sink. */
DEVICE float sink_factor(double sink, double shift, double unit, float m, float l,
                         float *to)
{
    const double nats = (double)m * unit + shift;

    if (l == 0) {
        *to = (float)sink;
        return 0;
    }
    const double top = sink > nats ? sink : nats, raise = exp(nats - top);
    const double sum = l * raise + exp(sink - top);
    *to = (float)(top + log(sum));
    return (float)(raise / sum);
}

/*
 * The factor of the sums of a row; stores its LSE to *to, unless NULL.  `shift` is added
 * to compared scores to get scores.
 */
template <bool NATS>
DEVICE float row_factor(const sm90_launch &p, int h, double shift, float m, float l,
                        float *to)
{
    if (p.sinks) {
        float lse;
        const float factor = sink_factor(p.sinks[h], shift,
                                         NATS ? 1 : 0.693147180559945309417, m, l, &lse);
        if (to)
            *to = lse;
        return factor;
    }
    if (to) { /* ln 2 in two parts: the first times m is exact enough */
        *to = l == 0 ? -CUDART_INF_F
              : NATS ? m + logf(l)
                     : __fmaf_rn(m, 0.693147182464599609375f,
                                 __fmaf_rn(m, -1.904654299957767879e-9f, logf(l)));
        if (shift != 0)
            *to = (float)(*to + shift);
    }
    return l == 0 ? 0.f : 1.f / l;
}

template <class C, int N>
DEVICE void store_partial(const sm90_launch &p, const tile_of &t, const float (&O)[N],
                          const softmax &st, const int (&row)[2], int lane)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        if (row[r] >= p.rows)
            continue;
        float *const to =
            p.records +
            (((int64_t)(t.b * p.heads + t.h) * p.rows + row[r]) * p.splits + t.split) *
                p.record;
        if ((lane & 3) == 0)
            *(float2 *)to = make_float2(st.m[r], st.l[r]);
#pragma unroll
        for (int i = 2 * r; i < N; i += 4) {
            const int column = 8 * (i / 4) + 2 * (lane & 3);
            if (column < p.dv)
                *(float2 *)(to + SM90_RECORD_HEAD + column) = make_float2(O[i], O[i + 1]);
        }
    }
}

/* Stores element by element: f32, strides that TMA cannot store. */
template <class C, int N>
DEVICE void store_rows(const sm90_launch &p, const tile_of &t, const float (&O)[N],
                       const int (&row)[2], int lane)
{
    typedef typename C::E E;

#pragma unroll
    for (int i = 0; i < N; i++) {
        const int r = (i >> 1) & 1, column = 8 * (i / 4) + 2 * (lane & 3) + (i & 1);
        const int64_t at = t.b * p.out.stride[0] + t.h * p.out.stride[1] +
                           row[r] * p.out.stride[2] + column * p.out.stride[3];
        if (row[r] >= p.rows || column >= p.dv)
            continue;
        if (p.out_float)
            ((float *)p.out.data)[at] = O[i];
        else
            ((E *)p.out.data)[at] = element<E>::narrow(O[i]);
    }
}

/* Stores through the warp's rows of the query buffer, which are free by then. */
template <class C, int N>
DEVICE void store_by_copy(const sm90_launch &p, const tile_of &t, const float (&O)[N],
                          uint32_t rows, int first_row, int lane, const CUtensorMap &mo)
{
    const uint32_t at = rows + ((lane >> 3) & 1) * 1024 + (lane & 7) * 128;

#pragma unroll
    for (int d = 0; d < C::DV / 64; d++)
#pragma unroll
        for (int i = 0; i < 8; i += 2) {
            const int e = 4 * (8 * d + i);
            const uint32_t to =
                at + d * C::BM * 128 + ((((uint32_t)i + (lane >> 4)) ^ (lane & 7)) << 4);
            typedef element<typename C::E> X;
            store_matrices(to, X::pack(O[e], O[e + 1]), X::pack(O[e + 2], O[e + 3]),
                           X::pack(O[e + 4], O[e + 5]), X::pack(O[e + 6], O[e + 7]));
        }
    copy_fence();
    __syncwarp();
    if (lane == 0 && first_row < p.rows) {
#pragma unroll
        for (int d = 0; d < C::DV / 64; d++)
            if (d * 64 < p.dv)
                store_tile(&mo, rows + d * C::BM * 128, d * 64, first_row, t.h, t.b);
        store_commit();
    }
}

#endif
