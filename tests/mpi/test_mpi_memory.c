/* SPDX-License-Identifier: MIT */
/*
 * Allocation n fails on one rank, for n = 0, 1, 2, ...: all ranks return the same status
 * and message, and none hangs.  The first and the last always fail, others are drawn. The
 * linker replaces the library's calls of malloc and its kin by the functions here.
 */
#include "spread.h"

#include "support/sharding.h"

/*
 * FRESH: the first allocations of a call on a new communicator are those of its
 * duplicate.
 */
enum { VICTIM = 1, RANKS = 3, CLASSES = 2, PROBES = 3, FRESH = 2 };

/*
 * Allocations so far, those before the one that fails, -1: none fails.  `lasting`: all
 * later ones fail too.
 */
static int64_t asked, before = -1;
static int lasting;

static int fails(void)
{
    const int64_t number = asked++;

    return before >= 0 && (lasting ? number >= before : number == before);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

/* A problem and its outputs. */
typedef struct scene {
    problem p;
    spread s;
    attend_stats stats;
    attend_inspection inspection;
    int32_t *classes;
    attend_probe probes[PROBES];
    double weights[PROBES];
} scene;

static void make_scene(scene *a, MPI_Comm comm)
{
    static const attend_stat columns[] = {ATTEND_STAT_KEYS, ATTEND_STAT_LSE,
                                          ATTEND_STAT_VALUE_NORM};
    const int64_t nq = 9, nk = 5000, d = 4;
    int rank, ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    a->p = problem_make((shape){1, 2, 1, nq, nk, d, d}, ATTEND_F32, 1);
    problem *const p = &a->p;
    p->io.weights.data = NULL;
    p->rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    problem_mask(p, 1, 1, nq, nk);
    for (int64_t x = 0; x < nq * nk; x++)
        check_store((void *)(uintptr_t)p->rule.mask.data, ATTEND_BOOL, x, x % 7 != 0);
    spread_make(&a->s, p, comm, SLICED_RAGGED, SLICED_RAGGED, 5);
    const int64_t rows = a->s.queries.rows;
    a->classes = problem_own(p, (size_t)nk * sizeof *a->classes);
    memset(a->classes, 0, (size_t)nk * sizeof *a->classes);
    a->stats = attend_stats_default();
    a->stats.columns = columns;
    a->stats.rows = own_tensor(p, ATTEND_F64, 1, 2, rows, 3);
    a->stats.class_mass = own_tensor(p, ATTEND_F64, 1, 2, rows, CLASSES);
    a->stats.classes = a->classes;
    a->s.io.stats = &a->stats;
    a->inspection = attend_inspection_default();
    a->inspection.q = a->s.io.q;
    a->inspection.k = a->s.io.k;
    a->inspection.lse = view_of_tensor(&a->s.io.lse);
    a->inspection.column_mass = own_tensor(p, ATTEND_F32, 1, 2, 1, a->s.keys.rows);
    a->inspection.pooled_block = 500;
    a->inspection.pooled = own_tensor(p, ATTEND_F32, 1, 2, 1, 10);
    a->inspection.zoom = own_tensor(p, ATTEND_F32, 1, 2, nq, 2000);
    a->inspection.zoom_key = 1500;
    for (int x = 0; x < PROBES; x++)
        a->probes[x] = (attend_probe){.i = x, .j = 1700 * x};
    a->inspection.probes = a->probes;
    a->inspection.probe_count = PROBES;
    a->inspection.probe_weights = a->weights;
}

/* Strategy 0 stands for attend_mpi_inspect(). */
static attend_status call(scene *a, attend_context *ctx, int strategy, attend_error *err)
{
    a->s.dist.strategy = strategy;
    return strategy == 0 ? attend_mpi_inspect(a->s.comm, ctx, &a->s.rule, &a->inspection,
                                              &a->s.dist, err)
                         : attend_mpi_forward(a->s.comm, ctx, &a->s.rule, &a->s.io,
                                              &a->s.dist, err);
}

/*
 * Fails the allocation after `n` others, if there is one.  Returns how many there were on
 * the victim.
 */
static int64_t fail_after(MPI_Comm comm, int strategy, int64_t n)
{
    auto_context const ctx = open_set(NULL, 1);
    attend_error err = {.status = ATTEND_OK};
    scene a;
    int rank;

    make_scene(&a, comm);
    MPI_Comm_rank(comm, &rank);
    before = rank == VICTIM ? n : -1;
    asked = 0;
    const attend_status status = call(&a, ctx, strategy, &err);
    before = -1;
    const int64_t allocations = ranks_sum(comm, rank == VICTIM ? asked : 0);
    if (!ranks_returned_the_same(comm, status, &err) ||
        status != (n >= 0 && allocations > n ? ATTEND_ENOMEM : ATTEND_OK))
        test_fail(__FILE__, __LINE__, "the same on all ranks",
                  "strategy %d, allocation %lld, rank %d: %d: %s", strategy, (long long)n,
                  rank, (int)status, err.message);
    /* The next call works. */
    is_ok(call(&a, ctx, strategy, &err), &err);
    spread_free(&a.s);
    problem_free(&a.p);
    return allocations;
}

static void memory_fails(int for_good)
{
    MPI_Comm ranks = first_ranks(RANKS);

    lasting = for_good;
    for (int strategy = 0; ranks != MPI_COMM_NULL && strategy <= ATTEND_MPI_SHARED;
         strategy++) {
        const int64_t all = fail_after(ranks, strategy, -1);
        for (int64_t n = 0; n < all; n++) {
            MPI_Comm comm = ranks;
            if ((n >= 2 * FRESH || n % 2 != lasting) && n < all - 1 && !test_draws(0.12))
                continue;
            if (n < FRESH)
                MPI_Comm_dup(ranks, &comm);
            fail_after(comm, strategy, n);
            if (n < FRESH)
                MPI_Comm_free(&comm);
        }
        CHECK(all > 5, "strategy %d: %lld allocations", strategy, (long long)all);
    }
}

TEST(one_allocation_fails) { memory_fails(0); }
TEST(all_later_allocations_fail) { memory_fails(1); }

int main(int argc, char **argv) { return ranks_main(argc, argv, run_all_on_ranks); }
