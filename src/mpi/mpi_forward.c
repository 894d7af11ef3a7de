/* SPDX-License-Identifier: MIT */
/* attend_mpi_forward: read, compare, choose, move. */
#include "mpi/comm/shared_memory.h"
#include "mpi/strategies.h"

/* Keys and values of the sequence that are small: gathering them costs no time. */
#define GATHER_BYTES ((int64_t)32 << 20)
/* All that ranks of one machine share: more would take too much of its memory. */
#define SHARED_BYTES ((int64_t)2 << 30)
/* How much less than keys the queries and their records have to be to travel instead. */
enum { QUERY_GAIN = 4 };

/* Bytes of all keys and values, and of queries to every rank and their records back. */
static int64_t key_bytes(const struct job *job)
{
    return job->nb * job->hkv * job->keys.all * (job->d + job->dv) *
           (int64_t)attend_dtype_size(job->dtype);
}

static double query_bytes(const struct job *job)
{
    const double row =
        (double)(job->d * (int64_t)attend_dtype_size(job->dtype)) +
        2.0 * (double)(job->dv + 2) * (double)attend_dtype_size(job->number) +
        2.0 * (double)job->sums * sizeof(double);

    return (double)(job->nb * job->hq * job->queries.all) * row * job->comm.size;
}

/* By shape alone: the same on all ranks. */
static int64_t choose_by_shape(const struct job *job)
{
    if (job->io.weights.data || job->comm.size == 1)
        return ATTEND_MPI_GATHER;
    if (!job->rule.mask.data && !job->rule.bias.data &&
        query_bytes(job) * QUERY_GAIN < (double)key_bytes(job))
        return ATTEND_MPI_QUERY;
    return key_bytes(job) <= GATHER_BYTES ? ATTEND_MPI_GATHER : ATTEND_MPI_RING;
}

/* Whether ranks that would form a ring can share memory instead.  Collective. */
static bool can_share(struct job *job)
{
    const int64_t bytes = attendi_shared_bytes(job);
    attend_error none;

    return job->comm.shares_memory && bytes <= SHARED_BYTES &&
           attendi_shared_memory_reserve(job->comm.shared, &job->comm, bytes, &none) ==
               ATTEND_OK;
}

static int64_t choose(struct job *job)
{
    if (job->comm.dist.strategy != ATTEND_MPI_AUTO)
        return job->comm.dist.strategy;
    const int64_t strategy = choose_by_shape(job);
    return strategy == ATTEND_MPI_RING && can_share(job) ? ATTEND_MPI_SHARED : strategy;
}

static attend_status forward(struct job *job, attend_error *err)
{
    job->comm.cost.strategy = choose(job);
    switch (job->comm.cost.strategy) {
    case ATTEND_MPI_GATHER:
        return attendi_forward_gather(job, err);
    case ATTEND_MPI_QUERY:
        return attendi_forward_query(job, err);
    case ATTEND_MPI_SHARED:
        return attendi_forward_shared(job, err);
    default:
        return attendi_forward_ring(job, err);
    }
}

attend_status attend_mpi_forward(MPI_Comm comm, attend_context *ctx,
                                 const attend_rule *rule, const attend_io *io,
                                 const attend_mpi_dist *dist, attend_error *err)
{
    attend_error own;
    struct job job;

    if (!err)
        err = &own;
    attend_status status = attendi_job_open(&job, comm, ctx, rule, io, dist, err);
    if (status == ATTEND_OK)
        status = forward(&job, err);
    attendi_job_close(&job);
    return status;
}
