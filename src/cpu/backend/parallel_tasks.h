/* SPDX-License-Identifier: MIT */
/* The parallel loop of the CPU backend. */
#ifndef ATTEND_CPU_PARALLEL_TASKS_H
#define ATTEND_CPU_PARALLEL_TASKS_H

#include <stdbool.h>

#include "core/context.h"

/* `size` rounded up so that no two workers share a cache line. */
size_t attendi_worker_size(size_t size);

/*
 * Calls body(arg, task, worker) once for every task in 0 .. count - 1, with worker in 0
 * .. workers - 1, in the default floating-point environment.  Tasks start in order and
 * run concurrently; results must not depend on the worker.  `reports_progress`: the tasks
 * are the unit of the context's progress.  ECANCELLED, with some tasks not done, if the
 * context's `cancelled` ended the loop.
 */
attend_status attendi_parallel_tasks(const attend_context *ctx, int workers,
                                     int64_t count, bool reports_progress,
                                     void (*body)(void *arg, int64_t task, int worker),
                                     void *arg, attend_error *err);

#endif
