/* SPDX-License-Identifier: MIT */
/*
 * attend_mpi_forward: the bits of one process for any number of ranks, slices and rule.
 */
#include "spread.h"

#include "support/random_problem.h"
#include "support/sharding.h"

static int most_ranks(void)
{
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

/* How many ranks drawn case n has: 1 to all. */
static int drawn_ranks(int n)
{
    uint64_t state = test_case_seed(n, 0);

    return 1 + (int)random_below(&state, most_ranks());
}

/* Problem `seed` on the first `ranks` ranks, by every strategy. */
static void random_spread(attend_context *ctx, int ranks, uint64_t seed)
{
    MPI_Comm comm = first_ranks(ranks);
    uint64_t state = seed * 11 + 5;

    if (comm == MPI_COMM_NULL)
        return;
    auto_problem p = random_problem((int)(seed % FLOAT_DTYPES), &state);
    auto_result whole = result_of(&p, ctx);

    for (int strategy = ATTEND_MPI_AUTO; strategy <= ATTEND_MPI_SHARED; strategy++) {
        const slicing queries = (slicing)random_below(&state, SLICINGS);
        const slicing keys = (slicing)random_below(&state, SLICINGS);

        auto_spread s;
        spread_make(&s, &p, comm, queries, keys, random_bits(&state) >> 8);
        s.dist.chunk_keys = chance(&state, 0.5) ? 0 : 1024 << random_below(&state, 4);
        if (!spread_matches(&s, ctx, strategy, nearness(&p, ctx)))
            test_fail(__FILE__, __LINE__, "spread_matches",
                      "case %llu, %s, %s, rank %d of %d, strategy %d, nq %lld, nk %lld, "
                      "slicings %d %d",
                      (unsigned long long)seed, attend_context_isa(ctx),
                      attend_dtype_name(p.dtype), s.rank, s.ranks, strategy,
                      (long long)p.n.nq, (long long)p.n.nk, (int)queries, (int)keys);
    }
}

/* 0, 1, 1023, 1024, 1025 keys on a rank, and the rest on others. */
TEST(ragged_slices_around_a_split)
{
    static const attend_dtype dtypes[] = {ATTEND_F32, ATTEND_BF16};
    auto_context const ctx = open_set(NULL, 1);

    for (int x = 0; x < 2; x++) {
        auto_problem p = problem_make((shape){1, 4, 2, 8000, 8000, 16, 16}, dtypes[x], 5);
        p.io.weights.data = NULL;
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        auto_result whole = result_of(&p, ctx);
        for (int ranks = 2; ranks <= most_ranks(); ranks *= 2) {
            MPI_Comm comm = first_ranks(ranks);
            if (comm == MPI_COMM_NULL)
                continue;
            auto_spread s;
            spread_make(&s, &p, comm, SLICED_ZIGZAG, SLICED_LISTED, 1);
            CHECK(spread_matches(&s, ctx, ATTEND_MPI_RING, 0.0), "%d ranks", ranks);
        }
    }
}

/* Communication is the same for every kernel set: few ranks test its partials. */
TEST_ON_SETS(every_kernel_set, ctx, 1)
{
    static int n;

    random_spread(ctx, most_ranks() < 3 ? most_ranks() : 3, 303);
    if (test_draws(0.4))
        random_spread(ctx, drawn_ranks(n), test_case_seed(n, 0));
    n++;
}

TEST(random_rules_and_slices)
{
    auto_context const ctx = open_set(NULL, 1);

    for (int ranks = 1; ranks <= most_ranks(); ranks++)
        if (ranks <= 3 || ranks == 5 || ranks == most_ranks() || test_draws(0.5))
            random_spread(ctx, ranks, (uint64_t)ranks * 101);
    for (int n = 0; n < test_count(6); n++)
        random_spread(ctx, drawn_ranks(100 + n), test_case_seed(100 + n, 0));
}

TEST(threads_inside_ranks)
{
    auto_context const ctx = open_set(NULL, 2);

    random_spread(ctx, 2, 200);
    random_spread(ctx, most_ranks(), 803);
}

/* Messages of at most 1000 bytes, so that all are cut: tensors and partials. */
TEST(long_messages_are_cut)
{
    auto_context const ctx = open_set(NULL, 1);
    auto_problem p = problem_make((shape){1, 2, 1, 37, 4099, 16, 12}, ATTEND_F32, 8);

    setenv("ATTEND_MPI_MESSAGE", "1000", 1);
    p.io.weights.data = NULL;
    CHECK(problem_run(&p, ctx), "the whole");
    for (int strategy = ATTEND_MPI_RING; strategy <= ATTEND_MPI_SHARED; strategy++) {
        auto_spread s;
        spread_make(&s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
        CHECK(spread_matches(&s, ctx, strategy, 0.0), "strategy %d", strategy);
    }
    for (int n = 0; n < 1 + test_count(1); n++)
        random_spread(ctx, most_ranks(), 5000 + test_case_seed(n, 1));
    unsetenv("ATTEND_MPI_MESSAGE");
}

/* ---- bytes sent and memory --------------------------------------------------- */

static problem long_problem(int64_t nq, int64_t nk)
{
    problem p = problem_make((shape){1, 2, 1, nq, nk, 8, 8}, ATTEND_F32, 3);

    p.io.weights.data = NULL;
    return p;
}

/* Each key is sent once to each rank that sees it, and to no other. */
TEST(ring_sends_each_key_once_to_each_rank)
{
    auto_context const ctx = open_set(NULL, 1);
    const int ranks = most_ranks();
    const int64_t nk = 2048 * ranks, key = 1 * (8 + 8) * 4;
    auto_problem p = long_problem(nk, nk);

    for (int kind = 0; kind < 3; kind++) {
        int64_t want = nk * (ranks - 1) * key;
        p.rule = attend_rule_default();
        if (kind > 0)
            p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        if (kind == 1)
            want /= 2; /* a slice is seen by the ranks after it */
        if (kind == 2) {
            p.rule.window_left = 2048; /* the slice before, no more */
            want = 2048 * (ranks - 1) * key;
        }
        auto_result whole = result_of(&p, ctx);
        auto_spread s;
        spread_make(&s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
        CHECK(spread_matches(&s, ctx, ATTEND_MPI_RING, 0.0), "kind %d", kind);
        const int64_t sent = ranks_sum(MPI_COMM_WORLD, s.cost.sent);
        const int64_t received = ranks_sum(MPI_COMM_WORLD, s.cost.received);
        CHECK(sent == want && received == want, "kind %d: %lld bytes, not %lld", kind,
              (long long)sent, (long long)want);
    }
}

/* The bytes of a decoding step grow at most with the logarithm of the cache length. */
TEST(decoding_sends_queries_and_partials)
{
    auto_context const ctx = open_set(NULL, 1);
    const int64_t record = 2 * (8 + 2) * 4, query = 2 * 8 * 4;
    const int ranks = most_ranks();

    for (int64_t splits = 1; splits <= 64; splits *= 4) {
        const int64_t nk = splits * ranks * ATTEND_SPLIT_KEYS;
        auto_problem p = long_problem(1, nk);
        auto_result whole = result_of(&p, ctx);
        int levels = 1;
        while ((int64_t)1 << levels < splits * ranks)
            levels++;
        auto_spread s;
        spread_make(&s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
        CHECK(spread_matches(&s, ctx, ATTEND_MPI_QUERY, 0.0), "%lld keys", (long long)nk);
        const int64_t sent = ranks_sum(MPI_COMM_WORLD, s.cost.sent);
        CHECK(sent <= (ranks - 1) * (query + 8 + (record + 32) * 2 * levels),
              "%lld keys: %lld bytes", (long long)nk, (long long)sent);
    }
}

/* Memory of a ring: two chunks and a few partials, for any number of keys. */
TEST(ring_memory_does_not_grow_with_keys)
{
    auto_context const ctx = open_set(NULL, 1);
    const int64_t nk = (int64_t)1 << 17;
    auto_problem p = problem_make((shape){1, 1, 1, 64, nk, 16, 16}, ATTEND_F32, 4);

    p.io.weights.data = NULL;
    auto_result whole = result_of(&p, ctx);
    auto_spread s;
    spread_make(&s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
    s.dist.chunk_keys = ATTEND_SPLIT_KEYS;
    CHECK(spread_matches(&s, ctx, ATTEND_MPI_RING, 0.0), "ring");
    const int64_t chunk = ATTEND_SPLIT_KEYS * 32 * 4, records = 64 * 18 * 4;
    CHECK(s.cost.memory < 2 * chunk + 40 * records + 65536, "%lld bytes",
          (long long)s.cost.memory);
}

/* ---- statistics and weights ------------------------------------------------------ */

enum { TOP = 3, BINS = 5, CLASSES = 3 };

static attend_tensor make(int64_t nb, int64_t hq, int64_t nq, int64_t columns)
{
    attend_tensor t = attend_tensor_dense(NULL, ATTEND_F64, nb, hq, nq, columns);

    t.data = test_memory(bytes_of(t.size, ATTEND_F64));
    poison(&t);
    return t;
}

/* Every statistic of these rows, with classes of all keys. */
static attend_stats request(const problem *p, int64_t nq, const int32_t *classes)
{
    static attend_stat columns[ATTEND_STAT_COUNT];
    attend_stats s = attend_stats_default();
    const int64_t nb = p->n.nb, hq = p->n.hq;

    for (int x = 0; x < ATTEND_STAT_COUNT; x++)
        columns[x] = (attend_stat)x;
    s.columns = columns;
    s.rows = make(nb, hq, nq, ATTEND_STAT_COUNT);
    s.top_weights = make(nb, hq, nq, TOP);
    s.top_keys = test_memory((size_t)(nb * hq * nq * TOP) * sizeof *s.top_keys + 1);
    s.distances = make(nb, hq, nq, BINS);
    s.class_mass = make(nb, hq, nq, CLASSES);
    s.classes = classes;
    s.raw = make(nb, hq, nq, attend_stats_raw_size(&s, p->n.dv));
    return s;
}

static void request_free(attend_stats *s)
{
    free(s->rows.data);
    free(s->top_weights.data);
    free(s->top_keys);
    free(s->distances.data);
    free(s->class_mass.data);
    free(s->raw.data);
}

/* Top keys as doubles, to compare them like the other outputs. */
static attend_tensor names_of(const attend_stats *s)
{
    attend_tensor t = s->top_weights;
    double *const names = test_memory(bytes_of(t.size, ATTEND_F64));

    for (int64_t x = 0; x < count_of(t.size); x++)
        names[x] = (double)s->top_keys[x];
    t.data = names;
    return t;
}

static int same_request(const spread *s, const attend_stats *own, const attend_stats *all)
{
    attend_tensor named = names_of(own), all_named = names_of(all);
    const int same = spread_is_same(s, &own->rows, &all->rows, 0.0) &&
                     spread_is_same(s, &own->top_weights, &all->top_weights, 0.0) &&
                     spread_is_same(s, &named, &all_named, 0.0) &&
                     spread_is_same(s, &own->distances, &all->distances, 0.0) &&
                     spread_is_same(s, &own->class_mass, &all->class_mass, 0.0) &&
                     spread_is_same(s, &own->raw, &all->raw, 0.0);

    free(named.data);
    free(all_named.data);
    return same;
}

static void statistics(attend_context *ctx, int ranks, uint64_t seed)
{
    MPI_Comm comm = first_ranks(ranks);
    uint64_t state = seed * 5 + 77;

    if (comm == MPI_COMM_NULL)
        return;
    auto_problem p = random_problem((int)(seed % FLOAT_DTYPES), &state);
    auto_free int32_t *const classes =
        test_memory((size_t)(p.n.nb * p.n.nk) * sizeof *classes);
    for (int64_t x = 0; x < p.n.nb * p.n.nk; x++)
        classes[x] = (int32_t)random_below(&state, CLASSES + 1) - 1;
    attend_stats all = request(&p, p.n.nq, classes);

    p.io.stats = &all;
    CHECK(problem_run(&p, ctx), "one machine");
    for (int strategy = ATTEND_MPI_AUTO; strategy <= ATTEND_MPI_SHARED; strategy++) {
        const slicing how = (slicing)random_below(&state, SLICINGS);

        auto_spread s;
        spread_make(&s, &p, comm, how, SLICED_RAGGED, 9 + seed);
        attend_stats own = request(&p, s.queries.rows, classes);
        s.io.stats = &own;
        CHECK(spread_matches(&s, ctx, strategy, 0.0) && same_request(&s, &own, &all),
              "case %llu, strategy %d, slicing %d, rank %d of %d",
              (unsigned long long)seed, strategy, (int)how, s.rank, s.ranks);
        request_free(&own);
    }
    request_free(&all);
}

TEST(row_statistics_have_the_bits_of_one_process)
{
    auto_context const ctx = open_set(NULL, 1);

    for (int ranks = 2; ranks <= most_ranks(); ranks += 2)
        statistics(ctx, ranks, (uint64_t)ranks / 2 * 77); /* every dtype */
    for (int n = 0; n < test_count(2); n++)
        statistics(ctx, drawn_ranks(200 + n), test_case_seed(200 + n, 0));
}

TEST(weights_have_the_bits_of_one_process)
{
    auto_context const ctx = open_set(NULL, 1);

    for (int how = 0; how < SLICINGS; how++) {
        uint64_t state = (uint64_t)how + 77;
        auto_problem p = random_problem(how, &state);
        const attend_dtype dtype = dtype_of_lse(p.dtype);
        attend_error err;

        p.io.weights = own_tensor(&p, dtype, p.n.nb, p.n.hq, p.n.nq, p.n.nk);
        CHECK(problem_run(&p, ctx), "one machine");
        auto_spread s;
        spread_make(&s, &p, MPI_COMM_WORLD, (slicing)how, SLICED_RAGGED, 9);
        s.io.weights = own_tensor(&p, dtype, p.n.nb, p.n.hq, s.queries.rows, p.n.nk);
        CHECK(spread_matches(&s, ctx, ATTEND_MPI_AUTO, 0.0), "slicing %d", how);
        CHECK(s.cost.strategy == ATTEND_MPI_GATHER, "strategy");
        CHECK(spread_is_same(&s, &s.io.weights, &p.io.weights, 0.0), "weights");
        for (int strategy = ATTEND_MPI_RING; strategy <= ATTEND_MPI_SHARED;
             strategy += 2) {
            s.dist.strategy = strategy;
            CHECK(
                is_refused(attend_mpi_forward(s.comm, ctx, &s.rule, &s.io, &s.dist, &err),
                           ATTEND_EUNSUPPORTED, &err, "weights", "ATTEND_MPI_GATHER"),
                "strategy %d", strategy);
        }
    }
}

enum { PROBES = 20 };

/* Columns of local keys; the map, a zoom and probes on every rank. */
static void inspections(attend_context *ctx, int n)
{
    uint64_t state = test_case_seed(n, SLICINGS) * 3 + 1;
    auto_problem p = random_problem(n, &state);
    attend_inspection all = attend_inspection_default(), own;
    attend_error err = {.status = ATTEND_OK};
    const int64_t block = 1 + random_below(&state, 2000);
    const attend_dtype dtype = dtype_of_lse(p.dtype);

    p.rule.alibi = NULL; /* ALiBi of a range of keys has another anchor */
    CHECK(problem_run(&p, ctx), "forward");
    all.q = p.io.q;
    all.k = p.io.k;
    all.lse = view_of_tensor(&p.io.lse);
    all.column_mass = own_tensor(&p, dtype, p.n.nb, p.n.hq, 1, p.n.nk);
    all.column_max = own_tensor(&p, dtype, p.n.nb, p.n.hq, 1, p.n.nk);
    all.column_last = own_tensor(&p, dtype, p.n.nb, p.n.hq, 1, p.n.nk);
    all.last_queries = 1;
    all.pooled = own_tensor(&p, dtype, p.n.nb, p.n.hq, (p.n.nq - 1) / block + 1,
                            (p.n.nk - 1) / block + 1);
    all.pooled_block = block;
    all.zoom_query = random_below(&state, p.n.nq);
    all.zoom_key = random_below(&state, p.n.nk);
    all.zoom = own_tensor(&p, dtype, p.n.nb, p.n.hq, p.n.nq - all.zoom_query,
                          1 + random_below(&state, p.n.nk - all.zoom_key));
    attend_probe probes[PROBES];
    double weights[PROBES], own_weights[PROBES];
    for (int x = 0; x < PROBES; x++)
        probes[x] =
            (attend_probe){random_below(&state, p.n.nb), random_below(&state, p.n.hq),
                           random_below(&state, p.n.nq), random_below(&state, p.n.nk)};
    all.probes = probes;
    all.probe_count = PROBES;
    all.probe_weights = weights;
    CHECK(is_ok(attend_inspect(ctx, &p.rule, &all, &err), &err), "one machine");

    auto_spread s;
    spread_make(&s, &p, MPI_COMM_WORLD, (slicing)(n % SLICINGS), SLICED_RAGGED, 3);
    own = all;
    own.q = s.io.q;
    own.k = s.io.k;
    attend_tensor lse = take_rows(&all.lse, &s.queries);
    own.lse = view_of_tensor(&lse);
    attend_tensor *const mine[] = {&own.column_mass, &own.column_max, &own.column_last};
    const attend_tensor *const whole[] = {&all.column_mass, &all.column_max,
                                          &all.column_last};
    for (int x = 0; x < 3; x++)
        *mine[x] = own_tensor(&p, dtype, p.n.nb, p.n.hq, 1, s.keys.rows);
    own.pooled =
        own_tensor(&p, dtype, p.n.nb, p.n.hq, all.pooled.size[2], all.pooled.size[3]);
    poison(&own.pooled);
    own.zoom = own_tensor(&p, dtype, p.n.nb, p.n.hq, all.zoom.size[2], all.zoom.size[3]);
    poison(&own.zoom);
    own.probe_weights = own_weights;
    CHECK(is_ok(attend_mpi_inspect(s.comm, ctx, &s.rule, &own, &s.dist, &err), &err),
          "case %d", n);
    for (int x = 0; x < 3; x++)
        for (int64_t h = 0; h < p.n.hq * p.n.nb; h++)
            for (int64_t r = 0, j = 0; r < s.keys.ranges; r++)
                for (int64_t y = 0; y < s.keys.range[r].count; y++, j++) {
                    const double got =
                        check_load(mine[x]->data, dtype, h * s.keys.rows + j);
                    const double want = check_load(
                        whole[x]->data, dtype, h * p.n.nk + s.keys.range[r].first + y);
                    CHECK(got == want || (isnan(got) && isnan(want)),
                          "case %d, column %d: %.17g and %.17g", n, x, got, want);
                }
    /* Cells are sums of up to 53 x 2000 positive numbers, added in different groups. */
    CHECK(same_or_near(&own.pooled, all.pooled.data,
                       dtype == ATTEND_F64 ? 106000 * 0x1p-53 : 2000 * 0x1p-24),
          "case %d, the map", n);
    CHECK(same_or_near(&own.zoom, all.zoom.data, 0.0), "case %d, the zoom", n);
    for (int x = 0; x < PROBES; x++)
        CHECK(own_weights[x] == weights[x] ||
                  (isnan(own_weights[x]) && isnan(weights[x])),
              "case %d, probe %d: %.17g and %.17g", n, x, own_weights[x], weights[x]);
    free(lse.data);
}

TEST(inspections_agree_with_one_process)
{
    auto_context const ctx = open_set(NULL, 1);

    for (int n = 0; n < SLICINGS + test_count(2); n++)
        inspections(ctx, n);
}

/* ---- slices ------------------------------------------------------------------- */

TEST(slices_cover_the_rows)
{
    for (int64_t all = 0; all < 20000; all = all * 3 + 1)
        for (int ranks = 1; ranks <= 9; ranks++) {
            int64_t next = 0, work = 0, most = 0;
            for (int rank = 0; rank < ranks; rank++) {
                const attend_mpi_range r = attend_mpi_slice(all, rank, ranks);
                attend_mpi_range z[2];
                CHECK(r.first == next && r.count >= 0, "slice %d of %lld", rank,
                      (long long)all);
                next += r.count;
                attend_mpi_zigzag(all, rank, ranks, z);
                int64_t keys = 0;
                for (int x = 0; x < 2; x++)
                    keys += z[x].count * (2 * z[x].first + z[x].count + 1) / 2;
                work += keys;
                most = keys > most ? keys : most;
            }
            CHECK(next == all && work == all * (all + 1) / 2, "%lld rows",
                  (long long)all);
            CHECK(ranks * 2 > all / 1024 ||
                      (double)most * ranks <= 1.6 * (double)work + 4096.0 * 4096,
                  "%lld rows on %d ranks: %lld of %lld", (long long)all, ranks,
                  (long long)most, (long long)work);
        }
}

int main(int argc, char **argv) { return ranks_main(argc, argv, run_all_on_ranks); }
