/* SPDX-License-Identifier: MIT */
/* The kernels of sm90.cuh: which problems they support, and their launches. */
#ifndef ATTEND_CUDA_SM90_PLAN_H
#define ATTEND_CUDA_SM90_PLAN_H

#include "cuda/host/device.h"

enum sm90_path { SM90_NONE, SM90_PREFILL, SM90_DECODE, SM90_COLUMNS };

/* How a problem is computed, and offsets into the workspace. */
struct sm90_plan {
    int64_t path; /* a sm90_path */
    int64_t packs[3];
    int64_t masked, stats; /* uses the kernels with masks, or with fused row statistics */
    size_t pack_at[3], records_at, bits_at, states_at, lists_at;
};

/* Fills `plan` and adds its bytes of workspace to *total. */
void attendi_sm90_plan(const struct cuda_device *d, const struct problem *p,
                       struct sm90_plan *plan, size_t *total);

/*
 * The same for an inspection pass, of which these kernels compute column mass and
 * maximum; the general kernels compute the rest.
 */
void attendi_sm90_plan_columns(const struct cuda_device *d, const struct problem *p,
                               struct sm90_plan *plan, size_t *total);
attend_status attendi_sm90_columns(struct cuda_device *d, const struct problem *p,
                                   const struct sm90_plan *plan, char *workspace,
                                   attend_error *err);

/* `sums`: destination of the sums of row statistics, if the plan has them. */
attend_status attendi_sm90_run(struct cuda_device *d, const struct problem *p,
                               const struct sm90_plan *plan, char *workspace,
                               double *sums, attend_error *err);

#endif
