/* SPDX-License-Identifier: MIT */
/*
 * A problem distributed over the ranks of a communicator.  Every rank has the whole
 * problem: it takes its rows, makes the collective call, and compares with its own result
 * of the whole.
 */
#ifndef TESTS_SPREAD_H
#define TESTS_SPREAD_H

#include <attend/mpi.h>

#include "support/problems.h"

enum { SPREAD_RANGES = 4 };

/* The rows of one sequence that a rank holds. */
typedef struct holding {
    attend_mpi_range range[SPREAD_RANGES];
    int64_t ranges, rows;
} holding;

typedef enum slicing {
    SLICED_EVENLY,   /* in rank order; no ranges are passed */
    SLICED_RAGGED,   /* 0, 1, 1023, 1024, 1025 and random lengths, in rank order */
    SLICED_ZIGZAG,   /* attend_mpi_zigzag() */
    SLICED_SHUFFLED, /* several ranges a rank, in any order */
    SLICED_LISTED, /* 0, 1, 1023, 1024 and 1025 on ranks 0 to 4; the last has the rest */
    SLICINGS
} slicing;

/* The rows of `all` that rank `rank` of `ranks` holds.  Deterministic for a seed. */
holding holding_of(slicing how, int64_t all, int rank, int ranks, uint64_t seed);

/* A contiguous copy of these rows; to be freed. */
attend_tensor take_rows(const attend_view *view, const holding *rows);

typedef struct spread {
    MPI_Comm comm;
    int rank, ranks;
    const problem *whole;
    holding queries, keys;
    attend_rule rule;
    attend_io io; /* this rank's; outputs poisoned */
    attend_mpi_dist dist;
    attend_mpi_cost cost;
    attend_tensor owned[8];
    int owned_count;
} spread;

/* Takes this rank's rows; queries and keys may be sliced differently. */
void spread_make(spread *s, const problem *whole, MPI_Comm comm, slicing queries,
                 slicing keys, uint64_t seed);
void spread_free(spread *s);
#define auto_spread FREED(spread_free) spread
/* A spread that is made, and freed at the end of its block. */
#define SPREAD(name, ...)                                                                \
    auto_spread name;                                                                    \
    spread_make(&name, __VA_ARGS__)

/* Whether local rows equal those of the whole tensor: bit for bit, or within `within`. */
int spread_is_same(const spread *s, const attend_tensor *own, const attend_tensor *whole,
                   double within);
/* Computes O and LSE, and compares with the outputs of the whole problem. */
int spread_matches(spread *s, attend_context *ctx, int strategy, double within);

/* ---- tests on many ranks --------------------------------------------------- */

/* A barrier.  Waiting ranks sleep, so that the others get the cores. */
void ranks_barrier(void);
int64_t ranks_sum(MPI_Comm comm, int64_t mine);
/* Whether a call returned the same status and message on all ranks. */
int ranks_returned_the_same(MPI_Comm comm, attend_status status, const attend_error *err);
/*
 * A communicator of the first `ranks` ranks; MPI_COMM_NULL on all others.  It is made
 * once, since many MPIs spin while they make one.
 */
MPI_Comm first_ranks(int ranks);
/* All tests on all ranks: one fails if it fails on any, and rank 0 prints the result. */
void run_all_on_ranks(void);
/* main(): `run` between MPI_Init_thread() and MPI_Finalize(), and the last line. */
int ranks_main(int argc, char **argv, void (*run)(void));

#endif
