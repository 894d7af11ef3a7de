/* SPDX-License-Identifier: MIT */
/* The parallel loop of the CPU's calls. */
#ifndef ATTEND_CPU_PARALLEL_TASKS_H
#define ATTEND_CPU_PARALLEL_TASKS_H

#include <stdbool.h>

#include "core/context.h"

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
