/* SPDX-License-Identifier: MIT */
/*
 * attend: which rank holds what, and how it moves.  The part of attend/mpi.h that needs
 * no header of MPI.
 */
#ifndef ATTEND_MPI_DIST_H
#define ATTEND_MPI_DIST_H

#include "attend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- who holds what ------------------------------------------------------- */

/* Rows first .. first + count - 1 of a sequence. */
typedef struct attend_mpi_range {
    int64_t first, count;
} attend_mpi_range;

/*
 * A contiguous slice of `all` rows for one of `ranks` ranks: as even as whole splits of
 * ATTEND_SPLIT_KEYS allow where there are enough of them, else as even as possible.
 */
ATTEND_API attend_mpi_range attend_mpi_slice(int64_t all, int rank, int ranks);

/*
 * Two slices of 2 * ranks: number `rank` and number 2 * ranks - 1 - rank.  Held so, the
 * queries of a causal problem are the same work for every rank; contiguous slices leave
 * the last rank with (2 ranks - 1) / ranks of its share.
 */
ATTEND_API void attend_mpi_zigzag(int64_t all, int rank, int ranks,
                                  attend_mpi_range ranges[2]);

/* ---- how it moves --------------------------------------------------------- */

typedef enum attend_mpi_strategy {
    ATTEND_MPI_AUTO = 0, /* by shape: docs/MPI.md */
    /*
     * Chunks of keys go from the rank that holds them to each rank that sees them, in the
     * order of a ring, while others are computed with.
     */
    ATTEND_MPI_RING = 1,
    ATTEND_MPI_GATHER = 2, /* every rank gets all keys that it sees, then computes */
    /* Queries go to the keys, partial results come back, in a tree. */
    ATTEND_MPI_QUERY = 3,
    /*
     * Ranks of one machine put all into memory that they share, and take work from there
     * until none is left, whoever holds the queries.
     */
    ATTEND_MPI_SHARED = 4
} attend_mpi_strategy;

/* What one call did on one rank. */
typedef struct attend_mpi_cost {
    int64_t strategy;                 /* the one that was chosen */
    int64_t sent, received, messages; /* bytes, and how many messages they were sent in */
    int64_t memory; /* bytes that the call had allocated at most, besides the context's */
    double seconds, computing, waiting;
} attend_mpi_cost;

/*
 * A piece of time on this rank: 'c' computing with the keys from first_key on, 'w'
 * waiting, 's' and 'r' a chunk under way to and from `peer`.  Seconds of MPI_Wtime().
 */
typedef void (*attend_mpi_trace)(void *user, char what, int peer, int64_t first_key,
                                 double start, double end);

/* How the tensors are spread.  Start from attend_mpi_dist_default(). */
typedef struct attend_mpi_dist {
    size_t struct_size;
    /*
     * The rows of the sequence that q and out, and k and v, of this rank have, one range
     * after the other.  NULL, on all ranks: slices in the order of the ranks.
     */
    const attend_mpi_range *queries, *keys;
    int64_t query_ranges, key_ranges;
    int64_t strategy;   /* an attend_mpi_strategy, the same on all ranks */
    int64_t chunk_keys; /* most keys of a chunk; 0: 2048; becomes a power of two splits */
    /* Asked between pieces of work; if not 0, on any rank, all return ECANCELLED. */
    int (*cancelled)(void *user);
    void *cancel_user;
    attend_mpi_trace trace; /* NULL: none */
    void *trace_user;
    attend_mpi_cost *cost; /* filled if not NULL */
} attend_mpi_dist;

static inline attend_mpi_dist attend_mpi_dist_default(void)
{
    attend_mpi_dist dist;

    dist.struct_size = sizeof dist;
    dist.queries = NULL;
    dist.keys = NULL;
    dist.query_ranges = 0;
    dist.key_ranges = 0;
    dist.strategy = ATTEND_MPI_AUTO;
    dist.chunk_keys = 0;
    dist.cancelled = NULL;
    dist.cancel_user = NULL;
    dist.trace = NULL;
    dist.trace_user = NULL;
    dist.cost = NULL;
    return dist;
}

#ifdef __cplusplus
}
#endif

#endif
