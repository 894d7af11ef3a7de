/* SPDX-License-Identifier: MIT */
/*
 * The same bits for any number and kind of threads, and concurrent contexts.  Small, for
 * race detectors.
 */
#include "support/problems.h"
#include "support/pools.h"

static const shape shapes[] = {
    {1, 1, 1, 1, 300, 16, 16}, /* decode */
    {2, 4, 2, 37, 65, 24, 8},  /* a batch with grouped heads */
    {1, 1, 1, 200, 70, 8, 8},  /* many query tiles of one head */
    {3, 2, 2, 2, 1, 4, 4},
    {1, 2, 1, 25, 1100, 64, 64}, /* workers share the keys; the last tile has two rows */
    {1, 1, 1, 1300, 70, 8, 8},   /* work items of many tiles are balanced by weight */
    {1, 2, 1, 700, 70, 8, 8},    /* and shrink */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0], THREADS_MAX = 4 };

static problem problem_at(int at, attend_dtype dtype)
{
    problem p = problem_make(shapes[at], dtype, (uint64_t)at + 7);

    p.rule.causal = at % 2 ? ATTEND_CAUSAL_BOTTOM_RIGHT : ATTEND_CAUSAL_NONE;
    if (p.n.nk > 1000) /* rows whose weights are stored need all keys in one work item */
        p.io.weights = (attend_tensor){0};
    return p;
}

TEST_ON_SETS(any_number_of_threads, lone, 1)
{
    for (int threads = 2; threads <= THREADS_MAX; threads++) {
        auto_context const ctx = open_set(attend_context_isa(lone), threads);
        CHECK(ctx != NULL, "%d threads", threads);
        for (int at = 0; at < SHAPES; at++)
            for (int type = 0; type < FLOAT_DTYPES; type++) {
                if ((at + threads) % FLOAT_DTYPES != type && !test_draws(0.3))
                    continue;
                auto_problem p = problem_at(at, float_dtypes[type]);
                CHECK(problem_same_on(&p, lone, ctx), "%d threads, shape %d, %s", threads,
                      at, attend_dtype_name(float_dtypes[type]));
            }
    }
}

TEST_ON_SETS(a_pool_of_pthreads, lone, 1)
{
    for (int threads = 2; threads <= THREADS_MAX; threads++) {
        pool_log log = {0, 0};
        auto_context const ctx =
            pool_context(attend_context_isa(lone), threads, pool_pthreads, &log);
        CHECK(ctx != NULL, "%d threads", threads);
        for (int at = 0; at < SHAPES; at++) {
            auto_problem p = problem_at(at, float_dtypes[(at + threads) % FLOAT_DTYPES]);
            CHECK(problem_same_on(&p, lone, ctx), "%d threads, shape %d", threads, at);
        }
        CHECK(on_device(ctx) || (log.calls > 0 && log.n_max <= threads),
              "%d calls, up to %d of %d", log.calls, log.n_max, threads);
    }
}

/* A caller with its own context, which runs concurrently with another. */
typedef struct caller {
    const char *isa;
    problem p;
    result want;
    attend_parallel_for pool;
    int ok;
} caller;

static void call_many_times(void *callers, int at)
{
    caller *const me = (caller *)callers + at;
    pool_log log = {0, 0};
    auto_context const ctx = pool_context(me->isa, 2, me->pool, &log);

    me->ok = ctx != NULL;
    for (int repeat = 0; repeat < 10 && me->ok; repeat++) {
        poison(&me->p.io.out);
        me->ok = attend_forward(ctx, &me->p.rule, &me->p.io, NULL) == ATTEND_OK &&
                 memcmp(me->p.io.out.data, me->want.out,
                        bytes_of(me->p.io.out.size, me->p.io.out.dtype)) == 0;
    }
}

static void two_callers(attend_context *lone, attend_parallel_for pool)
{
    caller callers[2];
    pool_log log = {0, 0};

    for (int at = 0; at < 2; at++) {
        callers[at] = (caller){.isa = attend_context_isa(lone),
                               .p = problem_at(at + 1, float_dtypes[1 + at]),
                               .pool = pool};
        callers[at].want = result_of(&callers[at].p, lone);
    }
    pool_pthreads(&log, 2, call_many_times, callers);
    for (int at = 0; at < 2; at++) {
        CHECK(callers[at].ok, "caller %d failed or got other bits", at);
        result_free(&callers[at].want);
        problem_free(&callers[at].p);
    }
}

TEST_ON_SETS(two_contexts_at_once, lone, 1)
{
    two_callers(lone, NULL);
    two_callers(lone, pool_pthreads);
}

/* Records of 32 splits for 4 heads of 64 rows: enough bytes for every worker. */
static attend_partials random_records(problem *store)
{
    enum { RECORDS = 32, DV = 62 };
    attend_partials parts = attend_partials_default();

    parts.keys = parts.all_keys = RECORDS * ATTEND_SPLIT_KEYS;
    parts.data = own_tensor(store, ATTEND_F32, 1, 4, 64, RECORDS * (DV + 2));
    const attend_view view = attend_view_of(&parts.data);
    fill_normal(&view, 5);
    for (int64_t record = 0; record < 4 * 64 * RECORDS; record++) { /* l > 0 */
        float *const l = (float *)parts.data.data + record * (DV + 2) + 1;

        *l = 1 + fabsf(*l);
    }
    return parts;
}

TEST_ON_SETS(shards_are_combined_by_any_number_of_threads, lone, 1)
{
    auto_problem store = {.dtype = ATTEND_F32};
    const attend_partials parts = random_records(&store);
    const attend_tensor want = own_tensor(&store, ATTEND_F32, 1, 4, 64, 62);
    attend_tensor out = own_tensor(&store, ATTEND_F32, 1, 4, 64, 62);

    CHECK(attend_combine(lone, NULL, &parts, 1, &want, NULL, NULL) == ATTEND_OK, "one");
    for (int threads = 2; threads <= THREADS_MAX; threads++) {
        pool_log log = {0, 0};
        auto_context const ctx =
            pool_context(attend_context_isa(lone), threads, pool_pthreads, &log);

        for (int repeat = 0; repeat < 5; repeat++) {
            poison(&out);
            CHECK(attend_combine(ctx, NULL, &parts, 1, &out, NULL, NULL) == ATTEND_OK &&
                      same_bits(&out, want.data, "out"),
                  "%d threads, call %d", threads, repeat);
        }
        CHECK(on_device(ctx) || log.n_max == threads, "%d of %d threads", log.n_max,
              threads);
    }
}

typedef struct merger {
    attend_part parts[2];
    attend_tensor out, lse;
    attend_status status;
} merger;

static void merge_once(void *mergers, int at)
{
    merger *const me = (merger *)mergers + at;

    me->status = attend_merge(me->parts, 2, &me->out, &me->lse, NULL);
}

TEST(merging_at_once)
{
    auto_problem store = {.dtype = ATTEND_F32};
    merger mergers[3];
    pool_log log = {0, 0};

    for (int p = 0; p < 2; p++) {
        mergers[0].parts[p].out = own_view(&store, ATTEND_F32, 2, 2, 9, 16);
        mergers[0].parts[p].lse = own_view(&store, ATTEND_F32, 2, 2, 9, 1);
        fill_normal(&mergers[0].parts[p].out, (uint64_t)p + 1);
        fill_normal(&mergers[0].parts[p].lse, (uint64_t)p + 3);
    }
    for (int at = 0; at < 3; at++) {
        mergers[at] = mergers[0];
        mergers[at].out = own_tensor(&store, ATTEND_F32, 2, 2, 9, 16);
        mergers[at].lse = own_tensor(&store, ATTEND_F32, 2, 2, 9, 1);
    }
    pool_pthreads(&log, 3, merge_once, mergers);
    for (int at = 0; at < 3; at++) {
        CHECK(mergers[at].status == ATTEND_OK, "merge %d", at);
        CHECK(same_bits(&mergers[at].out, mergers[0].out.data, "out"), "merge %d", at);
        CHECK(same_bits(&mergers[at].lse, mergers[0].lse.data, "lse"), "merge %d", at);
    }
}
