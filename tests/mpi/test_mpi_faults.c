/* SPDX-License-Identifier: MIT */
/*
 * A wrong argument or a cancellation on one rank: all ranks return the same status and
 * message, and none hangs.
 */
#include "spread.h"

#include "support/sharding.h"

static attend_context *ctx;
static int rank, ranks;

/* A wrong argument of one rank, and what the message has to contain. */
typedef struct fault {
    const char *name;
    void (*spoil)(spread *s);
    attend_status status;
    const char *says;
    int everywhere; /* wrong on all ranks */
} fault;

static void spoil_dtype(spread *s)
{
    s->io.q.dtype = s->io.k.dtype = s->io.v.dtype = ATTEND_F16;
    s->io.out.dtype = ATTEND_F16;
}
static void spoil_d(spread *s) { s->io.q.size[3] = s->io.k.size[3] = 3; }
static void spoil_heads(spread *s)
{
    s->io.q.size[1] = s->io.k.size[1] = s->io.v.size[1] = s->io.out.size[1] =
        s->io.lse.size[1] = 1;
}
static void spoil_scale(spread *s)
{
    s->rule.scale_is_set = 1;
    s->rule.scale = 0.5;
}
static void spoil_causal(spread *s) { s->rule.causal = ATTEND_CAUSAL_TOP_LEFT; }
static void spoil_window(spread *s) { s->rule.window_left = 17; }
static void spoil_alibi(spread *s)
{
    static const double slopes[] = {1, 2, 3, 4};
    s->rule.alibi = slopes;
}
static void spoil_strategy(spread *s) { s->dist.strategy = ATTEND_MPI_QUERY; }
static void spoil_chunk(spread *s) { s->dist.chunk_keys = 4096; }
static void spoil_nk(spread *s) { s->io.v.size[2]++; }
static void spoil_struct_size(spread *s) { s->io.struct_size = 7; }
static void spoil_dist_size(spread *s) { s->dist.struct_size = 8; }
static void spoil_mask(spread *s)
{
    static const unsigned char seen[1] = {1};
    s->rule.mask = attend_view_dense(seen, ATTEND_BOOL, 1, 1, 1, 1);
}
static void spoil_sinks(spread *s)
{
    static const double sinks[] = {INFINITY, 0, 0, 0};
    s->rule.sinks = sinks;
}
static void spoil_lengths(spread *s)
{
    static const int64_t lengths[] = {1 << 20};
    s->rule.key_lengths = lengths;
}
static void spoil_ranges(spread *s)
{
    s->queries.range[0].first += 1;
    s->dist.queries = s->queries.range;
    s->dist.query_ranges = s->queries.ranges;
}
static void spoil_rows(spread *s)
{
    s->dist.keys = s->keys.range;
    s->dist.key_ranges = 0;
}
static void spoil_summaries(spread *s)
{
    static attend_summary summary;
    static attend_stats stats;
    stats = attend_stats_default();
    stats.summaries = &summary;
    s->io.stats = &stats;
}
/* A request for two statistics. */
static attend_stats two_statistics(spread *s)
{
    static const attend_stat columns[] = {ATTEND_STAT_LSE, ATTEND_STAT_KEYS};
    static double rows[64 * 2 * 2];
    attend_stats stats = attend_stats_default();

    stats.columns = columns;
    stats.rows = attend_tensor_dense(rows, ATTEND_F64, 1, 2, s->io.q.size[2], 2);
    return stats;
}
static attend_stats asked_stats;
static void ask(spread *s)
{
    asked_stats = two_statistics(s);
    s->io.stats = &asked_stats;
}
static void spoil_columns(spread *s)
{
    static const attend_stat other[] = {ATTEND_STAT_LSE, ATTEND_STAT_MAX};
    ask(s);
    if (rank == ranks - 1)
        asked_stats.columns = other;
}
static void spoil_classes(spread *s)
{
    static double mass[64 * 2 * 2];
    static int32_t classes[1 << 16];
    ask(s);
    classes[700] = rank == ranks - 1;
    asked_stats.class_mass =
        attend_tensor_dense(mass, ATTEND_F64, 1, 2, s->io.q.size[2], 2);
    asked_stats.classes = classes;
}
static void spoil_first_query(spread *s) { s->rule.first_query = 3; }
static void spoil_out(spread *s) { s->io.out.data = NULL; }
static void spoil_q(spread *s) { s->io.q.data = NULL; }
static void spoil_k(spread *s) { s->io.k.data = NULL; }
static void spoil_stride(spread *s) { s->io.k.stride[2] = INT64_MAX / 4; }
static void spoil_length(spread *s)
{
    s->io.k.size[2] = s->io.v.size[2] = (int64_t)1 << 48;
    s->io.k.stride[2] = s->io.v.stride[2] = 0;
}

static const fault faults[] = {
    {"dtype", spoil_dtype, ATTEND_EINVAL, "dtype (f16) differs from rank 0's (f32)", 0},
    {"d", spoil_d, ATTEND_EINVAL, "d (3) differs from rank 0's (8)", 0},
    {"heads", spoil_heads, ATTEND_EINVAL, "hq (1) differs from rank 0's (2)", 0},
    {"scale", spoil_scale, ATTEND_EINVAL, "scale_is_set (1) differs", 0},
    {"causal", spoil_causal, ATTEND_EINVAL, "causal (1) differs from rank 0's (0)", 0},
    {"window", spoil_window, ATTEND_EINVAL, "window_left (17) differs", 0},
    {"alibi", spoil_alibi, ATTEND_EINVAL, "alibi (other numbers) differs", 0},
    {"strategy", spoil_strategy, ATTEND_EINVAL, "dist.strategy (3) differs", 0},
    {"chunk", spoil_chunk, ATTEND_EINVAL, "dist.chunk_keys (4096) differs", 0},
    {"nk", spoil_nk, ATTEND_EINVAL, "v.size[2]", 0},
    {"io", spoil_struct_size, ATTEND_EINVAL, "io.struct_size (7)", 0},
    {"dist", spoil_dist_size, ATTEND_EINVAL, "dist.struct_size (8)", 0},
    {"mask", spoil_mask, ATTEND_EINVAL, "mask.dtype (bool) differs from rank 0's (none)",
     0},
    {"sinks", spoil_sinks, ATTEND_EINVAL, "sinks[0] (inf)", 1},
    {"lengths", spoil_lengths, ATTEND_EINVAL, "key_lengths[0] (1048576)", 1},
    {"ranges", spoil_ranges, ATTEND_EINVAL, "dist.queries: row", 1},
    {"rows", spoil_rows, ATTEND_EINVAL, "dist.keys", 0},
    {"summaries", spoil_summaries, ATTEND_EUNSUPPORTED, "stats.summaries", 1},
    {"columns", spoil_columns, ATTEND_EINVAL, "stats.columns (other numbers) differs", 1},
    {"classes", spoil_classes, ATTEND_EINVAL, "stats.classes (other numbers) differs", 1},
    {"first_query", spoil_first_query, ATTEND_EINVAL, "first_query (3)", 0},
    {"out", spoil_out, ATTEND_EINVAL, "out.data is NULL", 0},
    {"q", spoil_q, ATTEND_EINVAL, "q.data is NULL", 0},
    {"k", spoil_k, ATTEND_EINVAL, "k.data is NULL", 0},
    {"stride", spoil_stride, ATTEND_EINVAL, "k: its strides reach over", 0},
    {"length", spoil_length, ATTEND_EINVAL, "all ranks together have more than", 0},
};

static problem small_problem(int64_t nk)
{
    problem p = problem_lean((shape){1, 2, 2, 3 * ranks, nk, 8, 8}, ATTEND_F32, 1);

    return p;
}

TEST(unequal_arguments_are_named)
{
    auto_problem p = small_problem(700 * ranks);
    auto_result whole = result_of(&p, ctx);

    for (size_t x = 0; x < sizeof faults / sizeof faults[0]; x++)
        for (int wrong = 1; wrong<ranks; wrong += ranks> 2 ? ranks - 2 : 1) {
            if ((wrong == 1) == (x % 2 == 0) && ranks > 2 && !test_draws(0.2))
                continue;
            attend_error err = {.status = ATTEND_OK};
            SPREAD(s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
            if (rank == wrong || faults[x].everywhere)
                faults[x].spoil(&s);
            const attend_status status =
                attend_mpi_forward(MPI_COMM_WORLD, ctx, &s.rule, &s.io, &s.dist, &err);
            CHECK(ranks_returned_the_same(MPI_COMM_WORLD, status, &err), "%s: %s",
                  faults[x].name, err.message);
            CHECK(status == faults[x].status && strstr(err.message, faults[x].says) &&
                      (status != ATTEND_EINVAL || names_field(&err)),
                  "%s: %d: %s", faults[x].name, (int)status, err.message);
            CHECK(is_poisoned(&s.io.lse), "%s: written", faults[x].name);
        }
    /* A valid call still works afterwards. */
    SPREAD(s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
    CHECK(spread_matches(&s, ctx, ATTEND_MPI_RING, 0.0), "afterwards");
}

/* Arguments of an inspection that have to be equal, made wrong on one rank or on all. */
TEST(unequal_inspections_are_named)
{
    static const struct {
        const char *says;
        int64_t zoom_key, probe;
        int everywhere;
    } wrong[] = {{"zoom_key (3) differs from rank 0's (0)", 3, 0, 0},
                 {"zoom_key (699) and zoom.size[3] (2)", 699, 0, 1},
                 {"probes (other numbers) differs", 0, 2, 0},
                 {"probes[0].j (700) is outside 0..699", 0, 700, 1}};
    auto_problem p = small_problem(700);

    for (size_t x = 0; x < sizeof wrong / sizeof wrong[0]; x++) {
        attend_inspection want = attend_inspection_default();
        const int is_wrong = wrong[x].everywhere || rank == ranks - 1;
        attend_probe probe = {.j = is_wrong ? wrong[x].probe : 0};
        attend_error err = {.status = ATTEND_OK};
        float zoom[4] = {0};
        double weight;
        SPREAD(s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
        want.q = s.io.q;
        want.k = s.io.k;
        want.lse = view_of_tensor(&s.io.lse);
        want.zoom = attend_tensor_dense(zoom, ATTEND_F32, 1, 2, 1, 2);
        want.zoom_key = is_wrong ? wrong[x].zoom_key : 0;
        want.probes = &probe;
        want.probe_count = 1;
        want.probe_weights = &weight;
        const attend_status status =
            attend_mpi_inspect(MPI_COMM_WORLD, ctx, &s.rule, &want, &s.dist, &err);
        CHECK(ranks_returned_the_same(MPI_COMM_WORLD, status, &err), "%s", err.message);
        CHECK(is_refused(status, ATTEND_EINVAL, &err, wrong[x].says, ""), "%zu", x);
    }
}

static int asked;

static int cancel_later(void *user) { return ++asked > *(int *)user; }

/*
 * One or two ranks cancel, early or late.  All ranks return ECANCELLED, and the next call
 * works.
 */
TEST(a_call_can_be_cancelled)
{
    auto_problem p = small_problem(6000 * ranks);
    auto_result whole = result_of(&p, ctx);
    spread s;

    for (int strategy = ATTEND_MPI_RING; strategy <= ATTEND_MPI_SHARED; strategy++)
        for (int after = 0; after < 9; after += 4) {
            if (after > 0 && (strategy + after / 4) % 2 && !test_draws(0.2))
                continue;
            attend_error err = {.status = ATTEND_OK};
            int patience = after;
            asked = 0;
            spread_make(&s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 4);
            s.dist.strategy = strategy;
            s.dist.chunk_keys = ATTEND_SPLIT_KEYS;
            if (rank == ranks - 1 || rank == ranks / 2) {
                s.dist.cancelled = cancel_later;
                s.dist.cancel_user = &patience;
            }
            const attend_status status =
                attend_mpi_forward(MPI_COMM_WORLD, ctx, &s.rule, &s.io, &s.dist, &err);
            const int any =
                ranks_sum(MPI_COMM_WORLD, s.dist.cancelled && asked > patience) > 0;
            CHECK(ranks_returned_the_same(MPI_COMM_WORLD, status, &err),
                  "strategy %d: %s", strategy, err.message);
            CHECK(status == (any ? ATTEND_ECANCELLED : ATTEND_OK),
                  "strategy %d after %d: %d", strategy, after, (int)status);
            CHECK(after > 0 || any, "nobody asked");
            spread_free(&s);
            spread_make(&s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 4);
            CHECK(spread_matches(&s, ctx, strategy, 0.0), "afterwards");
            spread_free(&s);
        }
}

TEST(a_communicator_may_be_freed)
{
    auto_problem p = small_problem(100);
    auto_result whole = result_of(&p, ctx);

    for (int x = 0; x < 3 + test_count(5); x++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        SPREAD(s, &p, comm, SLICED_EVENLY, SLICED_EVENLY, 4);
        CHECK(spread_matches(&s, ctx, ATTEND_MPI_AUTO, 0.0), "time %d", x);
        MPI_Comm_free(&comm);
    }
    attend_error err;
    CHECK(attend_mpi_forward(MPI_COMM_NULL, ctx, NULL, &p.io, NULL, &err) ==
              ATTEND_EINVAL,
          "MPI_COMM_NULL");
}

/* A chunk_keys longer than any sequence, and an intercommunicator. */
TEST(chunk_keys_limit_and_intercommunicator)
{
    if (ranks == 1)
        SKIP("on one rank");
    auto_problem p = small_problem(3000);
    auto_result whole = result_of(&p, ctx);
    MPI_Comm half, inter;

    SPREAD(s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 4);
    s.dist.chunk_keys = INT64_MAX;
    CHECK(spread_matches(&s, ctx, ATTEND_MPI_RING, 0.0), "chunks of any length");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
    CHECK_FAILS(ATTEND_EINVAL, "intercommunicator", attend_mpi_forward, inter, ctx,
                &s.rule, &s.io, NULL);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void run(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ctx = open_set(NULL, 1);
    run_all_on_ranks();
    attend_context_destroy(ctx);
}

int main(int argc, char **argv) { return ranks_main(argc, argv, run); }
