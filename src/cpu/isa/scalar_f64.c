/* SPDX-License-Identifier: MIT */
/* Kernels in f64 for any machine. */
#define KERNELS attendi_scalar_f64
#include "cpu/isa/element_f64.h"
#include "cpu/isa/set_scalar.h"
#include "cpu/isa/kernels_fma.h"
