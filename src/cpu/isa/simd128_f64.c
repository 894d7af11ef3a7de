/* SPDX-License-Identifier: MIT */
/* Kernels in f64 for WebAssembly with 128-bit vectors. */
#define KERNELS attendi_simd128_f64
#include "cpu/isa/element_f64.h"
#include "cpu/isa/set_simd128.h"
#include "cpu/isa/kernels_fma.h"
