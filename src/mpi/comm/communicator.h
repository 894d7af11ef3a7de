/* SPDX-License-Identifier: MIT */
/*
 * The communicator of one call: a duplicate of the caller's, the cost of the call on this
 * rank, and agreement between ranks on status and early stop.
 */
#ifndef ATTEND_MPI_COMMUNICATOR_H
#define ATTEND_MPI_COMMUNICATOR_H

#include <stdbool.h>

#include "mpi/comm/mpi_fail.h"

/* Tags of messages on the duplicated communicator. */
enum mpi_tag { TAG_ROWS = 1, TAG_CHUNK, TAG_PARTIALS, TAG_STOP };

enum { ALLGATHER_NUMBERS = 64 };

struct shared_memory;

struct communicator {
    MPI_Comm mpi;
    int rank, size;
    bool shares_memory; /* all ranks are on one machine */
    attend_mpi_dist dist;
    int64_t message_bytes; /* the longest message */
    attend_mpi_cost cost;
    int64_t memory; /* bytes allocated now */
    double start;
    bool stopped;       /* a rank has stopped the call: no more work */
    bool sent_stop;     /* this rank has sent stop messages to all others */
    attend_error error; /* the reason, if sent_stop */
    /*
     * Cached with the communicator: a rank that is out of memory can still take part in
     * collectives.
     */
    bool *received_stop;       /* [size] which ranks this rank has a stop message from */
    int64_t *allgather_buffer; /* [size][ALLGATHER_NUMBERS] */
    struct shared_memory *shared; /* reused by the next call */
};

/* Copies the caller's struct; `given` may be NULL. */
attend_status attendi_dist_read(const attend_mpi_dist *given, attend_mpi_dist *own,
                                attend_error *err);

/*
 * Finds the duplicate of `user_comm`, or makes it on the first call and caches it as an
 * attribute.  Returns the same status on all ranks.
 */
attend_status attendi_comm_open(struct communicator *comm, MPI_Comm user_comm,
                                const attend_mpi_dist *dist, attend_error *err);
void attendi_comm_close(struct communicator *comm);

/*
 * Agreement on a status: ATTEND_OK if every rank passes ATTEND_OK.  Else every rank gets
 * the status and the message of the lowest rank that failed, with its number.
 * Collective.
 */
attend_status attendi_comm_agree(struct communicator *comm, attend_status status,
                                 attend_error *err);

/*
 * For phases in which ranks work independently.  stop() sends stop messages to all other
 * ranks and stores the reason. should_continue() polls for stop messages and for the
 * caller's cancellation, which it passes on.  A rank that has stopped still sends and
 * receives what other ranks wait for.
 */
void attendi_comm_stop(struct communicator *comm, const attend_error *why);
bool attendi_comm_should_continue(struct communicator *comm);
/*
 * Ends such a phase.  Agrees on the status of the ranks that stopped, and receives the
 * stop messages that are still in flight.  Collective.
 */
attend_status attendi_comm_agree_stop(struct communicator *comm, attend_error *err);

/*
 * Allocates and counts the bytes.  NULL with a message in err on failure; count or size 0
 * is not a failure.
 */
void *attendi_mpi_alloc(struct communicator *comm, int64_t count, size_t size,
                        attend_error *err);
void attendi_mpi_free(struct communicator *comm, void *memory);

void attendi_comm_trace(const struct communicator *comm, char what, int peer,
                        int64_t first_key, double start, double end);

#endif
