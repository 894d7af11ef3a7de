/* SPDX-License-Identifier: MIT */
/* The rows of a sequence that each rank holds, or requests. */
#ifndef ATTEND_MPI_RANGES_H
#define ATTEND_MPI_RANGES_H

#include "mpi/comm/communicator.h"

/* Limits for one rank and for all ranks together.  Counts of MPI are int. */
#define ROWS_MAX ((int64_t)1 << 48)
#define RANGES_MAX ((int64_t)1 << 28)

/*
 * Ranges of rank r are range[start[r]] .. range[start[r + 1] - 1], in the order of its
 * local rows.
 */
struct ranges {
    int64_t all; /* rows of the sequence */
    int64_t *start;
    attend_mpi_range *range;
};

/* Allocates `count` ranges of all ranks; `start` is zeroed. */
attend_status attendi_ranges_make(struct ranges *r, struct communicator *comm,
                                  int64_t all, int64_t count, attend_error *err);
void attendi_ranges_free(struct ranges *r, struct communicator *comm);

/*
 * Gathers the ranges of all ranks.  Each rank passes its `count` ranges, or NULL for
 * `rows` rows that follow those of the rank before.  EINVAL, the same on all ranks,
 * unless the ranges cover the sequence exactly once.  `name` is for messages.
 * Collective.
 */
attend_status attendi_ranges_allgather(struct ranges *r, struct communicator *comm,
                                       const char *name, const attend_mpi_range *own,
                                       int64_t count, int64_t rows, attend_error *err);

/* Every rank has the whole sequence: rows 0 .. all - 1. */
attend_status attendi_ranges_replicated(struct ranges *r, struct communicator *comm,
                                        int64_t all, attend_error *err);

/* Number of rows of a rank. */
int64_t attendi_ranges_rows(const struct ranges *r, int rank);

#endif
