/* SPDX-License-Identifier: MIT */
/*
 * Parts in device memory.  attend_merge_with: parts by O and LSE, as in
 * cpu/merge/merge_rows.h.  One CTA per row.  It computes the weights of all parts before
 * it writes an output, because an output may overwrite a part.
 */
#include "cuda/general/merge_launch.h"
#include "cuda/tile.cuh"

__device__ double merge_lse(const struct merge_launch &a, int part, int64_t b, int64_t h,
                            int64_t i)
{
    const attend_view &lse = a.part[part].lse;

    return load_any(lse.data, lse.dtype, view_offset(lse.stride, b, h, i));
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    attend_merge_parts(const __grid_constant__ struct merge_launch a)
{
    __shared__ double weight[MERGE_PARTS_MOST];

    for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
        const int64_t i = row % a.out.size[2], head = row / a.out.size[2];
        const int64_t h = head % a.out.size[1], b = head / a.out.size[1];
        double most = -CUDART_INF, sum = 0;

        for (int x = 0; x < a.count; x++) {
            const double lse = merge_lse(a, x, b, h, i);
            if (!isnan(most) && !(lse <= most))
                most = lse;
        }
        for (int x = 0; x < a.count; x++) {
            const double lse = merge_lse(a, x, b, h, i);
            const double w = lse == -CUDART_INF ? 0 : exp(lse - most);
            sum += w;
            if (threadIdx.x == 0)
                weight[x] =
                    lse == -CUDART_INF ? -1 : w; /* -1: O of the part is not read */
        }
        __syncthreads();
        for (int64_t c = threadIdx.x; c < a.out.size[3]; c += TILE_THREADS) {
            double of = 0;
            for (int x = 0; x < a.count; x++) {
                const attend_view &from = a.part[x].out;
                if (weight[x] == -1)
                    continue;
                of += weight[x] / sum *
                      load_any(from.data, from.dtype,
                               view_offset(from.stride, b, h, i) + c * from.stride[3]);
            }
            /* For f16 and bf16 the sum is rounded to f32 first. */
            store_any(a.out.data, a.out.dtype,
                      view_offset(a.out.stride, b, h, i) + c * a.out.stride[3],
                      a.out.dtype == ATTEND_F64 ? of : (float)of);
        }
        if (threadIdx.x == 0 && a.lse.data)
            store_any(a.lse.data, a.lse.dtype, view_offset(a.lse.stride, b, h, i),
                      most == -CUDART_INF ? most : most + log(sum));
        __syncthreads();
    }
}

/* attend_combine: one thread per number of a record. */
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    attend_gather_records(const __grid_constant__ struct gather_launch a)
{
    const int64_t count = a.rows * a.width;

    for (int64_t x = (int64_t)blockIdx.x * TILE_THREADS + threadIdx.x; x < count;
         x += (int64_t)gridDim.x * TILE_THREADS) {
        const int64_t row = x / a.width, c = x % a.width, i = row % a.to.size[2];
        const int64_t h = row / a.to.size[2] % a.to.size[1],
                      b = row / a.to.size[2] / a.to.size[1];
        const double number =
            a.from.data
                ? load_any(a.from.data, a.from.dtype,
                           view_offset(a.from.stride, b, h, i) + c * a.from.stride[3])
            : c == 0 ? -CUDART_INF
                     : 0;
        store_any(a.to.data, a.to.dtype, view_offset(a.to.stride, b, h, i) + a.at + c,
                  number);
    }
}
