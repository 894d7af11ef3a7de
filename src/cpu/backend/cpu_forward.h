/* SPDX-License-Identifier: MIT */
/* The forward pass of the CPU backend: work items of one problem, or of many. */
#ifndef ATTEND_CPU_FORWARD_H
#define ATTEND_CPU_FORWARD_H

#include <stdatomic.h>

#include "core/backend.h"
#include "cpu/dispatch/schedule.h"

/* The work items of a problem, and the offsets of the parts of its workspace. */
struct forward_plan {
    const struct kernels *kernels;
    struct schedule schedule;
    size_t worker_scratch, partial_size;
    size_t order_at, partials_at, missing_at, digest_at, ln_at;
};
_Static_assert(sizeof(struct forward_plan) <= sizeof((struct plan *)0)->state,
               "a plan holds it");

/* A problem with its plan and workspace, ready for its work items. */
struct forward_run {
    const struct forward_plan *plan;
    struct problem *problem;
    char *scratch;       /* of worker 0; the others' follow */
    int32_t *order;      /* NULL: items in ascending order */
    char *partials;      /* partial_size bytes for each item, where rows are split */
    atomic_int *missing; /* partials still missing for the rows of an item */
};

/* A problem among many, and its place in the loop. */
struct forward_piece {
    struct problem *problem;
    struct forward_plan plan;
    struct forward_run run;
    double ns;     /* estimated work */
    size_t at;     /* of its workspace */
    int64_t first; /* its first task; its tasks are consecutive */
};

/*
 * Plans a problem for up to `threads` workers, and reserves its workspace, without the
 * scratch of the workers, at the end of *total bytes.
 */
void attendi_forward_plan(const attend_context *ctx, struct problem *p, int threads,
                          struct forward_plan *f, size_t *total);
/* Divides the workspace as planned; run->plan and run->problem are set. */
void attendi_forward_lay_out(struct forward_run *run, char *workspace);
/* Computes work item `task` of the schedule's order; no item reads what another writes.
 */
void attendi_forward_item(struct forward_run *run, int64_t task, int worker);
/* Summaries of heads, after all items. */
attend_status attendi_forward_summarise(const attend_context *ctx,
                                        struct forward_run *run, int workers,
                                        attend_error *err);

#endif
