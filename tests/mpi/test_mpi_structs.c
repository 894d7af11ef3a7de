/* SPDX-License-Identifier: MIT */
/*
 * Structs of older and newer headers, as docs/ARCHITECTURE.md promises them: shorter ones
 * end at an unreadable page, longer ones have bytes that this library does not know.
 */
#include "spread.h"

#include "support/strides.h"

static attend_context *ctx;
static problem whole;

/* A struct that is `more` bytes longer; the last of them is `last`. */
static guarded longer(const void *from, size_t size, size_t more, char last)
{
    const guarded copy = struct_at_end(from, size, size + more);

    copy.data[size + more - 1] = last;
    return copy;
}

TEST(structs_of_0_1_are_taken)
{
    static const attend_stat column = ATTEND_STAT_ENTROPY;
    attend_stats stats = attend_stats_default(), plain;
    SPREAD(s, &whole, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
    const int64_t *const size = s.io.q.size;
    const int64_t count = size[0] * size[1] * size[2];
    auto_free double *const rows = calloc((size_t)count + 1, sizeof *rows);
    auto_free double *const again = calloc((size_t)count + 1, sizeof *again);
    stats.columns = &column;
    stats.rows = attend_tensor_dense(rows, ATTEND_F64, size[0], size[1], size[2], 1);
    s.io.stats = &stats;
    CHECK_OK(attend_mpi_forward, s.comm, ctx, &s.rule, &s.io, NULL);
    plain = stats;
    plain.rows.data = again;
    attend_io io = s.io;
    auto_guarded old = struct_at_end(&plain, sizeof plain, offsetof(attend_stats, raw));
    auto_guarded rule =
        struct_at_end(&s.rule, sizeof s.rule, offsetof(attend_rule, first_query));
    io.stats = (void *)old.data;
    CHECK_OK(attend_mpi_forward, s.comm, ctx, (void *)rule.data, &io, NULL);
    CHECK(memcmp(rows, again, (size_t)count * sizeof *rows) == 0, "other statistics");
}

/* Calls with longer structs; the last byte of one of them is not 0. */
static attend_status call_longer(const spread *s, int which, attend_error *err)
{
    guarded copy[] = {longer(&s->rule, sizeof s->rule, 16, which == 1),
                      longer(&s->io, sizeof s->io, 8, which == 2),
                      longer(&s->dist, sizeof s->dist, 24, which == 3)};
    const attend_status status =
        attend_mpi_forward(s->comm, ctx, (void *)copy[0].data, (void *)copy[1].data,
                           (void *)copy[2].data, err);

    for (int x = 0; x < 3; x++)
        guarded_free(&copy[x]);
    return status;
}

TEST(longer_structs_are_taken_if_all_that_is_new_is_0)
{
    static const char *const name[] = {"", "rule has byte", "io has byte",
                                       "dist has byte"};
    attend_error err = {0};
    SPREAD(s, &whole, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
    const attend_status status = call_longer(&s, 0, &err);
    CHECK(status == ATTEND_OK, "%s", err.message);
    CHECK(spread_is_same(&s, &s.io.out, &whole.io.out, 0), "other bits");
    for (int which = 1; which <= 3; which++) {
        const attend_status refused = call_longer(&s, which, &err);
        CHECK(refused == ATTEND_EUNSUPPORTED && strstr(err.message, name[which]),
              "%s: status %d, %s", name[which], (int)refused, err.message);
        CHECK(ranks_returned_the_same(s.comm, refused, &err), "ranks differ");
    }
}

TEST(longer_inspections_are_taken)
{
    attend_inspection inspection = attend_inspection_default();
    attend_error err = {0};
    SPREAD(s, &whole, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_EVENLY, 1);
    CHECK_OK(attend_mpi_forward, s.comm, ctx, &s.rule, &s.io, NULL);
    const int64_t nk = s.io.k.size[2], heads = s.io.q.size[0] * s.io.q.size[1];
    auto_free float *const mass = calloc((size_t)(heads * nk) + 1, sizeof *mass);
    inspection.q = s.io.q;
    inspection.k = s.io.k;
    inspection.lse = attend_view_of(&s.io.lse);
    inspection.column_mass =
        attend_tensor_dense(mass, ATTEND_F32, s.io.q.size[0], s.io.q.size[1], 1, nk);
    for (char last = 0; last < 2; last++) {
        auto_guarded copy = longer(&inspection, sizeof inspection, 8, last);
        const attend_status status =
            attend_mpi_inspect(s.comm, ctx, &s.rule, (void *)copy.data, NULL, &err);
        CHECK(status == (last ? ATTEND_EUNSUPPORTED : ATTEND_OK), "%d: %s", last,
              err.message);
    }
}

static void run(void)
{
    const shape n = {1, 2, 1, 300, 2100, 16, 16};

    ctx = open_set(NULL, 1);
    whole = problem_make(n, ATTEND_F32, 5);
    whole.io.weights.data = NULL;
    if (!ctx || !problem_run(&whole, ctx))
        exit(1);
    run_all_on_ranks();
    problem_free(&whole);
    attend_context_destroy(ctx);
}

int main(int argc, char **argv) { return ranks_main(argc, argv, run); }
