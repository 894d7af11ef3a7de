/* SPDX-License-Identifier: MIT */
/*
 * The command under a launcher of MPI: it opens the library of that MPI at run time and
 * is one of its ranks.  Without a launcher there is one rank, and nothing is opened.
 *
 * One rank prints: standard output of the others goes nowhere, and failures are kept
 * until ranks_agree(), where rank 0 prints the one of the lowest rank.  A rank that ends
 * before it has joined the others prints its own some seconds later, which it does not
 * have where rank 0 has failed as well: launchers end a job that lost a rank.
 */
#ifndef TOOLS_RANKS_H
#define TOOLS_RANKS_H

#include "mpi/mpi_session.h"
#include "tool.h"

struct ranks {
    int rank, count;               /* 0 and 1 without a launcher */
    const struct mpi_session *mpi; /* NULL without a launcher */
};
extern struct ranks ranks;

/* The first and the last call of the process; the latter returns `status`. */
int ranks_begin(void);
int ranks_end(int status);

/* Whether a launcher has started this process, and as which rank. */
int ranks_are_started(int *rank);
/* Becomes a rank of the launcher's.  TOOL_OK, or another status with a message. */
int ranks_join(void);

/* TOOL_USAGE on all ranks, after ranks_join(), unless all were given the same words. */
int ranks_compare(int argc, char **argv);
/* The end of a command that has joined: ranks_agree(), and MPI's end. */
int ranks_leave(int status);

/*
 * All ranks come here, each with a status: that of the lowest rank that failed, on all of
 * them, or TOOL_OK.
 */
int ranks_agree(int status);

/* The status of a call on all ranks; after a failure of MPI itself the job ends here. */
int ranks_status(const char *command, attend_status status, const attend_error *err);

#endif
