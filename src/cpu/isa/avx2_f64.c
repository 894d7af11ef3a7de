/* SPDX-License-Identifier: MIT */
/* Kernels in f64 for AVX2 and FMA. */
#define KERNELS attendi_avx2_f64
#include "cpu/isa/element_f64.h"
#include "cpu/isa/set_avx2.h"
#include "cpu/isa/kernels_fma.h"
