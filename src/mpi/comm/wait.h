/* SPDX-License-Identifier: MIT */
/*
 * Calls of MPI that wait.  Some MPIs spin while they do; where there are more ranks than
 * cores, the rank that all wait for then has to wait for its turn.  These let others run
 * between two looks, and sleep once they have waited for long.
 */
#ifndef ATTEND_MPI_WAIT_H
#define ATTEND_MPI_WAIT_H

#include <mpi.h>

/* Between two looks of a wait that began at `start`, in MPI_Wtime(). */
void attendi_backoff(double start);

/* Each returns MPI's result. */
int attendi_comm_dup(MPI_Comm comm, MPI_Comm *to);
int attendi_wait_all(int count, MPI_Request *requests);
int attendi_allreduce_min(const int *mine, int *least, MPI_Comm comm);
/* Of every rank's `numbers`, in place. */
int attendi_allreduce_sum(double *numbers, int count, MPI_Comm comm);
int attendi_broadcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int attendi_allgather(const void *mine, int count, MPI_Datatype type, void *all,
                      MPI_Comm comm);
int attendi_send(const void *data, int count, int rank, int tag, MPI_Comm comm);
int attendi_receive(void *data, int count, int rank, int tag, MPI_Comm comm);

#endif
