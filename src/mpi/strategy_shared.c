/* SPDX-License-Identifier: MIT */
/*
 * ATTEND_MPI_SHARED, for ranks of one machine: all copy their K and V to shared memory,
 * in sequence order, and no messages are sent.  Q and the outputs are there too, for
 * dynamic scheduling: each rank takes the next work item, some queries of a head, no
 * matter which rank holds them.  Ranks compute their own rows if there is a mask, a bias
 * or statistics, which only the rank that holds a row has, or if dtypes of outputs
 * differ.
 */
#include <limits.h>
#include <stdatomic.h>

#include "base/base.h"
#include "mpi/comm/shared_memory.h"
#include "mpi/comm/views.h"
#include "mpi/comm/wait.h"
#include "mpi/local_forward.h"
#include "mpi/strategies.h"

/* Rows of a work item for each thread of a rank; minimum of work items for each rank. */
enum { ITEM_ROWS = 384, ITEM_ROWS_MIN = 48, ITEMS_PER_RANK = 32 };

/* Layout of the shared memory; q, out and lse only with dynamic scheduling. */
struct shared {
    struct mpi_call *call;
    bool is_dynamic;
    attend_dtype out_dtype;
    int threads; /* minimum over all ranks */
    int64_t bytes;
    char *memory; /* NULL: only the size is computed */
    attend_tensor k, v, q, out, lse;
    _Atomic int64_t *next_item; /* counter of work items */
    int64_t item_rows, items_per_head;
};

/* ---- layout and copies ------------------------------------------------------- */

/* The next tensor in the shared memory. */
static attend_tensor place(struct shared *s, attend_dtype dtype, int64_t heads,
                           int64_t rows, int64_t width)
{
    const int64_t bytes =
        s->call->nb * heads * rows * width * (int64_t)attend_dtype_size(dtype);
    const attend_tensor tensor = attend_tensor_dense(
        s->memory ? s->memory + s->bytes : NULL, dtype, s->call->nb, heads, rows, width);

    s->bytes += ceil_div_i64(bytes, ATTENDI_ALIGN) * ATTENDI_ALIGN;
    return tensor;
}

static void lay_out(struct shared *s)
{
    const struct mpi_call *const call = s->call;

    s->next_item = (_Atomic int64_t *)(void *)s->memory;
    s->bytes = ATTENDI_ALIGN;
    s->k = place(s, call->dtype, call->hkv, call->keys.all, call->d);
    s->v = place(s, call->dtype, call->hkv, call->keys.all, call->dv);
    if (s->is_dynamic) {
        s->q = place(s, call->dtype, call->hq, call->queries.all, call->d);
        s->out = place(s, call->partial_dtype, call->hq, call->queries.all, call->dv);
        s->out.dtype = s->out_dtype; /* not wider */
        s->lse = place(s, call->partial_dtype, call->hq, call->queries.all, 1);
    }
}

static struct shared plan_layout(struct mpi_call *call)
{
    struct shared s = {.call = call,
                       .is_dynamic = !call->rule.mask.data && !call->rule.bias.data &&
                                     !call->io.stats};

    lay_out(&s);
    return s;
}

int64_t attendi_shared_bytes(struct mpi_call *call) { return plan_layout(call).bytes; }

/*
 * Agrees on what may differ between ranks: the dtype of outputs, which has to be equal
 * for dynamic scheduling, and the number of threads, whose minimum is used.
 */
static attend_status agree_on_schedule(struct shared *s, attend_error *err)
{
    const struct mpi_call *const call = s->call;
    const int dtype = (int)call->io.out.dtype;
    const int mine = call->nq > 0 ? dtype : INT_MAX,
              negative = call->nq > 0 ? -dtype : INT_MAX;
    const int threads = attend_context_threads(call->ctx);
    int least, most;

    TRY_MPI(attendi_allreduce_min(&mine, &least, call->comm.mpi));
    TRY_MPI(attendi_allreduce_min(&negative, &most, call->comm.mpi));
    TRY_MPI(attendi_allreduce_min(&threads, &s->threads, call->comm.mpi));
    s->is_dynamic = s->is_dynamic && least == -most;
    s->out_dtype = (attend_dtype)least;
    return ATTEND_OK;
}

/* Copies this rank's rows to their positions in the sequence. */
static void copy_in(const struct ranges *held, int rank, const attend_view *from,
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

/* Copies them back. */
static void copy_out(const struct ranges *held, int rank, const attend_tensor *from,
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

/* Afterwards the writes of all ranks are visible to all. */
static attend_status barrier(struct shared *s, attend_error *err)
{
    atomic_thread_fence(memory_order_seq_cst);
    const attend_status status = attendi_comm_agree(&s->call->comm, ATTEND_OK, err);
    atomic_thread_fence(memory_order_seq_cst);
    return status;
}

static attend_status copy_inputs(struct shared *s, attend_error *err)
{
    struct mpi_call *const call = s->call;
    const int rank = call->comm.rank;

    if (rank == 0)
        atomic_init(s->next_item, 0);
    copy_in(&call->keys, rank, &call->io.k, &s->k);
    copy_in(&call->keys, rank, &call->io.v, &s->v);
    if (s->is_dynamic)
        copy_in(&call->queries, rank, &call->io.q, &s->q);
    return barrier(s, err);
}

/* ---- dynamic scheduling ------------------------------------------------------ */

/* The same work items on all ranks. */
static void divide_work(struct shared *s)
{
    const struct mpi_call *const call = s->call;
    int64_t rows = (int64_t)ITEM_ROWS * s->threads;

    while (rows > ITEM_ROWS_MIN && ceil_div_i64(call->queries.all, rows) * call->hkv <
                                       (int64_t)ITEMS_PER_RANK * call->comm.size)
        rows /= 2;
    s->item_rows = rows;
    s->items_per_head = ceil_div_i64(call->queries.all, rows);
}

/* The last queries of a head come first: in a causal problem they have the most work. */
static attend_status compute_item(const struct shared *s, int64_t item, attend_error *err)
{
    const struct mpi_call *const call = s->call;
    const int64_t group = call->hq / call->hkv, k_head = item / s->items_per_head;
    const int64_t first =
        (s->items_per_head - 1 - item % s->items_per_head) * s->item_rows;
    const int64_t rows = min_i64(s->item_rows, call->queries.all - first);
    const int64_t head = k_head * group;
    const attend_view q = attend_view_of(&s->q), k = attend_view_of(&s->k),
                      v = attend_view_of(&s->v);
    attend_rule rule = call->rule;
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
    return attend_forward(call->ctx, &rule, &io, err);
}

/* Takes work items from the counter until none is left. */
static attend_status compute_items(struct shared *s, attend_error *err)
{
    struct communicator *const comm = &s->call->comm;

    while (attendi_comm_should_continue(comm)) {
        const int64_t item = atomic_fetch_add(s->next_item, 1);
        const double start = MPI_Wtime();

        if (item >= s->items_per_head * s->call->hkv)
            break;
        TRY(compute_item(s, item, err));
        const double end = MPI_Wtime();
        comm->cost.computing += end - start;
        attendi_comm_trace(comm, 'c', comm->rank, 0, start, end);
    }
    return ATTEND_OK;
}

static attend_status compute(struct shared *s, attend_error *err)
{
    if (s->is_dynamic) {
        divide_work(s);
        return compute_items(s, err);
    }
    attend_io io = s->call->io;

    io.k = attend_view_of(&s->k);
    io.v = attend_view_of(&s->v);
    return attendi_local_forward(s->call, &io, err);
}

/* ---- the call -------------------------------------------------------------------- */

/* From this rank's inputs to its outputs. */
static attend_status run(struct shared *s, attend_error *err)
{
    struct mpi_call *const call = s->call;
    const int rank = call->comm.rank;
    attend_error own;

    TRY(copy_inputs(s, err));
    const attend_status failed = compute(s, &own);
    if (failed != ATTEND_OK)
        attendi_comm_stop(&call->comm, &own);
    atomic_thread_fence(memory_order_seq_cst);
    TRY(attendi_comm_agree_stop(&call->comm, err));
    atomic_thread_fence(memory_order_seq_cst);
    if (s->is_dynamic) {
        copy_out(&call->queries, rank, &s->out, &call->io.out);
        copy_out(&call->queries, rank, &s->lse, &call->io.lse);
    }
    return ATTEND_OK;
}

attend_status attendi_forward_shared(struct mpi_call *call, attend_error *err)
{
    struct shared s = plan_layout(call);
    struct communicator *const comm = &call->comm;

    if (!comm->shares_memory)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "ATTEND_MPI_SHARED: the %d ranks are on several machines, or "
                            "ATTEND_MPI_SHARED=0 is in the environment",
                            comm->size);
    TRY(attendi_shared_memory_reserve(comm->shared, comm, s.bytes, err));
    TRY(agree_on_schedule(&s, err));
    s.memory = comm->shared->memory;
    lay_out(&s);
    comm->cost.memory = max_i64(comm->cost.memory, comm->memory + s.bytes / comm->size);
    return run(&s, err);
}
