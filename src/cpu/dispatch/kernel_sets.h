/* SPDX-License-Identifier: MIT */
/* The kernel sets of this build. */
#ifndef ATTEND_CPU_KERNEL_SETS_H
#define ATTEND_CPU_KERNEL_SETS_H

#include "cpu/dispatch/kernels.h"

/* Best first, NULL at the end. */
extern const struct kernel_set *const attendi_kernel_sets[];

/* The kernels of the set, or of its fallback sets, that support the problem. */
const struct kernels *attendi_set_kernels(const struct kernel_set *set,
                                          const struct problem *p);

/* Kernels that merge, from the set or its fallback sets, else the scalar ones. */
const struct kernels *attendi_merge_kernels(const struct kernel_set *set);
/* The best merge kernels of this machine, for merges without a context. */
const struct kernels *attendi_merge_kernels_here(void);

#endif
