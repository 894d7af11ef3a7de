/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <stdatomic.h>

#include "base/base.h"
#include "cpu/dispatch/kernel_sets.h"

const struct kernels *attendi_kernels_for(const attend_context *ctx,
                                          const struct problem *p)
{
    return attendi_set_kernels(ctx->kernels, p);
}

int64_t attendi_split_keys(const attend_context *ctx, const struct kernels *k)
{
    if (k->split_keys == 0 || ctx->split_keys == 0)
        return k->split_keys;
    int64_t keys = k->block_keys;
    while (keys < ctx->split_keys)
        keys *= 2;
    return min_i64(keys, k->split_keys);
}

bool attendi_reserve(size_t *total, int64_t count, size_t size)
{
    const size_t lines =
        add_bytes(count_bytes(count, size), ATTENDI_ALIGN) / ATTENDI_ALIGN;

    *total = add_bytes(*total, count_bytes((int64_t)lines, ATTENDI_ALIGN));
    if (*total > SIZE_MAX >> 1)
        *total = SIZE_MAX;
    return *total < SIZE_MAX;
}

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
    atomic_flag reporting;   /* one worker at a time reports progress */
};

/* One worker of the pool: takes tasks until none is left. */
static void work(void *arg, int worker)
{
    struct task_run *const h = arg;
    const attend_context *ctx = h->ctx;

    for (;;) {
        const int64_t task = atomic_fetch_add(&h->next, 1);

        if (task >= h->count)
            return;
        h->body(h->arg, task, worker);
        atomic_fetch_add(&h->done, 1);
        if (h->reports_progress && ctx->progress &&
            !atomic_flag_test_and_set(&h->reporting)) {
            ctx->progress(ctx->progress_user, atomic_load(&h->done), h->count);
            atomic_flag_clear(&h->reporting);
        }
    }
}

void attendi_parallel_tasks(const attend_context *ctx, int workers, int64_t count,
                            bool reports_progress,
                            void (*body)(void *arg, int64_t task, int worker), void *arg)
{
    struct task_run h = {.ctx = ctx,
                         .count = count,
                         .reports_progress = reports_progress,
                         .body = body,
                         .arg = arg,
                         .reporting = ATOMIC_FLAG_INIT};

    if (workers == 1)
        work(&h, 0);
    else if (workers > 1)
        ctx->parallel_for(ctx->parallel_user, workers, work, &h);
}
