/* SPDX-License-Identifier: MIT */
/* The ways to move data; each is collective and returns the same on all ranks. */
#ifndef ATTEND_MPI_STRATEGIES_H
#define ATTEND_MPI_STRATEGIES_H

#include "mpi/job.h"

attend_status attendi_forward_ring(struct job *job, attend_error *err);
attend_status attendi_forward_gather(struct job *job, attend_error *err);
attend_status attendi_forward_query(struct job *job, attend_error *err);
attend_status attendi_forward_shared(struct job *job, attend_error *err);
/* Shared memory that the last of them takes, for all ranks together. */
int64_t attendi_shared_bytes(struct job *job);

#endif
