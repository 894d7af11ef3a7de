/* SPDX-License-Identifier: MIT */
/* Kernels of bf16 products with FEAT_BF16 on AArch64; sums are f32. */
#define KERNELS attendi_neonbf16_bf16
/*
 * Larger blocks rescale acc less often; the additional rounding is below that of P to
 * bf16.
 */
#define BC 256
#define DECODE_BC 256
#include "cpu/isa/element_bf16.h"
#include "cpu/isa/set_neon.h"
#include "cpu/simd/pairs_neon.h"
#include "cpu/isa/kernels_bfmmla.h"
