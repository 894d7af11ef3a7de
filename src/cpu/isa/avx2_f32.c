/* SPDX-License-Identifier: MIT */
/* Kernels in f32 for AVX2 and FMA; f16 and bf16 are widened to it. */
#define KERNELS attendi_avx2_f32
#include "cpu/isa/element_f32.h"
#include "cpu/isa/set_avx2.h"
#include "cpu/isa/kernels_fma.h"
