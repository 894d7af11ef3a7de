/* SPDX-License-Identifier: MIT */
/* Kernels in f32 for any machine; f16 and bf16 are widened to it. */
#define KERNELS attendi_scalar_f32
#include "cpu/isa/element_f32.h"
#include "cpu/isa/set_scalar.h"
#include "cpu/isa/kernels_fma.h"
