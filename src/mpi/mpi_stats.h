/* SPDX-License-Identifier: MIT */
/* Requests for statistics of rows, for those who have some of the keys. */
#ifndef ATTEND_MPI_STATS_H
#define ATTEND_MPI_STATS_H

#include "mpi/job.h"

/*
 * What the caller asks for, as the request for raw sums alone, (nb, hq, rows, raw size)
 * as `raw` has them; `classes` are of the keys that are summed.
 */
attend_stats attendi_stats_sums(const struct job *job, const attend_tensor *raw,
                                const int32_t *classes);

/* The classes of keys first .. first + count - 1, to be freed; NULL: no memory. */
int32_t *attendi_stats_classes(struct job *job, int64_t first, int64_t count,
                               attend_error *err);

#endif
