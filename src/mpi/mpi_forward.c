/* SPDX-License-Identifier: MIT */
/* attend_mpi_forward: opens the call, chooses a strategy and runs it. */
#include "mpi/comm/shared_memory.h"
#include "mpi/strategies.h"

/* Up to this size of K and V of the sequence, gathering them takes negligible time. */
#define GATHER_BYTES ((int64_t)32 << 20)
/* Maximum shared memory of all ranks of a machine. */
#define SHARED_BYTES ((int64_t)2 << 30)
/* Queries and their partials are sent instead of keys if they are this much smaller. */
enum { QUERY_GAIN = 4 };

/*
 * Bytes of K and V of the sequence; then of queries to every rank, and of partials back.
 */
static int64_t key_bytes(const struct mpi_call *call)
{
    return call->nb * call->hkv * call->keys.all * (call->d + call->dv) *
           (int64_t)attend_dtype_size(call->dtype);
}

static double query_bytes(const struct mpi_call *call)
{
    const double row =
        (double)(call->d * (int64_t)attend_dtype_size(call->dtype)) +
        2.0 * (double)(call->dv + 2) * (double)attend_dtype_size(call->partial_dtype) +
        2.0 * (double)call->raw_size * sizeof(double);

    return (double)(call->nb * call->hq * call->queries.all) * row * call->comm.size;
}

/* Depends on the shape alone, so the choice is the same on all ranks. */
static int64_t choose_by_shape(const struct mpi_call *call)
{
    if (call->io.weights.data || call->comm.size == 1)
        return ATTEND_MPI_GATHER;
    if (!call->rule.mask.data && !call->rule.bias.data &&
        query_bytes(call) * QUERY_GAIN < (double)key_bytes(call))
        return ATTEND_MPI_QUERY;
    return key_bytes(call) <= GATHER_BYTES ? ATTEND_MPI_GATHER : ATTEND_MPI_RING;
}

/* Whether shared memory can replace a ring.  Collective. */
static bool can_share(struct mpi_call *call)
{
    const int64_t bytes = attendi_shared_bytes(call);
    attend_error none;

    return call->comm.shares_memory && bytes <= SHARED_BYTES &&
           attendi_shared_memory_reserve(call->comm.shared, &call->comm, bytes, &none) ==
               ATTEND_OK;
}

static int64_t choose(struct mpi_call *call)
{
    if (call->comm.dist.strategy != ATTEND_MPI_AUTO)
        return call->comm.dist.strategy;
    const int64_t strategy = choose_by_shape(call);
    return strategy == ATTEND_MPI_RING && can_share(call) ? ATTEND_MPI_SHARED : strategy;
}

static attend_status forward(struct mpi_call *call, attend_error *err)
{
    call->comm.cost.strategy = choose(call);
    switch (call->comm.cost.strategy) {
    case ATTEND_MPI_GATHER:
        return attendi_forward_gather(call, err);
    case ATTEND_MPI_QUERY:
        return attendi_forward_query(call, err);
    case ATTEND_MPI_SHARED:
        return attendi_forward_shared(call, err);
    default:
        return attendi_forward_ring(call, err);
    }
}

attend_status attend_mpi_forward(MPI_Comm comm, attend_context *ctx,
                                 const attend_rule *rule, const attend_io *io,
                                 const attend_mpi_dist *dist, attend_error *err)
{
    attend_error own;
    struct mpi_call call;

    if (!err)
        err = &own;
    attend_status status = attendi_mpi_call_open(&call, comm, ctx, rule, io, dist, err);
    if (status == ATTEND_OK)
        status = forward(&call, err);
    attendi_mpi_call_close(&call);
    return status;
}
