/* SPDX-License-Identifier: MIT */
/*
 * Splits of the keys: sliding-window decoding, whose first splits are hidden, and
 * ATTEND_SPLIT.
 */
#include "context_errors.h"
#include "support/oracle.h"
#include "support/pools.h"

/* Threads that share the keys of one row, the first being those of a lone worker. */
static const int thread_counts[] = {1, 2, 3};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

/*
 * One query whose window begins at an even or an odd key in the middle of the sequence:
 * the splits before it are empty.
 */
TEST_ON_SETS(an_empty_split_adds_nothing, lone, 1)
{
    attend_context *ctx[THREAD_COUNTS] = {lone};

    for (int at = 1; at < THREAD_COUNTS; at++) {
        ctx[at] = open_set(attend_context_isa(lone), thread_counts[at]);
        CHECK(ctx[at] != NULL, "%d threads", thread_counts[at]);
    }
    for (int type = 0; type < FLOAT_DTYPES; type++) {
        auto_problem p =
            problem_make((shape){1, 4, 1, 1, 8192, 64, 64}, float_dtypes[type], 3);
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        p.io.weights = (attend_tensor){0}; /* with weights, a row is one work item */
        for (int64_t left = 4094; left <= 4097; left++) {
            if (left > 4095 && !test_draws(0.25))
                continue;
            auto_result want = {NULL, NULL, NULL};
            p.rule.window_left = left;
            for (int at = 0; at < THREAD_COUNTS; at++) {
                CHECK(problem_run(&p, ctx[at]), "%d threads", thread_counts[at]);
                if (at == 0) {
                    CHECK(problem_is_close(&p), "window_left %lld", (long long)left);
                    want = result_copy(&p);
                }
                CHECK(result_is_same(&p, &want), "%s, %d threads, window_left %lld",
                      attend_dtype_name(p.dtype), thread_counts[at], (long long)left);
            }
        }
    }
    for (int at = 1; at < THREAD_COUNTS; at++)
        attend_context_destroy(ctx[at]);
}

/* Rows for the lanes and for the few, windows and causal rules, over several splits. */
static const shape shapes[] = {
    {1, 4, 2, 1, 1300, 64, 64},
    {2, 3, 1, 2, 777, 80, 33},
    {1, 2, 1, 70, 645, 64, 64},
    {1, 1, 1, 50, 1025, 16, 16},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static problem split_problem(int at, attend_dtype dtype, int kind)
{
    problem p = problem_lean(shapes[at], dtype, (uint64_t)(10 * at + kind));

    p.close = CLOSE_DERIVED;
    if (kind > 0)
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    if (kind > 1)
        p.rule.window_left = 130 + at;
    return p;
}

/* One thread and a host's pool of seven have the same splits and bits. */
static void lone_and_lent(attend_context *one)
{
    const char *const isa = attend_context_isa(one);
    pool_log log = {0, 0};
    auto_context const lent = pool_context(isa, 7, pool_pthreads, &log);

    if (strcmp(isa, "ref") == 0) /* it has no splits */
        return;
    CHECK(lent != NULL, "a context of %s", isa);
    for (int at = 0; at < SHAPES; at++)
        for (int type = 0; type < FLOAT_DTYPES; type++)
            for (int kind = 0; kind < 3; kind++) {
                if (kind > 0 && (at + kind) % FLOAT_DTYPES != type && !test_draws(0.3))
                    continue;
                auto_problem p = split_problem(at, float_dtypes[type], kind);
                CHECK(problem_run(&p, one), "one thread");
                if ((at + kind) % FLOAT_DTYPES == type)
                    CHECK(problem_is_close(&p), "%s, shape %d, rule %d", isa, at, kind);
                CHECK(problem_same_on(&p, one, lent), "%s, shape %d, %s, rule %d", isa,
                      at, attend_dtype_name(float_dtypes[type]), kind);
            }
    CHECK(log.calls > 0 && log.n_max == 7, "%d calls of the pool, up to %d workers",
          log.calls, log.n_max);
}

TEST(forced_splits_on_one_thread_and_on_a_lent_pool)
{
    static const char *const sizes[] = {"300", "1"};

    for (int x = 0; x < 2; x++) {
        setenv("ATTEND_SPLIT", sizes[x], 1);
        for_each_set(lone_and_lent, 1);
        unsetenv("ATTEND_SPLIT");
    }
}

TEST(what_is_no_number_of_keys_is_refused)
{
    static const char *const wrong[] = {"x", "0", "-3", "99999999999", "128 keys"};

    for (size_t x = 0; x < sizeof wrong / sizeof wrong[0]; x++) {
        setenv("ATTEND_SPLIT", wrong[x], 1);
        expect_no_context(NULL, ATTEND_EINVAL, "ATTEND_SPLIT", wrong[x]);
        unsetenv("ATTEND_SPLIT");
    }
}

TEST(an_empty_one_is_as_good_as_unset)
{
    setenv("ATTEND_SPLIT", "", 1);
    attend_context_destroy(open_context(NULL));
    unsetenv("ATTEND_SPLIT");
}

BEFORE_ALL { unsetenv("ATTEND_SPLIT"); } /* tests set it themselves */
