/* SPDX-License-Identifier: MIT */
/*
 * Raw sums of subtrees from attend_forward_partials(), reduced in the tree: bitwise the
 * statistics of all keys.
 */
#include "stats_fixture.h"
#include "support/random_problem.h"
#include "support/sharding.h"

enum { TOP = 4, BINS = 6, CLASSES = 3 };

/* Subtrees of splits, in order. */
static sharding cut(const problem *p, uint64_t *state)
{
    const int64_t all = p->n.nk, split = ATTEND_SPLIT_KEYS, last = (all - 1) / split;
    sharding s = {.count = 0};

    for (int64_t at = 0; at * split < all;) {
        int64_t splits = 1;
        while (at % (2 * splits) == 0 && at + 2 * splits - 1 <= last &&
               random_below(state, 2))
            splits *= 2;
        const int64_t end = (at + splits) * split < all ? (at + splits) * split : all;
        s.parts[s.count++] = shard_make(p, at * split, end - at * split, 1);
        at += splits;
    }
    return s;
}

static int run_shard(const problem *p, attend_context *ctx, const attend_stats *request,
                     const attend_partials *part)
{
    const attend_rule rule = shard_rule(p, part);
    attend_io io = shard_io(p, part);
    attend_stats own = *request;
    auto_free int32_t *const classes =
        test_memory((size_t)(p->n.nb * part->keys) * sizeof *classes);

    for (int64_t b = 0; b < p->n.nb; b++)
        memcpy(classes + b * part->keys, request->classes + b * p->n.nk + part->first_key,
               (size_t)part->keys * sizeof *classes);
    own.classes = classes;
    io.stats = &own;
    const int ok = IS_OK(attend_forward_partials, ctx, &rule, &io, part);
    return ok;
}

/* The level at which subtrees that begin at two splits meet. */
static int level(const attend_partials *a, const attend_partials *b)
{
    const int64_t differ =
        a->first_key / ATTEND_SPLIT_KEYS ^ b->first_key / ATTEND_SPLIT_KEYS;

    return 63 - __builtin_clzll((unsigned long long)differ);
}

/* Reduces neighbours in tree order until one is left, in `merged`. */
static int reduce_tree(const problem *p, attend_context *ctx, const attend_stats *merged,
                       attend_stats *request, sharding s)
{
    int ok = 1;

    while (ok && s.count > 1) {
        int64_t x = 0;
        for (int64_t y = 1; y + 1 < s.count; y++)
            if (level(&s.parts[y], &s.parts[y + 1]) < level(&s.parts[x], &s.parts[x + 1]))
                x = y;
        const attend_stats_part two[2] = {{view_of_tensor(&request[x].raw), 0},
                                          {view_of_tensor(&request[x + 1].raw), 0}};
        ok = IS_OK(attend_stats_reduce, ctx, &request[x], p->n.dv, two, 2);
        for (int64_t y = x + 1; y + 1 < s.count; y++) {
            s.parts[y] = s.parts[y + 1];
            request[y] = request[y + 1];
        }
        s.count--;
    }
    const attend_stats_part all = {view_of_tensor(&request[0].raw), 0};
    return ok && IS_OK(attend_stats_merge, ctx, merged, p->n.dv, &all, 1);
}

static int same_statistics(const attend_stats *got, const attend_stats *want,
                           double within)
{
    return same_or_near(&got->rows, want->rows.data, within) &&
           same_or_near(&got->top_weights, want->top_weights.data, within) &&
           same_or_near(&got->distances, want->distances.data, within) &&
           same_or_near(&got->class_mass, want->class_mass.data, within) &&
           (within > 0 || same_or_near(&got->raw, want->raw.data, within));
}

static int shards_are_whole(problem *p, attend_context *ctx, uint64_t *state)
{
    /* `ref` computes statistics by formulas; sums of a GPU are not combined in a tree. */
    const char *const isa = attend_context_isa(ctx);
    const double within = strcmp(isa, "ref") != 0 && strcmp(isa, "cuda") != 0 ? 0.0
                          : p->dtype == ATTEND_F64                            ? 1e-9
                                                                              : 1e-7;
    auto_wanted whole = wanted_make(p->n, TOP, BINS, CLASSES);
    auto_wanted merged = wanted_make(p->n, TOP, BINS, CLASSES);
    wanted part[SHARDS_MAX];
    attend_stats request[SHARDS_MAX];
    auto_sharding s = cut(p, state);

    p->io.stats = &whole.request;
    int ok = run_stats(p, ctx);
    p->io.stats = NULL;
    auto_result one = result_of(p, ctx);
    for (int64_t x = 0; x < s.count; x++) {
        part[x] = wanted_make(p->n, TOP, BINS, CLASSES);
        request[x] = part[x].request;
        ok = ok && run_shard(p, ctx, &request[x], &s.parts[x]);
    }
    ok = ok && sharding_combine(p, ctx, &s) &&
         same_or_near(&p->io.out, one.out, nearness(p, ctx)) &&
         reduce_tree(p, ctx, &merged.request, request, s) &&
         same_statistics(&merged.request, &whole.request, within);
    for (int64_t x = 0; x < s.count; x++)
        wanted_free(&part[x]);
    return ok;
}

static void random_shards(attend_context *ctx)
{
    const int is_ref = strcmp(attend_context_isa(ctx), "ref") == 0;
    const int core = is_ref ? FLOAT_DTYPES : 2 * FLOAT_DTYPES;
    const int cases = core + (int)test_count(is_ref ? 2 : 16);

    for (int n = 0; n < cases; n++) {
        uint64_t state =
            test_case_seed(n, core) * 11 + (uint64_t)attend_context_threads(ctx);
        auto_problem p = random_problem(n, &state);
        CHECK(shards_are_whole(&p, ctx, &state), "case %d, %s, %s, nq %lld, nk %lld", n,
              attend_context_isa(ctx), attend_dtype_name(p.dtype), (long long)p.n.nq,
              (long long)p.n.nk);
    }
}

TEST(shards_have_the_statistics_of_the_whole)
{
    for (int threads = 1; threads <= 2; threads++)
        for_each_set(random_shards, threads);
}

/* Splits of 128 keys, each an item that stores a partial. */
TEST(in_small_splits)
{
    setenv("ATTEND_SPLIT", "128", 1);
    for_each_set(random_shards, 2);
    unsetenv("ATTEND_SPLIT");
}

TEST(no_part_is_no_key)
{
    auto_context const ctx = open_set("ref", 1);
    auto_wanted w = wanted_make((shape){1, 2, 1, 3, 5, 4, 4}, TOP, BINS, CLASSES);
    const attend_stats request = w.request;
    const attend_stats_part part = {view_of_tensor(&request.raw), 0};

    CHECK(IS_OK(attend_stats_reduce, ctx, &request, 4, NULL, 0), "no part");
    CHECK(IS_OK(attend_stats_merge, ctx, &request, 4, &part, 1), "merged");
    for (int64_t row = 0; row < 6; row++) {
        const double *const of_row =
            (const double *)request.rows.data + row * ATTEND_STAT_COUNT;
        CHECK(of_row[ATTEND_STAT_KEYS] == 0 && of_row[ATTEND_STAT_LSE] == -INFINITY,
              "row %lld has keys", (long long)row);
    }
}

TEST(wrong_requests_are_named)
{
    auto_context const ctx = open_set("ref", 1);
    auto_problem p = problem_make((shape){1, 2, 1, 3, 3000, 4, 4}, ATTEND_F32, 3);
    auto_wanted w = wanted_make(p.n, TOP, BINS, CLASSES);
    attend_stats request = w.request;
    attend_partials part = shard_make(&p, 0, 3000, 1);
    attend_summary summaries[2 * ATTEND_SUMMARY_COUNT * ATTEND_SUMMARY_GROUPS];
    attend_io io = shard_io(&p, &part);
    attend_error err;

    io.stats = &request;
    CHECK(is_refused(attend_forward_partials(ctx, &p.rule, &io, &part, &err),
                     ATTEND_EINVAL, &err, "records", "2"),
          "two records");
    request.summaries = summaries;
    CHECK(is_refused(attend_forward_partials(ctx, &p.rule, &io, &part, &err),
                     ATTEND_EINVAL, &err, "stats.summaries", ""),
          "summaries");
    request.summaries = NULL;
    request.raw.data = NULL;
    CHECK(is_refused(attend_forward_partials(ctx, &p.rule, &io, &part, &err),
                     ATTEND_EINVAL, &err, "stats.raw.data", "NULL"),
          "no raw sums");
    CHECK(is_refused(attend_stats_reduce(ctx, &request, 4, NULL, 0, &err), ATTEND_EINVAL,
                     &err, "stats.raw.data", "NULL"),
          "no raw sums to reduce to");
    free(part.data.data);
}
