/* SPDX-License-Identifier: MIT */
/* Contexts, and the choice of a kernel set. */
#include "context.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "backend.h"
#include "base/error.h"
#include "backend_cuda.h"
#include "core/published.h"
#include "cpu/dispatch/kernel_sets.h"
#include "cpu/dispatch/cpu_features.h"
#include "ref/ref.h"

#define THREADS_MAX 4096

#define STRING(x) #x
#define VERSION(a, b, c) STRING(a) "." STRING(b) "." STRING(c)

const char *attend_version(void)
{
    return VERSION(ATTEND_VERSION_MAJOR, ATTEND_VERSION_MINOR, ATTEND_VERSION_PATCH);
}

static int cpu_count(void)
{
    int n = 0;

    while (attendi_kernel_sets[n])
        n++;
    return n;
}

/* The list of attend_isa_get(): the CPU's sets, then the reference. */
static const struct kernel_set *kernels_at(int index)
{
    return index < cpu_count() ? attendi_kernel_sets[index] : &attendi_ref;
}

static int runs_here(const struct kernel_set *k)
{
    return (k->needs & ~attendi_cpu_features()) == 0;
}

int attend_isa_count(void) { return cpu_count() + 1; }

attend_status attend_isa_get(int index, attend_isa *isa)
{
    if (index < 0 || index >= attend_isa_count() || !isa)
        return ATTEND_EINVAL;
    const struct kernel_set *k = kernels_at(index);
    const attend_isa found = {.name = k->isa,
                              .needs = attendi_cpu_feature_names(k->needs),
                              .runs = runs_here(k)};

    return attendi_isa_store(&found, isa);
}

size_t attend_cpu_features(char *text, size_t size)
{
    const char *names = attendi_cpu_feature_names(attendi_cpu_features());

    if (text && size > 0)
        snprintf(text, size, "%s", names);
    return strlen(names);
}

/* ATTEND_ISA; empty is as good as unset. */
static const char *isa_of_environment(void)
{
    const char *isa = getenv("ATTEND_ISA");

    return isa && *isa ? isa : NULL;
}

/* The names of all sets, separated by spaces. */
static void list_sets(char *text, size_t size)
{
    size_t length = 0;

    for (int x = 0; x < attend_isa_count() && length < size; x++)
        length += (size_t)snprintf(text + length, size - length, x == 0 ? "%s" : " %s",
                                   kernels_at(x)->isa);
}

/*
 * ATTEND_SPLIT, for tests: small splits, each an item of its own, take every path of long
 * sequences on short ones.  0 where it is unset or empty.
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

/* `given`: the name in the options, NULL for that of the environment. */
static attend_status select_kernels(const struct kernel_set **out, const char *given,
                                    attend_error *err)
{
    const char *const isa = given ? given : isa_of_environment();
    const char *const origin = given ? "options.isa" : "ATTEND_ISA";
    char sets[128];

    for (int x = 0; x < attend_isa_count(); x++) {
        const struct kernel_set *k = kernels_at(x);

        if (isa ? strcmp(isa, k->isa) != 0 : !runs_here(k))
            continue;
        if (!runs_here(k))
            return attendi_fail(err, ATTEND_EUNSUPPORTED,
                                "%s (\"%.40s\") needs %s, which this machine does not "
                                "have",
                                origin, isa, attendi_cpu_feature_names(k->needs));
        *out = k;
        return ATTEND_OK;
    }
    list_sets(sets, sizeof sets);
    return attendi_fail(err, ATTEND_EINVAL,
                        "%s (\"%.40s\") is not a kernel set of this build: %s", origin,
                        isa, sets);
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

/* The threads that the host does not lend; false without memory. */
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
    TRY(select_kernels(&kernels, o.isa, err));
    TRY(split_of_environment(&split_keys, err));

    const struct allocator allocator =
        o.alloc
            ? (struct allocator){.alloc = o.alloc, .free = o.free, .user = o.alloc_user}
            : attendi_allocator_default();
    const int threads = o.threads ? o.threads : default_threads();
    attend_context *ctx = attendi_allocate(&allocator, sizeof *ctx);
    if (!ctx)
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for a context of %zu bytes",
                            sizeof *ctx);
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
        return attendi_fail(err, ATTEND_ENOMEM, "no memory for a pool of %d threads",
                            threads);
    }
    const attend_status status =
        o.device ? attendi_device_attach(ctx, &o, err) : ATTEND_OK;
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
    attendi_device_detach(ctx);
    attendi_pool_destroy(ctx->pool);
    attendi_release(&allocator, ctx->scratch);
    attendi_release(&allocator, ctx);
}

const char *attend_context_isa(const attend_context *ctx)
{
    if (!ctx)
        return "unknown";
    return ctx->cuda ? "cuda" : ctx->kernels->isa;
}

int attend_context_threads(const attend_context *ctx)
{
    if (!ctx)
        return 0;
    return ctx->pool ? attendi_pool_threads(ctx->pool) : ctx->threads;
}

void *attendi_context_scratch(struct attend_context *ctx, size_t size)
{
    if (ctx->scratch_size < size) {
        attendi_release(&ctx->allocator, ctx->scratch);
        ctx->scratch = attendi_allocate(&ctx->allocator, size);
        ctx->scratch_size = ctx->scratch ? size : 0;
    }
    return ctx->scratch;
}
