/* SPDX-License-Identifier: MIT */
/* The definition in double: the oracle of the checks, selectable as a kernel set. */
#ifndef ATTEND_REF_REF_H
#define ATTEND_REF_REF_H

#include "cpu/dispatch/kernels.h"

extern const struct kernel_set attendi_ref;

#endif
