/* SPDX-License-Identifier: MIT */
/* The kernel sets of this build. */
#ifndef ATTEND_CPU_DISPATCH_H
#define ATTEND_CPU_DISPATCH_H

#include "cpu/kernels.h"

/* Best first, NULL at the end. */
extern const struct kernels *const attendi_cpu_kernels[];

/* For merges without a context: the set of any machine, and the best of this one. */
const struct kernels *attendi_cpu_plain(void);
const struct kernels *attendi_cpu_vectors(void);

#endif
