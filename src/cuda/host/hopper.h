/* SPDX-License-Identifier: MIT */
/* The kernels of sm90.cuh: which problems they take, and how these are launched. */
#ifndef ATTEND_CUDA_HOPPER_H
#define ATTEND_CUDA_HOPPER_H

#include "cuda/host/device.h"

enum hopper_way { HOPPER_NOT, HOPPER_PREFILL, HOPPER_DECODE, HOPPER_COLUMNS };

/* How a problem is computed, and where its parts of the workspace begin. */
struct hopper_plan {
    int64_t way; /* a hopper_way */
    int64_t packs[3];
    int64_t ruled, measured; /* by the kernels that know rules, or leave row statistics */
    size_t pack_at[3], records_at, bits_at, states_at, lists_at;
};

/* Fills `plan` and adds what it takes to *total. */
void attendi_hopper_plan(const struct cuda_device *d, const struct problem *p,
                         struct hopper_plan *plan, size_t *total);

/*
 * The same of an inspection pass: whether column mass and maximum, if asked for, are
 * computed here; the rest is for the general kernels.
 */
void attendi_hopper_plan_columns(const struct cuda_device *d, const struct problem *p,
                                 struct hopper_plan *plan, size_t *total);
attend_status attendi_hopper_columns(struct cuda_device *d, const struct problem *p,
                                     const struct hopper_plan *plan, char *workspace,
                                     attend_error *err);

/* `sums`: where the sums of row statistics go, if the plan says that they are left. */
attend_status attendi_hopper_run(struct cuda_device *d, const struct problem *p,
                                 const struct hopper_plan *plan, char *workspace,
                                 double *sums, attend_error *err);

#endif
