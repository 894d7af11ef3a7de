/* SPDX-License-Identifier: MIT */
/*
 * Emulates src/cuda/wgmma.cuh: a product is computed when the last thread has issued it;
 * for race_check.h it is complete when the thread has waited.
 */
#ifndef TESTS_EMULATED_WGMMA_H
#define TESTS_EMULATED_WGMMA_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "emulated_products.h"

/* Conversion of an element to float. */
template <class E> struct widen;
template <> struct widen<__half> {
    static float one(uint16_t x) { return attendi_f16_to_f32(x); }
};
template <> struct widen<__nv_bfloat16> {
    static float one(uint16_t x) { return attendi_bf16_to_f32(x); }
};

/*
 * A shared memory descriptor: address, leading and stride byte offset in units of 16
 * bytes. The swizzle must be 128 bytes.
 */
struct matrix_in_shared {
    uint32_t at, leading, stride;

    explicit matrix_in_shared(uint64_t descriptor)
        : at((uint32_t)(descriptor & 0x3fff) << 4),
          leading((uint32_t)(descriptor >> 16 & 0x3fff) << 4),
          stride((uint32_t)(descriptor >> 32 & 0x3fff) << 4)
    {
        if (descriptor >> 62 != 1)
            gpu_fail("wgmma: a descriptor without a swizzle of 128 bytes");
    }
    uint16_t element(uint32_t offset) const
    {
        uint16_t x;

        memcpy(&x, gpu_swizzled(at + offset, ACCESS_ASYNC_READ), sizeof x);
        return x;
    }
    /* K-major: rows of 128 bytes in groups of eight. */
    uint16_t by_rows(int row, int k) const
    {
        return element((uint32_t)(row / 8) * stride + (uint32_t)(row % 8) * 128 +
                       2 * (uint32_t)k);
    }
    /* MN-major: k is the row; columns in slabs of 64. */
    uint16_t by_columns(int k, int column) const
    {
        return element((uint32_t)(column / 64) * leading + (uint32_t)(k / 8) * stride +
                       (uint32_t)(k % 8) * 128 + 2 * (uint32_t)(column % 64));
    }
};

/* Operands of a thread in wgmma. */
struct group_product {
    float *d;
    const uint32_t *p; /* operand A in registers, or NULL */
    uint64_t left, right;
    int add;
};

template <class E, int N> struct wgmma {
    static float &sum_at(void *const *all, int row, int column)
    {
        const int place = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
        const int x = 4 * (column / 8) + 2 * (row % 16 / 8) + column % 2;

        return ((const group_product *)all[place])->d[x];
    }
    static void multiply(void *const *all, int count)
    {
        static __thread float a[64 * 16], b[16 * N], d[64 * N];
        const group_product *const first = (const group_product *)all[0];
        const matrix_in_shared right(first->right);

        if (count != 128)
            gpu_fail("wgmma: %d threads of a warpgroup", count);
        const gpu_async products(GPU_WGMMA);
        for (int k = 0; k < 16; k++)
            for (int c = 0; c < N; c++)
                b[k * N + c] = widen<E>::one(first->p ? right.by_columns(k, c)
                                                      : right.by_rows(c, k));
        if (first->p) {
            for (int x = 0; x < 128; x++)
                unpack_left<widen<E>::one>(((const group_product *)all[x])->p, x % 32,
                                           a + x / 32 * 256);
        } else {
            const matrix_in_shared left(first->left);
            for (int r = 0; r < 64; r++)
                for (int k = 0; k < 16; k++)
                    a[r * 16 + k] = widen<E>::one(left.by_rows(r, k));
        }
        for (int r = 0; r < 64; r++)
            for (int c = 0; c < N; c++)
                d[r * N + c] = first->add ? sum_at(all, r, c) : 0.f;
        multiply_add(a, b, d, 64, N);
        for (int r = 0; r < 64; r++)
            for (int c = 0; c < N; c++)
                sum_at(all, r, c) = d[r * N + c];
    }
    static void issue(group_product mine)
    {
        gpu_join(GPU_WGMMA);
        gpu_collective(GPU_WARPGROUP, &mine, multiply);
    }
    static void scores(float (&d)[N / 2], uint64_t q, uint64_t k, int add)
    {
        issue({d, nullptr, q, k, add});
    }
    static void values(float (&d)[N / 2], const uint32_t *p, uint64_t v, int add)
    {
        issue({d, p, 0, v, add});
    }
};

#endif
