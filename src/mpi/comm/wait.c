/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "mpi/comm/wait.h"

#include <math.h>
#include <sched.h>
#include <time.h>

/*
 * Most messages arrive within YIELD_SECONDS.  After that each sleep is a fraction of the
 * time waited so far, so a wait is lengthened by at most that fraction.
 */
#define YIELD_SECONDS 2e-3
#define SLEEP_FRACTION 0.1
#define SLEEP_SECONDS_MAX 1e-3

void attendi_backoff(double start)
{
    const double waited = MPI_Wtime() - start;

    if (waited < YIELD_SECONDS) {
        sched_yield();
        return;
    }
    const double seconds = fmin(SLEEP_FRACTION * waited, SLEEP_SECONDS_MAX);
    const struct timespec sleep = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&sleep, NULL);
}

int attendi_wait_all(int count, MPI_Request *requests)
{
    const double start = MPI_Wtime();

    for (;;) {
        int done = 0;
        const int result = MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);

        if (result != MPI_SUCCESS || done)
            return result;
        attendi_backoff(start);
    }
}

/*
 * The checker recognises only MPI_Wait() as waiting.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker)
 */

static int wait_for(int result, MPI_Request *request)
{
    return result != MPI_SUCCESS ? result : attendi_wait_all(1, request);
}

int attendi_comm_dup(MPI_Comm comm, MPI_Comm *to)
{
    MPI_Request request;

    return wait_for(MPI_Comm_idup(comm, to, &request), &request);
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

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */
