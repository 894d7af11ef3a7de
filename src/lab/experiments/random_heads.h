/* SPDX-License-Identifier: MIT */
/*
 * Heads that share d dimensions: each sees n keys as random unit vectors in d/h of them,
 * drawn for itself, and asks for its m/h targets with C times their sum.  The magnitude
 * of every key is noisy.  There is no formula for the error; it is measured.  For the
 * flags of how-many-heads.
 */
#ifndef LAB_RANDOM_HEADS_H
#define LAB_RANDOM_HEADS_H

#include "lab/experiments/experiment.h"

/* Rows of exactly the run's parameters.  0, or -1 after lab_fail(). */
int lab_random_heads_rows(struct lab_run *run);
/*
 * The error at the best C by number of heads, at d = 64, n = 256, m = 8, and the chance
 * that a random key beats the targets of a head.
 */
int lab_random_heads_curves(struct lab_run *run);

#endif
