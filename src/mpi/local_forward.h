/* SPDX-License-Identifier: MIT */
/* attend_forward() for this rank's queries, once it can read all keys that they see. */
#ifndef ATTEND_MPI_LOCAL_FORWARD_H
#define ATTEND_MPI_LOCAL_FORWARD_H

#include "mpi/mpi_call.h"

/*
 * Writes all outputs of this rank.  `io` is that of the call, except that k and v span
 * the whole sequence; keys that no query of this rank sees may be unset.  Returns early,
 * with ATTEND_OK, once the call has been stopped.
 */
attend_status attendi_local_forward(struct mpi_call *call, const attend_io *io,
                                    attend_error *err);

#endif
