/* SPDX-License-Identifier: MIT */
/* Batches that share K and V as one batch of more queries. */
#ifndef ATTEND_CPU_FOLD_H
#define ATTEND_CPU_FOLD_H

#include "core/problem.h"

/*
 * Folds the batch axis into the query axis, so that keys and values which all batches
 * share (stride 0) are read once.  Only where no bit of a row depends on its batch and
 * query: every row sees all keys by rule, and no statistics are requested.  Masks and
 * biases are folded too.  Uses shapes and strides alone.
 */
void attendi_fold_batches(struct problem *p);

#endif
