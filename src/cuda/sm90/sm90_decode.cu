/* SPDX-License-Identifier: MIT */
/*
 * Decoding on Hopper: one row for each query head.  The heads of a group are the rows of
 * a tile, which has SM90_SPLIT keys and leaves a record for each row.  The records of a
 * row are combined in their order.  Both depend on nothing but the row.  Where a tile has
 * all keys of its rows it ends them, to the bits that a record and its combination have.
 */
#include "cuda/sm90/sm90.cuh"

SM90_KERNEL(decode_d64_f16, __half, 64, 128, 1, 6, true, false)
SM90_KERNEL(decode_d64_bf16, __nv_bfloat16, 64, 128, 1, 6, true, false)
SM90_KERNEL(decode_d128_f16, __half, 128, 128, 1, 3, true, false)
SM90_KERNEL(decode_d128_bf16, __nv_bfloat16, 128, 128, 1, 3, true, false)
SM90_KERNEL(decode_d256_f16, __half, 256, 64, 1, 3, true, false)
SM90_KERNEL(decode_d256_bf16, __nv_bfloat16, 256, 64, 1, 3, true, false)

template <class E> DEVICE void combine_row(const sm90_launch &p)
{
    const int row = blockIdx.x % p.rows, head = blockIdx.x / p.rows;
    const int h = head % p.heads, b = head / p.heads;
    const float *const records = p.records + (int64_t)blockIdx.x * p.splits * (p.dv + 2);
    const int step = p.dv + 2;
    extern __shared__ float factors[]; /* of each record, l of each, quarters of sums */
    float m = -CUDART_INF_F, l = 0;

    for (int x = threadIdx.x; x < p.splits; x += blockDim.x)
        factors[x] = records[x * step];
    __syncthreads();
    for (int x = 0; x < p.splits; x++)
        m = fmaxf(m, factors[x]);
    __syncthreads();
    for (int x = threadIdx.x; x < p.splits; x += blockDim.x) {
        const float of = factors[x] == m ? 1.f : ex2(factors[x] - m);
        factors[x] = of;
        factors[p.splits + x] = records[x * step + 1] * of;
    }
    __syncthreads();
    for (int x = 0; x < p.splits; x++)
        l += factors[p.splits + x];
    float *const lse =
        p.lse && threadIdx.x == 0
            ? p.lse + b * p.lse_stride[0] + h * p.lse_stride[1] + row * p.lse_stride[2]
            : NULL;
    const float factor = row_factor<false>(p, h * p.rows + row, 0, m, l, lse);
    /* One thread has a column, or four, each a quarter of the records, added in order. */
    float *const sums = factors + 2 * p.splits;
    const int parts = blockDim.x / SM90_COMBINE_COLUMNS,
              per = (p.splits + parts - 1) / parts;
    const int part = threadIdx.x / SM90_COMBINE_COLUMNS;
    const int from = part * per, to = min(from + per, p.splits);
    for (int c0 = 0; c0 < p.dv; c0 += SM90_COMBINE_COLUMNS) {
        const int c = c0 + threadIdx.x % SM90_COMBINE_COLUMNS;
        const int64_t at = b * p.out.stride[0] + h * p.out.stride[1] +
                           row * p.out.stride[2] + c * p.out.stride[3];
        float sum = 0;
#pragma unroll 16
        for (int x = from; x < to; x++)
            sum = __fmaf_rn(c < p.dv ? records[x * step + 2 + c] : 0.f, factors[x], sum);
        sums[threadIdx.x] = sum;
        __syncthreads();
        if (part > 0 || c >= p.dv) {
            __syncthreads();
            continue;
        }
        for (int x = 1; x < parts; x++)
            sum += sums[threadIdx.x + x * SM90_COMBINE_COLUMNS];
        sum = l == 0 ? 0.f : __fmaf_rn(sum, factor, 0.f);
        if (p.out_float)
            ((float *)p.out.data)[at] = sum;
        else
            ((E *)p.out.data)[at] = element<E>::narrow(sum);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(SM90_COMBINE_THREADS)
    attend_sm90_combine_f16(const sm90_launch p)
{
    combine_row<__half>(p);
}
extern "C" __global__ void __launch_bounds__(SM90_COMBINE_THREADS)
    attend_sm90_combine_bf16(const sm90_launch p)
{
    combine_row<__nv_bfloat16>(p);
}

/* A view of 16-bit elements that TMA does not take, laid out densely. */
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
