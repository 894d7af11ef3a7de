/* SPDX-License-Identifier: MIT */
/*
 * The interface of a backend: the device that computes validated problems.  A call takes
 * the path
 *
 *     api/ -> validation (core/) -> backend
 *
 * Code above the backend uses shapes, numbers and pointers only: what a pointer leads to
 * is read by the backend alone, since it may be memory of a device.  docs/BACKENDS.md
 * describes how to add one.
 */
#ifndef ATTEND_CORE_BACKEND_H
#define ATTEND_CORE_BACKEND_H

#include "core/combination.h"
#include "core/context.h"
#include "core/merge.h"
#include "core/problem.h"

/* The decisions of plan() for a pass. */
struct plan {
    size_t
        workspace; /* bytes that the pass needs, at ATTENDI_ALIGN; SIZE_MAX: too many */
    int64_t state[64]; /* the backend's own */
};

/*
 * Computes the problem, or queues it behind the context's earlier calls; `workspace`
 * stays the call's until then.  Fails with no output written, but for ECANCELLED.
 */
typedef attend_status backend_pass(const attend_context *ctx, struct problem *p,
                                   const struct plan *plan, void *workspace,
                                   attend_error *err);

/* An operation that is NULL is not supported, and refused by its name. */
struct backend {
    const char *name;
    attend_memory memory; /* where the tensors of its contexts lie */

    /* ---- passes over keys: forward, partials of a shard, inspection */

    /*
     * Whether it can compute the problem; the error says why not.  The first to look at
     * what the rule points at, where it can.
     */
    attend_status (*supports)(const attend_context *ctx, const struct problem *p,
                              attend_error *err);
    /* From shapes and the context alone, so that it can be kept. */
    void (*plan)(const attend_context *ctx, struct problem *p, struct plan *plan);
    /*
     * `size` bytes for a pass; their contents are lost, and the context keeps them.
     * NULL: the context's scratch, in host memory.
     */
    attend_status (*workspace)(attend_context *ctx, size_t size, void **workspace,
                               attend_error *err);
    backend_pass *forward;  /* attend_forward, statistics included */
    backend_pass *partials; /* p->shard is set */
    backend_pass *inspect;  /* p->inspection is set */

    /* ---- results of several passes */

    /* O and LSE, or records of a larger shard, from records in any order of shards. */
    attend_status (*combine)(attend_context *ctx, struct combination *c,
                             attend_error *err);
    attend_status (*reduce)(attend_context *ctx, struct combination *c,
                            attend_error *err);
    attend_status (*merge)(attend_context *ctx, const struct merge *m, attend_error *err);
    /* Statistics, or raw sums, from the raw sums of parts. */
    attend_status (*merge_stats)(attend_context *ctx, const struct stats_merge *m,
                                 attend_error *err);
    attend_status (*reduce_stats)(attend_context *ctx, const struct stats_merge *m,
                                  attend_error *err);

    /* ---- the device; NULL for a backend that computes at once */

    attend_status (*wait)(attend_context *ctx, attend_error *err);
    attend_status (*set_stream)(attend_context *ctx, void *stream, attend_error *err);
    attend_status (*set_workspace)(attend_context *ctx, void *memory, size_t size,
                                   attend_error *err);
    void (*close)(attend_context *ctx); /* frees ctx->device */
};

/* EUNSUPPORTED, which names the call and the backend. */
attend_status attendi_unsupported(const attend_context *ctx, const char *call,
                                  attend_error *err);

/* Computes a problem by the context's backend. */
attend_status attendi_compute(attend_context *ctx, struct problem *p, attend_error *err);

/* Bytes of workspace that it would take. */
attend_status attendi_workspace_size(attend_context *ctx, struct problem *p,
                                     size_t *bytes, attend_error *err);

#endif
