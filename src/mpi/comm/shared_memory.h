/* SPDX-License-Identifier: MIT */
/* Memory that the ranks of one machine share. */
#ifndef ATTEND_MPI_SHARED_MEMORY_H
#define ATTEND_MPI_SHARED_MEMORY_H

#include <stdbool.h>

#include "mpi/comm/mpi_fail.h"

struct communicator;

struct shared_memory {
    int64_t bytes; /* 0: there is none */
    void *memory;  /* of all ranks, at an address of this one */
};

/* Whether all ranks of a communicator share memory.  Collective; MPI's result. */
int attendi_comm_shares_memory(MPI_Comm comm, bool *shares_memory);

/*
 * At least so many bytes, the same on all ranks, which share memory; what was in it is
 * lost if it grows.  Collective, and returns the same on all ranks.  It has no name once
 * this returns, so that nothing is left of ranks that are killed.
 */
attend_status attendi_shared_memory_reserve(struct shared_memory *shared,
                                            struct communicator *comm, int64_t bytes,
                                            attend_error *err);
void attendi_shared_memory_close(struct shared_memory *shared);

#endif
