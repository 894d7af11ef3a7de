/* SPDX-License-Identifier: MIT */
/* Requests for row statistics over some of the keys. */
#ifndef ATTEND_MPI_STATS_H
#define ATTEND_MPI_STATS_H

#include "mpi/mpi_call.h"

/*
 * The caller's request, reduced to raw sums: they go to `raw`, (nb, hq, rows, raw size).
 * `classes` are those of the keys summed.
 */
attend_stats attendi_stats_raw_request(const struct mpi_call *call,
                                       const attend_tensor *raw, const int32_t *classes);

/*
 * A copy of the classes of keys first .. first + count - 1.  Free it with
 * attendi_mpi_free(); NULL if out of memory.
 */
int32_t *attendi_stats_classes(struct mpi_call *call, int64_t first, int64_t count,
                               attend_error *err);

#endif
