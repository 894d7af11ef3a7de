/* SPDX-License-Identifier: MIT */
/*
 * ATTEND_MPI_GATHER: every rank gathers the keys that it sees, then computes as one
 * process does.
 */
#include "base/base.h"
#include "mpi/comm/redistribute.h"
#include "mpi/comm/views.h"
#include "mpi/local_forward.h"
#include "mpi/strategies.h"

/* The keys that each rank sees, as one range. */
static attend_status list_wanted(struct ranges *wanted, struct mpi_call *call,
                                 attend_error *err)
{
    TRY(attendi_ranges_make(wanted, &call->comm, call->keys.all, call->comm.size, err));
    for (int rank = 0; rank < call->comm.size; rank++) {
        attend_mpi_range *const range = &wanted->range[rank];
        int64_t lo = 0, hi = 0;

        for (int64_t x = call->queries.start[rank]; x < call->queries.start[rank + 1];
             x++) {
            int64_t from, to;

            attendi_mpi_keys_seen(call, &call->queries.range[x], &from, &to);
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

/* Gathers the keys that this rank sees into buffers of the whole sequence. */
static attend_status fetch(struct mpi_call *call, const struct ranges *wanted, void *k,
                           void *v, attend_io *io, attend_error *err)
{
    const attend_mpi_range *const own = &wanted->range[call->comm.rank];
    const attend_tensor keys =
        attend_tensor_dense(k, call->dtype, call->nb, call->hkv, call->keys.all, call->d);
    const attend_tensor values = attend_tensor_dense(v, call->dtype, call->nb, call->hkv,
                                                     call->keys.all, call->dv);
    const attend_tensor to_k = attendi_tensor_slice(keys, 2, own->first, own->count);
    const attend_tensor to_v = attendi_tensor_slice(values, 2, own->first, own->count);

    io->k = attend_view_of(&keys);
    io->v = attend_view_of(&values);
    TRY(attendi_redistribute(&call->comm, &call->keys, wanted, &call->io.k, &to_k, err));
    return attendi_redistribute(&call->comm, &call->keys, wanted, &call->io.v, &to_v,
                                err);
}

/* Computes this rank's rows, and agrees with the others on the status. */
static attend_status compute(struct mpi_call *call, const attend_io *io,
                             attend_error *err)
{
    attend_error own;
    const attend_status failed = attendi_local_forward(call, io, &own);

    if (failed != ATTEND_OK)
        attendi_comm_stop(&call->comm, &own);
    return attendi_comm_agree_stop(&call->comm, err);
}

attend_status attendi_forward_gather(struct mpi_call *call, attend_error *err)
{
    struct communicator *const comm = &call->comm;
    const int64_t rows = call->nb * call->hkv * call->keys.all;
    const size_t size = attend_dtype_size(call->dtype);
    struct ranges wanted = {.all = 0};
    attend_io io = call->io;

    if (comm->size == 1 && call->keys.start[1] == 1)
        return compute(call, &io, err); /* all keys are local and in order */
    void *const k = attendi_mpi_alloc(comm, rows * call->d, size, err);
    void *const v = attendi_mpi_alloc(comm, rows * call->dv, size, err);
    attend_status status =
        k && v ? list_wanted(&wanted, call, err) : (attend_status)ATTEND_ENOMEM;
    status = attendi_comm_agree(comm, status, err);
    if (status == ATTEND_OK)
        status = fetch(call, &wanted, k, v, &io, err);
    if (status == ATTEND_OK)
        status = compute(call, &io, err);
    attendi_ranges_free(&wanted, comm);
    attendi_mpi_free(comm, k);
    attendi_mpi_free(comm, v);
    return status;
}
