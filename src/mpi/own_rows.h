/* SPDX-License-Identifier: MIT */
/* The rows of a rank, once it can read all keys that they see. */
#ifndef ATTEND_MPI_OWN_ROWS_H
#define ATTEND_MPI_OWN_ROWS_H

#include "mpi/job.h"

/*
 * Outputs of all rows of this rank.  `io` is that of the call, but for k and v: they have
 * the rows of the sequence, those that are seen being set.  Ends early, with ATTEND_OK,
 * once the comm has stopped.
 */
attend_status attendi_own_rows(struct job *job, const attend_io *io, attend_error *err);

#endif
