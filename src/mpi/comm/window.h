/* SPDX-License-Identifier: MIT */
/* Memory that the ranks of one machine share. */
#ifndef ATTEND_MPI_WINDOW_H
#define ATTEND_MPI_WINDOW_H

#include "mpi/comm/mpi_team.h"

struct window {
    MPI_Win win;
    void *memory; /* of all ranks, at an address of this one */
    bool is_open;
};

/* Whether all ranks of a communicator share memory.  Collective. */
int attendi_comm_is_local(MPI_Comm comm, bool *is_local);

/* Whether this machine has room for so many bytes of shared memory. */
bool attendi_window_fits(int64_t bytes);

/* Collective, and the same on all ranks; close in any case. */
attend_status attendi_window_open(struct window *window, struct team *team, int64_t bytes,
                                  attend_error *err);
/* Before ranks meet, what this one has written; after it, what the others have. */
void attendi_window_sync(const struct window *window);
void attendi_window_close(struct window *window);

#endif
