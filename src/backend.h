/* SPDX-License-Identifier: MIT */
/*
 * The seam between a validated problem and the device that computes it.  A call goes
 *
 *     validate (core/problem.c) -> supports -> plan -> workspace -> run
 *
 * and everything above the seam knows shapes, numbers and pointers only: what a pointer
 * leads to is read by the backend alone, since it may live on a device.
 * docs/BACKENDS.md says how another would join.
 */
#ifndef ATTEND_BACKEND_H
#define ATTEND_BACKEND_H

#include "attend/attend.h"
#include "core/problem.h"

/* What plan() found out for run(). */
struct plan {
    size_t workspace;  /* bytes that run() needs, at ATTENDI_ALIGN; SIZE_MAX: too many */
    int64_t state[64]; /* the backend's own */
};

struct backend {
    const char *name;
    attend_memory memory; /* where the tensors of its contexts live */
    /*
     * Whether it can compute the problem; the error says why not.  The first to look at
     * what the rule points at, where it can.
     */
    attend_status (*supports)(const attend_context *ctx, const struct problem *p,
                              attend_error *err);
    /* How it would: from shapes and the context alone, so that it can be kept. */
    void (*plan)(const attend_context *ctx, struct problem *p, struct plan *plan);
    /*
     * `size` bytes for run(); what they held is lost, and the context keeps them.  NULL:
     * the context's scratch, in host memory.
     */
    attend_status (*workspace)(attend_context *ctx, size_t size, void **workspace,
                               attend_error *err);
    /*
     * Computes the problem, or queues it behind the context's earlier calls; `workspace`
     * stays the call's until then.  Fails with no output written.
     */
    attend_status (*run)(const attend_context *ctx, struct problem *p,
                         const struct plan *plan, void *workspace, attend_error *err);
};

extern const struct backend attendi_backend_cpu;
/* The GPU, on tensors in its own memory and on tensors in host memory. */
extern const struct backend attendi_backend_cuda, attendi_backend_cuda_host;

/* A problem on its way through the context's backend. */
attend_status attendi_compute(attend_context *ctx, struct problem *p, attend_error *err);

/* Bytes of workspace that it would take. */
attend_status attendi_workspace_size(attend_context *ctx, struct problem *p,
                                     size_t *bytes, attend_error *err);

/* EUNSUPPORTED, naming the call, unless the context's tensors live in host memory. */
attend_status attendi_needs_host(const attend_context *ctx, const char *call,
                                 attend_error *err);

#endif
