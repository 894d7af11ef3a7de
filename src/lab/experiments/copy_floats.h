/* SPDX-License-Identifier: MIT */
#ifndef LAB_COPY_FLOATS_H
#define LAB_COPY_FLOATS_H

#include "lab/experiments/experiment.h"

/*
 * Where floating point makes a copy exact: rows of the gaps at which a weight of f32, or
 * an output of bf16, becomes exactly 1 and the other weights exactly 0, among n keys;
 * and a figure of the steps.  0, or -1 after lab_fail().
 */
int lab_copy_floats_rows(struct lab_run *run, int64_t n);
int lab_copy_floats_figure(struct lab_run *run, int64_t n);

#endif
