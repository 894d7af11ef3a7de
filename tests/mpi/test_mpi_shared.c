/* SPDX-License-Identifier: MIT */
/*
 * Shared memory of ranks of one machine: when it is chosen, its size, its fallback, and
 * that it is unlinked.
 */
#include "spread.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * K and V of more than 32 MiB, and too many queries for ATTEND_MPI_QUERY.  The strategy
 * is chosen by shape alone: the window leaves little to compute.
 */
static problem large_problem(void)
{
    problem p = problem_lean((shape){1, 8, 1, 700, 70000, 64, 64}, ATTEND_F32, 3);

    p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    p.rule.window_left = 1500;
    return p;
}

static int is_chosen(const problem *p, attend_context *ctx, MPI_Comm comm, int strategy)
{
    SPREAD(s, p, comm, SLICED_EVENLY, SLICED_EVENLY, 1);
    const int same = spread_matches(&s, ctx, ATTEND_MPI_AUTO, 0.0);
    const int chosen = (int)s.cost.strategy;
    return same && chosen == strategy;
}

TEST(large_problem_uses_shared_memory)
{
    auto_context const ctx = open_set(NULL, 1);
    auto_problem p = large_problem();
    auto_result whole = result_of(&p, ctx);
    attend_error err;
    MPI_Comm apart;

    CHECK(is_chosen(&p, ctx, MPI_COMM_WORLD, ATTEND_MPI_SHARED), "shared");
    setenv("ATTEND_MPI_SHARED", "0", 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    CHECK(is_chosen(&p, ctx, apart, ATTEND_MPI_RING), "ring");
    SPREAD(s, &p, apart, SLICED_EVENLY, SLICED_EVENLY, 1);
    s.dist.strategy = ATTEND_MPI_SHARED;
    const attend_status status =
        attend_mpi_forward(apart, ctx, &s.rule, &s.io, &s.dist, &err);
    CHECK(is_refused(status, ATTEND_EUNSUPPORTED, &err, "ATTEND_MPI_SHARED", "machines"),
          "refused");
    CHECK(ranks_returned_the_same(apart, status, &err), "on all ranks");
    MPI_Comm_free(&apart);
    unsetenv("ATTEND_MPI_SHARED");
}

/* Shared memory is kept between calls, grows, and serves shorter problems. */
TEST(calls_of_several_sizes)
{
    static const int64_t rows[] = {300, 4000, 1, 0, 2500, 6000};
    auto_context const ctx = open_set(NULL, 2);

    for (int x = 0; x < 6; x++) {
        auto_problem p =
            problem_lean((shape){2, 6, 3, rows[x], rows[5 - x], 24, 40}, ATTEND_F32, 7);
        p.rule.causal = x % 2 ? ATTEND_CAUSAL_BOTTOM_RIGHT : ATTEND_CAUSAL_NONE;
        auto_result whole = result_of(&p, ctx);
        SPREAD(s, &p, MPI_COMM_WORLD, SLICED_SHUFFLED, SLICED_RAGGED, 5);
        CHECK(spread_matches(&s, ctx, ATTEND_MPI_SHARED, 0.0), "call %d", x);
        CHECK(s.cost.sent == 0 && s.cost.messages == 0, "call %d: messages", x);
    }
}

/* If RLIMIT_FSIZE of one rank is too small for shared memory, the ring is chosen. */
TEST(file_size_limit_falls_back_to_ring)
{
    auto_context const ctx = open_set(NULL, 1);
    auto_problem p = large_problem();
    auto_result whole = result_of(&p, ctx);
    const struct rlimit little = {1 << 20, RLIM_INFINITY},
                        any = {RLIM_INFINITY, RLIM_INFINITY};
    int rank, ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int victim = 0; victim < ranks; victim += ranks - 1) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank == victim)
            setrlimit(RLIMIT_FSIZE, &little);
        CHECK(is_chosen(&p, ctx, comm, ATTEND_MPI_RING), "victim %d", victim);
        setrlimit(RLIMIT_FSIZE, &any);
        MPI_Comm_free(&comm);
    }
}

/* Ranks with 1, 2 and 3 threads use the same work items. */
TEST(ranks_with_different_thread_counts)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto_context const ctx = open_set(NULL, rank % 3 + 1);
    auto_problem p = problem_lean((shape){1, 4, 2, 9000, 2000, 16, 16}, ATTEND_F32, 12);
    auto_result whole = result_of(&p, ctx);
    SPREAD(s, &p, MPI_COMM_WORLD, SLICED_EVENLY, SLICED_RAGGED, 3);
    CHECK(spread_matches(&s, ctx, ATTEND_MPI_SHARED, 0.0), "rank %d", rank);
}

/* Half of the ranks want f32 outputs of bf16 inputs. */
TEST(outputs_of_two_dtypes)
{
    auto_context const ctx = open_set(NULL, 1);
    const shape n = {1, 4, 2, 2000, 2000, 32, 32};
    auto_problem p = problem_lean(n, ATTEND_BF16, 9);
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank % 2)
        p.io.out = own_tensor(&p, ATTEND_F32, n.nb, n.hq, n.nq, n.dv);
    auto_result whole = result_of(&p, ctx);
    SPREAD(s, &p, MPI_COMM_WORLD, SLICED_ZIGZAG, SLICED_EVENLY, 1);
    CHECK(spread_matches(&s, ctx, ATTEND_MPI_SHARED, 0.0), "rank %d", rank);
}

/* Two communicators at once, each with its own shared memory. */
TEST(two_communicators)
{
    auto_context const ctx = open_set(NULL, 1);
    int rank;
    MPI_Comm half;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int x = 0; x < 3; x++) {
        auto_problem p = problem_lean((shape){1, 3, 1, 900 + rank % 2, 1500, 16, 16},
                                      ATTEND_F32, (uint64_t)(rank % 2 + 10 * x));
        auto_result whole = result_of(&p, ctx);
        SPREAD(s, &p, half, SLICED_RAGGED, SLICED_RAGGED, 2);
        CHECK(spread_matches(&s, ctx, ATTEND_MPI_SHARED, 0.0), "communicator %d",
              rank % 2);
    }
    MPI_Comm_free(&half);
}

/* Mappings of shared memory in /proc/self/maps. */
static int count_mappings(void)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    char line[512];
    int count = 0;

    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, "/memfd:attend") != NULL;
    if (maps)
        fclose(maps);
    return count;
}

/* Open descriptors of shared memory. */
static int count_descriptors(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    int count = 0;

    for (struct dirent *file; folder && (file = readdir(folder));) {
        char path[300], target[64] = "";

        snprintf(path, sizeof path, "/proc/self/fd/%s", file->d_name);
        count += readlink(path, target, sizeof target - 1) > 0 &&
                 strstr(target, "/memfd:attend") != NULL;
    }
    if (folder)
        closedir(folder);
    return count;
}

/* It has no name, so killed ranks leave no file; it goes with the communicator. */
TEST(shared_memory_has_no_name)
{
    auto_context const ctx = open_set(NULL, 1);
    auto_problem p = large_problem();
    auto_result whole = result_of(&p, ctx);
    const int before = count_mappings();
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(is_chosen(&p, ctx, comm, ATTEND_MPI_SHARED), "shared");
    CHECK(count_mappings() == before + 1, "%d mappings, %d before", count_mappings(),
          before);
    CHECK(count_descriptors() == 0, "%d descriptors", count_descriptors());
    MPI_Comm_free(&comm);
    CHECK(count_mappings() == before, "%d mappings are left", count_mappings() - before);
}

int main(int argc, char **argv) { return ranks_main(argc, argv, run_all_on_ranks); }
