/* SPDX-License-Identifier: MIT */
/* Contexts. */
#include <stdlib.h>

#include "api/api_isa.h"
#include "base/cpus.h"
#include "base/error.h"
#include "base/published.h"
#include "cpu/backend/cpu_backend.h"
#include "cuda/cuda_open.h"

#define THREADS_MAX 4096

/*
 * ATTEND_SPLIT, for tests: with small splits, each its own item, short sequences take all
 * paths of long ones. 0 if unset or empty.
 */
static attend_status split_of_environment(int64_t *keys, attend_error *err)
{
    const char *const text = getenv("ATTEND_SPLIT");
    char *end;

    *keys = 0;
    if (!text || !*text)
        return ATTEND_OK;
    *keys = strtoll(text, &end, 10);
    if (*end || *keys < 1 || *keys > ATTEND_SPLIT_KEYS)
        return attendi_fail(err, ATTEND_EINVAL,
                            "ATTEND_SPLIT (\"%s\") is not a number of keys in 1..%d",
                            text, ATTEND_SPLIT_KEYS);
    return ATTEND_OK;
}

static int default_threads(void)
{
    const int threads = attendi_default_threads();

    return threads < THREADS_MAX ? threads : THREADS_MAX;
}

static attend_status check_options(const attend_options *o, attend_error *err)
{
    if (o->threads < 0 || o->threads > THREADS_MAX)
        return attendi_fail(err, ATTEND_EINVAL, "options.threads (%d) is outside 0..%d",
                            o->threads, THREADS_MAX);
    if (o->order != ATTEND_ORDER_SAME && o->order != ATTEND_ORDER_FAST)
        return attendi_fail(err, ATTEND_EINVAL, "options.order (%lld) is not an order",
                            (long long)o->order);
    if (!o->device && o->stream)
        return attendi_fail(err, ATTEND_EINVAL,
                            "options.stream (%p) is set, but options.device is NULL",
                            o->stream);
    if (!o->device && o->host_tensors)
        return attendi_fail(err, ATTEND_EINVAL,
                            "options.host_tensors (%lld) is set, but options.device is "
                            "NULL",
                            (long long)o->host_tensors);
    if (o->host_tensors != 0 && o->host_tensors != 1)
        return attendi_fail(err, ATTEND_EINVAL,
                            "options.host_tensors (%lld) is neither 0 nor 1",
                            (long long)o->host_tensors);
    if (!o->alloc != !o->free)
        return attendi_fail(err, ATTEND_EINVAL,
                            "options.%s is NULL: alloc and free come together",
                            o->alloc ? "free" : "alloc");
    return ATTEND_OK;
}

/* Creates the context's thread pool; false if out of memory. */
static bool own_pool(attend_context *ctx)
{
    if (ctx->threads == 1)
        return true;
    ctx->pool = attendi_pool_create(&ctx->allocator, ctx->threads);
    ctx->parallel_for = attendi_pool_run;
    ctx->parallel_user = ctx->pool;
    return ctx->pool != NULL;
}

attend_status attend_context_create(attend_context **out, const attend_options *options,
                                    attend_error *err)
{
    const struct kernel_set *kernels = NULL;
    int64_t split_keys = 0;

    if (!out)
        return attendi_fail(err, ATTEND_EINVAL, "ctx is NULL");
    *out = NULL;
    attend_options o;
    TRY(attendi_options_read(options, &o, err));
    TRY(check_options(&o, err));
    TRY(attendi_select_kernels(&kernels, o.isa, err));
    TRY(split_of_environment(&split_keys, err));

    const struct allocator allocator =
        o.alloc
            ? (struct allocator){.alloc = o.alloc, .free = o.free, .user = o.alloc_user}
            : attendi_allocator_default();
    const int threads = o.threads ? o.threads : default_threads();
    attend_context *ctx = attendi_allocate(&allocator, sizeof *ctx);
    if (!ctx)
        return attendi_fail(err, ATTEND_ENOMEM,
                            "out of memory for a context of %zu bytes", sizeof *ctx);
    *ctx = (attend_context){
        .busy = ATOMIC_FLAG_INIT,
        .backend = &attendi_backend_cpu,
        .kernels = kernels,
        .threads = threads,
        .order = (attend_order)o.order,
        .split_keys = split_keys,
        .allocator = allocator,
        .parallel_for = o.parallel_for,
        .parallel_user = o.parallel_user,
        .progress = o.progress,
        .progress_user = o.progress_user,
        .cancelled = o.cancelled,
        .cancel_user = o.cancel_user,
    };
    if (!o.parallel_for && !own_pool(ctx)) {
        attendi_release(&allocator, ctx);
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory for a pool of %d threads",
                            threads);
    }
    const attend_status status = o.device ? attendi_cuda_attach(ctx, &o, err) : ATTEND_OK;
    if (status != ATTEND_OK) {
        attend_context_destroy(ctx);
        return status;
    }
    *out = ctx;
    return ATTEND_OK;
}

void attend_context_destroy(attend_context *ctx)
{
    if (!ctx)
        return;
    const struct allocator allocator = ctx->allocator;
    if (ctx->backend->close)
        ctx->backend->close(ctx);
    attendi_pool_destroy(ctx->pool);
    attendi_release(&allocator, ctx->scratch.memory);
    attendi_release(&allocator, ctx->problems.memory);
    attendi_release(&allocator, ctx);
}

const char *attend_context_isa(const attend_context *ctx)
{
    if (!ctx)
        return "unknown";
    return ctx->backend == &attendi_backend_cpu ? ctx->kernels->isa : ctx->backend->name;
}

int attend_context_threads(const attend_context *ctx)
{
    if (!ctx)
        return 0;
    return ctx->pool ? attendi_pool_threads(ctx->pool) : ctx->threads;
}

attend_memory attend_context_memory(const attend_context *ctx)
{
    return ctx ? ctx->backend->memory : ATTEND_MEMORY_HOST;
}
