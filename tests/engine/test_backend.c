/* SPDX-License-Identifier: MIT */
/*
 * The backend interface, with a backend whose memory the host cannot read: device memory
 * is an unreadable page, so that any access in validation faults.
 */
#include "support/tensors.h"
#include "support/test.h"

#include <sys/mman.h>

#include "core/backend.h"
#include "core/context.h"

enum { NB = 2, H = 3, NQ = 4, NK = 70, D = 8 };

/* Calls that the backend has received. */
static struct {
    int supports, plans, runs;
    struct problem problem;
    void *workspace;
    attend_status answer;
} seen;

static attend_status supports(const attend_context *ctx, const struct problem *p,
                              attend_error *err)
{
    (void)ctx;
    seen.supports++;
    seen.problem = *p;
    if (seen.answer != ATTEND_OK) {
        err->status = seen.answer;
        snprintf(err->message, sizeof err->message, "not on this device");
    }
    return seen.answer;
}

static void plan(const attend_context *ctx, struct problem *p, struct plan *to)
{
    (void)ctx, (void)p;
    seen.plans++;
    to->workspace = 4096;
    to->state[0] = 42;
}

static attend_status run(const attend_context *ctx, struct problem *p,
                         const struct plan *from, void *workspace, attend_error *err)
{
    (void)ctx, (void)p, (void)err;
    seen.runs += from->state[0] == 42;
    seen.workspace = workspace;
    return ATTEND_OK;
}

static const struct backend device = {.name = "test",
                                      .memory = (attend_memory)1,
                                      .supports = supports,
                                      .plan = plan,
                                      .forward = run,
                                      .partials = run,
                                      .inspect = run};

static attend_context *device_context(void)
{
    attend_context *ctx = NULL;

    if (attend_context_create(&ctx, NULL, NULL) != ATTEND_OK)
        exit(2);
    ctx->backend = &device;
    memset(&seen, 0, sizeof seen);
    return ctx;
}

/* Unreadable device memory, large enough for every tensor of this file. */
static void *device_memory(void)
{
    void *const memory =
        mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        exit(2);
    return memory;
}

/* Inputs share memory; every output has its own. */
static attend_io device_io(void *memory)
{
    attend_io io = attend_io_default();

    io.q = attend_view_dense(memory, ATTEND_BF16, NB, H, NQ, D);
    io.k = io.v = attend_view_dense(memory, ATTEND_BF16, NB, H, NK, D);
    io.out = attend_tensor_dense(device_memory(), ATTEND_BF16, NB, H, NQ, D);
    io.lse = attend_tensor_dense(device_memory(), ATTEND_F32, NB, H, NQ, 1);
    return io;
}

/* A rule with all arrays. */
static attend_rule device_rule(void *memory)
{
    attend_rule rule = attend_rule_default();

    rule.causal = ATTEND_CAUSAL_OFFSET;
    rule.causal_offset = rule.key_lengths = memory;
    rule.window_left = 16;
    rule.mask = attend_view_dense(memory, ATTEND_BOOL, NB, H, NQ, NK);
    rule.bias = attend_view_dense(memory, ATTEND_BF16, NB, H, NQ, NK);
    rule.alibi = rule.sinks = memory;
    return rule;
}

TEST(forward_reads_nothing_of_the_device)
{
    auto_context const ctx = device_context();
    void *const memory = device_memory();
    const attend_rule rule = device_rule(memory);
    attend_io io = device_io(memory);
    attend_stats stats = attend_stats_default();
    const attend_stat column = ATTEND_STAT_ENTROPY;

    stats.columns = &column;
    stats.rows = attend_tensor_dense(device_memory(), ATTEND_F32, NB, H, NQ, 1);
    stats.top_weights = attend_tensor_dense(device_memory(), ATTEND_F32, NB, H, NQ, 4);
    stats.top_keys = device_memory();
    stats.class_mass = attend_tensor_dense(device_memory(), ATTEND_F32, NB, H, NQ, 3);
    stats.classes = memory;
    stats.summaries = device_memory();
    io.stats = &stats;
    CHECK_OK(attend_forward, ctx, &rule, &io);
    CHECK(seen.supports == 1 && seen.plans == 1 && seen.runs == 1, "%d %d %d",
          seen.supports, seen.plans, seen.runs);
    CHECK(seen.workspace != NULL, "no workspace");
    CHECK(seen.problem.nk == NK && seen.problem.alibi == memory &&
              !seen.problem.inspection,
          "another problem");
    CHECK(attend_context_memory(ctx) == (attend_memory)1, "another memory");
}

TEST(inspection_and_partials_go_the_same_way)
{
    auto_context const ctx = device_context();
    void *const memory = device_memory();
    const attend_rule rule = device_rule(memory);
    attend_inspection second = attend_inspection_default();
    attend_partials partials = attend_partials_default();
    attend_io io = device_io(memory);

    second.q = io.q;
    second.k = io.k;
    second.lse = attend_view_dense(memory, ATTEND_F32, NB, H, NQ, 1);
    second.column_mass = attend_tensor_dense(device_memory(), ATTEND_F32, NB, H, 1, NK);
    second.probes = memory;
    second.probe_count = 5;
    second.probe_weights = device_memory();
    CHECK_OK(attend_inspect, ctx, &rule, &second);
    CHECK(seen.runs == 1 && seen.problem.inspection, "no inspection pass");
    io.out.data = io.lse.data = NULL;
    partials.keys = NK;
    partials.data = attend_tensor_dense(device_memory(), ATTEND_F32, NB, H, NQ, D + 2);
    CHECK_OK(attend_forward_partials, ctx, &rule, &io, &partials);
    CHECK(seen.runs == 2 && seen.problem.shard, "no partials");
}

TEST(what_it_does_not_support_is_not_run)
{
    auto_context const ctx = device_context();
    const attend_io io = device_io(device_memory());
    attend_error err = {.message = ""};

    seen.answer = ATTEND_EUNSUPPORTED;
    CHECK(attend_forward(ctx, NULL, &io, &err) == ATTEND_EUNSUPPORTED, "%s", err.message);
    CHECK(strcmp(err.message, "not on this device") == 0, "%s", err.message);
    CHECK(seen.plans == 0 && seen.runs == 0, "it ran all the same");
}

TEST(host_calls_refuse_device_tensors)
{
    auto_context const ctx = device_context();
    void *const memory = device_memory();
    const attend_part part = {attend_view_dense(memory, ATTEND_BF16, NB, H, NQ, D),
                              attend_view_dense(memory, ATTEND_BF16, NB, H, NQ, 1)};
    const attend_tensor out = attend_tensor_dense(memory, ATTEND_F32, NB, H, NQ, D);

    CHECK_FAILS(ATTEND_EUNSUPPORTED, "attend_merge_with", attend_merge_with, ctx, &part,
                1, &out, NULL);
    attend_partials records = attend_partials_default();
    records.keys = records.all_keys = NK;
    records.reduce = 1;
    records.data = attend_tensor_dense(memory, ATTEND_F32, NB, H, NQ, D + 2);
    CHECK_FAILS(ATTEND_EUNSUPPORTED, "attend_combine", attend_combine, ctx, NULL,
                &records, 1, &out, NULL);
    CHECK_FAILS(ATTEND_EUNSUPPORTED, "attend_reduce", attend_reduce, ctx, &records, 1,
                &records);
    const attend_stat column = ATTEND_STAT_ENTROPY;
    attend_stats request = attend_stats_default();
    request.columns = &column;
    request.rows = attend_tensor_dense(memory, ATTEND_F32, NB, H, NQ, 1);
    const int64_t length = attend_stats_raw_size(&request, D);
    request.raw = attend_tensor_dense(memory, ATTEND_F64, NB, H, NQ, length);
    const attend_stats_part sums = {attend_view_of(&request.raw), 0};
    CHECK_FAILS(ATTEND_EUNSUPPORTED, "attend_stats_merge", attend_stats_merge, ctx,
                &request, D, &sums, 1);
    CHECK_FAILS(ATTEND_EUNSUPPORTED, "attend_stats_reduce", attend_stats_reduce, ctx,
                &request, D, &sums, 1);
}
