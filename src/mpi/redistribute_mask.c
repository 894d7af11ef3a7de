/* SPDX-License-Identifier: MIT */
#include "mpi/redistribute_mask.h"

#include "mpi/comm/redistribute.h"
#include "mpi/comm/views.h"

/* Packs local rows of the columns that `rank` requests. */
static void pack_columns(const attend_view *from, const struct ranges *columns, int rank,
                         const attend_tensor *to)
{
    int64_t at = 0;

    for (int64_t x = columns->start[rank]; x < columns->start[rank + 1]; x++) {
        const attend_mpi_range *const range = &columns->range[x];
        const attend_view part = attendi_view_slice(*from, 3, range->first, range->count);
        const attend_tensor place = attendi_tensor_slice(*to, 3, at, range->count);

        attendi_copy_tensor(&part, &place);
        at += range->count;
    }
}

/* Gathers all rows of the columns that `rank` requests, on that rank. */
static attend_status gather_columns(struct mpi_call *call, const struct ranges *columns,
                                    const attend_view *own, int rank,
                                    const attend_tensor *to, attend_error *err)
{
    struct communicator *const comm = &call->comm;
    const int64_t width = own->size[3] == 1 ? 1 : attendi_ranges_rows(columns, rank);
    struct ranges wanted;
    void *const data =
        attendi_mpi_alloc(comm, own->size[0] * own->size[1] * own->size[2] * width,
                          attend_dtype_size(own->dtype), err);
    const attend_tensor packed = attend_tensor_dense(data, own->dtype, own->size[0],
                                                     own->size[1], own->size[2], width);
    const attend_view from = attend_view_of(&packed);
    const attend_tensor none =
        attend_tensor_dense(NULL, own->dtype, own->size[0], own->size[1], 0, width);

    attend_status status =
        attendi_ranges_replicated(&wanted, comm, call->queries.all, err);
    if (!data)
        status = ATTEND_ENOMEM;
    status = attendi_comm_agree(comm, status, err);
    for (int other = 0; other < comm->size && status == ATTEND_OK; other++)
        if (other != rank)
            wanted.range[other].count = 0;
    if (status == ATTEND_OK && own->size[3] == 1)
        attendi_copy_tensor(own, &packed);
    else if (status == ATTEND_OK)
        pack_columns(own, columns, rank, &packed);
    if (status == ATTEND_OK)
        status = attendi_redistribute(comm, &call->queries, &wanted, &from,
                                      comm->rank == rank ? to : &none, err);
    attendi_ranges_free(&wanted, comm);
    attendi_mpi_free(comm, data);
    return status;
}

attend_status attendi_redistribute_mask(struct mpi_call *call,
                                        const struct ranges *columns, attend_view *view,
                                        void **data, attend_error *err)
{
    struct communicator *const comm = &call->comm;
    attend_view own = *view;

    *data = NULL;
    if (!own.data)
        return ATTEND_OK;
    if (own.size[2] == 1 && call->nq != 1) {
        own.size[2] = call->nq;
        own.stride[2] = 0;
    }
    const int64_t width = own.size[3] == 1 ? 1 : attendi_ranges_rows(columns, comm->rank);
    *data = attendi_mpi_alloc(comm, own.size[0] * own.size[1] * call->queries.all * width,
                              attend_dtype_size(own.dtype), err);
    TRY(attendi_comm_agree(comm, *data ? ATTEND_OK : ATTEND_ENOMEM, err));
    const attend_tensor to = attend_tensor_dense(*data, own.dtype, own.size[0],
                                                 own.size[1], call->queries.all, width);
    for (int rank = 0; rank < comm->size; rank++)
        TRY(gather_columns(call, columns, &own, rank, &to, err));
    *view = attend_view_of(&to);
    return ATTEND_OK;
}
