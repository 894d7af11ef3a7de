/* SPDX-License-Identifier: MIT */
/*
 * One function for each strategy of attend_mpi_strategy.  Each is collective and returns
 * the same status on all ranks.
 */
#ifndef ATTEND_MPI_STRATEGIES_H
#define ATTEND_MPI_STRATEGIES_H

#include "mpi/mpi_call.h"

attend_status attendi_forward_ring(struct mpi_call *call, attend_error *err);
attend_status attendi_forward_gather(struct mpi_call *call, attend_error *err);
attend_status attendi_forward_query(struct mpi_call *call, attend_error *err);
attend_status attendi_forward_shared(struct mpi_call *call, attend_error *err);
/* Shared memory that attendi_forward_shared() needs, for all ranks together. */
int64_t attendi_shared_bytes(struct mpi_call *call);

#endif
