/* SPDX-License-Identifier: MIT */
/*
 * The emulator finds races: small kernels, each first correct and then with one step left
 * out.  Kernels have two warpgroups, whose threads 0 and 128 do most of the work.
 */
#include <stdio.h>
#include <string.h>

#include "emulator.h"

#include "emulated_sm80.h"
#include "emulated_sm90.h"

enum { THREADS = 256, SHARED = 64 << 10, BAR = 0, DATA = 1024, OTHER = 32 << 10 };

static char global_data[128 * 128];
static CUtensorMap map;

static bool is_first() { return threadIdx.x == 0; }
static bool is_second() { return threadIdx.x == 128; }

static void init_barriers()
{
    if (is_first())
        for (int x = 0; x < 4; x++)
            barrier_init(BAR + 8 * (uint32_t)x, 1);
    __syncthreads();
}
static void load_rows(uint32_t to, uint32_t bar)
{
    barrier_expect(bar, 64 * 128);
    copy_tile(to, &map, bar, 0, 0, 0, 0);
}
/* A product of the second warpgroup that reads 64 rows at DATA. */
static void multiply(float (&d)[32])
{
    const uint64_t slab =
        DATA >> 4 | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;

    wgmma<__half, 64>::scores(d, slab, slab, 0);
    product_commit();
}

/* ---- kernels; `right` is false where the step is left out ---------------------------
 */

static bool right;

static void barrier_of_a_cta()
{
    if (is_first())
        store_shared(DATA, 1);
    if (right)
        __syncthreads();
    if (is_second())
        load_shared(DATA);
}
static void barrier_of_a_warp()
{
    if (is_first())
        store_shared(DATA, 1);
    if (right)
        __syncwarp();
    else
        __shfl_sync(~0u, 1, 0); /* orders nothing */
    if (threadIdx.x == 1)
        load_shared(DATA);
}
static void read_before_write()
{
    load_shared(DATA);
    if (right)
        __syncthreads();
    if (is_second())
        store_shared(DATA, 1);
}
static void named_barrier()
{
    if (is_first())
        store_shared(DATA, 1);
    if (threadIdx.x < 128)
        named_arrive(1, THREADS);
    else if (right)
        named_sync(1, THREADS);
    else
        named_arrive(1, THREADS);
    if (is_second())
        load_shared(DATA);
}
static void mbarrier_of_threads()
{
    init_barriers();
    if (is_first()) {
        store_shared(DATA, 1);
        barrier_arrive(BAR);
    }
    if (is_second()) {
        if (right)
            barrier_wait(BAR, 0);
        load_shared(DATA);
    }
}
static void copy_by_tma()
{
    init_barriers();
    if (is_first())
        load_rows(DATA, BAR);
    if (is_second()) {
        if (right)
            barrier_wait(BAR, 0);
        load_shared(DATA);
    }
}
/* The barrier of another copy does not order this one. */
static void two_copies_by_tma()
{
    init_barriers();
    if (is_first()) {
        load_rows(DATA, BAR);
        load_rows(OTHER, BAR + 8);
    }
    if (is_second()) {
        barrier_wait(BAR + (right ? 0 : 8), 0);
        load_shared(DATA);
    }
}
static void product_reads_a_copy()
{
    float d[32];

    init_barriers();
    if (is_first())
        load_rows(DATA, BAR);
    if (threadIdx.x < 128)
        return;
    if (right)
        barrier_wait(BAR, 0);
    multiply(d);
    product_wait<0>();
}
static void copy_after_a_product()
{
    float d[32];

    init_barriers();
    if (is_first()) {
        load_rows(DATA, BAR);
        barrier_wait(BAR + 8, 0);
        load_rows(DATA, BAR + 16);
    }
    if (threadIdx.x < 128)
        return;
    barrier_wait(BAR, 0);
    multiply(d);
    if (right)
        product_wait<0>();
    __syncwarp();
    if (is_second())
        barrier_arrive(BAR + 8);
}
static void product_reads_what_threads_wrote()
{
    float d[32];

    if (threadIdx.x >= 128) {
        const uint32_t row = DATA + (threadIdx.x - 128) % 64 * 128;
        if (threadIdx.x < 192)
            for (uint32_t x = 0; x < 128; x += 16)
                store_shared_4(row + x, uint4());
        if (right)
            copy_fence();
        named_sync(2, 128);
        multiply(d);
        product_wait<0>();
    }
}
static void store_by_tma()
{
    if (is_first())
        for (uint32_t x = 0; x < 64 * 128; x += 16)
            store_shared_4(DATA + x, uint4());
    if (is_first()) {
        copy_fence();
        store_tile(&map, DATA, 0, 0, 0, 0);
        store_commit();
        if (right)
            store_wait_read();
        store_shared(DATA, 1);
    }
}
static void store_by_tma_after_a_fence()
{
    if (is_first()) {
        for (uint32_t x = 0; x < 64 * 128; x += 16)
            store_shared_4(DATA + x, uint4());
        if (right)
            copy_fence();
        store_tile(&map, DATA, 0, 0, 0, 0);
        store_wait_read();
    }
}
static void copy_of_a_thread()
{
    if (threadIdx.x < 32)
        copy_16(DATA + 16 * threadIdx.x, global_data, 16);
    copy_commit();
    if (right)
        copy_wait<0>();
    __syncthreads();
    load_shared(DATA);
}
/* Waiting for one group orders its copy, not the copy of a later group. */
static void groups_of_copies()
{
    copy_16(DATA + 16 * threadIdx.x, global_data, 16);
    copy_commit();
    copy_16(OTHER + 16 * threadIdx.x, global_data, 16);
    copy_commit();
    copy_wait<1>();
    __syncthreads();
    load_shared((right ? DATA : OTHER) + 16 * (31 - threadIdx.x % 32));
}

struct kernel {
    const char *name;
    void (*run)();
    unsigned threads;
    const char *wrong; /* appears in the message */
};
static const kernel kernels[] = {
    {"barrier_of_a_cta", barrier_of_a_cta, THREADS, "reads what thread 0 wrote"},
    {"barrier_of_a_warp", barrier_of_a_warp, THREADS, "reads what thread 0 wrote"},
    {"read_before_write", read_before_write, THREADS, "thread 128 writes what"},
    {"named_barrier", named_barrier, THREADS, "reads what thread 0 wrote"},
    {"mbarrier_of_threads", mbarrier_of_threads, THREADS, "reads what thread 0 wrote"},
    {"copy_by_tma", copy_by_tma, THREADS, "reads what TMA wrote"},
    {"two_copies_by_tma", two_copies_by_tma, THREADS, "reads what TMA wrote"},
    {"product_reads_a_copy", product_reads_a_copy, THREADS,
     "wgmma of warpgroup 1 reads what TMA wrote"},
    {"copy_after_a_product", copy_after_a_product, THREADS,
     "TMA writes what wgmma of warpgroup 1 read"},
    {"product_reads_what_threads_wrote", product_reads_what_threads_wrote, THREADS,
     "without fence.proxy.async"},
    {"store_by_tma", store_by_tma, THREADS, "writes what TMA read"},
    {"store_by_tma_after_a_fence", store_by_tma_after_a_fence, THREADS,
     "without fence.proxy.async"},
    {"copy_of_a_thread", copy_of_a_thread, 128, "wrote, in no order"},
    {"groups_of_copies", groups_of_copies, 128, "wrote, in no order"},
};

static bool passes(const kernel &k)
{
    const std::function<void()> run = k.run;

    right = true;
    if (!gpu_run(run, {2, 1, 1}, {k.threads, 1, 1}, SHARED)) {
        printf("FAIL %s: %s\n", k.name, gpu_failure());
        return false;
    }
    right = false;
    if (gpu_run(run, {2, 1, 1}, {k.threads, 1, 1}, SHARED)) {
        printf("FAIL %s: the race was not found\n", k.name);
        return false;
    }
    if (!strstr(gpu_failure(), k.wrong)) {
        printf("FAIL %s: \"%s\" has no \"%s\"\n", k.name, gpu_failure(), k.wrong);
        return false;
    }
    printf("ok   %s\n", k.name);
    return true;
}

int main()
{
    int passed = 0, failed = 0;

    map.data = global_data;
    map.size[0] = map.size[1] = 64;
    map.size[2] = map.size[3] = 1;
    map.stride[0] = 2;
    map.stride[1] = map.stride[2] = map.stride[3] = 128;
    map.box[0] = map.box[1] = 64;
    map.box[2] = map.box[3] = 1;
    for (const kernel &k : kernels)
        passes(k) ? passed++ : failed++;
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
