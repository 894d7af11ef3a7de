/* SPDX-License-Identifier: MIT */
/*
 * The ranks of one call: the duplicated communicator, what the call costs on this rank,
 * and how ranks agree on an end.
 */
#ifndef ATTEND_MPI_COMMUNICATOR_H
#define ATTEND_MPI_COMMUNICATOR_H

#include <stdbool.h>

#include "mpi/comm/mpi_fail.h"

/* Of messages on the duplicated communicator. */
enum mpi_tag { TAG_ROWS = 1, TAG_CHUNK, TAG_PARTIALS, TAG_STOP };

enum { ALLGATHER_NUMBERS = 64 };

struct shared_memory;

struct communicator {
    MPI_Comm mpi;
    int rank, size;
    bool shares_memory; /* all ranks share memory */
    attend_mpi_dist dist;
    int64_t message_bytes; /* no message is longer */
    attend_mpi_cost cost;
    int64_t memory; /* allocated now */
    double start;
    bool stopped;       /* this rank or another is to end the call: no more work */
    bool sent_stop;     /* this rank has told the others so */
    attend_error error; /* why, if told */
    /* Kept with the communicator, so that no rank lacks them when all meet. */
    bool *received_stop; /* [size] who has told this rank */
    int64_t
        *allgather_buffer; /* [size][ALLGATHER_NUMBERS], for what ranks tell each other */
    struct shared_memory
        *shared; /* memory that ranks of one machine share, for the next call */
};

/*
 * The duplicate of `comm`, made by the first call on it and kept with it.  Returns the
 * same on all ranks.
 */
attend_status attendi_comm_open(struct communicator *comm, MPI_Comm user_comm,
                                const attend_mpi_dist *dist, attend_error *err);
void attendi_comm_close(struct communicator *comm);

/*
 * The status of all: ATTEND_OK if every rank passes that, else on every rank the status
 * and the message of the lowest rank that does not, with its number.
 */
attend_status attendi_comm_agree(struct communicator *comm, attend_status status,
                                 attend_error *err);

/*
 * Between pieces of work that ranks do by themselves: whether to go on.  A failure is
 * told to the others, and so is a wish to cancel.  Ranks that stop still send and receive
 * what the others wait for.
 */
void attendi_comm_stop(struct communicator *comm, const attend_error *why);
bool attendi_comm_should_continue(struct communicator *comm);
/* After that work: attendi_comm_agree(), and no message of a stop is left behind. */
attend_status attendi_comm_agree_stop(struct communicator *comm, attend_error *err);

/* Memory that counts; NULL with a message in err.  `size` 0 gives memory too. */
void *attendi_mpi_alloc(struct communicator *comm, int64_t count, size_t size,
                        attend_error *err);
void attendi_mpi_free(struct communicator *comm, void *memory);

void attendi_comm_trace(const struct communicator *comm, char what, int peer,
                        int64_t first_key, double start, double end);

#endif
