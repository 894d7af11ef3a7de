/* SPDX-License-Identifier: MIT */
/* The two element types of the sm80 kernels. */
#ifndef ATTEND_CUDA_SM80_ELEMENT_CUH
#define ATTEND_CUDA_SM80_ELEMENT_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda/sm80_instructions.cuh"

/*
 * An element type: a pair of floats rounded to it, products, and the bits of an exponent
 * that has no finite number: adding `one` to it carries into the sign.
 */
template <class E> struct element;
template <> struct element<__nv_bfloat16> {
    enum : uint32_t { EXPONENT = 0x7f807f80u, ONE = 0x00800080u };
    static DEVICE uint32_t pair(float a, float b) { return pack_bf16(a, b); }
    static DEVICE __nv_bfloat16 narrow(float a) { return __float2bfloat16_rn(a); }
    static DEVICE void product(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                               uint32_t b1)
    {
        mma_bf16(d, a, b0, b1);
    }
};
template <> struct element<__half> {
    enum : uint32_t { EXPONENT = 0x7c007c00u, ONE = 0x04000400u };
    static DEVICE uint32_t pair(float a, float b) { return pack_f16(a, b); }
    static DEVICE __half narrow(float a) { return __float2half_rn(a); }
    static DEVICE void product(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                               uint32_t b1)
    {
        mma_f16(d, a, b0, b1);
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
