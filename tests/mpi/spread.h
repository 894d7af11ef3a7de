/* SPDX-License-Identifier: MIT */
/*
 * A problem that every rank knows whole, spread over the ranks of a communicator: each
 * takes its rows, computes with the others, and compares with what it computed alone.
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
    SLICED_EVENLY,   /* in the order of the ranks, and no ranges are given */
    SLICED_RAGGED,   /* 0, 1, 1023, 1024, 1025 and random lengths, in that order too */
    SLICED_ZIGZAG,   /* attend_mpi_zigzag() */
    SLICED_SHUFFLED, /* several ranges a rank, in any order */
    SLICED_LISTED, /* 0, 1, 1023, 1024 and 1025 on ranks 0 to 4; the last has the rest */
    SLICINGS
} slicing;

/* What rank `rank` of `ranks` holds of `all` rows; the same for the same seed. */
holding holding_of(slicing how, int64_t all, int rank, int ranks, uint64_t seed);

/* These rows of a view, without gaps; to be freed. */
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

/* Own rows of a problem, queries and keys in the same way or not. */
void spread_make(spread *s, const problem *whole, MPI_Comm comm, slicing queries,
                 slicing keys, uint64_t seed);
void spread_free(spread *s);

/* Whether own rows of a tensor are those of the whole, bit for bit, or so near. */
int spread_is_same(const spread *s, const attend_tensor *own, const attend_tensor *whole,
                   double within);
/* Computes O and LSE; whether they are those in the outputs of the whole problem. */
int spread_gives(spread *s, attend_context *ctx, int strategy, double within);

/* ---- tests on many ranks --------------------------------------------------- */

/* All ranks come here; those that wait sleep, so that the others can work. */
void ranks_meet(void);
int64_t ranks_sum(MPI_Comm comm, int64_t mine);
/* Whether a call returned the same, in the same words, on all ranks. */
int ranks_were_told_the_same(MPI_Comm comm, attend_status status,
                             const attend_error *err);
/*
 * A communicator of the first `ranks` ranks, or MPI_COMM_NULL where this is none.  It is
 * made once: many MPIs spin while they do so.
 */
MPI_Comm first_ranks(int ranks);
/* RUN() on all ranks: a test fails if it does on one, and one rank says so. */
void run_on_ranks(const char *name, void (*test)(void));
/* MPI_Init_thread() and the last line of the program. */
void ranks_begin(int *argc, char ***argv);
int ranks_finish(void);

#define RUN_RANKS(name) run_on_ranks(#name, name)

#endif
