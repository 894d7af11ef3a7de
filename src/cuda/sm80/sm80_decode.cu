/* SPDX-License-Identifier: MIT */
/*
 * Split-KV decoding from Ampere on.  The query heads of a group are the rows of a tile of
 * one warp, over SM80_SPLIT keys.  A tile stores a record for each row; a second kernel
 * combines the records of a row in a fixed order.
 */
#include "cuda/sm80/sm80.cuh"

SM80_KERNEL(decode_d64_f16, 2, __half, 64, 1, 1, 64, SM80_DECODE_SLOTS, true, true)
SM80_KERNEL(decode_d64_bf16, 2, __nv_bfloat16, 64, 1, 1, 64, SM80_DECODE_SLOTS, true,
            true)
SM80_KERNEL(decode_d128_f16, 2, __half, 128, 1, 1, 64, SM80_DECODE_SLOTS, true, true)
SM80_KERNEL(decode_d128_bf16, 2, __nv_bfloat16, 128, 1, 1, 64, SM80_DECODE_SLOTS, true,
            true)
SM80_KERNEL(decode_d256_f16, 2, __half, 256, 1, 1, 32, SM80_DECODE_SLOTS, true, true)
SM80_KERNEL(decode_d256_bf16, 2, __nv_bfloat16, 256, 1, 1, 32, SM80_DECODE_SLOTS, true,
            true)

/* Max or sum of x over the threads of a CTA; `numbers` is shared memory. */
template <bool SUM> DEVICE float over_threads(float x, float *numbers)
{
    __syncthreads();
    numbers[threadIdx.x] = x;
    __syncthreads();
    for (int half = SM80_COMBINE_THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) {
            const float y = numbers[threadIdx.x + half];
            numbers[threadIdx.x] =
                SUM ? numbers[threadIdx.x] + y : fmaxf(numbers[threadIdx.x], y);
        }
        __syncthreads();
    }
    return numbers[0];
}

DEVICE float record_factor(float m, float top, float c)
{
    return m == top ? 1.f : ex2((m - top) * c);
}

/*
 * Part n has records n, n + SM80_COMBINE_PARTS, ..., so that empty records at the end
 * change no bit.  A thread sums one column of one part.
 */
DEVICE void combine_row(const sm80_launch &a, int64_t index)
{
    __shared__ float numbers[SM80_COMBINE_THREADS];
    const struct problem &p = a.p;
    const int64_t step = p.dv + 2, b = index / p.hq, h = index % p.hq;
    const float *const records = a.records + index * a.splits * step;
    const int width = SM80_COMBINE_THREADS / SM80_COMBINE_PARTS;
    const int part = (int)threadIdx.x / width;
    struct tile_rows t = {(int)b, (int)(h / p.group), 0, (int)p.group, 0, 0, 0, 0};
    float m = -CUDART_INF_F, l = 0;

    find_bounds(p, t);
    for (int x = (int)threadIdx.x; x < a.splits; x += SM80_COMBINE_THREADS)
        m = fmaxf(m, records[x * step]);
    m = over_threads<false>(m, numbers);
    for (int x = (int)threadIdx.x; x < a.splits; x += SM80_COMBINE_THREADS)
        l = __fmaf_rn(records[x * step + 1], record_factor(records[x * step], m, a.c), l);
    l = over_threads<true>(l, numbers);
    const float factor =
        row_factor(a, t, (int)(h % p.group), m, l,
                   p.lse.data && threadIdx.x == 0
                       ? (float *)p.lse.data + view_offset(p.lse.stride, b, h, 0)
                       : NULL);
    for (int c = (int)threadIdx.x % width; c - (int)threadIdx.x % width < p.dv;
         c += width) {
        float sum = 0;
#pragma unroll 8
        for (int x = part; x < a.splits; x += SM80_COMBINE_PARTS)
            sum = __fmaf_rn(c < p.dv ? records[x * step + 2 + c] : 0.f,
                            record_factor(records[x * step], m, a.c), sum);
        __syncthreads();
        numbers[threadIdx.x] = sum;
        __syncthreads();
        if (part > 0 || c >= p.dv)
            continue;
        for (int x = 1; x < SM80_COMBINE_PARTS; x++)
            sum += numbers[threadIdx.x + x * width];
        store_any(p.out.data, p.out.dtype,
                  view_offset(p.out.stride, b, h, 0) + c * p.out.stride[3],
                  l == 0 ? 0.f : __fmaf_rn(sum, factor, 0.f));
    }
}

extern "C" __global__ void __launch_bounds__(SM80_COMBINE_THREADS)
    attend_sm80_combine(const __grid_constant__ sm80_launch a)
{
    for (int64_t index = blockIdx.x; index < a.p.nb * a.p.hq; index += gridDim.x)
        combine_row(a, index);
}

/* Makes a dense copy of a view whose rows are not aligned for loads of 16 bytes. */
extern "C" __global__ void __launch_bounds__(256)
    attend_sm80_pack(const __grid_constant__ sm80_pack a)
{
    const int64_t *const size = a.from.size;

    for (int64_t x = (int64_t)blockIdx.x * 256 + threadIdx.x; x < a.count;
         x += (int64_t)gridDim.x * 256) {
        const int64_t c = x % a.padded, row = x / a.padded, l = row % size[2];
        const int64_t h = row / size[2] % size[1], b = row / size[2] / size[1];

        a.to[x] =
            c < size[3]
                ? ((const uint16_t *)a.from
                       .data)[view_offset(a.from.stride, b, h, l) + c * a.from.stride[3]]
                : 0;
    }
}
