/* SPDX-License-Identifier: MIT */
/*
 * Decoding on Hopper: one row for each query head.  A tile is the heads of a group by a
 * split of the keys, and stores a record for each row; a second kernel combines the
 * records.  Splits and their order depend on nk only.  A tile with all keys of its rows
 * stores O directly.
 */
#include "cuda/sm90/sm90.cuh"

SM90_KERNEL(decode_d64_f16, __half, 64, 128, 1, 6, true, false)
SM90_KERNEL(decode_d64_bf16, __nv_bfloat16, 64, 128, 1, 6, true, false)
SM90_KERNEL(decode_d128_f16, __half, 128, 128, 1, 3, true, false)
SM90_KERNEL(decode_d128_bf16, __nv_bfloat16, 128, 128, 1, 3, true, false)
SM90_KERNEL(decode_d256_f16, __half, 256, 64, 1, 3, true, false)
SM90_KERNEL(decode_d256_bf16, __nv_bfloat16, 256, 64, 1, 3, true, false)

/* Sums of a row relative to 2^m, four columns of a thread. */
struct partial_row {
    float m, l, sum[4];

    DEVICE void raise(float to)
    {
        const float by = m == to ? 1.f : ex2(m - to);
        m = to;
        l *= by;
#pragma unroll
        for (int x = 0; x < 4; x++)
            sum[x] *= by;
    }
};

/* The sum of records from .. to - 1 of a row, columns c .. c + 3; a warp has 128. */
DEVICE partial_row add_records(const sm90_launch &p, const float *records, int from,
                               int to, int c, int lane)
{
    constexpr int AT_ONCE = 8;
    partial_row row = {-CUDART_INF_F, 0, {0, 0, 0, 0}};

    for (int x0 = from; x0 < to; x0 += AT_ONCE) {
        float2 own = make_float2(-CUDART_INF_F, 0.f);
        float4 part[AT_ONCE];
        if (lane < AT_ONCE && x0 + lane < to)
            own = *(const float2 *)(records + (int64_t)(x0 + lane) * p.record);
#pragma unroll
        for (int x = 0; x < AT_ONCE; x++)
            part[x] = x0 + x < to && c < p.dv
                          ? *(const float4 *)(records + (int64_t)(x0 + x) * p.record +
                                              SM90_RECORD_HEAD + c)
                          : make_float4(0, 0, 0, 0);
        float most = fmaxf(row.m, own.x);
#pragma unroll
        for (int x = AT_ONCE / 2; x > 0; x /= 2)
            most = fmaxf(most, __shfl_xor_sync(~0u, most, x));
        most = __shfl_sync(~0u, most, 0);
        row.raise(most);
        const float by = own.x == most ? 1.f : ex2(own.x - most);
        float l = own.y * by;
#pragma unroll
        for (int x = AT_ONCE / 2; x > 0; x /= 2)
            l += __shfl_xor_sync(~0u, l, x);
        row.l += __shfl_sync(~0u, l, 0);
#pragma unroll
        for (int x = 0; x < AT_ONCE; x++) {
            const float of = __shfl_sync(~0u, by, x);
            row.sum[0] = __fmaf_rn(part[x].x, of, row.sum[0]);
            row.sum[1] = __fmaf_rn(part[x].y, of, row.sum[1]);
            row.sum[2] = __fmaf_rn(part[x].z, of, row.sum[2]);
            row.sum[3] = __fmaf_rn(part[x].w, of, row.sum[3]);
        }
    }
    return row;
}

/*
 * One CTA per row.  Each warp adds an equal share of the records, in order; the number of
 * warps depends on the number of splits only.
 */
template <class E> DEVICE void combine_row(const sm90_launch &p)
{
    constexpr int COLUMNS = SM90_COMBINE_COLUMNS;
    const int row = blockIdx.x % p.rows, head = blockIdx.x / p.rows;
    const int h = head % p.heads, b = head / p.heads;
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    const int warps = blockDim.x / 32, per = (p.splits + warps - 1) / warps;
    const float *const records = p.records + (int64_t)blockIdx.x * p.splits * p.record;
    extern __shared__ float factors[];
    float(*const sums)[COLUMNS] = (float(*)[COLUMNS])(factors + 2 * warps);

    for (int c0 = 0; c0 < p.dv; c0 += COLUMNS) {
        const partial_row own = add_records(
            p, records, warp * per, min((warp + 1) * per, p.splits), c0 + 4 * lane, lane);
        if (lane == 0) {
            factors[warp] = own.m;
            factors[warps + warp] = own.l;
        }
#pragma unroll
        for (int x = 0; x < 4; x++)
            sums[warp][4 * lane + x] = own.sum[x];
        __syncthreads();
        for (int c = c0 + threadIdx.x; c < min(c0 + COLUMNS, p.dv); c += blockDim.x) {
            float m = factors[0], l = 0, sum = 0;
            for (int x = 1; x < warps; x++)
                m = fmaxf(m, factors[x]);
            for (int x = 0; x < warps; x++) {
                const float by = factors[x] == m ? 1.f : ex2(factors[x] - m);
                l = __fmaf_rn(factors[warps + x], by, l);
                sum = __fmaf_rn(sums[x][c - c0], by, sum);
            }
            float *const lse = p.lse && c == 0
                                   ? p.lse + b * p.lse_stride[0] + h * p.lse_stride[1] +
                                         row * p.lse_stride[2]
                                   : NULL;
            const float factor = row_factor<false>(p, h * p.rows + row, 0, m, l, lse);
            const int64_t at = b * p.out.stride[0] + h * p.out.stride[1] +
                               row * p.out.stride[2] + c * p.out.stride[3];
            sum = l == 0 ? 0.f : __fmaf_rn(sum, factor, 0.f);
            if (p.out_float)
                ((float *)p.out.data)[at] = sum;
            else
                ((E *)p.out.data)[at] = element<E>::narrow(sum);
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(32 * SM90_COMBINE_WARPS, 4)
    attend_sm90_combine_f16(const sm90_launch p)
{
    combine_row<__half>(p);
}
extern "C" __global__ void __launch_bounds__(32 * SM90_COMBINE_WARPS, 4)
    attend_sm90_combine_bf16(const sm90_launch p)
{
    combine_row<__nv_bfloat16>(p);
}

/* Makes a dense copy of a view of 16-bit elements that TMA cannot load. */
extern "C" __global__ void __launch_bounds__(256) attend_sm90_pack(const sm90_pack p)
{
    for (int64_t x = (int64_t)blockIdx.x * 256 + threadIdx.x; x < p.count;
         x += (int64_t)gridDim.x * 256) {
        const int64_t c = x % p.padded, row = x / p.padded, l = row % p.size[2];
        const int64_t h = row / p.size[2] % p.size[1], b = row / p.size[2] / p.size[1];

        p.to[x] = c < p.size[3]
                      ? ((const uint16_t *)
                             p.from.data)[b * p.from.stride[0] + h * p.from.stride[1] +
                                          l * p.from.stride[2] + c * p.from.stride[3]]
                      : 0;
    }
}
