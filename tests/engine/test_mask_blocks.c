/* SPDX-License-Identifier: MIT */
/*
 * Boolean masks that hide whole blocks of keys, or none of a block, on every kernel set:
 * skipping blocks or masking changes no bit.
 */
#include "stats/stats_fixture.h"
#include "support/inspect_oracle.h"
#include "support/strides.h"

typedef enum pattern {
    ALL_SEEN,
    NONE_SEEN,
    DOCUMENTS,  /* odd lengths; a query sees the keys of its document */
    STRIPES,    /* of 128 keys: hidden, seen, mixed */
    MIXED,      /* half of the keys, at random */
    HOLES,      /* 32 keys of every 128 are hidden from all */
    EDGES,      /* keys next to the ends of words and blocks */
    ONE_KEY,    /* a pattern per query */
    SOME_EMPTY, /* every third query sees nothing, the others a block */
    PATTERNS
} pattern;

static int64_t document_of(int64_t j)
{
    static const int64_t ends[] = {1, 97, 128, 255, 256, 301, 512, 770, 1024, 1100};
    int64_t at = 0;

    while (at < 10 && ends[at] <= j)
        at++;
    return at;
}

static int pattern_sees(pattern kind, const shape *n, int64_t i, int64_t j,
                        uint64_t *random)
{
    const int coin = (int)(random_bits(random) >> 63);

    switch (kind) {
    case ALL_SEEN:
        return 1;
    case DOCUMENTS:
        return document_of(j) == document_of(i * n->nk / n->nq);
    case STRIPES:
        return j / 128 % 3 == 1 || (j / 128 % 3 == 2 && coin);
    case MIXED:
        return coin;
    case HOLES:
        return j / 32 % 4 != 1;
    case EDGES:
        return j % 32 == 31 - i % 2 * 31 && j / 32 % 4 != 1;
    case ONE_KEY:
        return j == (i * 37 + 127) % n->nk;
    case SOME_EMPTY:
        return i % 3 != 0 && j / 128 == 1;
    default:
        return 0;
    }
}

/* A mask for every batch and query, common to the heads. */
static void set_mask(problem *p, pattern kind)
{
    uint64_t random = (uint64_t)kind + 11;

    problem_mask(p, p->n.nb, 1, p->n.nq, p->n.nk);
    for (int64_t b = 0; b < p->n.nb; b++)
        for (int64_t i = 0; i < p->n.nq; i++)
            for (int64_t j = 0; j < p->n.nk; j++)
                view_set(&p->rule.mask, b, 0, i, j,
                         pattern_sees(kind, &p->n, i, j, &random));
}

static const shape shapes[] = {
    {1, 4, 2, 70, 300, 12, 9},  /* grouped heads share a tile */
    {1, 1, 1, 65, 389, 24, 20}, /* and one row past whole vectors; nk is odd */
    {2, 4, 2, 1, 700, 16, 40},  /* few rows */
    {1, 1, 1, 3, 1300, 8, 8},   /* few rows, two splits */
    {1, 1, 1, 60, 1100, 8, 8},  /* two splits */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Requests weights, which select the prefill path for few rows. */
static problem make(int at, pattern kind, int type, int weights)
{
    problem p = problem_make(shapes[at], float_dtypes[type], (uint64_t)at + 3);

    set_mask(&p, kind);
    if ((at + (int)kind) % 3 == 1)
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    if ((at + (int)kind) % 4 == 3)
        p.rule.window_left = p.n.nk / 2;
    if (!weights)
        p.io.weights = (attend_tensor){0};
    return p;
}

/*
 * Shapes with patterns, in one of the dtypes each: every pattern once, on every shape;
 * the others are drawn.
 */
#define FOR_PROBLEMS(at, kind, type)                                                     \
    for (int at = 0; at < SHAPES; at++)                                                  \
        for (int kind = 0, type = at % FLOAT_DTYPES; kind < PATTERNS;                    \
             kind++, type = (at + kind) % FLOAT_DTYPES)                                  \
            if (kind % SHAPES == at || test_draws(0.4))

#define NAMED "shape %d, pattern %d, %s", at, kind, attend_dtype_name(float_dtypes[type])

TEST_ON_SETS(as_the_dense_evaluation, ctx, 2)
{
    FOR_PROBLEMS(at, kind, type)
    {
        auto_problem p = make(at, (pattern)kind, type, kind % 2);
        CHECK(problem_check(&p, ctx), NAMED);
    }
}

/* ---- what nobody sees ------------------------------------------------------- */

static int somebody_sees(const struct check_problem *p, int64_t b, int64_t hk, int64_t j)
{
    const int64_t group = p->hq / p->hkv;

    for (int64_t h = hk * group; h < (hk + 1) * group; h++)
        for (int64_t i = 0; i < p->nq; i++)
            if (check_sees(p, b, h, i, j))
                return 1;
    return 0;
}

/* NaN and Inf in K and V of the keys that no query sees. */
static void spoil(const problem *p)
{
    static const double spoilt[] = {NAN, INFINITY, -INFINITY};
    auto_check_problem dense = dense_problem(p);

    for (int64_t b = 0; b < p->n.nb; b++)
        for (int64_t hk = 0; hk < p->n.hkv; hk++)
            for (int64_t j = 0; j < p->n.nk; j++) {
                if (somebody_sees(&dense, b, hk, j))
                    continue;
                for (int64_t c = 0; c < p->n.d; c++)
                    view_set(&p->io.k, b, hk, j, c, spoilt[j % 3]);
                for (int64_t c = 0; c < p->n.dv; c++)
                    view_set(&p->io.v, b, hk, j, c, spoilt[(j + c) % 3]);
            }
}

TEST_ON_SETS(hidden_keys_may_hold_anything, ctx, 2)
{
    FOR_PROBLEMS(at, kind, type)
    {
        auto_problem p = make(at, (pattern)kind, type, kind % 2);
        auto_result want = result_of(&p, ctx);
        spoil(&p);
        CHECK(problem_gives(&p, ctx, &want), NAMED);
    }
}

/* ---- neighbours ------------------------------------------------------------- */

static int is_kept(int64_t i) { return i % 7 == 2 || i % 50 == 0; }

/* A query that is not kept sees all keys, none, or another half of them. */
static void change_others(const problem *p, int way)
{
    uint64_t random = 5;

    for (int64_t b = 0; b < p->n.nb; b++)
        for (int64_t i = 0; i < p->n.nq; i++)
            for (int64_t j = 0; j < p->n.nk && !is_kept(i); j++)
                view_set(&p->rule.mask, b, 0, i, j,
                         way == 0   ? 1
                         : way == 1 ? 0
                                    : (double)(random_bits(&random) >> 63));
}

/* Whether the kept rows of a tensor have the bits of a copy. */
static int kept_are_same(const attend_tensor *t, int64_t first, const void *bits)
{
    const size_t width = attend_dtype_size(t->dtype) * (size_t)t->size[3];

    for (int64_t row = 0; t->data != NULL && row < count_of(t->size) / t->size[3]; row++)
        if (is_kept(first + row % t->size[2]) &&
            memcmp((char *)t->data + (size_t)row * width,
                   (const char *)bits + (size_t)row * width, width) != 0)
            return 0;
    return 1;
}

TEST_ON_SETS(neighbours_change_no_bit, ctx, 2)
{
    FOR_PROBLEMS(at, kind, type)
    {
        auto_problem p = make(at, (pattern)kind, type, kind % 2);
        auto_result want = result_of(&p, ctx);
        for (int way = 0; way < 3; way++) {
            change_others(&p, way);
            spoil(&p);
            CHECK(problem_run(&p, ctx) && kept_are_same(&p.io.out, 0, want.out) &&
                      kept_are_same(&p.io.lse, 0, want.lse) &&
                      kept_are_same(&p.io.weights, 0, want.weights),
                  NAMED);
        }
    }
}

TEST_ON_SETS(a_masked_end_is_a_shorter_sequence, ctx, 1)
{
    for (int type = 0; type < FLOAT_DTYPES; type++)
        for (int64_t nq = 1; nq < 100; nq += 49) {
            auto_problem p =
                problem_lean((shape){1, 2, 1, nq, 640, 16, 16}, float_dtypes[type], 3);
            problem_mask(&p, 1, 1, 1, p.n.nk);
            hide_keys(&p, 0, 0, 0, 256, p.n.nk);
            auto_result want = result_of(&p, ctx);
            p.rule.mask = (attend_view){0};
            problem_key_lengths(&p)[0] = 256;
            CHECK(problem_gives(&p, ctx, &want), "%s, %lld queries",
                  attend_dtype_name(float_dtypes[type]), (long long)nq);
        }
}

/* ---- threads, strides, broadcasting ------------------------------------------ */

TEST_ON_SETS(any_number_of_threads, lone, 1)
{
    for (int threads = 2; threads < 4; threads++) {
        auto_context const ctx = open_set(attend_context_isa(lone), threads);
        CHECK(ctx != NULL, "%d threads", threads);
        FOR_PROBLEMS(at, kind, type)
        {
            auto_problem p = make(at, (pattern)kind, type, 0);
            CHECK(problem_same_on(&p, lone, ctx), NAMED);
        }
    }
}

/* The same mask with one row for every head. */
static attend_view mask_of_heads(problem *p)
{
    attend_view full = own_view(p, ATTEND_BOOL, p->n.nb, p->n.hq, p->n.nq, p->n.nk);

    for (int64_t b = 0; b < p->n.nb; b++)
        for (int64_t h = 0; h < p->n.hq; h++)
            for (int64_t i = 0; i < p->n.nq; i++)
                for (int64_t j = 0; j < p->n.nk; j++)
                    view_set(&full, b, h, i, j, view_get(&p->rule.mask, b, 0, i, j));
    return full;
}

TEST_ON_SETS(any_layout_of_the_mask, ctx, 2)
{
    FOR_PROBLEMS(at, kind, type)
    {
        auto_problem p = make(at, (pattern)kind, type, 0);
        const attend_view mask = p.rule.mask;
        auto_result want = result_of(&p, ctx);
        for (int way = 0; way < LAYOUT_COUNT; way++) {
            p.rule.mask = restride(&p, &mask, (layout)way);
            CHECK(problem_gives(&p, ctx, &want),
                  "layout %d of the mask: shape %d, pattern %d", way, at, kind);
        }
        p.rule.mask = mask;
        p.rule.mask = mask_of_heads(&p);
        CHECK(problem_gives(&p, ctx, &want), NAMED);
    }
}

/* ---- statistics --------------------------------------------------------------- */

/* Requests the first `count` statistics, the largest weights and bins of distance. */
static void want_stats(problem *p, attend_stats *stats, int count)
{
    ask_stats(p, stats, 3, 6, 0);
    stats->rows = own_tensor(p, ATTEND_F64, p->n.nb, p->n.hq, p->n.nq, count);
}

static int counts_keys(const problem *p)
{
    auto_check_problem dense = dense_problem(p);
    int right = 1;

    for (int64_t b = 0; b < p->n.nb; b++)
        for (int64_t h = 0; h < p->n.hq; h++)
            for (int64_t i = 0; i < p->n.nq; i++) {
                int64_t count = 0;
                for (int64_t j = 0; j < p->n.nk; j++)
                    count += check_sees(&dense, b, h, i, j);
                right &= tensor_get(&p->io.stats->rows, b, h, i, ATTEND_STAT_KEYS) ==
                         (double)count;
            }
    return right;
}

TEST_ON_SETS(statistics_of_what_is_seen, ctx, 2)
{
    FOR_PROBLEMS(at, kind, type)
    {
        /* Without noise statistics, which some sets leave to their fallback set. */
        const int count = kind % 2 ? ATTEND_STAT_COUNT : ATTEND_STAT_KEY_NOISE;
        auto_problem p = make(at, (pattern)kind, type, 0);
        attend_stats stats;
        want_stats(&p, &stats, count);
        CHECK(problem_run(&p, ctx) && counts_keys(&p), NAMED);
        const attend_tensor *const outputs[] = {&stats.rows, &stats.top_weights,
                                                &stats.distances};
        void *want[3];
        for (int x = 0; x < 3; x++)
            want[x] = copy_bits(outputs[x]);
        spoil(&p);
        CHECK(problem_run(&p, ctx), NAMED);
        for (int x = 0; x < 3; x++)
            CHECK(same_bits(outputs[x], want[x], "statistics"), NAMED);
        for (int way = 0; way < 3; way++) {
            change_others(&p, way);
            CHECK(problem_run(&p, ctx), NAMED);
            for (int x = 0; x < 3; x++)
                CHECK(kept_are_same(outputs[x], 0, want[x]), NAMED);
        }
        for (int x = 0; x < 3; x++)
            free(want[x]);
    }
}

/* ---- the inspection pass ---------------------------------------------------------- */

static ask ask_masked(int at, pattern kind, int type)
{
    ask a = {.p = make(at, kind, type, 0), .want = attend_inspection_default()};

    a.want.q = a.p.io.q;
    a.want.k = a.p.io.k;
    ask_lse(&a, 1);
    ask_everything(&a, 50);
    return a;
}

TEST_ON_SETS(the_inspection_pass, ctx, 2)
{
    FOR_PROBLEMS(at, kind, type)
    {
        auto_ask a = ask_masked(at, (pattern)kind, type);
        CHECK(ask_check(&a, ctx), NAMED);
        auto_answers want = answers_copy(&a);
        spoil(&a.p);
        CHECK(ask_run(&a, ctx) && answers_are_same(&a, &want), NAMED);
    }
}

/* The lse is unchanged, also for queries whose mask changes. */
static void change_neighbours_of_inspection(attend_context *ctx)
{
    FOR_PROBLEMS(at, kind, type)
    {
        auto_ask a = ask_masked(at, (pattern)kind, type);
        CHECK(ask_run(&a, ctx), NAMED);
        auto_free void *const want = copy_bits(&a.want.zoom);
        for (int way = 0; way < 3; way++) {
            change_others(&a.p, way);
            CHECK(ask_run(&a, ctx) &&
                      kept_are_same(&a.want.zoom, a.want.zoom_query, want),
                  NAMED);
        }
    }
}

TEST(neighbours_in_the_inspection_pass)
{
    for_each_set(change_neighbours_of_inspection, 2);
}
