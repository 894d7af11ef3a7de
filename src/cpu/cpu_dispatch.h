/* SPDX-License-Identifier: MIT */
/* The kernel sets of this build. */
#ifndef ATTEND_CPU_DISPATCH_H
#define ATTEND_CPU_DISPATCH_H

#include "core/kernels.h"

/* Best first, NULL at the end. */
extern const struct kernels *const attendi_cpu_kernels[];

#endif
