/* SPDX-License-Identifier: MIT */
/* The kernels of sm90.cuh: which problems they take, and how these are launched. */
#ifndef ATTEND_CUDA_SM90_PLAN_H
#define ATTEND_CUDA_SM90_PLAN_H

#include "cuda/host/device.h"

enum sm90_path { SM90_NONE, SM90_PREFILL, SM90_DECODE, SM90_COLUMNS };

/* How a problem is computed, and where its parts of the workspace begin. */
struct sm90_plan {
    int64_t path; /* a sm90_path */
    int64_t packs[3];
    int64_t masked, stats; /* by the kernels that know masks, or fuse row statistics */
    size_t pack_at[3], records_at, bits_at, states_at, lists_at;
};

/* Fills `plan` and adds what it takes to *total. */
void attendi_sm90_plan(const struct cuda_device *d, const struct problem *p,
                       struct sm90_plan *plan, size_t *total);

/*
 * The same of an inspection pass: whether column mass and maximum, if asked for, are
 * computed here; the rest is for the general kernels.
 */
void attendi_sm90_plan_columns(const struct cuda_device *d, const struct problem *p,
                               struct sm90_plan *plan, size_t *total);
attend_status attendi_sm90_columns(struct cuda_device *d, const struct problem *p,
                                   const struct sm90_plan *plan, char *workspace,
                                   attend_error *err);

/* `sums`: where the sums of row statistics go, if the plan says that they are left. */
attend_status attendi_sm90_run(struct cuda_device *d, const struct problem *p,
                               const struct sm90_plan *plan, char *workspace,
                               double *sums, attend_error *err);

#endif
