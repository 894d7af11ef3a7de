/* SPDX-License-Identifier: MIT */
/*
 * The interface of a backend, which computes validated problems on one kind of device.  A
 * call takes the path
 *
 *     api/ -> validation (core/) -> backend
 *
 * Only the backend dereferences pointers of the problem: they may be device memory.
 * docs/ARCHITECTURE.md describes how to add a backend.
 */
#ifndef ATTEND_CORE_BACKEND_H
#define ATTEND_CORE_BACKEND_H

#include "core/combination.h"
#include "core/context.h"
#include "core/merge.h"
#include "core/problem.h"

/* The result of plan(): how a pass is computed. */
struct plan {
    size_t workspace;  /* bytes, aligned to ATTENDI_ALIGN; SIZE_MAX: too many */
    int64_t state[64]; /* private to the backend */
};

/*
 * Computes the problem, or queues it behind the context's earlier calls; `workspace` is
 * reserved until it is done.  On failure no output is written, except after ECANCELLED.
 */
typedef attend_status backend_pass(const attend_context *ctx, struct problem *p,
                                   const struct plan *plan, void *workspace,
                                   attend_error *err);

/* An operation that is NULL fails with EUNSUPPORTED and the name of the call. */
struct backend {
    const char *name;
    attend_memory memory; /* memory of the tensors */

    /* ---- passes over keys: forward, partials of a shard, inspection */

    /*
     * ATTEND_OK, or EUNSUPPORTED with the reason.  Also validates the values behind
     * pointers that are in host memory.
     */
    attend_status (*supports)(const attend_context *ctx, const struct problem *p,
                              attend_error *err);
    /*
     * Chooses tiling and workspace from shapes and the context only: the result may be
     * cached.
     */
    void (*plan)(const attend_context *ctx, struct problem *p, struct plan *plan);
    /*
     * `size` bytes for a pass, uninitialised and owned by the context.  NULL: the
     * context's scratch, in host memory.
     */
    attend_status (*workspace)(attend_context *ctx, size_t size, void **workspace,
                               attend_error *err);
    backend_pass *forward;  /* attend_forward, statistics included */
    backend_pass *partials; /* p->shard is set */
    backend_pass *inspect;  /* p->inspection is set */
    /*
     * Forward passes of `count` problems, which `supports` accepted, in one loop;
     * `pieces` are piece_size bytes for each, uninitialised.  NULL: one after the other.
     */
    attend_status (*forward_many)(attend_context *ctx, struct problem *p, int64_t count,
                                  void *pieces, attend_error *err);
    size_t piece_size;

    /* ---- results of several passes */

    /*
     * O and LSE, or the records of a larger shard, from the records of shards in any
     * order.
     */
    attend_status (*combine)(attend_context *ctx, struct combination *c,
                             attend_error *err);
    attend_status (*reduce)(attend_context *ctx, struct combination *c,
                            attend_error *err);
    attend_status (*merge)(attend_context *ctx, const struct merge *m, attend_error *err);
    /* Statistics, or raw sums, of all keys from the raw sums of parts. */
    attend_status (*merge_stats)(attend_context *ctx, const struct stats_merge *m,
                                 attend_error *err);
    attend_status (*reduce_stats)(attend_context *ctx, const struct stats_merge *m,
                                  attend_error *err);

    /* Memory of the caller as workspace; NULL: that of the context. */
    attend_status (*set_workspace)(attend_context *ctx, void *memory, size_t size,
                                   attend_error *err);

    /* ---- the device; NULL for a synchronous backend */

    attend_status (*wait)(attend_context *ctx, attend_error *err);
    attend_status (*set_stream)(attend_context *ctx, void *stream, attend_error *err);
    void (*close)(attend_context *ctx); /* frees ctx->device */
};

/* Fails with EUNSUPPORTED and the names of the call and the backend. */
attend_status attendi_unsupported(const attend_context *ctx, const char *call,
                                  attend_error *err);

/* Runs a problem on the context's backend. */
attend_status attendi_compute(attend_context *ctx, struct problem *p, attend_error *err);

/* Memory for `count` problems and their pieces, kept for later calls. */
attend_status attendi_problems(attend_context *ctx, int64_t count,
                               struct problem **problems, attend_error *err);
/* Runs the forward passes of at most so many problems, which `supports` accepted. */
attend_status attendi_compute_many(attend_context *ctx, struct problem *problems,
                                   int64_t count, attend_error *err);

/* The bytes of workspace of that pass. */
attend_status attendi_workspace_size(attend_context *ctx, struct problem *p,
                                     size_t *bytes, attend_error *err);

#endif
