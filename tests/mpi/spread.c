/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "spread.h"

#include <time.h>

#include "support/sharding.h"

/* ---- distributions of rows --------------------------------------------------- */

static int64_t ragged_length(uint64_t *state, int64_t left, int is_last)
{
    static const int64_t lengths[] = {0, 1, 1023, 1024, 1025, 0};
    const int64_t pick = random_below(state, 8);
    const int64_t length = pick < 6 ? lengths[pick] : random_below(state, left + 1);

    return is_last || length > left ? left : length;
}

static holding ragged(int64_t all, int rank, int ranks, uint64_t seed)
{
    uint64_t state = seed;
    int64_t first = 0, length = 0;

    for (int r = 0; r <= rank; r++) {
        first += length;
        length = ragged_length(&state, all - first, r == ranks - 1);
    }
    return (holding){.range = {{first, length}}, .ranges = 1, .rows = length};
}

static holding listed(int64_t all, int rank, int ranks)
{
    static const int64_t lengths[] = {0, 1, 1023, 1024, 1025};
    int64_t first = 0, length = 0;

    for (int r = 0; r <= rank; r++) {
        const int64_t left = all - first - length;
        first += length;
        length = r < 5 && r < ranks - 1 && lengths[r] < left ? lengths[r]
                 : r < ranks - 1                             ? left / 3
                                                             : left;
    }
    return (holding){.range = {{first, length}}, .ranges = 1, .rows = length};
}

/* Ranges of random lengths, dealt to the ranks in a random order. */
static holding shuffled(int64_t all, int rank, int ranks, uint64_t seed)
{
    enum { PIECES = 12 };
    uint64_t state = seed;
    int64_t cut[PIECES + 1] = {0};
    holding h = {.ranges = 0};

    for (int x = 1; x < PIECES; x++) {
        int64_t at = x;
        const int64_t place = random_below(&state, all + 1);
        for (; at > 1 && cut[at - 1] > place; at--)
            cut[at] = cut[at - 1];
        cut[at] = place;
    }
    cut[PIECES] = all;
    int order[PIECES];
    for (int x = 0; x < PIECES; x++) {
        const int place = (int)random_below(&state, x + 1);
        order[x] = order[place];
        order[place] = x;
    }
    for (int x = 0; x < PIECES; x++) {
        /* No rank takes more than SPREAD_RANGES ranges. */
        const int owner = (x / SPREAD_RANGES + (ranks >= 3 ? x % 2 : 0)) % ranks;
        const int piece = order[x];
        const int64_t length = cut[piece + 1] - cut[piece];
        if (owner != rank)
            continue;
        if (h.ranges == SPREAD_RANGES)
            abort();
        h.range[h.ranges++] = (attend_mpi_range){cut[piece], length};
        h.rows += length;
    }
    return h;
}

holding holding_of(slicing how, int64_t all, int rank, int ranks, uint64_t seed)
{
    holding h = {.ranges = 1};

    switch (how) {
    case SLICED_RAGGED:
        return ragged(all, rank, ranks, seed);
    case SLICED_LISTED:
        return listed(all, rank, ranks);
    case SLICED_SHUFFLED:
        if (ranks >= 3)
            return shuffled(all, rank, ranks, seed);
        break;
    case SLICED_ZIGZAG:
        attend_mpi_zigzag(all, rank, ranks, h.range);
        h.ranges = 2;
        h.rows = h.range[0].count + h.range[1].count;
        return h;
    default:
        break;
    }
    h.range[0] = attend_mpi_slice(all, rank, ranks);
    h.rows = h.range[0].count;
    return h;
}

attend_tensor take_rows(const attend_view *view, const holding *rows)
{
    attend_tensor to = attend_tensor_dense(NULL, view->dtype, view->size[0],
                                           view->size[1], rows->rows, view->size[3]);
    const int64_t size = (int64_t)attend_dtype_size(view->dtype);
    int64_t row = 0;

    to.data = test_memory(bytes_of(to.size, to.dtype));
    for (int64_t x = 0; x < rows->ranges; x++)
        for (int64_t l = 0; l < rows->range[x].count; l++, row++)
            for (int64_t b = 0; b < to.size[0]; b++)
                for (int64_t h = 0; h < to.size[1]; h++)
                    memcpy((char *)to.data + size * view_at(to.stride, b, h, row, 0),
                           (const char *)view->data +
                               size * view_at(view->stride, b, h,
                                              rows->range[x].first + l, 0),
                           (size_t)(size * to.size[3]));
    return to;
}

/* ---- a distributed problem --------------------------------------------------- */

static attend_tensor own(spread *s, attend_tensor tensor)
{
    return s->owned[s->owned_count++] = tensor;
}

static attend_tensor own_output(spread *s, const attend_tensor *whole)
{
    attend_tensor t =
        attend_tensor_dense(NULL, whole->dtype, whole->size[0], whole->size[1],
                            s->queries.rows, whole->size[3]);

    if (whole->data == NULL)
        return t;
    t.data = test_memory(bytes_of(t.size, t.dtype));
    poison(&t);
    return own(s, t);
}

static attend_view own_rows(spread *s, const attend_view *whole, const holding *rows)
{
    const attend_tensor taken = own(s, take_rows(whole, rows));

    return view_of_tensor(&taken);
}

void spread_make(spread *s, const problem *whole, MPI_Comm comm, slicing queries,
                 slicing keys, uint64_t seed)
{
    *s = (spread){.comm = comm,
                  .whole = whole,
                  .rule = whole->rule,
                  .io = attend_io_default(),
                  .dist = attend_mpi_dist_default()};
    MPI_Comm_rank(comm, &s->rank);
    MPI_Comm_size(comm, &s->ranks);
    s->queries = holding_of(queries, whole->n.nq, s->rank, s->ranks, seed);
    s->keys = holding_of(keys, whole->n.nk, s->rank, s->ranks, seed + 1);
    s->io.q = own_rows(s, &whole->io.q, &s->queries);
    s->io.k = own_rows(s, &whole->io.k, &s->keys);
    s->io.v = own_rows(s, &whole->io.v, &s->keys);
    if (whole->rule.mask.data != NULL && whole->rule.mask.size[2] != 1)
        s->rule.mask = own_rows(s, &whole->rule.mask, &s->queries);
    if (whole->rule.bias.data != NULL && whole->rule.bias.size[2] != 1)
        s->rule.bias = own_rows(s, &whole->rule.bias, &s->queries);
    s->io.out = own_output(s, &whole->io.out);
    s->io.lse = own_output(s, &whole->io.lse);
    s->dist.cost = &s->cost;
    if (queries != SLICED_EVENLY) {
        s->dist.queries = s->queries.range;
        s->dist.query_ranges = s->queries.ranges;
    }
    if (keys != SLICED_EVENLY) {
        s->dist.keys = s->keys.range;
        s->dist.key_ranges = s->keys.ranges;
    }
}

void spread_free(spread *s)
{
    while (s->owned_count > 0)
        free(s->owned[--s->owned_count].data);
}

int spread_is_same(const spread *s, const attend_tensor *got, const attend_tensor *whole,
                   double within)
{
    const attend_view view = view_of_tensor(whole);
    attend_tensor want = take_rows(&view, &s->queries);
    const int same = same_or_near(got, want.data, within);

    free(want.data);
    return same;
}

int spread_matches(spread *s, attend_context *ctx, int strategy, double within)
{
    s->dist.strategy = strategy;
    return IS_OK(attend_mpi_forward, s->comm, ctx, &s->rule, &s->io, &s->dist) &&
           spread_is_same(s, &s->io.out, &s->whole->io.out, within) &&
           spread_is_same(s, &s->io.lse, &s->whole->io.lse, within);
}

/* ---- tests on many ranks ------------------------------------------------------- */

static void wait_sleeping(MPI_Request *request)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int done = 0;

    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        nanosleep(&pause, NULL);
}

void ranks_barrier(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_sleeping(&request);
}

int64_t ranks_sum(MPI_Comm comm, int64_t mine)
{
    MPI_Request request;
    int64_t sum;

    MPI_Iallreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, comm, &request);
    wait_sleeping(&request);
    return sum;
}

int ranks_returned_the_same(MPI_Comm comm, attend_status status, const attend_error *err)
{
    attend_error first = *err;
    MPI_Request request;

    first.status = status;
    MPI_Ibcast(&first, sizeof first, MPI_BYTE, 0, comm, &request);
    wait_sleeping(&request);
    return ranks_sum(comm, status != first.status ||
                               (status != ATTEND_OK &&
                                strcmp(err->message, first.message) != 0)) == 0;
}

enum { RANKS_MAX = 64 };
static MPI_Comm first[RANKS_MAX + 1];
static int is_made[RANKS_MAX + 1];

MPI_Comm first_ranks(int ranks)
{
    int rank;

    ranks_barrier();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!is_made[ranks])
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank,
                       &first[ranks]);
    is_made[ranks] = 1;
    return first[ranks];
}

static void free_first_ranks(void)
{
    for (int ranks = 0; ranks <= RANKS_MAX; ranks++)
        if (is_made[ranks] && first[ranks] != MPI_COMM_NULL)
            MPI_Comm_free(&first[ranks]);
}

static void run_on_ranks(const char *name, void (*test)(void))
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    test_state.failed_now = test_state.skipped_now = 0;
    test();
    fflush(stdout);
    const int failed = ranks_sum(MPI_COMM_WORLD, test_state.failed_now) > 0;
    test_state.failed += failed;
    test_state.passed += !failed;
    if (rank == 0)
        printf("%s %s\n", failed ? "FAIL" : "ok  ", name);
    fflush(stdout);
}

void run_all_on_ranks(void) { test_each(run_on_ranks, ""); }

/* Of LeakSanitizer; NULL without it. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

int ranks_main(int argc, char **argv, void (*run)(void))
{
    int provided, rank;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    run();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    free_first_ranks();
    /*
     * Before MPI_Finalize() unloads the MPI's modules: leaks.supp knows their leaks by
     * name.
     */
    ranks_barrier();
    if (__lsan_do_leak_check)
        __lsan_do_leak_check();
    MPI_Finalize();
    return rank == 0 ? test_finish() : test_state.failed != 0;
}
