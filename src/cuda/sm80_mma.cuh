/* SPDX-License-Identifier: MIT */
/*
 * Instructions of Ampere: copies to shared memory that threads do not wait for, loads of
 * matrices, and products of 16 x 16 by 16 x 8.
 */
#ifndef ATTEND_CUDA_SM80_MMA_CUH
#define ATTEND_CUDA_SM80_MMA_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#define DEVICE __device__ __forceinline__

DEVICE uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/*
 * A number that the compiler takes as new: what follows from it is found again where it
 * is used.  Else it would stay in registers all along the loop, where none are to spare.
 */
DEVICE int again(int x)
{
    asm volatile("" : "+r"(x)::"memory");
    return x;
}
DEVICE int thread_again() { return again(threadIdx.x); }
/* Nothing of x moves across. */
template <int N> DEVICE void pin(float (&x)[N][4])
{
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            asm volatile("" : "+f"(x[n][e])::"memory");
}

/* 16 bytes, of which `bytes` are read and the others are 0. */
DEVICE void copy_16(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(bytes)
                 : "memory");
}
DEVICE void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/* All copies of this thread are there but for the N groups begun last. */
template <int N> DEVICE void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/* Four 8 x 8 matrices; a lane has two neighbours of row lane / 4 of each. */
DEVICE void load_matrices(uint32_t (&x)[4], uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(at)
                 : "memory");
}
/* The same of their transposes. */
DEVICE void load_transposed(uint32_t (&x)[4], uint32_t at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(at)
                 : "memory");
}
DEVICE uint4 load_16(uint32_t at)
{
    uint4 x;
    asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "r"(at)
                 : "memory");
    return x;
}
DEVICE void store_16(uint32_t at, uint4 x)
{
    asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(at), "r"(x.x), "r"(x.y),
                 "r"(x.z), "r"(x.w)
                 : "memory");
}

DEVICE float ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/*
 * An element type: a pair of floats rounded to it, products, and the bits of an exponent
 * that has no finite number: adding `one` to it carries into the sign.
 */
template <class E> struct element;
template <> struct element<__nv_bfloat16> {
    enum : uint32_t { EXPONENT = 0x7f807f80u, ONE = 0x00800080u };
    static DEVICE uint32_t pair(float a, float b)
    {
        uint32_t x; /* the first is the upper half */
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(b), "f"(a));
        return x;
    }
    static DEVICE __nv_bfloat16 narrow(float a) { return __float2bfloat16_rn(a); }
    static DEVICE void product(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                               uint32_t b1)
    {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};
template <> struct element<__half> {
    enum : uint32_t { EXPONENT = 0x7c007c00u, ONE = 0x04000400u };
    static DEVICE uint32_t pair(float a, float b)
    {
        uint32_t x;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(b), "f"(a));
        return x;
    }
    static DEVICE __half narrow(float a) { return __float2half_rn(a); }
    static DEVICE void product(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                               uint32_t b1)
    {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};

/* The sign of each half that is Inf or NaN is set, all else is 0. */
template <class E> DEVICE uint32_t not_finite(uint32_t x)
{
    return ((x & element<E>::EXPONENT) + element<E>::ONE) & 0x80008000u;
}
/* Inf and NaN become 0. */
template <class E> DEVICE uint32_t made_finite(uint32_t x)
{
    const uint32_t bad = not_finite<E>(x);

    return x & ~((bad >> 15) * 0xffffu);
}

#endif
