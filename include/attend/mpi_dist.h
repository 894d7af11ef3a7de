/* SPDX-License-Identifier: MIT */
/*
 * attend: the distribution of tensors over ranks, and the strategies to communicate.  The
 * part of attend/mpi.h that does not include <mpi.h>.
 */
#ifndef ATTEND_MPI_DIST_H
#define ATTEND_MPI_DIST_H

#include "attend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- distribution of rows ------------------------------------------------- */

/* Rows first .. first + count - 1 of a sequence. */
typedef struct attend_mpi_range {
    int64_t first, count;
} attend_mpi_range;

/*
 * A contiguous slice of `all` rows for one of `ranks` ranks.  Slices are whole splits of
 * ATTEND_SPLIT_KEYS if there is at least one split for each rank, and as even as that
 * allows; else they are as even as possible.
 */
ATTEND_API attend_mpi_range attend_mpi_slice(int64_t all, int rank, int ranks);

/*
 * Zigzag slices, for load balance: of 2 * ranks slices, number `rank` and number
 * 2 * ranks - 1 - rank.  The queries of a causal problem are then the same work for every
 * rank.  With contiguous slices the last rank has (2 ranks - 1) / ranks times the mean.
 */
ATTEND_API void attend_mpi_zigzag(int64_t all, int rank, int ranks,
                                  attend_mpi_range ranges[2]);

/* ---- communication -------------------------------------------------------- */

typedef enum attend_mpi_strategy {
    ATTEND_MPI_AUTO = 0, /* by shape: docs/MPI.md */
    /*
     * Chunks of keys are sent from the rank that holds them to each rank that sees them,
     * in ring order, overlapped with computation.
     */
    ATTEND_MPI_RING = 1,
    ATTEND_MPI_GATHER = 2, /* every rank gathers all keys that it sees, then computes */
    /* Queries are sent to all ranks; partials are reduced back along a binary tree. */
    ATTEND_MPI_QUERY = 3,
    /*
     * Ranks of one machine copy their tensors to shared memory.  Work is scheduled
     * dynamically: a rank computes queries of any rank.
     */
    ATTEND_MPI_SHARED = 4
} attend_mpi_strategy;

/* Cost of one call on one rank. */
typedef struct attend_mpi_cost {
    int64_t strategy;                 /* the strategy used */
    int64_t sent, received, messages; /* bytes, and number of messages sent */
    int64_t memory; /* peak of the bytes allocated by the call, without the context's */
    double seconds, computing, waiting;
} attend_mpi_cost;

/*
 * An interval of time on this rank: 'c' computing with the keys from first_key on, 'w'
 * waiting, 's' and 'r' a chunk in flight to and from `peer`.  Seconds of MPI_Wtime().
 */
typedef void (*attend_mpi_trace)(void *user, char what, int peer, int64_t first_key,
                                 double start, double end);

/* How the tensors are distributed.  Start from attend_mpi_dist_default(). */
typedef struct attend_mpi_dist {
    size_t struct_size;
    /*
     * The rows of the sequence that this rank holds: `queries` for q and the outputs,
     * `keys` for k and v.  The local tensors have one range after the other.  NULL, on
     * all ranks: slices in rank order.
     */
    const attend_mpi_range *queries, *keys;
    int64_t query_ranges, key_ranges;
    int64_t strategy;   /* an attend_mpi_strategy, the same on all ranks */
    int64_t chunk_keys; /* maximum; rounded to a power of two of splits; 0: 2048 */
    /* Polled between work items; if not 0 on any rank, all ranks return ECANCELLED. */
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
