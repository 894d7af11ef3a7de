/* SPDX-License-Identifier: MIT */
/* Memory that the ranks of one machine share. */
#ifndef ATTEND_MPI_SHARED_MEMORY_H
#define ATTEND_MPI_SHARED_MEMORY_H

#include <stdbool.h>

#include "mpi/comm/mpi_fail.h"

struct communicator;

struct shared_memory {
    int64_t bytes; /* 0: none is mapped */
    void *memory;  /* where this rank has mapped it */
};

/*
 * Whether all ranks of a communicator are on one machine.  Collective; returns MPI's
 * result.
 */
int attendi_comm_shares_memory(MPI_Comm comm, bool *shares_memory);

/*
 * Makes at least `bytes` available; `bytes` is equal on all ranks, and all are on one
 * machine.  Growing discards the contents.  The memory never has a name, so killed ranks
 * leave nothing.  Collective; returns the same status on all ranks.
 */
attend_status attendi_shared_memory_reserve(struct shared_memory *shared,
                                            struct communicator *comm, int64_t bytes,
                                            attend_error *err);
void attendi_shared_memory_close(struct shared_memory *shared);

#endif
