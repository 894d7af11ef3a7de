/* SPDX-License-Identifier: MIT */
/*
 * The allocator hooks: every allocation may fail, none leaks, repeated calls allocate
 * nothing.
 */
#include "support/counting.h"
#include "support/oracle.h"

/* Two problems, the second of which needs more scratch than the first. */
typedef struct pair {
    problem small, large;
    result want_small, want_large;
} pair;

static const attend_dtype pair_dtypes[] = {ATTEND_F32, ATTEND_BF16, ATTEND_F64};
enum { PAIRS = sizeof pair_dtypes / sizeof pair_dtypes[0] };

static pair pair_make(attend_dtype dtype, attend_context *ctx)
{
    pair both = {.small = problem_make((shape){1, 1, 1, 3, 5, 4, 4}, dtype, 1),
                 .large = problem_make((shape){1, 4, 2, 30, 600, 80, 96}, dtype, 2)};

    both.large.io.weights = (attend_tensor){0}; /* its keys may be split */
    both.want_small = result_of(&both.small, ctx);
    both.want_large = result_of(&both.large, ctx);
    return both;
}

static void pair_free(pair *both)
{
    result_free(&both->want_small);
    result_free(&both->want_large);
    problem_free(&both->small);
    problem_free(&both->large);
}
#define auto_pair FREED(pair_free) pair

/* A run that may fail only with ENOMEM, and then writes nothing. */
static int run_or_refuse(const problem *p, const result *want, attend_context *ctx,
                         counting *c)
{
    const int refused_before = c->refused;
    attend_error err = {.status = ATTEND_OK};

    problem_poison(p);
    const attend_status status = attend_forward(ctx, &p->rule, &p->io, &err);
    if (status == ATTEND_OK)
        return result_is_same(p, want) && c->refused == refused_before;
    if (status == ATTEND_ENOMEM && err.status == status && err.message[0] != '\0' &&
        c->refused > refused_before && is_poisoned(&p->io.out) &&
        is_poisoned(&p->io.lse) && is_poisoned(&p->io.weights))
        return 1;
    test_fail(__FILE__, __LINE__, "ENOMEM and outputs left alone", "%s: %s",
              attend_status_name(status), err.message);
    return 0;
}

/*
 * Creates, uses and frees a context while allocation n fails; returns the number of
 * failures.
 */
static int life_with_failure(const pair *both, const char *isa, int n, int sticky)
{
    counting c = {.fail_at = n, .sticky = sticky};
    const attend_options options = counting_options(&c, isa, 2);
    attend_context *ctx = (attend_context *)&c;
    attend_error err = {.status = ATTEND_OK};
    const attend_status status = attend_context_create(&ctx, &options, &err);
    int fine = 1;

    if (status != ATTEND_OK) {
        fine = status == ATTEND_ENOMEM && err.status == status && ctx == NULL;
    } else {
        fine = run_or_refuse(&both->small, &both->want_small, ctx, &c) &&
               run_or_refuse(&both->large, &both->want_large, ctx, &c) &&
               run_or_refuse(&both->small, &both->want_small, ctx, &c);
        const int refused = c.refused;
        c.fail_at = -1;
        fine = fine && run_or_refuse(&both->large, &both->want_large, ctx, &c) &&
               run_or_refuse(&both->small, &both->want_small, ctx, &c) &&
               c.refused == refused;
        attend_context_destroy(ctx);
    }
    if (!fine || c.live != 0 || c.misused) {
        test_fail(__FILE__, __LINE__, "a clean life",
                  "allocation %d failing%s: create %s, %d blocks left, hooks %s", n,
                  sticky ? " and all after it" : "", attend_status_name(status), c.live,
                  c.misused ? "misused" : "used well");
        return -1;
    }
    return c.refused;
}

TEST_ON_SETS(every_allocation_may_fail, ctx, 2)
{
    for (int at = 0; at < PAIRS; at++) {
        auto_pair both = pair_make(pair_dtypes[at], ctx);
        for (int sticky = 0; sticky < 2; sticky++) {
            int n = 0, refused;
            while ((refused =
                        life_with_failure(&both, attend_context_isa(ctx), n, sticky)) > 0)
                n++;
            CHECK(refused == 0, "%s, allocation %d", attend_dtype_name(pair_dtypes[at]),
                  n);
            CHECK(n >= 2 && n < 1000, "%d allocations in a life", n);
        }
    }
}

TEST_ON_SETS(repeated_calls_allocate_nothing, plain, 2)
{
    counting c = {.fail_at = -1};
    const attend_options options = counting_options(&c, attend_context_isa(plain), 2);
    attend_context *const ctx = open_context(&options);

    CHECK(ctx != NULL, "context");
    for (int at = 0; at < PAIRS; at++) {
        auto_pair both = pair_make(pair_dtypes[at], ctx);
        const int calls = c.calls;
        for (int repeat = 0; repeat < 3; repeat++) {
            CHECK(problem_run(&both.large, ctx) && problem_run(&both.small, ctx),
                  "repeat");
            CHECK(c.calls == calls, "repeat %d: %d allocations", repeat, c.calls - calls);
        }
        /* Fewer keys, fewer queries, another batch: all fit. */
        auto_problem fits =
            problem_make((shape){2, 4, 2, 17, 80, 80, 96}, pair_dtypes[at], 3);
        CHECK(problem_run(&fits, ctx), "a smaller problem");
        CHECK(c.calls == calls, "a smaller problem: %d allocations", c.calls - calls);
    }
    attend_context_destroy(ctx);
    CHECK(c.live == 0 && !c.misused, "%d blocks left", c.live);
}

/*
 * An impossible size of scratch is refused, and the context remains usable.  `ref` has no
 * copy of q or k, so d = 2^58 would only take too long.
 */
TEST_ON_SETS(impossible_sizes, ctx, 2)
{
    auto_problem p = problem_make((shape){1, 1, 1, 2, 4, 4, 4}, ATTEND_F32, 4);
    const attend_io io = p.io;
    const int64_t huge = (int64_t)1 << 58;
    attend_error err = {.status = ATTEND_OK};

    CHECK(problem_check(&p, ctx), "before");
    if (strcmp(attend_context_isa(ctx), "ref") == 0)
        return;
    poison(&p.io.out);
    p.io.q.size[3] = p.io.k.size[3] = huge;
    p.io.q.stride[3] = p.io.k.stride[3] = 0;
    p.io.weights.data = NULL;
    const attend_status status = attend_forward(ctx, &p.rule, &p.io, &err);
    CHECK(status == ATTEND_ENOMEM || status == ATTEND_EINVAL, "d = 2^58: %s",
          attend_status_name(status));
    CHECK(is_poisoned(&p.io.out), "an output was written");
    p.io = io;
    CHECK(problem_check(&p, ctx), "after");
}

TEST(a_workspace_of_the_caller_is_used)
{
    counting counted = {.fail_at = -1};
    const attend_options options = counting_options(&counted, "scalar", 2);
    auto_context const ctx = open_context(&options);
    auto_problem p = problem_make((shape){2, 4, 2, 30, 600, 40, 24}, ATTEND_F32, 3);
    attend_error err;
    size_t bytes = 0;

    CHECK(problem_run(&p, ctx), "the context's own");
    auto_result want = result_copy(&p);
    CHECK(is_ok(attend_forward_workspace(ctx, &p.rule, &p.io, &bytes, &err), &err) &&
              bytes > 0,
          "%zu bytes", bytes);
    auto_free char *const memory = test_memory(bytes + 128);
    char *const at = memory + (64 - (uintptr_t)memory % 64) % 64;
    CHECK(is_refused(attend_context_set_workspace(ctx, at + 8, bytes, &err),
                     ATTEND_EINVAL, &err, "workspace", "64"),
          "misaligned");
    CHECK(is_ok(attend_context_set_workspace(ctx, at, bytes, &err), &err), "set");
    const int before = counted.calls;
    memset(at + bytes, 7, 32);
    CHECK(problem_gives(&p, ctx, &want) && counted.calls == before, "bits");
    CHECK(at[bytes] == 7 && at[bytes + 31] == 7, "memory behind it was written");
    CHECK(is_ok(attend_context_set_workspace(ctx, at, bytes - 1, &err), &err), "less");
    problem_poison(&p);
    CHECK(attend_forward(ctx, &p.rule, &p.io, &err) == ATTEND_ENOMEM &&
              is_poisoned(&p.io.out),
          "%s", err.message);
    CHECK(is_ok(attend_context_set_workspace(ctx, NULL, 0, &err), &err), "its own");
    CHECK(problem_gives(&p, ctx, &want), "its own again");
}
