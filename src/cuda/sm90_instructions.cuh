/* SPDX-License-Identifier: MIT */
/* Instructions that C++ has no name for, and the two types of elements. */
#ifndef ATTEND_CUDA_SM90_INSTRUCTIONS_CUH
#define ATTEND_CUDA_SM90_INSTRUCTIONS_CUH

#include <cuda.h>
#include <math_constants.h>

#include "cuda/wgmma.cuh"

#define DEVICE __device__ __forceinline__

DEVICE uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
DEVICE void barrier_init(uint32_t bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
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
DEVICE void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void product_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> DEVICE void product_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
/* Nothing of x moves across. */
template <int N> DEVICE void pin(float (&x)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(x[i])::"memory");
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
/*
 * A kernel may be made ready before its predecessor on the stream has ended: it waits for
 * that, and lets its own successor come.
 */
DEVICE void wait_for_predecessor()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
DEVICE float ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE int load_shared(uint32_t at)
{
    int x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    return x;
}
DEVICE void store_shared(uint32_t at, int x)
{
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(x) : "memory");
}

/* Counters that others change at the same time. */
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

/* Of slabs of 64 columns in rows of 128 bytes, swizzled by 128 bytes. */
DEVICE uint64_t slab_descriptor(uint32_t at, uint32_t slab_bytes)
{
    return (uint64_t)((at & 0x3FFFF) >> 4) | (uint64_t)(slab_bytes >> 4) << 16 |
           (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

template <class E> struct element;
template <> struct element<__nv_bfloat16> {
    /* Bits by which weights of the first block exceed 1, and the limit of a sum. */
    static constexpr float raised = 0.f, limit = 65536.f;
    static constexpr uint32_t inf = 0x7f80;
    static DEVICE uint32_t pack(float lo, float hi)
    {
        uint32_t r;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
        return r;
    }
    static DEVICE float wide(__nv_bfloat16 x) { return __bfloat162float(x); }
    static DEVICE __nv_bfloat16 narrow(float x) { return __float2bfloat16(x); }
};
template <> struct element<__half> {
    /* A weight below 2^-24 is lost in f16, one above 2^16 infinite. */
    static constexpr float raised = 4.f, limit = 32768.f;
    static constexpr uint32_t inf = 0x7c00;
    static DEVICE uint32_t pack(float lo, float hi)
    {
        uint32_t r;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
        return r;
    }
    static DEVICE float wide(__half x) { return __half2float(x); }
    static DEVICE __half narrow(float x) { return __float2half(x); }
};

#endif
