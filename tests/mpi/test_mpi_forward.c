/* SPDX-License-Identifier: MIT */
/*
 * attend_mpi_forward: the bits of one process for any number of ranks, slices and rule.
 */
#include "spread.h"

#include "stats/stats_fixture.h"
#include "support/inspect_oracle.h"
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

        SPREAD(s, &p, comm, queries, keys, random_bits(&state) >> 8);
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
        auto_problem p = problem_lean((shape){1, 4, 2, 8000, 8000, 16, 16}, dtypes[x], 5);
        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        auto_result whole = result_of(&p, ctx);
        for (int ranks = 2; ranks <= most_ranks(); ranks *= 2) {
            MPI_Comm comm = first_ranks(ranks);
            if (comm == MPI_COMM_NULL)
                continue;
            SPREAD(s, &p, comm, SLICED_ZIGZAG, SLICED_LISTED, 1);
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
    auto_problem p = problem_lean((shape){1, 2, 1, 37, 4099, 16, 12}, ATTEND_F32, 8);

    setenv("ATTEND_MPI_MESSAGE", "1000", 1);
    CHECK(problem_run(&p, ctx), "the whole");
    for (int strategy = ATTEND_MPI_RING; strategy <= ATTEND_MPI_SHARED; strategy++) {
        SPREAD(s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
        CHECK(spread_matches(&s, ctx, strategy, 0.0), "strategy %d", strategy);
    }
    for (int n = 0; n < 1 + test_count(1); n++)
        random_spread(ctx, most_ranks(), 5000 + test_case_seed(n, 1));
    unsetenv("ATTEND_MPI_MESSAGE");
}

/* ---- bytes sent and memory --------------------------------------------------- */

static problem long_problem(int64_t nq, int64_t nk)
{
    problem p = problem_lean((shape){1, 2, 1, nq, nk, 8, 8}, ATTEND_F32, 3);

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
        SPREAD(s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
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
        SPREAD(s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
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
    auto_problem p = problem_lean((shape){1, 1, 1, 64, nk, 16, 16}, ATTEND_F32, 4);

    auto_result whole = result_of(&p, ctx);
    SPREAD(s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
    s.dist.chunk_keys = ATTEND_SPLIT_KEYS;
    CHECK(spread_matches(&s, ctx, ATTEND_MPI_RING, 0.0), "ring");
    const int64_t chunk = ATTEND_SPLIT_KEYS * 32 * 4, records = 64 * 18 * 4;
    CHECK(s.cost.memory < 2 * chunk + 40 * records + 65536, "%lld bytes",
          (long long)s.cost.memory);
}

/* ---- statistics and weights ------------------------------------------------------ */

enum { TOP = 3, BINS = 5, CLASSES = 3 };

/* Every statistic of `rows` queries. */
static wanted request(const problem *p, int64_t rows)
{
    shape n = p->n;

    n.nq = rows;
    return wanted_make(n, TOP, BINS, CLASSES);
}

/* Top keys as numbers with these bits, to compare them like the other outputs. */
static attend_tensor names_of(const attend_stats *s)
{
    attend_tensor t = s->top_weights;

    t.data = s->top_keys;
    return t;
}

static int same_request(const spread *s, const attend_stats *own, const attend_stats *all)
{
    const attend_tensor named = names_of(own), all_named = names_of(all);

    return spread_is_same(s, &own->rows, &all->rows, 0.0) &&
           spread_is_same(s, &own->top_weights, &all->top_weights, 0.0) &&
           spread_is_same(s, &named, &all_named, 0.0) &&
           spread_is_same(s, &own->distances, &all->distances, 0.0) &&
           spread_is_same(s, &own->class_mass, &all->class_mass, 0.0) &&
           spread_is_same(s, &own->raw, &all->raw, 0.0);
}

static void statistics(attend_context *ctx, int ranks, uint64_t seed)
{
    MPI_Comm comm = first_ranks(ranks);
    uint64_t state = seed * 5 + 77;

    if (comm == MPI_COMM_NULL)
        return;
    auto_problem p = random_problem((int)(seed % FLOAT_DTYPES), &state);
    auto_wanted all = request(&p, p.n.nq);

    p.io.stats = &all.request;
    CHECK(problem_run(&p, ctx), "one machine");
    for (int strategy = ATTEND_MPI_AUTO; strategy <= ATTEND_MPI_SHARED; strategy++) {
        const slicing how = (slicing)random_below(&state, SLICINGS);

        SPREAD(s, &p, comm, how, SLICED_RAGGED, 9 + seed);
        auto_wanted own = request(&p, s.queries.rows);
        s.io.stats = &own.request;
        CHECK(spread_matches(&s, ctx, strategy, 0.0) &&
                  same_request(&s, &own.request, &all.request),
              "case %llu, strategy %d, slicing %d, rank %d of %d",
              (unsigned long long)seed, strategy, (int)how, s.rank, s.ranks);
    }
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
        SPREAD(s, &p, MPI_COMM_WORLD, (slicing)how, SLICED_RAGGED, 9);
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
    auto_ask all = {.p = random_problem(n, &state), .want = attend_inspection_default()};
    problem *const p = &all.p;

    p->rule.alibi = NULL; /* ALiBi of a range of keys has another anchor */
    CHECK(problem_run(p, ctx), "forward");
    all.want.q = p->io.q;
    all.want.k = p->io.k;
    all.want.lse = view_of_tensor(&p->io.lse);
    ask_columns(&all, 1);
    ask_pooled(&all, 1 + random_below(&state, 2000));
    const int64_t i = random_below(&state, p->n.nq), j = random_below(&state, p->n.nk);
    ask_zoom(&all, i, p->n.nq - i, j, 1 + random_below(&state, p->n.nk - j));
    ask_probes(&all, PROBES, random_bits(&state));
    CHECK(ask_run(&all, ctx), "one machine");

    SPREAD(s, p, MPI_COMM_WORLD, (slicing)(n % SLICINGS), SLICED_RAGGED, 3);
    attend_inspection own = all.want;
    attend_tensor lse = take_rows(&all.want.lse, &s.queries);
    double weights[PROBES];
    own.q = s.io.q;
    own.k = s.io.k;
    own.lse = view_of_tensor(&lse);
    own.probe_weights = weights;
    for (int x = 0; x < ASK_OUTPUTS; x++) {
        attend_tensor *const t = ask_output(&own, x);
        *t = own_tensor(p, t->dtype, p->n.nb, p->n.hq, t->size[2],
                        x < 3 ? s.keys.rows : t->size[3]);
        poison(t);
    }
    CHECK(IS_OK(attend_mpi_inspect, s.comm, ctx, &s.rule, &own, &s.dist), "case %d", n);
    for (int x = 0; x < 3; x++)
        for (int64_t h = 0; h < p->n.hq * p->n.nb; h++)
            for (int64_t r = 0, at = 0; r < s.keys.ranges; r++)
                for (int64_t y = 0; y < s.keys.range[r].count; y++, at++) {
                    const attend_tensor *const mine = ask_output(&own, x);
                    const double got =
                        check_load(mine->data, mine->dtype, h * s.keys.rows + at);
                    const double want =
                        check_load(ask_output(&all.want, x)->data, mine->dtype,
                                   h * p->n.nk + s.keys.range[r].first + y);
                    CHECK(got == want || (isnan(got) && isnan(want)),
                          "case %d, %s: %.17g and %.17g", n, output_names[x], got, want);
                }
    /* Cells are sums of up to 53 x 2000 positive numbers, added in different groups. */
    CHECK(same_or_near(&own.pooled, all.want.pooled.data,
                       p->dtype == ATTEND_F64 ? 106000 * 0x1p-53 : 2000 * 0x1p-24),
          "case %d, the map", n);
    CHECK(same_or_near(&own.zoom, all.want.zoom.data, 0.0), "case %d, the zoom", n);
    for (int x = 0; x < PROBES; x++)
        CHECK(near_or_same(weights[x], all.want.probe_weights[x], 0.0),
              "case %d, probe %d: %.17g and %.17g", n, x, weights[x],
              all.want.probe_weights[x]);
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
