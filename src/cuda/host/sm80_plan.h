/* SPDX-License-Identifier: MIT */
/* The kernels of sm80.cuh: which problems they support, and their launches. */
#ifndef ATTEND_CUDA_SM80_PLAN_H
#define ATTEND_CUDA_SM80_PLAN_H

#include "cuda/host/device.h"

enum sm80_path { SM80_NONE, SM80_PREFILL, SM80_RULES, SM80_DECODE };

/* How a problem is computed, and offsets into the workspace. */
struct sm80_plan {
    int64_t path;     /* an sm80_path */
    int64_t packs[3]; /* whether q, k, v are copied to dense memory first */
    size_t pack_at[3], records_at;
};

/* Fills `plan` and adds its bytes of workspace to *total. */
void attendi_sm80_plan(const struct cuda_device *d, const struct problem *p,
                       struct sm80_plan *plan, size_t *total);

attend_status attendi_sm80_run(struct cuda_device *d, const struct problem *p,
                               const struct sm80_plan *plan, char *workspace,
                               attend_error *err);

#endif
