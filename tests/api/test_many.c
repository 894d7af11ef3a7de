/* SPDX-License-Identifier: MIT */
/* attend_forward_many(): the bits of each problem alone. */
#include "support/counting.h"
#include "support/random_problem.h"
#include "support/test.h"

enum { PROBLEMS = 5, DRAWN = 1 };

static const int thread_counts[] = {1, 3};

static int run_many(attend_context *ctx, const problem *p, int64_t count)
{
    const attend_rule *rules[PROBLEMS];
    const attend_io *ios[PROBLEMS];
    attend_error err;

    for (int64_t x = 0; x < count; x++) {
        rules[x] = &p[x].rule;
        ios[x] = &p[x].io;
        problem_poison(&p[x]);
    }
    return is_ok(attend_forward_many(ctx, count, rules, ios, &err), &err);
}

static void free_all(problem *p, int64_t count)
{
    for (int64_t x = 0; x < count; x++)
        problem_free(&p[x]);
}

/* Problems of any shape, dtype and rule. */
static void are_as_alone(attend_context *ctx, uint64_t seed)
{
    uint64_t random = seed;
    problem p[PROBLEMS];
    result alone[PROBLEMS];
    int same = 1;

    for (int x = 0; x < PROBLEMS; x++) {
        p[x] = random_problem((int)(random_bits(&random) % 4), &random);
        alone[x] = result_of(&p[x], ctx);
    }
    same = run_many(ctx, p, PROBLEMS);
    for (int x = 0; x < PROBLEMS; x++) {
        same = same && result_is_same(&p[x], &alone[x]);
        result_free(&alone[x]);
    }
    free_all(p, PROBLEMS);
    CHECK(same, "seed %llu", (unsigned long long)seed);
}

static void many_are_as_alone_on(attend_context *set)
{
    for (size_t t = 0; t < sizeof thread_counts / sizeof thread_counts[0]; t++) {
        auto_context const ctx = open_set(attend_context_isa(set), thread_counts[t]);
        CHECK(ctx != NULL, "%d threads", thread_counts[t]);
        for (int64_t x = 0; x < test_count(DRAWN); x++)
            are_as_alone(ctx, test_case_seed(x + 100 * (int64_t)t, 0));
    }
}

TEST(many_are_as_alone) { for_each_set(many_are_as_alone_on, 1); }

/* Sequences of 1, 300, 0, 40 and 1100 rows behind each other in one tensor. */
TEST_ON_SETS(packed_sequences_are_as_alone, ctx, 3)
{
    static const int64_t starts[] = {0, 1, 301, 301, 341, 1441};
    enum { SEQUENCES = 5, GUARDS = 3 };
    auto_problem p = problem_make((shape){1, 4, 2, 1441 + GUARDS, 1441 + GUARDS, 32, 24},
                                  ATTEND_F32, 5);
    attend_rule rule = attend_rule_default();
    const attend_rule *rules[SEQUENCES];
    attend_io io[SEQUENCES];
    const attend_io *ios[SEQUENCES];
    attend_error err;

    rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    for (int x = 0; x < SEQUENCES; x++) {
        const int64_t first = starts[x], count = starts[x + 1] - first;
        io[x] = attend_io_default();
        io[x].q = attend_view_slice(p.io.q, 2, first, count);
        io[x].k = attend_view_slice(p.io.k, 2, first, count);
        io[x].v = attend_view_slice(p.io.v, 2, first, count);
        io[x].out = attend_tensor_slice(p.io.out, 2, first, count);
        io[x].lse = attend_tensor_slice(p.io.lse, 2, first, count);
        ios[x] = &io[x];
        rules[x] = &rule;
    }
    problem_poison(&p);
    for (int x = 0; x < SEQUENCES; x++)
        CHECK(is_ok(attend_forward(ctx, &rule, &io[x], &err), &err), "sequence %d", x);
    auto_result alone = result_copy(&p);
    problem_poison(&p);
    CHECK(is_ok(attend_forward_many(ctx, SEQUENCES, rules, ios, &err), &err), "together");
    CHECK(result_is_same(&p, &alone), "bits");
    const attend_tensor guards = attend_tensor_slice(p.io.lse, 2, 1441, GUARDS);
    for (int64_t h = 0; h < 4; h++)
        CHECK(is_poisoned(
                  &(attend_tensor){.data = (float *)guards.data + h * guards.stride[1],
                                   .dtype = ATTEND_F32,
                                   .size = {1, 1, GUARDS, 1},
                                   .stride = {GUARDS, GUARDS, 1, 1}}),
              "rows behind the last sequence of head %d", (int)h);
}

TEST(a_refused_problem_is_named_and_nothing_is_written)
{
    auto_context const ctx = open_set("scalar", 2);
    auto_problem a = problem_make((shape){1, 2, 1, 3, 9, 4, 4}, ATTEND_F32, 1);
    auto_problem b = problem_make((shape){1, 2, 1, 3, 9, 4, 4}, ATTEND_F32, 2);
    const attend_io *ios[] = {&a.io, &b.io};
    attend_error err;

    problem_poison(&a);
    b.io.k.size[3] = 5;
    CHECK(attend_forward_many(ctx, 2, NULL, ios, &err) == ATTEND_EINVAL &&
              err.field == ATTEND_FIELD_K && err.member == ATTEND_MEMBER_SIZE,
          "%s", err.message);
    CHECK(strncmp(err.message, "problem 1: k.size[3]", 20) == 0, "%s", err.message);
    CHECK(is_poisoned(&a.io.out) && is_poisoned(&a.io.lse), "problem 0 was written");
    ios[1] = NULL;
    CHECK(attend_forward_many(ctx, 2, NULL, ios, &err) == ATTEND_EINVAL &&
              strncmp(err.message, "problem 1: io", 13) == 0,
          "%s", err.message);
    CHECK(is_refused(attend_forward_many(ctx, -1, NULL, ios, &err), ATTEND_EINVAL, &err,
                     "count", "-1"),
          "count");
    CHECK(is_refused(attend_forward_many(ctx, 1, NULL, NULL, &err), ATTEND_EINVAL, &err,
                     "ios", "NULL"),
          "ios");
    CHECK(is_ok(attend_forward_many(ctx, 0, NULL, NULL, &err), &err), "no problem");
    CHECK(is_ok(attend_forward_many(ctx, 1, NULL, ios, NULL), &err), "rules NULL");
}

/* No columns of Q and K, no columns of V, no queries: memory NULL, strides of any value.
 */
TEST(empty_tensors_are_null_with_any_strides)
{
    static const int64_t any[] = {INT64_MAX, INT64_MIN, 7, -1};
    auto_context const ctx = open_set("scalar", 2);
    auto_problem a = problem_make((shape){2, 2, 1, 3, 9, 0, 4}, ATTEND_F32, 1);
    auto_problem b = problem_make((shape){2, 2, 1, 3, 9, 4, 0}, ATTEND_F32, 2);
    auto_problem c = problem_make((shape){2, 2, 1, 0, 9, 4, 4}, ATTEND_F32, 3);
    attend_stats stats = attend_stats_default();
    int64_t key = -7;
    attend_error err;

    stats.top_keys = &key;
    stats.top_weights = attend_tensor_dense(NULL, ATTEND_F32, 2, 2, 0, 1);
    c.io.stats = &stats;
    attend_view *const views[] = {&a.io.q, &a.io.k, &b.io.v, &c.io.q};
    for (size_t x = 0; x < sizeof views / sizeof views[0]; x++) {
        views[x]->data = NULL;
        memcpy(views[x]->stride, any, sizeof any);
    }
    attend_tensor *const tensors[] = {&b.io.out, &c.io.out, &c.io.lse};
    for (size_t x = 0; x < sizeof tensors / sizeof tensors[0]; x++)
        memcpy(tensors[x]->stride, any, sizeof any);
    b.io.out.data = NULL;
    const problem list[] = {a, b, c};
    CHECK(run_many(ctx, list, 3) && key == -7, "together");
    auto_result alone = result_of(&a, ctx);
    CHECK(result_is_same(&a, &alone), "bits");
    CHECK(is_ok(attend_forward(ctx, &b.rule, &b.io, &err), &err), "no columns of V");
    CHECK(is_ok(attend_forward(ctx, &c.rule, &c.io, &err), &err), "no queries");
}

TEST(a_repeated_call_of_many_allocates_nothing)
{
    counting counted = {.fail_at = -1};
    const attend_options options = counting_options(&counted, "scalar", 2);
    problem p[PROBLEMS];
    uint64_t random = test_seed();

    auto_context const ctx = open_context(&options);
    CHECK(ctx != NULL, "a context");
    for (int x = 0; x < PROBLEMS; x++)
        p[x] = random_problem(x, &random);
    int right = run_many(ctx, p, PROBLEMS);
    const int before = counted.calls;
    right = right && run_many(ctx, p, PROBLEMS);
    free_all(p, PROBLEMS);
    CHECK(right && counted.calls == before, "%d allocations", counted.calls - before);
}
