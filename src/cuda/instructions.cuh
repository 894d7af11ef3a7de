/* SPDX-License-Identifier: MIT */
/*
 * PTX that every kernel uses: shared memory by its 32-bit address, 2^x, pairs of half
 * floats.  All inline assembly is here, in sm80_instructions.cuh, sm90_instructions.cuh
 * and wgmma.cuh; compilers other than nvcc use the same functions for a CPU.
 */
#ifndef ATTEND_CUDA_INSTRUCTIONS_CUH
#define ATTEND_CUDA_INSTRUCTIONS_CUH

#ifndef __CUDACC__
#include "emulated_instructions.h" /* of tests/emulator */
#else

#include <stdint.h>

#define DEVICE __device__ __forceinline__

DEVICE uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Within 2^-22; subnormal numbers are 0. */
DEVICE float ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Two floats rounded to nearest even; `low` goes to the lower half of the word. */
DEVICE uint32_t pack_bf16(float low, float high)
{
    uint32_t x;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));
    return x;
}
DEVICE uint32_t pack_f16(float low, float high)
{
    uint32_t x;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));
    return x;
}

/* ---- shared memory -------------------------------------------------------------- */

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
/* 8 and 16 bytes, aligned to 8 and 16. */
DEVICE void load_shared_2(uint32_t at, float &x, float &y)
{
    asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];"
                 : "=f"(x), "=f"(y)
                 : "r"(at)
                 : "memory");
}
DEVICE uint4 load_shared_4(uint32_t at)
{
    uint4 x;
    asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "r"(at)
                 : "memory");
    return x;
}
DEVICE void store_shared_4(uint32_t at, uint4 x)
{
    asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(x.x), "r"(x.y),
                 "r"(x.z), "r"(x.w)
                 : "memory");
}

#endif
#endif
