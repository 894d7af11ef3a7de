/* SPDX-License-Identifier: MIT */
/* The two element types of the Hopper kernels. */
#ifndef ATTEND_CUDA_SM90_ELEMENT_CUH
#define ATTEND_CUDA_SM90_ELEMENT_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda/instructions.cuh"

template <class E> struct element;
template <> struct element<__nv_bfloat16> {
    /* log2 of the largest weight of the first block, and the limit of a sum. */
    static constexpr float raised = 0.f, limit = 65536.f;
    static constexpr uint32_t inf = 0x7f80;
    static DEVICE uint32_t pack(float lo, float hi) { return pack_bf16(lo, hi); }
    static DEVICE float wide(__nv_bfloat16 x) { return __bfloat162float(x); }
    static DEVICE __nv_bfloat16 narrow(float x) { return __float2bfloat16(x); }
};
template <> struct element<__half> {
    /* In f16, a weight below 2^-24 is 0 and one above 2^16 infinite. */
    static constexpr float raised = 4.f, limit = 32768.f;
    static constexpr uint32_t inf = 0x7c00;
    static DEVICE uint32_t pack(float lo, float hi) { return pack_f16(lo, hi); }
    static DEVICE float wide(__half x) { return __half2float(x); }
    static DEVICE __half narrow(float x) { return __float2half(x); }
};

#endif
