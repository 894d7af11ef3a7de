/* SPDX-License-Identifier: MIT */
/* Memory that the ranks of one machine share. */
#ifndef ATTEND_MPI_WINDOW_H
#define ATTEND_MPI_WINDOW_H

#include <stdbool.h>

#include "mpi/comm/mpi_fail.h"

struct window {
    MPI_Win win;
    int64_t bytes; /* 0: there is none */
    void *memory;  /* of all ranks, at an address of this one */
};

/* Whether all ranks of a communicator share memory.  Collective. */
int attendi_comm_is_local(MPI_Comm comm, bool *is_local);

/* Whether a window has so many bytes, or this machine has room for them. */
bool attendi_window_fits(const struct window *window, int64_t bytes);

/*
 * At least so many bytes, the same on all ranks of `comm`, which share memory; what was
 * in it is lost.  Collective; returns MPI's result.
 */
int attendi_window_reserve(struct window *window, MPI_Comm comm, int64_t bytes);
/* Before ranks meet, what this one has written; after it, what the others have. */
void attendi_window_sync(const struct window *window);
/* Collective. */
void attendi_window_close(struct window *window);

#endif
