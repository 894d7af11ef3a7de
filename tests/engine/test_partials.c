/* SPDX-License-Identifier: MIT */
/*
 * attend_forward_partials and attend_combine: combined shards equal a call over all keys.
 */
#include "support/oracle.h"
#include "support/random_problem.h"
#include "support/sharding.h"

/* Whether the records of all shards reduce to those of the sequence in two steps. */
static int reduces(const problem *p, attend_context *ctx, const sharding *s,
                   const result *whole)
{
    attend_partials all = shard_make(p, 0, p->n.nk, 1);
    sharding one = {.count = 1, .parts = {all}};
    const double within = nearness(p, ctx);

    const int ok = IS_OK(attend_reduce, ctx, s->parts, s->count, &all) &&
                   IS_OK(attend_reduce, ctx, &all, 1, &all) &&
                   sharding_combine(p, ctx, &one) &&
                   same_or_near(&p->io.out, whole->out, within) &&
                   same_or_near(&p->io.lse, whole->lse, within);
    free(all.data.data);
    return ok;
}

static attend_tensor rows_of(attend_tensor t, int64_t first, int64_t count)
{
    if (t.data != NULL)
        t.data =
            (char *)t.data + first * t.stride[2] * (int64_t)attend_dtype_size(t.dtype);
    t.size[2] = count;
    return t;
}

static attend_view view_rows(attend_view v, int64_t first, int64_t count)
{
    if (v.data == NULL || v.size[2] == 1)
        return v;
    v.data =
        (const char *)v.data + first * v.stride[2] * (int64_t)attend_dtype_size(v.dtype);
    v.size[2] = count;
    return v;
}

/* Whether slices of the queries have the bits of one call. */
static int slices_are_whole(const problem *p, attend_context *ctx, uint64_t *state,
                            const result *whole)
{
    const int64_t cut = random_below(state, p->n.nq + 1);
    int64_t end_aligned[2] = {p->n.nk - p->n.nq, p->n.nk - p->n.nq};
    int ok = 1;

    poison(&p->io.out);
    poison(&p->io.lse);
    for (int x = 0; x < 2; x++) {
        const int64_t first = x == 0 ? 0 : cut, count = x == 0 ? cut : p->n.nq - cut;
        attend_rule rule = p->rule;
        attend_io io = p->io;

        if (rule.causal == ATTEND_CAUSAL_BOTTOM_RIGHT) {
            rule.causal = ATTEND_CAUSAL_OFFSET;
            rule.causal_offset = end_aligned;
        }
        rule.first_query = first;
        rule.mask = view_rows(rule.mask, first, count);
        rule.bias = view_rows(rule.bias, first, count);
        io.q = view_rows(io.q, first, count);
        io.q.size[2] = count;
        io.out = rows_of(io.out, first, count);
        io.lse = rows_of(io.lse, first, count);
        ok = ok && IS_OK(attend_forward, ctx, &rule, &io);
    }
    return ok && same_or_near(&p->io.out, whole->out, 0.0) &&
           same_or_near(&p->io.lse, whole->lse, 0.0);
}

static void random_shardings(attend_context *ctx)
{
    const char *const isa = attend_context_isa(ctx);
    const int is_ref = strcmp(isa, "ref") == 0, is_slow = strcmp(isa, "scalar") == 0;
    const int core = is_ref ? FLOAT_DTYPES : 2 * FLOAT_DTYPES;
    const int cases = core + (int)test_count(is_ref ? 4 : is_slow ? 12 : 32);

    for (int n = 0; n < cases; n++) {
        uint64_t state =
            test_case_seed(n, core) * 7 + (uint64_t)attend_context_threads(ctx);
        auto_problem p = random_problem(n, &state);
        auto_result whole = result_of(&p, ctx);
        auto_sharding s = sharding_make(&p, &state);
        CHECK(sharding_is_whole(&p, ctx, &s, &whole),
              "case %d, %s, nq %lld, nk %lld, %lld shards", n, attend_dtype_name(p.dtype),
              (long long)p.n.nq, (long long)p.n.nk, (long long)s.count);
        CHECK(reduces(&p, ctx, &s, &whole), "case %d reduced", n);
        CHECK(slices_are_whole(&p, ctx, &state, &whole), "case %d in slices", n);
    }
}

TEST(shards_are_the_whole)
{
    for (int threads = 1; threads <= 3; threads++)
        for_each_set(random_shardings, threads);
}

/* Splits of 128 keys, each an item: a record is a tree of several. */
TEST(shards_are_the_whole_in_small_splits)
{
    setenv("ATTEND_SPLIT", "128", 1);
    for (int threads = 1; threads <= 2; threads++)
        for_each_set(random_shardings, threads);
    unsetenv("ATTEND_SPLIT");
}

/* ---- records ------------------------------------------------------------- */

TEST(records_are_counted)
{
    enum { S = ATTEND_SPLIT_KEYS };
    static const int64_t most = (int64_t)1 << 60;
    static const int64_t known[][4] = {/* first split, keys, records, reduced */
                                       {0, 0, 0, 0},           {0, 1, 1, 1},
                                       {0, S, 1, 1},           {0, S + 1, 2, 1},
                                       {0, 3 * S, 3, 2},       {0, 8 * S, 8, 1},
                                       {1, S, 1, 1},           {1, 2 * S, 2, 2},
                                       {1, 7 * S, 7, 3},       {3, 8 * S, 8, 4},
                                       {4, 4 * S, 4, 1},       {5, 3 * S - 9, 3, 2},
                                       {6, 2 * S + 5, 3, 2},   {1, 1023 * S, 1023, 10},
                                       {1, 1022 * S, 1022, 18}};

    for (size_t n = 0; n < sizeof known / sizeof known[0]; n++)
        for (int reduce = 0; reduce < 2; reduce++) {
            const int64_t got =
                attend_partials_records(known[n][0] * S, known[n][1], reduce);
            CHECK(got == known[n][2 + reduce], "split %lld, %lld keys: %lld",
                  (long long)known[n][0], (long long)known[n][1], (long long)got);
        }
    CHECK(attend_partials_records(1000, 10, 0) == -1, "first_key 1000");
    CHECK(attend_partials_records(-S, 10, 0) == -1, "first_key below 0");
    CHECK(attend_partials_records(0, -1, 1) == -1, "keys below 0");
    CHECK(attend_partials_records(most, most, 1) == 1, "the most keys");
    CHECK(attend_partials_records(most + S, 10, 0) == -1, "first_key above 2^60");
    CHECK(attend_partials_records(0, most + 1, 1) == -1, "keys above 2^60");
}

/*
 * A reduced record is the combination of its splits, computed here directly for dv = 1.
 */
TEST_ON_SETS(reduced_records_are_subtrees, ctx, 2)
{
    auto_problem p = problem_make((shape){1, 2, 1, 5, 4096, 8, 1}, ATTEND_F64, 3);
    attend_partials split = shard_make(&p, 2048, 2048, 0), root = split;

    root = shard_make(&p, 2048, 2048, 1);
    CHECK(split.data.size[3] == 6 && root.data.size[3] == 3, "sizes");
    if (shard_run(&p, ctx, &split) && shard_run(&p, ctx, &root))
        for (int64_t row = 0; row < 10; row++) {
            const double *const a = (double *)split.data.data + row * 6, *const b = a + 3;
            const double *const got = (double *)root.data.data + row * 3;
            const double m = fmax(a[0], b[0]),
                         l = a[1] * exp(a[0] - m) + b[1] * exp(b[0] - m);
            const double acc = a[2] * exp(a[0] - m) + b[2] * exp(b[0] - m);
            CHECK(got[0] == m && fabs(got[1] - l) <= 1e-12 * l &&
                      fabs(got[2] - acc) <= 1e-12 * l,
                  "row %lld: %g %g %g", (long long)row, got[0], got[1], got[2]);
        }
    free(split.data.data);
    free(root.data.data);
}

/* Data with gaps between its rows, heads inside: nothing but the records is written. */
TEST_ON_SETS(records_may_lie_apart, ctx, 2)
{
    auto_problem p = problem_make((shape){2, 3, 1, 4, 2500, 8, 5}, ATTEND_F32, 4);
    attend_partials plain = shard_make(&p, 0, 2500, 1), apart = plain;
    const int64_t columns = plain.data.size[3], gap = columns + 3;
    const size_t floats = (size_t)(2 * 3 * 4 * gap);

    apart.data.stride[0] = 12 * gap;
    apart.data.stride[1] = gap;
    apart.data.stride[2] = 3 * gap;
    apart.data.data = test_memory(floats * sizeof(float));
    memset(apart.data.data, 0xff, floats * sizeof(float));
    if (shard_run(&p, ctx, &plain) && shard_run(&p, ctx, &apart))
        for (int64_t at = 0; at < (int64_t)floats; at++) {
            const int64_t row = at / gap, c = at % gap; /* b, i, h */
            const int64_t from =
                (row / 12 * 12 + row % 3 * 4 + row % 12 / 3) * columns + c;
            const double got = check_load(apart.data.data, ATTEND_F32, at);
            CHECK(c < columns ? got == check_load(plain.data.data, ATTEND_F32, from)
                              : isnan(got),
                  "at %lld", (long long)at);
        }
    sharding s = {.count = 1, .parts = {apart}};
    auto_result whole = result_of(&p, ctx);
    CHECK(sharding_is_whole(&p, ctx, &s, &whole), "apart");
    free(apart.data.data);
    free(plain.data.data);
}

/* ---- what is not seen ---------------------------------------------------- */

/* NaN in splits that no row sees, by window and key length, influences no shard. */
TEST_ON_SETS(hidden_keys_leave_no_trace, ctx, 2)
{
    for (int dtype = 0; dtype < FLOAT_DTYPES; dtype++) {
        auto_problem p =
            problem_lean((shape){2, 2, 1, 6, 6000, 12, 7}, float_dtypes[dtype], 5);
        uint64_t state = 6;
        int64_t *const lengths = problem_key_lengths(&p);
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        p.rule.window_left = 2100;
        lengths[1] = 4500;
        p.rule.alibi = own_heads(&p, &state, 0.1);
        auto_result clean = result_of(&p, ctx);
        for (int64_t j = 0; j < 6000; j++)
            for (int64_t b = 0; b < 2; b++)
                if (j < 6000 - 6 - 2100 || j >= lengths[b])
                    for (int64_t c = 0; c < 12; c++) {
                        view_set(&p.io.k, b, 0, j, c, j % 2 ? NAN : INFINITY);
                        if (c < 7)
                            view_set(&p.io.v, b, 0, j, c, j % 3 ? NAN : -INFINITY);
                    }
        auto_sharding s = {.count = 3,
                           .parts = {shard_make(&p, 0, 2048, 1),
                                     shard_make(&p, 2048, 3072, 0),
                                     shard_make(&p, 5120, 880, 1)}};
        CHECK(sharding_is_whole(&p, ctx, &s, &clean), "%s", attend_dtype_name(p.dtype));
        for (int64_t row = 0; row < 24; row++) /* m, l, and 7 sums over zero keys */
            for (int64_t c = 0; c < 9; c++) {
                const double x =
                    check_load(s.parts[0].data.data, s.parts[0].data.dtype, row * 9 + c);
                CHECK(c == 0 ? x == -INFINITY : x == 0.0, "row %lld: %g", (long long)row,
                      x);
            }
    }
}

/* A split in no shard counts as hidden. */
TEST_ON_SETS(missing_splits_are_hidden, ctx, 2)
{
    auto_problem p = problem_lean((shape){1, 4, 2, 3, 5000, 9, 6}, ATTEND_F32, 7);
    uint64_t state = 8;

    p.rule.sinks = own_heads(&p, &state, 1.0);
    auto_sharding s = {
        .count = 2,
        .parts = {shard_make(&p, 4096, 904, 0), shard_make(&p, 1024, 1024, 1)}};
    CHECK(sharding_run(&p, ctx, &s), "two shards");
    auto_result got = result_copy(&p);
    problem_mask(&p, 1, 1, 1, 5000);
    for (int64_t j = 0; j < 5000; j++)
        view_set(&p.rule.mask, 0, 0, 0, j, j / 1024 == 1 || j / 1024 == 4);
    CHECK(problem_run(&p, ctx), "masked");
    CHECK(same_or_near(&p.io.out, got.out, nearness(&p, ctx)) &&
              same_or_near(&p.io.lse, got.lse, nearness(&p, ctx)),
          "missing");
}

/* No parts, empty parts, rows without keys: O = 0, LSE = the sink logit. */
TEST_ON_SETS(nothing_seen_is_an_empty_row, ctx, 1)
{
    for (int dtype = 0; dtype < FLOAT_DTYPES; dtype++)
        for (int kind = 0; kind < 3; kind++) {
            auto_problem p =
                problem_make((shape){1, 2, 1, 2, 1500, 4, 3}, float_dtypes[dtype], 9);
            const double sinks[] = {0.5, -INFINITY};
            problem_key_lengths(&p)[0] = 0;
            p.rule.sinks = sinks;
            auto_sharding s = {.count = kind};
            for (int64_t x = 0; x < kind; x++)
                s.parts[x] = shard_make(&p, 0, x == 0 ? 0 : 1500, 0);
            CHECK(sharding_run(&p, ctx, &s), "kind %d", kind);
            for (int64_t h = 0; h < 2; h++)
                for (int64_t i = 0; i < 2; i++) {
                    CHECK(tensor_get(&p.io.lse, 0, h, i, 0) == sinks[h], "lse %g",
                          tensor_get(&p.io.lse, 0, h, i, 0));
                    CHECK(tensor_get(&p.io.out, 0, h, i, 2) == 0.0, "out");
                }
        }
}

/* A visible NaN in one shard makes the row NaN; other rows keep their bits. */
TEST_ON_SETS(seen_nan_stays_in_its_rows, ctx, 2)
{
    auto_problem p = problem_lean((shape){1, 1, 1, 20, 3000, 6, 5}, ATTEND_F32, 10);
    uint64_t state = 11;

    p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    view_set(&p.io.k, 0, 0, 2990, 1, NAN);
    view_set(&p.io.v, 0, 0, 2985, 2, INFINITY);
    auto_result whole = result_of(&p, ctx);
    auto_sharding s = sharding_make(&p, &state);
    CHECK(sharding_is_whole(&p, ctx, &s, &whole), "seen");
    CHECK(isnan(tensor_get(&p.io.lse, 0, 0, 15, 0)), "a row that sees it");
    CHECK(!isnan(tensor_get(&p.io.lse, 0, 0, 5, 0)), "a row that does not");
}

/* ---- kernel sets --------------------------------------------------------- */

/* Partials of different sets and reductions combine within the bound. */
TEST(sets_can_be_mixed)
{
    auto_problem p = problem_make((shape){1, 2, 1, 5, 3000, 16, 8}, ATTEND_F32, 12);
    uint64_t state = 13;

    p.rule.alibi = own_heads(&p, &state, 0.1);
    attend_isa best = attend_isa_default();
    CHECK(attend_isa_count() > 1 && attend_isa_get(0, &best) == ATTEND_OK, "sets");
    for (int x = 1; !best.runs; x++)
        attend_isa_get(x, &best);
    attend_context *const sets[] = {open_set("ref", 1), open_set("scalar", 1),
                                    open_set(best.name, 2)};
    auto_sharding s = {.count = 3,
                       .parts = {shard_make(&p, 0, 1024, 0),
                                 shard_make(&p, 1024, 1024, 1),
                                 shard_make(&p, 2048, 952, 0)}};
    for (int x = 0; x < 3; x++)
        CHECK(shard_run(&p, sets[x], &s.parts[x]), "set %d", x);
    for (int x = 0; x < 3; x++) {
        CHECK(sharding_combine(&p, sets[x], &s), "set %d", x);
        p.io.weights.data = NULL;
        CHECK(problem_is_close(&p), "combined by set %d", x);
    }
    for (int x = 0; x < 3; x++)
        attend_context_destroy(sets[x]);
}
