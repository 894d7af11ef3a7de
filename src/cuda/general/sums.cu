/* SPDX-License-Identifier: MIT */
/* Adds the raw sums of rows over parts of the keys. */
#include "cuda/general/sums_launch.h"
#include "cuda/tile.cuh"

/* The host functions, compiled for the device. */
#include "core/row_sums.c"

/* One thread per row. */
extern "C" __global__ void __launch_bounds__(TILE_THREADS, 1)
    attend_sums_add(const __grid_constant__ struct sums_launch a)
{
    for (int64_t row = (int64_t)blockIdx.x * TILE_THREADS + threadIdx.x; row < a.rows;
         row += (int64_t)gridDim.x * TILE_THREADS) {
        double *const to = a.to + row * a.length;

        if (a.from.data) {
            const int64_t i = row % a.from.size[2], head = row / a.from.size[2];
            const double *const from = (const double *)a.from.data +
                                       view_offset(a.from.stride, head / a.from.size[1],
                                                   head % a.from.size[1], i);

            for (int64_t x = 0; x < a.length; x++)
                to[x] = from[x * a.from.stride[3]];
            attendi_sums_move(&a.layout, to, a.first_key);
        } else
            attendi_sums_clear(&a.layout, to);
        if (a.before)
            attendi_sums_combine(&a.layout, a.before + row * a.length, to);
    }
}
