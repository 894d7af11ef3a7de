/* SPDX-License-Identifier: MIT */
/*
 * MPI calls that wait without spinning.  Some MPIs spin, and with more ranks than cores
 * the rank that the others wait for then does not get a core.  These calls poll: between
 * polls they yield the core, and after a while they sleep.
 */
#ifndef ATTEND_MPI_WAIT_H
#define ATTEND_MPI_WAIT_H

#include <mpi.h>

/* Yields or sleeps between two polls of a wait that began at `start`, in MPI_Wtime(). */
void attendi_backoff(double start);

/* Each returns MPI's result. */
int attendi_comm_dup(MPI_Comm comm, MPI_Comm *to);
int attendi_wait_all(int count, MPI_Request *requests);
int attendi_allreduce_min(const int *mine, int *least, MPI_Comm comm);
/* Sums `numbers` over all ranks, in place. */
int attendi_allreduce_sum(double *numbers, int count, MPI_Comm comm);
int attendi_broadcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int attendi_allgather(const void *mine, int count, MPI_Datatype type, void *all,
                      MPI_Comm comm);
int attendi_send(const void *data, int count, int rank, int tag, MPI_Comm comm);
int attendi_receive(void *data, int count, int rank, int tag, MPI_Comm comm);

#endif
