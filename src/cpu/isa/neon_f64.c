/* SPDX-License-Identifier: MIT */
/* Kernels in f64 for AArch64. */
#define KERNELS attendi_neon_f64
#include "cpu/isa/element_f64.h"
#include "cpu/isa/set_neon.h"
#include "cpu/isa/kernels_fma.h"
