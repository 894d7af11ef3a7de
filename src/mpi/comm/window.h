/* SPDX-License-Identifier: MIT */
/* Memory that the ranks of one machine share. */
#ifndef ATTEND_MPI_WINDOW_H
#define ATTEND_MPI_WINDOW_H

#include <stdbool.h>

#include "mpi/comm/mpi_fail.h"

struct team;

struct window {
    int64_t bytes; /* 0: there is none */
    void *memory;  /* of all ranks, at an address of this one */
};

/* Whether all ranks of a communicator share memory.  Collective; MPI's result. */
int attendi_comm_is_local(MPI_Comm comm, bool *is_local);

/*
 * At least so many bytes, the same on all ranks, which share memory; what was in it is
 * lost if it grows.  Collective, and returns the same on all ranks.  It has no name once
 * this returns, so that nothing is left of ranks that are killed.
 */
attend_status attendi_window_reserve(struct window *window, struct team *team,
                                     int64_t bytes, attend_error *err);
void attendi_window_close(struct window *window);

#endif
