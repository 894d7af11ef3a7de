/* SPDX-License-Identifier: MIT */
#include "mpi/mpi_session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/redistribute.h"
#include "mpi/comm/wait.h"

static attend_status open(int *rank, int *ranks, attend_error *err)
{
    int provided;

    TRY_MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (provided < MPI_THREAD_FUNNELED)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "this MPI has no MPI_THREAD_FUNNELED");
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, rank));
    return attendi_mpi_result(MPI_Comm_size(MPI_COMM_WORLD, ranks), err);
}

static void close(void) { MPI_Finalize(); }

static void end_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

static int agree(int *status, char *text, size_t size)
{
    int rank, lowest, mine;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = *status ? rank : INT_MAX;
    if (attendi_allreduce_min(&mine, &lowest, MPI_COMM_WORLD) != MPI_SUCCESS)
        return 0;
    if (lowest == INT_MAX)
        return -1;
    attendi_broadcast(status, 1, MPI_INT, lowest, MPI_COMM_WORLD);
    attendi_broadcast(text, (int)size, MPI_BYTE, lowest, MPI_COMM_WORLD);
    return lowest;
}

static attend_status broadcast(void *data, size_t bytes, attend_error *err)
{
    return attendi_mpi_result(
        attendi_broadcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD), err);
}

static attend_status allgather(void *items, size_t size, int count, attend_error *err)
{
    int rank, ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const size_t most = (size_t)((count + ranks - 1) / ranks);
    char *const own = calloc(most * (size_t)(ranks + 1) + 1, size);
    const int mine = own ? 1 : 0;
    int have = 0;
    const attend_status met =
        attendi_mpi_result(attendi_allreduce_min(&mine, &have, MPI_COMM_WORLD), err);
    if (met != ATTEND_OK || !have) {
        free(own);
        return met != ATTEND_OK ? met
                                : attendi_fail(err, ATTEND_ENOMEM,
                                               "out of memory for %d items", count);
    }
    char *const all = own + most * size;
    for (int x = rank, at = 0; x < count; x += ranks, at++)
        memcpy(own + (size_t)at * size, (char *)items + (size_t)x * size, size);
    const attend_status status = attendi_mpi_result(
        attendi_allgather(own, (int)(most * size), MPI_BYTE, all, MPI_COMM_WORLD), err);
    for (int x = 0; x < count && status == ATTEND_OK; x++)
        memcpy((char *)items + (size_t)x * size,
               all + ((size_t)(x % ranks) * most + (size_t)(x / ranks)) * size, size);
    free(own);
    return status;
}

static attend_status forward(attend_context *ctx, const attend_rule *rule,
                             const attend_io *io, const attend_mpi_dist *dist,
                             attend_error *err)
{
    return attend_mpi_forward(MPI_COMM_WORLD, ctx, rule, io, dist, err);
}

static attend_status inspect(attend_context *ctx, const attend_rule *rule,
                             const attend_inspection *inspection,
                             const attend_mpi_dist *dist, attend_error *err)
{
    return attend_mpi_inspect(MPI_COMM_WORLD, ctx, rule, inspection, dist, err);
}

static attend_status gather_on_rank_0(struct communicator *comm,
                                      const attend_mpi_range *ranges, int64_t count,
                                      const attend_view *from, const attend_tensor *to,
                                      attend_error *err)
{
    const attend_tensor none = attend_tensor_dense(NULL, from->dtype, from->size[0],
                                                   from->size[1], 0, from->size[3]);
    struct ranges held = {.all = 0}, wanted = {.all = 0};
    attend_status status =
        attendi_ranges_allgather(&held, comm, "rows", ranges, count, from->size[2], err);

    if (status == ATTEND_OK)
        status = attendi_comm_agree(
            comm, attendi_ranges_replicated(&wanted, comm, held.all, err), err);
    for (int rank = 1; rank < comm->size && status == ATTEND_OK; rank++)
        wanted.range[rank].count = 0;
    if (status == ATTEND_OK)
        status = attendi_redistribute(comm, &held, &wanted, from,
                                      comm->rank == 0 ? to : &none, err);
    attendi_ranges_free(&held, comm);
    attendi_ranges_free(&wanted, comm);
    return status;
}

static attend_status gather_rows(const attend_mpi_range *ranges, int64_t count,
                                 const attend_view *from, const attend_tensor *to,
                                 attend_error *err)
{
    struct communicator comm;

    attend_status status = attendi_comm_open(&comm, MPI_COMM_WORLD, NULL, err);
    if (status == ATTEND_OK)
        status = gather_on_rank_0(&comm, ranges, count, from, to, err);
    attendi_comm_close(&comm);
    return status;
}

static double barrier(void)
{
    const int here = 0;
    int all;

    attendi_allreduce_min(&here, &all, MPI_COMM_WORLD);
    return MPI_Wtime();
}

const struct mpi_session *attend_mpi_session(void)
{
    static const struct mpi_session session = {.version = ATTEND_MPI_SESSION_VERSION,
                                               .open = open,
                                               .close = close,
                                               .abort = end_all,
                                               .agree = agree,
                                               .broadcast = broadcast,
                                               .allgather = allgather,
                                               .forward = forward,
                                               .inspect = inspect,
                                               .gather_rows = gather_rows,
                                               .slice = attend_mpi_slice,
                                               .zigzag = attend_mpi_zigzag,
                                               .barrier = barrier};

    return &session;
}
