/* SPDX-License-Identifier: MIT */
#include "cpu/cpu_dispatch.h"

#include "cpu/cpu_features.h"

#define CPU_KERNELS(isa) extern const struct kernels attendi_cpu_##isa;
#include "cpu/cpu_kernels.inc"
#undef CPU_KERNELS

#define CPU_KERNELS(isa) &attendi_cpu_##isa,
const struct kernels *const attendi_cpu_kernels[] = {
#include "cpu/cpu_kernels.inc"
    NULL};
#undef CPU_KERNELS

const struct kernels *attendi_cpu_plain(void) { return &attendi_cpu_scalar; }

const struct kernels *attendi_cpu_vectors(void)
{
    const unsigned features = attendi_cpu_vector_features();
    int x = 0;

    while (!attendi_cpu_kernels[x]->merge || attendi_cpu_kernels[x]->needs & ~features)
        x++;
    return attendi_cpu_kernels[x];
}
