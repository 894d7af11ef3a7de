/* SPDX-License-Identifier: MIT */
/* Emulates src/cuda/sm80_instructions.cuh. */
#ifndef TESTS_EMULATED_SM80_H
#define TESTS_EMULATED_SM80_H

#include "emulated_instructions.h"
#include "emulated_products.h"

DEVICE int rematerialize(int x) { return x; }
DEVICE int thread_index() { return (int)threadIdx.x; }
template <int N> DEVICE void pin(float (&)[N][4]) {}

/* Copies at once; race_check.h notices a missing copy_wait(). */
DEVICE void copy_16(uint32_t to, const void *from, int bytes)
{
    if (blockDim.x > race_check::COPYING)
        gpu_fail("cp.async: a CTA of %u threads", blockDim.x);
    const gpu_async copy(GPU_CP_ASYNC);
    unsigned char *const at = gpu_shared(to, 16, 16, ACCESS_WRITE);

    if ((uintptr_t)from % 16 != 0 && bytes > 0)
        gpu_fail("cp.async: %p is not aligned to 16", from);
    memset(at, 0, 16);
    memcpy(at, from, (size_t)bytes);
}
DEVICE void copy_commit() { gpu_commit(GPU_CP_ASYNC); }
template <int N> DEVICE void copy_wait() { gpu_wait_groups(GPU_CP_ASYNC, N); }

/* Element (r, c) of a matrix; lane 8 matrix + r has the address of its row r. */
DEVICE uint16_t matrix_element(void *const *row_at, int matrix, int r, int c)
{
    const uint32_t row = *(const uint32_t *)row_at[8 * matrix + r];
    uint16_t x;

    memcpy(&x, gpu_shared(row, 16, 16, ACCESS_UNCHECKED) + 2 * c, sizeof x);
    return x;
}
DEVICE void load_matrices_as(uint32_t (&x)[4], uint32_t at, bool transposed)
{
    const int lane = gpu_lane(), r = lane / 4, c = 2 * (lane % 4);
    void *const *const rows = gpu_collective(GPU_WARP, &at);

    gpu_shared(at, 16, 16, ACCESS_READ); /* a row by the lane that has its address */
    for (int m = 0; m < 4; m++) {
        const uint32_t low =
            transposed ? matrix_element(rows, m, c, r) : matrix_element(rows, m, r, c);
        const uint32_t high = transposed ? matrix_element(rows, m, c + 1, r)
                                         : matrix_element(rows, m, r, c + 1);
        x[m] = low | high << 16;
    }
    gpu_collective(GPU_WARP, nullptr);
}
DEVICE void load_matrices(uint32_t (&x)[4], uint32_t at)
{
    load_matrices_as(x, at, false);
}
DEVICE void load_transposed(uint32_t (&x)[4], uint32_t at)
{
    load_matrices_as(x, at, true);
}

/* Operands of a lane in mma.sync. */
struct warp_product {
    float *d;
    const uint32_t *a;
    uint32_t b[2];
};
template <float WIDEN(uint16_t)> void multiply_warp(void *const *all, int)
{
    float a[16 * 16], b[16 * 8], d[16 * 8];

    for (int lane = 0; lane < 32; lane++) {
        const warp_product *const p = (const warp_product *)all[lane];
        const int r = lane / 4, c = 2 * (lane % 4);
        unpack_left<WIDEN>(p->a, lane, a);
        for (int x = 0; x < 4; x++) {
            b[(c + (x & 1) + 8 * (x >> 1)) * 8 + r] =
                WIDEN((uint16_t)(p->b[x >> 1] >> 16 * (x & 1)));
            d[(r + 8 * (x >> 1)) * 8 + c + (x & 1)] = p->d[x];
        }
    }
    multiply_add(a, b, d, 16, 8);
    for (int lane = 0; lane < 32; lane++)
        for (int x = 0; x < 4; x++)
            ((const warp_product *)all[lane])->d[x] =
                d[(lane / 4 + 8 * (x >> 1)) * 8 + 2 * (lane % 4) + (x & 1)];
}
DEVICE void mma_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    warp_product mine = {d, a, {b0, b1}};
    gpu_collective(GPU_WARP, &mine, multiply_warp<attendi_bf16_to_f32>);
}
DEVICE void mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    warp_product mine = {d, a, {b0, b1}};
    gpu_collective(GPU_WARP, &mine, multiply_warp<attendi_f16_to_f32>);
}

#endif
