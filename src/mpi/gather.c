/* SPDX-License-Identifier: MIT */
/* Every rank gets the keys that it sees, and computes as on one machine. */
#include "base/base.h"
#include "mpi/comm/redistribute.h"
#include "mpi/comm/views.h"
#include "mpi/own_rows.h"
#include "mpi/strategies.h"

/* The keys that each rank sees: one range. */
static attend_status list_wanted(struct ranges *wanted, struct job *job,
                                 attend_error *err)
{
    TRY(attendi_ranges_make(wanted, &job->comm, job->keys.all, job->comm.size, err));
    for (int rank = 0; rank < job->comm.size; rank++) {
        attend_mpi_range *const range = &wanted->range[rank];
        int64_t lo = 0, hi = 0;

        for (int64_t x = job->queries.start[rank]; x < job->queries.start[rank + 1];
             x++) {
            int64_t from, to;

            attendi_job_sees(job, &job->queries.range[x], &from, &to);
            if (from == to)
                continue;
            lo = lo == hi ? from : min_i64(lo, from);
            hi = max_i64(hi, to);
        }
        *range = (attend_mpi_range){lo, hi - lo};
        wanted->start[rank + 1] = rank + 1;
    }
    return ATTEND_OK;
}

/* The keys that this rank sees, at their places in memory for all. */
static attend_status fetch(struct job *job, const struct ranges *wanted, void *k, void *v,
                           attend_io *io, attend_error *err)
{
    const attend_mpi_range *const own = &wanted->range[job->comm.rank];
    const attend_tensor keys =
        attend_tensor_dense(k, job->dtype, job->nb, job->hkv, job->keys.all, job->d);
    const attend_tensor values =
        attend_tensor_dense(v, job->dtype, job->nb, job->hkv, job->keys.all, job->dv);
    const attend_tensor to_k = attendi_tensor_slice(keys, 2, own->first, own->count);
    const attend_tensor to_v = attendi_tensor_slice(values, 2, own->first, own->count);

    io->k = attend_view_of(&keys);
    io->v = attend_view_of(&values);
    TRY(attendi_redistribute(&job->comm, &job->keys, wanted, &job->io.k, &to_k, err));
    return attendi_redistribute(&job->comm, &job->keys, wanted, &job->io.v, &to_v, err);
}

/* Outputs of the rows of all ranks. */
static attend_status compute(struct job *job, const attend_io *io, attend_error *err)
{
    attend_error own;
    const attend_status failed = attendi_own_rows(job, io, &own);

    if (failed != ATTEND_OK)
        attendi_comm_stop(&job->comm, &own);
    return attendi_comm_agree_stop(&job->comm, err);
}

attend_status attendi_forward_gather(struct job *job, attend_error *err)
{
    struct communicator *const comm = &job->comm;
    const int64_t rows = job->nb * job->hkv * job->keys.all;
    const size_t size = attend_dtype_size(job->dtype);
    struct ranges wanted = {.all = 0};
    attend_io io = job->io;

    if (comm->size == 1 && job->keys.start[1] == 1)
        return compute(job, &io, err); /* all keys are here, in their order */
    void *const k = attendi_mpi_alloc(comm, rows * job->d, size, err);
    void *const v = attendi_mpi_alloc(comm, rows * job->dv, size, err);
    attend_status status =
        k && v ? list_wanted(&wanted, job, err) : (attend_status)ATTEND_ENOMEM;
    status = attendi_comm_agree(comm, status, err);
    if (status == ATTEND_OK)
        status = fetch(job, &wanted, k, v, &io, err);
    if (status == ATTEND_OK)
        status = compute(job, &io, err);
    attendi_ranges_free(&wanted, comm);
    attendi_mpi_free(comm, k);
    attendi_mpi_free(comm, v);
    return status;
}
