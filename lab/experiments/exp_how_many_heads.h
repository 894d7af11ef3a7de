/* SPDX-License-Identifier: MIT */
/* The number of heads, in two files: with orthonormal keys, and with random ones. */
#ifndef LAB_EXP_HOW_MANY_HEADS_H
#define LAB_EXP_HOW_MANY_HEADS_H

#include "lab/experiments/runner.h"

enum { N, TARGETS, HEADS, SCALE, SIGMA2, D, GROUPS, NOISE, KEYS }; /* flags */

/* Rows of the run's own setting, and figures, with random keys: 0, or -1. */
int lab_shared_dimensions_rows(struct lab_run *run);
int lab_shared_dimensions_sweep(struct lab_run *run);

#endif
