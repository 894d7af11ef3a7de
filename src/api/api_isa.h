/* SPDX-License-Identifier: MIT */
#ifndef ATTEND_API_ISA_H
#define ATTEND_API_ISA_H

#include "attend/attend.h"

struct kernel_set;

/*
 * The kernel set of this name, which the options give; NULL: that of ATTEND_ISA, or else
 * the best that runs here.  EINVAL for one that this build does not have, EUNSUPPORTED
 * for one that this machine cannot run.
 */
attend_status attendi_select_kernels(const struct kernel_set **kernels, const char *given,
                                     attend_error *err);

#endif
