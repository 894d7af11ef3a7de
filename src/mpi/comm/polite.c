/* SPDX-License-Identifier: MIT */
#include "mpi/comm/polite.h"

#include <sched.h>

int attendi_wait_all(int count, MPI_Request *requests)
{
    for (;;) {
        int done = 0;
        const int result = MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);

        if (result != MPI_SUCCESS || done)
            return result;
        sched_yield();
    }
}

static int wait_for(int result, MPI_Request *request)
{
    return result != MPI_SUCCESS ? result : attendi_wait_all(1, request);
}

int attendi_allreduce_min(const int *mine, int *least, MPI_Comm comm)
{
    MPI_Request request;

    return wait_for(MPI_Iallreduce(mine, least, 1, MPI_INT, MPI_MIN, comm, &request),
                    &request);
}

int attendi_allreduce_sum(double *numbers, int count, MPI_Comm comm)
{
    MPI_Request request;

    return wait_for(
        MPI_Iallreduce(MPI_IN_PLACE, numbers, count, MPI_DOUBLE, MPI_SUM, comm, &request),
        &request);
}

int attendi_broadcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    MPI_Request request;

    return wait_for(MPI_Ibcast(data, count, type, root, comm, &request), &request);
}

int attendi_allgather(const void *mine, int count, MPI_Datatype type, void *all,
                      MPI_Comm comm)
{
    MPI_Request request;

    return wait_for(MPI_Iallgather(mine, count, type, all, count, type, comm, &request),
                    &request);
}

int attendi_send(const void *data, int count, int rank, int tag, MPI_Comm comm)
{
    MPI_Request request;

    return wait_for(MPI_Isend(data, count, MPI_BYTE, rank, tag, comm, &request),
                    &request);
}

int attendi_receive(void *data, int count, int rank, int tag, MPI_Comm comm)
{
    MPI_Request request;

    return wait_for(MPI_Irecv(data, count, MPI_BYTE, rank, tag, comm, &request),
                    &request);
}
