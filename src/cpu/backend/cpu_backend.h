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

/* Also used by other backends for tensors in host memory. */
attend_status attendi_cpu_combine(attend_context *ctx, struct combination *c,
                                  attend_error *err);
attend_status attendi_cpu_merge(attend_context *ctx, const struct merge *m,
                                attend_error *err);
attend_status attendi_cpu_merge_stats(attend_context *ctx, const struct stats_merge *m,
                                      attend_error *err);

/* Merges on the calling thread, with the fastest kernels for the size. */
void attendi_cpu_merge_here(const struct merge *m);

/* backend.forward_many: `pieces` is `count` times a struct forward_piece. */
attend_status attendi_cpu_forward_many(attend_context *ctx, struct problem *p,
                                       int64_t count, void *pieces, attend_error *err);

/* The kernels for a problem, from the context's kernel set or its fallback sets. */
const struct kernels *attendi_kernels_for(const attend_context *ctx,
                                          const struct problem *p);

/*
 * Keys of a split: those of the kernel set, or ATTEND_SPLIT rounded up to 2^x blocks, so
 * that ATTEND_SPLIT_KEYS keys are a subtree; 0: no splits.
 */
int64_t attendi_split_keys(const attend_context *ctx, const struct kernels *k);

#endif
