/* SPDX-License-Identifier: MIT */
/* Kernels in f64 for AVX-512. */
#define KERNELS attendi_avx512_f64
#include "cpu/isa/element_f64.h"
#include "cpu/isa/set_avx512.h"
#include "cpu/isa/kernels_fma.h"
