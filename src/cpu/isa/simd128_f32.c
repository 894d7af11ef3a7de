/* SPDX-License-Identifier: MIT */
/* Kernels in f32 for WebAssembly with 128-bit vectors; f16 and bf16 are widened to it. */
#define KERNELS attendi_simd128_f32
#include "cpu/isa/element_f32.h"
#include "cpu/isa/set_simd128.h"
#include "cpu/isa/kernels_fma.h"
