/* SPDX-License-Identifier: MIT */
/* attend_mpi_forward: read, compare, choose, move. */
#include "mpi/comm/polite.h"
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

    return (double)(job->nb * job->hq * job->queries.all) * row * job->team.size;
}

/* By shape alone: the same on all ranks. */
static int64_t choose_by_shape(const struct job *job)
{
    if (job->io.weights.data || job->team.size == 1)
        return ATTEND_MPI_GATHER;
    if (!job->rule.mask.data && !job->rule.bias.data &&
        query_bytes(job) * QUERY_GAIN < (double)key_bytes(job))
        return ATTEND_MPI_QUERY;
    return key_bytes(job) <= GATHER_BYTES ? ATTEND_MPI_GATHER : ATTEND_MPI_RING;
}

/* A ring of ranks that share memory need not turn.  Collective. */
static attend_status choose(struct job *job, int64_t *strategy, attend_error *err)
{
    *strategy = job->team.dist.strategy;
    if (*strategy != ATTEND_MPI_AUTO)
        return ATTEND_OK;
    *strategy = choose_by_shape(job);
    const int64_t bytes = attendi_shared_bytes(job);
    if (*strategy != ATTEND_MPI_RING || !job->team.is_local || bytes > SHARED_BYTES)
        return ATTEND_OK;
    const int mine = attendi_window_fits(job->team.window, bytes);
    int all;
    TRY_MPI(attendi_allreduce_min(&mine, &all, job->team.comm));
    if (all)
        *strategy = ATTEND_MPI_SHARED;
    return ATTEND_OK;
}

static attend_status forward(struct job *job, attend_error *err)
{
    TRY(choose(job, &job->team.cost.strategy, err));
    switch (job->team.cost.strategy) {
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
