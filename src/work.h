/* SPDX-License-Identifier: MIT */
/* What every call that computes shares: a kernel set, scratch, items for the workers. */
#ifndef ATTEND_WORK_H
#define ATTEND_WORK_H

#include <stdbool.h>

#include "context.h"

/* Those that support the problem: of the context's set, or of a fallback set. */
const struct kernels *attendi_kernels_for(const attend_context *ctx,
                                          const struct problem *p);

/*
 * Keys of a split: the set's, or what tests force, rounded up to 2^x blocks so that a
 * split of ATTEND_SPLIT_KEYS is a subtree of them; 0: no splits.
 */
int64_t attendi_split_keys(const attend_context *ctx, const struct kernels *k);

/*
 * `count` pieces of `size` bytes, in whole lines, added to *total; false: too many, and
 * *total is SIZE_MAX.
 */
bool attendi_reserve(size_t *total, int64_t count, size_t size);

/* Bytes for one worker: a line apart, so that no two workers write to one. */
size_t attendi_worker_size(size_t size);

/*
 * Calls body(arg, task, worker) once for every task in 0 .. count - 1, with worker in
 * 0 .. workers - 1, in order but at once, in the default floating-point environment.
 * Which worker takes which task must change no bit.  `reports_progress`: the tasks are
 * what the context reports as progress.  ECANCELLED, with some tasks not done, where the
 * context's `cancelled` ended the loop.
 */
attend_status attendi_parallel_tasks(const attend_context *ctx, int workers,
                                     int64_t count, bool reports_progress,
                                     void (*body)(void *arg, int64_t task, int worker),
                                     void *arg, attend_error *err);

#endif
