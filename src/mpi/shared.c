/* SPDX-License-Identifier: MIT */
/*
 * Ranks of one machine: all put their keys and values into memory that they share, at
 * their places in the sequence, and no message moves.  Queries and outputs are there too,
 * so that work migrates: a rank takes the next piece, some queries of a head, wherever
 * they come from.  With a mask, a bias or statistics, which only the holder of a row has,
 * and where outputs have several dtypes, ranks compute their own rows.
 */
#include <limits.h>
#include <stdatomic.h>

#include "base/base.h"
#include "mpi/comm/shared_memory.h"
#include "mpi/comm/views.h"
#include "mpi/comm/wait.h"
#include "mpi/own_rows.h"
#include "mpi/strategies.h"

/* Rows of a piece, for each thread of a rank, and pieces for each rank, at least. */
enum { PIECE_ROWS = 384, PIECE_ROWS_LEAST = 48, PIECES = 32 };

/* What the memory has; the queries and their outputs where work migrates. */
struct shared {
    struct job *job;
    bool migrates;
    attend_dtype out_dtype;
    int threads; /* of every rank, at least */
    int64_t bytes;
    char *memory; /* NULL: places are only counted */
    attend_tensor k, v, q, out, lse;
    _Atomic int64_t *next; /* piece that nobody has taken */
    int64_t piece_rows, pieces_of_head;
};

/* ---- memory -------------------------------------------------------------------- */

/* The next tensor of the memory. */
static attend_tensor place(struct shared *s, attend_dtype dtype, int64_t heads,
                           int64_t rows, int64_t width)
{
    const int64_t bytes =
        s->job->nb * heads * rows * width * (int64_t)attend_dtype_size(dtype);
    const attend_tensor tensor = attend_tensor_dense(
        s->memory ? s->memory + s->bytes : NULL, dtype, s->job->nb, heads, rows, width);

    s->bytes += ceil_div_i64(bytes, ATTENDI_ALIGN) * ATTENDI_ALIGN;
    return tensor;
}

static void place_all(struct shared *s)
{
    const struct job *const job = s->job;

    s->next = (_Atomic int64_t *)(void *)s->memory;
    s->bytes = ATTENDI_ALIGN;
    s->k = place(s, job->dtype, job->hkv, job->keys.all, job->d);
    s->v = place(s, job->dtype, job->hkv, job->keys.all, job->dv);
    if (s->migrates) {
        s->q = place(s, job->dtype, job->hq, job->queries.all, job->d);
        s->out = place(s, job->number, job->hq, job->queries.all, job->dv);
        s->out.dtype = s->out_dtype; /* no wider */
        s->lse = place(s, job->number, job->hq, job->queries.all, 1);
    }
}

static struct shared describe(struct job *job)
{
    struct shared s = {.job = job,
                       .migrates = !job->rule.mask.data && !job->rule.bias.data &&
                                   !job->io.stats};

    place_all(&s);
    return s;
}

int64_t attendi_shared_bytes(struct job *job) { return describe(job).bytes; }

/*
 * What ranks may have differently: the dtype of outputs, which has to be one for work to
 * migrate, and the threads, of which the fewest count.
 */
static attend_status agree(struct shared *s, attend_error *err)
{
    const struct job *const job = s->job;
    const int dtype = (int)job->io.out.dtype;
    const int mine = job->nq > 0 ? dtype : INT_MAX,
              negative = job->nq > 0 ? -dtype : INT_MAX;
    const int threads = attend_context_threads(job->ctx);
    int least, most;

    TRY_MPI(attendi_allreduce_min(&mine, &least, job->comm.mpi));
    TRY_MPI(attendi_allreduce_min(&negative, &most, job->comm.mpi));
    TRY_MPI(attendi_allreduce_min(&threads, &s->threads, job->comm.mpi));
    s->migrates = s->migrates && least == -most;
    s->out_dtype = (attend_dtype)least;
    return ATTEND_OK;
}

/* This rank's rows to their places in the sequence. */
static void put(const struct ranges *held, int rank, const attend_view *from,
                const attend_tensor *to)
{
    int64_t row = 0;

    for (int64_t x = held->start[rank]; x < held->start[rank + 1]; x++) {
        const attend_mpi_range *const range = &held->range[x];
        const attend_view part = attendi_view_slice(*from, 2, row, range->count);
        const attend_tensor place =
            attendi_tensor_slice(*to, 2, range->first, range->count);

        attendi_copy_tensor(&part, &place);
        row += range->count;
    }
}

/* Back from there. */
static void get(const struct ranges *held, int rank, const attend_tensor *from,
                const attend_tensor *to)
{
    int64_t row = 0;

    for (int64_t x = held->start[rank]; x < held->start[rank + 1] && to->data; x++) {
        const attend_mpi_range *const range = &held->range[x];
        const attend_tensor rows =
            attendi_tensor_slice(*from, 2, range->first, range->count);
        const attend_view part = attend_view_of(&rows);
        const attend_tensor place = attendi_tensor_slice(*to, 2, row, range->count);

        attendi_copy_tensor(&part, &place);
        row += range->count;
    }
}

/* All ranks have written what the others read. */
static attend_status meet(struct shared *s, attend_error *err)
{
    atomic_thread_fence(memory_order_seq_cst);
    const attend_status status = attendi_comm_agree(&s->job->comm, ATTEND_OK, err);
    atomic_thread_fence(memory_order_seq_cst);
    return status;
}

static attend_status fill(struct shared *s, attend_error *err)
{
    struct job *const job = s->job;
    const int rank = job->comm.rank;

    if (rank == 0)
        atomic_init(s->next, 0);
    put(&job->keys, rank, &job->io.k, &s->k);
    put(&job->keys, rank, &job->io.v, &s->v);
    if (s->migrates)
        put(&job->queries, rank, &job->io.q, &s->q);
    return meet(s, err);
}

/* ---- work that migrates ---------------------------------------------------------- */

/* The same pieces on all ranks. */
static void cut(struct shared *s)
{
    const struct job *const job = s->job;
    int64_t rows = (int64_t)PIECE_ROWS * s->threads;

    while (rows > PIECE_ROWS_LEAST && ceil_div_i64(job->queries.all, rows) * job->hkv <
                                          (int64_t)PIECES * job->comm.size)
        rows /= 2;
    s->piece_rows = rows;
    s->pieces_of_head = ceil_div_i64(job->queries.all, rows);
}

/* The last queries of a head first: in a causal problem they have most work. */
static attend_status compute_piece(const struct shared *s, int64_t piece,
                                   attend_error *err)
{
    const struct job *const job = s->job;
    const int64_t group = job->hq / job->hkv, k_head = piece / s->pieces_of_head;
    const int64_t first =
        (s->pieces_of_head - 1 - piece % s->pieces_of_head) * s->piece_rows;
    const int64_t rows = min_i64(s->piece_rows, job->queries.all - first);
    const int64_t head = k_head * group;
    const attend_view q = attend_view_of(&s->q), k = attend_view_of(&s->k),
                      v = attend_view_of(&s->v);
    attend_rule rule = job->rule;
    attend_io io = attend_io_default();

    rule.first_query = first;
    rule.alibi = rule.alibi ? rule.alibi + head : NULL;
    rule.sinks = rule.sinks ? rule.sinks + head : NULL;
    io.q = attendi_view_slice(attendi_view_slice(q, 1, head, group), 2, first, rows);
    io.k = attendi_view_slice(k, 1, k_head, 1);
    io.v = attendi_view_slice(v, 1, k_head, 1);
    io.out = attendi_tensor_slice(attendi_tensor_slice(s->out, 1, head, group), 2, first,
                                  rows);
    io.lse = attendi_tensor_slice(attendi_tensor_slice(s->lse, 1, head, group), 2, first,
                                  rows);
    return attend_forward(job->ctx, &rule, &io, err);
}

/* Takes pieces until none is left. */
static attend_status compute_pieces(struct shared *s, attend_error *err)
{
    struct communicator *const comm = &s->job->comm;

    while (attendi_comm_should_continue(comm)) {
        const int64_t piece = atomic_fetch_add(s->next, 1);
        const double start = MPI_Wtime();

        if (piece >= s->pieces_of_head * s->job->hkv)
            break;
        TRY(compute_piece(s, piece, err));
        const double end = MPI_Wtime();
        comm->cost.computing += end - start;
        attendi_comm_trace(comm, 'c', comm->rank, 0, start, end);
    }
    return ATTEND_OK;
}

static attend_status compute(struct shared *s, attend_error *err)
{
    if (s->migrates) {
        cut(s);
        return compute_pieces(s, err);
    }
    attend_io io = s->job->io;

    io.k = attend_view_of(&s->k);
    io.v = attend_view_of(&s->v);
    return attendi_own_rows(s->job, &io, err);
}

/* ---- the call -------------------------------------------------------------------- */

/* From the keys of all to the outputs of this rank. */
static attend_status run(struct shared *s, attend_error *err)
{
    struct job *const job = s->job;
    const int rank = job->comm.rank;
    attend_error own;

    TRY(fill(s, err));
    const attend_status failed = compute(s, &own);
    if (failed != ATTEND_OK)
        attendi_comm_stop(&job->comm, &own);
    atomic_thread_fence(memory_order_seq_cst);
    TRY(attendi_comm_agree_stop(&job->comm, err));
    atomic_thread_fence(memory_order_seq_cst);
    if (s->migrates) {
        get(&job->queries, rank, &s->out, &job->io.out);
        get(&job->queries, rank, &s->lse, &job->io.lse);
    }
    return ATTEND_OK;
}

attend_status attendi_forward_shared(struct job *job, attend_error *err)
{
    struct shared s = describe(job);
    struct communicator *const comm = &job->comm;

    if (!comm->shares_memory)
        return attendi_mpi_fail(err, ATTEND_EUNSUPPORTED,
                                "ATTEND_MPI_SHARED: the %d ranks are on several machines",
                                comm->size);
    TRY(attendi_shared_memory_reserve(comm->shared, comm, s.bytes, err));
    TRY(agree(&s, err));
    s.memory = comm->shared->memory;
    place_all(&s);
    comm->cost.memory = max_i64(comm->cost.memory, comm->memory + s.bytes / comm->size);
    return run(&s, err);
}
