/* SPDX-License-Identifier: MIT */
/* The CPU backend; core/backend.h has the contracts. */
#ifndef ATTEND_CPU_BACKEND_H
#define ATTEND_CPU_BACKEND_H

#include "core/backend.h"
#include "cpu/dispatch/kernels.h"

extern const struct backend attendi_backend_cpu;

void attendi_cpu_plan_inspect(const attend_context *ctx, struct problem *p,
                              struct plan *plan);
backend_pass attendi_cpu_inspect;

/* Also those of other backends whose tensors are in host memory. */
attend_status attendi_cpu_combine(attend_context *ctx, struct combination *c,
                                  attend_error *err);
attend_status attendi_cpu_merge(attend_context *ctx, const struct merge *m,
                                attend_error *err);
attend_status attendi_cpu_merge_stats(attend_context *ctx, const struct stats_merge *m,
                                      attend_error *err);

/* On the calling thread, with the best kernels for the size. */
void attendi_cpu_merge_here(const struct merge *m);

/* The kernels for a problem: of the context's set, or of a fallback set. */
const struct kernels *attendi_kernels_for(const attend_context *ctx,
                                          const struct problem *p);

/*
 * Keys of a split: the set's, or what tests force, rounded up to 2^x blocks so that a
 * split of ATTEND_SPLIT_KEYS is a subtree of them; 0: no splits.
 */
int64_t attendi_split_keys(const attend_context *ctx, const struct kernels *k);

#endif
