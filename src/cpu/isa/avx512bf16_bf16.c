/* SPDX-License-Identifier: MIT */
/* Kernels of bf16 products with AVX512_BF16; sums are f32. */
#if !defined(__AVX512BF16__)
#error "compile this file with AVX512_BF16"
#endif

#define KERNELS attendi_avx512bf16_bf16
/*
 * Larger blocks rescale acc less often; the additional rounding is below that of P to
 * bf16.
 */
#define BC 256
#define DECODE_BC 256
#include "cpu/isa/element_bf16.h"
#include "cpu/isa/set_avx512.h"
#include "cpu/simd/pairs_avx512.h"
#include "cpu/isa/kernels_bf16.h"
