/* SPDX-License-Identifier: MIT */
/* The two element types of the sm80 kernels. */
#ifndef ATTEND_CUDA_SM80_ELEMENT_CUH
#define ATTEND_CUDA_SM80_ELEMENT_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda/sm80/sm80_instructions.cuh"

/*
 * Operations of an element type, on words of two elements.  EXPONENT has the exponent
 * bits of Inf and NaN; adding ONE to them carries into the sign bit.
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

/* Sets the sign bit of each element that is Inf or NaN; all other bits are 0. */
template <class E> DEVICE uint32_t nonfinite_signs(uint32_t x)
{
    return ((x & element<E>::EXPONENT) + element<E>::ONE) & 0x80008000u;
}
/* Replaces Inf and NaN by 0. */
template <class E> DEVICE uint32_t nonfinite_to_zero(uint32_t x)
{
    const uint32_t bad = nonfinite_signs<E>(x);

    return x & ~((bad >> 15) * 0xffffu);
}

#endif
