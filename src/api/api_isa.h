/* SPDX-License-Identifier: MIT */
#ifndef ATTEND_API_ISA_H
#define ATTEND_API_ISA_H

#include "attend/attend.h"

struct kernel_set;

/*
 * The kernel set of that name (attend_options.isa); NULL: ATTEND_ISA, else the best set
 * that runs here.  EINVAL if it is not in this build, EUNSUPPORTED if this machine cannot
 * run it.
 */
attend_status attendi_select_kernels(const struct kernel_set **kernels, const char *given,
                                     attend_error *err);

#endif
