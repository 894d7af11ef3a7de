/* SPDX-License-Identifier: MIT */
#include "cpu/backend/parallel_tasks.h"

#include <stdatomic.h>

#include "base/base.h"
#include "base/error.h"
#include "base/float_env.h"

size_t attendi_worker_size(size_t size)
{
    return add_bytes(size, ATTENDI_ALIGN) / ATTENDI_ALIGN * ATTENDI_ALIGN;
}

struct task_run {
    const attend_context *ctx;
    int64_t count;
    bool reports_progress;
    void (*body)(void *arg, int64_t task, int worker);
    void *arg;
    atomic_llong next, done; /* tasks handed out and tasks finished */
    atomic_flag in_hook;     /* one worker at a time calls a hook of the host */
    atomic_bool cancelled;
};

/* Polls the host's `cancelled`, one worker at a time. */
static bool is_cancelled(struct task_run *h)
{
    const attend_context *const ctx = h->ctx;

    if (!ctx->cancelled)
        return false;
    if (!atomic_flag_test_and_set(&h->in_hook)) {
        if (!atomic_load(&h->cancelled) && ctx->cancelled(ctx->cancel_user))
            atomic_store(&h->cancelled, true);
        atomic_flag_clear(&h->in_hook);
    }
    return atomic_load(&h->cancelled);
}

static void report_progress(struct task_run *h)
{
    const attend_context *const ctx = h->ctx;

    if (ctx->progress && !atomic_flag_test_and_set(&h->in_hook)) {
        ctx->progress(ctx->progress_user, atomic_load(&h->done), h->count);
        atomic_flag_clear(&h->in_hook);
    }
}

/* Runs tasks until none is left. */
static void work(void *arg, int worker)
{
    struct task_run *const h = arg;
    const uint64_t float_env = set_default_float_env();

    for (;;) {
        const int64_t task = atomic_fetch_add(&h->next, 1);

        if (task >= h->count || is_cancelled(h))
            break;
        h->body(h->arg, task, worker);
        atomic_fetch_add(&h->done, 1);
        if (h->reports_progress)
            report_progress(h);
    }
    restore_float_env(float_env);
}

attend_status attendi_parallel_tasks(const attend_context *ctx, int workers,
                                     int64_t count, bool reports_progress,
                                     void (*body)(void *arg, int64_t task, int worker),
                                     void *arg, attend_error *err)
{
    struct task_run h = {.ctx = ctx,
                         .count = count,
                         .reports_progress = reports_progress,
                         .body = body,
                         .arg = arg,
                         .in_hook = ATOMIC_FLAG_INIT};

    if (workers == 1)
        work(&h, 0);
    else if (workers > 1)
        ctx->parallel_for(ctx->parallel_user, workers, work, &h);
    if (!atomic_load(&h.cancelled))
        return ATTEND_OK;
    return attendi_fail(err, ATTEND_ECANCELLED,
                        "options.cancelled ended the call after %lld of %lld pieces",
                        (long long)atomic_load(&h.done), (long long)count);
}
