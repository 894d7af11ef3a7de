/* SPDX-License-Identifier: MIT */
/*
 * Emulates src/cuda/sm90_instructions.cuh.  Copies complete at once; for race_check.h
 * they complete when a thread has waited for them.
 */
#ifndef TESTS_EMULATED_SM90_H
#define TESTS_EMULATED_SM90_H

#include <cuda.h>

#include "emulated_instructions.h"
#include "emulated_wgmma.h"

/* ---- mbarriers --------------------------------------------------------------------- */

struct mbarrier {
    uint16_t count, pending;
    int32_t bytes : 31;
    uint32_t phase : 1;
};
static_assert(sizeof(mbarrier) == 8, "size of an mbarrier");

DEVICE mbarrier *barrier_at(uint32_t bar)
{
    return (mbarrier *)gpu_shared(bar, 8, 8, ACCESS_UNCHECKED);
}
DEVICE void barrier_step(mbarrier *b)
{
    if (b->pending == 0 && b->bytes == 0) {
        b->pending = b->count;
        b->phase ^= 1;
    }
}
DEVICE void barrier_init(uint32_t bar, int count)
{
    *barrier_at(bar) = {(uint16_t)count, (uint16_t)count, 0, 0};
}
DEVICE void barrier_init_fence() {}
DEVICE void barrier_arrive(uint32_t bar)
{
    mbarrier *const b = barrier_at(bar);

    if (b->pending == 0)
        gpu_fail("mbarrier at %u: more than %d arrive", bar, b->count);
    gpu_release(b, b->phase);
    b->pending--;
    barrier_step(b);
}
DEVICE void barrier_expect(uint32_t bar, int bytes)
{
    barrier_at(bar)->bytes += bytes;
    barrier_arrive(bar);
}
DEVICE void barrier_complete(uint32_t bar, int bytes)
{
    mbarrier *const b = barrier_at(bar);

    gpu_release(b, b->phase);
    b->bytes -= bytes;
    barrier_step(b);
}
DEVICE void barrier_wait(uint32_t bar, uint32_t phase)
{
    gpu_wait([](const void *b,
                unsigned of) { return ((const mbarrier *)b)->phase != (of & 1); },
             barrier_at(bar), phase);
    gpu_acquire(barrier_at(bar), phase);
}

/* ---- TMA --------------------------------------------------------------------------- */

/*
 * Visits each element of a box: global address, NULL outside of the tensor; shared
 * address.  Loads end at the last column of the tensor.  Stores end at a multiple of 16
 * bytes: an H200 writes past the last column; the extent was not measured.
 */
template <class F>
DEVICE void each_row(const CUtensorMap *map, uint32_t shared, access_kind kind, int c0,
                     int c1, int c2, int c3, F visit)
{
    const int64_t width =
        kind == ACCESS_ASYNC_READ ? (map->size[0] + 7) / 8 * 8 : map->size[0];

    if (shared % 128 != 0)
        gpu_fail("TMA: address %u is not aligned to 128", shared);
    for (int r = 0; r < map->box[1]; r++) {
        const int64_t row = c1 + (int64_t)r;
        const bool is_there = row >= 0 && row < map->size[1] && c2 >= 0 &&
                              c2 < map->size[2] && c3 >= 0 && c3 < map->size[3];
        char *const at = map->data + row * map->stride[1] + c2 * map->stride[2] +
                         c3 * map->stride[3] + 2 * c0;
        for (int x = 0; x < map->box[0]; x++) {
            const uint32_t plain = shared + (uint32_t)r * 128 + 2 * (uint32_t)x;
            visit(is_there && c0 + x < width ? at + 2 * x : nullptr,
                  gpu_swizzled(plain, kind));
        }
    }
}
DEVICE void copy_tile(uint32_t to, const CUtensorMap *map, uint32_t bar, int c0, int c1,
                      int c2, int c3)
{
    const gpu_async copy(GPU_TMA);

    each_row(map, to, ACCESS_ASYNC_WRITE, c0, c1, c2, c3,
             [](const char *from, unsigned char *at) {
                 memset(at, 0, 2);
                 if (from)
                     memcpy(at, from, 2);
             });
    barrier_complete(bar, map->box[1] * 128);
}
DEVICE void store_tile(const CUtensorMap *map, uint32_t from, int c0, int c1, int c2,
                       int c3)
{
    const gpu_async copy(GPU_TMA);

    each_row(map, from, ACCESS_ASYNC_READ, c0, c1, c2, c3,
             [](char *to, const unsigned char *at) {
                 if (to)
                     memcpy(to, at, 2);
             });
    gpu_release(gpu_self, 0);
}
DEVICE void copy_line(uint32_t to, const void *from, int bytes, uint32_t bar)
{
    if ((uintptr_t)from % 16 != 0 || bytes % 16 != 0)
        gpu_fail("a bulk copy of %d bytes from %p", bytes, from);
    const gpu_async copy(GPU_TMA);
    memcpy(gpu_shared(to, bytes, 16, ACCESS_ASYNC_WRITE), from, (size_t)bytes);
    barrier_complete(bar, bytes);
}
DEVICE void store_commit() {}
DEVICE void store_wait_read() { gpu_acquire(gpu_self, 0); }
DEVICE void copy_fence() { gpu_proxy_fence(); }

DEVICE void store_matrices(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const int lane = gpu_lane();
    const uint32_t x[4] = {a, b, c, d};
    void *const *const rows = gpu_collective(GPU_WARP, &at);

    for (int m = 0; m < 4; m++) {
        const uint32_t row = *(const uint32_t *)rows[8 * m + lane / 4];
        if (row % 16 != 0)
            gpu_fail("stmatrix: row %u is not aligned to 16", row);
        memcpy(gpu_shared(row + 4 * (uint32_t)(lane % 4), 4, 4, ACCESS_WRITE), &x[m], 4);
    }
    gpu_collective(GPU_WARP, nullptr);
}

/* ---- others -------------------------------------------------------------------------
 */

DEVICE void product_fence() {}
DEVICE void product_commit() { gpu_commit(GPU_WGMMA); }
template <int N> DEVICE void product_wait() { gpu_wait_groups(GPU_WGMMA, N); }
template <int N> DEVICE void pin(float (&)[N]) {}
template <int N> DEVICE void registers_fewer() {}
template <int N> DEVICE void registers_more() {}
DEVICE void named_sync(int id, int threads) { gpu_named_barrier(id, threads, true); }
DEVICE void named_arrive(int id, int threads) { gpu_named_barrier(id, threads, false); }

/* Clears the list of tiles to replay. */
DEVICE int exchange_shared(uint32_t at, int x)
{
    const int was = atomicExch((int *)(void *)gpu_shared(at, 4, 4, ACCESS_UNCHECKED), x);
    gpu_replays += was;
    return was;
}
DEVICE int add_shared(uint32_t at, int x)
{
    return atomicAdd((int *)(void *)gpu_shared(at, 4, 4, ACCESS_UNCHECKED), x);
}
DEVICE void store_if_ge(float a, float b, uint32_t at, float x0, float x1, float x2,
                        float x3, float x4, float x5, float x6, float x7, int word)
{
    const float x[8] = {x0, x1, x2, x3, x4, x5, x6, x7};

    if (!(a >= b))
        return;
    memcpy(gpu_shared(at, 32, 8, ACCESS_WRITE), x, sizeof x);
    store_shared(at + 32, word);
}

#endif
