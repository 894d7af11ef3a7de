/* SPDX-License-Identifier: MIT */
/* Rows of a sequence, from the ranks that hold them to those that want them. */
#ifndef ATTEND_MPI_REDISTRIBUTE_H
#define ATTEND_MPI_REDISTRIBUTE_H

#include "mpi/comm/ranges.h"

/*
 * `from` (b, h, rows held, d) and `to` (b, h, rows wanted, d) of this rank, of one dtype
 * and equal in b, h, d on all ranks.  Collective.  Every row that a rank wants is held by
 * some rank; several may want one.  Takes memory for two messages.
 */
attend_status attendi_redistribute(struct communicator *comm, const struct ranges *held,
                                   const struct ranges *wanted, const attend_view *from,
                                   const attend_tensor *to, attend_error *err);

#endif
