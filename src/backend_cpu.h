/* SPDX-License-Identifier: MIT */
/* The inspection pass of the CPU backend; backend.h has the contracts. */
#ifndef ATTEND_BACKEND_CPU_H
#define ATTEND_BACKEND_CPU_H

#include "backend.h"

void attendi_cpu_plan_inspect(const attend_context *ctx, struct problem *p,
                              struct plan *plan);
attend_status attendi_cpu_run_inspect(const attend_context *ctx, struct problem *p,
                                      const struct plan *plan, void *workspace,
                                      attend_error *err);

#endif
