/* SPDX-License-Identifier: MIT */
#include "cpu/cpu_dispatch.h"

#define CPU_KERNELS(isa) extern const struct kernels attendi_cpu_##isa;
#include "cpu/cpu_kernels.inc"
#undef CPU_KERNELS

#define CPU_KERNELS(isa) &attendi_cpu_##isa,
const struct kernels *const attendi_cpu_kernels[] = {
#include "cpu/cpu_kernels.inc"
    NULL};
#undef CPU_KERNELS
