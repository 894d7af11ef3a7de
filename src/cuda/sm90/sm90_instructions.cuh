/* SPDX-License-Identifier: MIT */
/*
 * PTX of Hopper: mbarriers, TMA, warpgroup synchronisation, named barriers; wgmma.cuh has
 * the matrix products.
 */
#ifndef ATTEND_CUDA_SM90_INSTRUCTIONS_CUH
#define ATTEND_CUDA_SM90_INSTRUCTIONS_CUH

#ifndef __CUDACC__
#include "emulated_sm90.h" /* of tests/emulator */
#else

#include <cuda.h>

#include "cuda/instructions.cuh"
#include "cuda/sm90/wgmma.cuh"

DEVICE void barrier_init(uint32_t bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
}
DEVICE void barrier_init_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
DEVICE void barrier_expect(uint32_t bar, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                 "r"(bytes)
                 : "memory");
}
DEVICE void barrier_arrive(uint32_t bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
DEVICE void barrier_wait(uint32_t bar, uint32_t phase)
{
    asm volatile("{\n.reg .pred p;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra done;\nbra again;\ndone:\n}" ::"r"(bar),
                 "r"(phase)
                 : "memory");
}
DEVICE void copy_tile(uint32_t to, const CUtensorMap *map, uint32_t bar, int c0, int c1,
                      int c2, int c3)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_"
                 "tx::bytes [%0], [%1, {%3,%4,%5,%6}], [%2];" ::"r"(to),
                 "l"(map), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
                 : "memory");
}
DEVICE void store_tile(const CUtensorMap *map, uint32_t from, int c0, int c1, int c2,
                       int c3)
{
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, "
                 "{%2,%3,%4,%5}], [%1];" ::"l"(map),
                 "r"(from), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
                 : "memory");
}
/* Copies `bytes` contiguous bytes, a multiple of 16, without a tensor map. */
DEVICE void copy_line(uint32_t to, const void *from, int bytes, uint32_t bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(bar)
                 : "memory");
}
/*
 * Commits the thread's stores as a group, and waits until they have read shared memory.
 */
DEVICE void store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
DEVICE void store_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/* Four 8 x 8 matrices of 16-bit elements; lane x has the address of row x % 8 of x / 8.
 */
DEVICE void store_matrices(uint32_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(a),
        "r"(b), "r"(c), "r"(d)
        : "memory");
}
DEVICE void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void product_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> DEVICE void product_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
/* Compiler barrier: no computation of x moves across it. */
template <int N> DEVICE void pin(float (&x)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(x[i])::"memory");
}
/* Sets the number of registers per thread of the warpgroup. */
template <int N> DEVICE void registers_fewer()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N> DEVICE void registers_more()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
DEVICE void named_sync(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
DEVICE void named_arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
DEVICE void copy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/* Atomic operations on counters in shared memory. */
DEVICE int exchange_shared(uint32_t at, int x)
{
    int old;
    asm volatile("atom.shared.exch.b32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(at), "r"(x)
                 : "memory");
    return old;
}
DEVICE int add_shared(uint32_t at, int x)
{
    int old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(at), "r"(x)
                 : "memory");
    return old;
}

/* Stores eight floats and a word to `at` if a >= b, without a branch. */
DEVICE void store_if_ge(float a, float b, uint32_t at, float x0, float x1, float x2,
                        float x3, float x4, float x5, float x6, float x7, int word)
{
    asm volatile("{\n.reg .pred p;\nsetp.ge.f32 p, %0, %1;\n"
                 "@p st.shared.v2.f32 [%2], {%3,%4};\n"
                 "@p st.shared.v2.f32 [%2+8], {%5,%6};\n"
                 "@p st.shared.v2.f32 [%2+16], {%7,%8};\n"
                 "@p st.shared.v2.f32 [%2+24], {%9,%10};\n"
                 "@p st.shared.b32 [%2+32], %11;\n}" ::"f"(a),
                 "f"(b), "r"(at), "f"(x0), "f"(x1), "f"(x2), "f"(x3), "f"(x4), "f"(x5),
                 "f"(x6), "f"(x7), "r"(word)
                 : "memory");
}

#endif
#endif
