/* SPDX-License-Identifier: MIT */
/*
 * The ranks of one call: the duplicated communicator, what the call costs on this rank,
 * and how ranks agree on an end.
 */
#ifndef ATTEND_MPI_TEAM_H
#define ATTEND_MPI_TEAM_H

#include <stdbool.h>

#include "mpi/comm/mpi_fail.h"

/* Of messages on the duplicated communicator. */
enum mpi_tag { TAG_ROWS = 1, TAG_CHUNK, TAG_NODES, TAG_STOP };

enum { TEAM_NUMBERS = 64 };

struct window;

struct team {
    MPI_Comm comm;
    int rank, size;
    bool is_local; /* all ranks share memory */
    attend_mpi_dist dist;
    int64_t message_bytes; /* no message is longer */
    attend_mpi_cost cost;
    int64_t memory; /* allocated now */
    double began;
    bool stopped;       /* this rank or another is to end the call: no more work */
    bool told;          /* this rank has told the others so */
    attend_error error; /* why, if told */
    /* Kept with the communicator, so that no rank lacks them when all meet. */
    bool *heard;           /* [size] who has told this rank */
    int64_t *numbers;      /* [size][TEAM_NUMBERS], for what ranks tell each other */
    struct window *window; /* memory that ranks of one machine share, for the next call */
};

/*
 * The duplicate of `comm`, made by the first call on it and kept with it.  Returns the
 * same on all ranks.
 */
attend_status attendi_team_open(struct team *team, MPI_Comm comm,
                                const attend_mpi_dist *dist, attend_error *err);
void attendi_team_close(struct team *team);

/*
 * The status of all: ATTEND_OK if every rank passes that, else on every rank the status
 * and the message of the lowest rank that does not, with its number.
 */
attend_status attendi_team_agree(struct team *team, attend_status status,
                                 attend_error *err);

/*
 * Between pieces of work that ranks do by themselves: whether to go on.  A failure is
 * told to the others, and so is a wish to cancel.  Ranks that stop still send and receive
 * what the others wait for.
 */
void attendi_team_stop(struct team *team, const attend_error *why);
bool attendi_team_goes_on(struct team *team);
/* After that work: attendi_team_agree(), and no message of a stop is left behind. */
attend_status attendi_team_settle(struct team *team, attend_error *err);

/* Memory that counts; NULL with a message in err.  `size` 0 gives memory too. */
void *attendi_team_alloc(struct team *team, int64_t count, size_t size,
                         attend_error *err);
void attendi_team_free(struct team *team, void *memory);

void attendi_team_trace(const struct team *team, char what, int peer, int64_t first_key,
                        double start, double end);

#endif
