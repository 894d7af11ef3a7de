/* SPDX-License-Identifier: MIT */
/* Kernels in f32 for AArch64; f16 and bf16 are widened to it. */
#define KERNELS attendi_neon_f32
#include "cpu/isa/element_f32.h"
#include "cpu/isa/set_neon.h"
#include "cpu/isa/kernels_fma.h"
