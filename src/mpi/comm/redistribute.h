/* SPDX-License-Identifier: MIT */
/*
 * Redistribution of rows of a sequence, from the ranks that hold them to the ranks that
 * request them.
 */
#ifndef ATTEND_MPI_REDISTRIBUTE_H
#define ATTEND_MPI_REDISTRIBUTE_H

#include "mpi/comm/ranges.h"

/*
 * `from` is (b, h, rows held, d) and `to` is (b, h, rows requested, d) of this rank.
 * dtype, b, h and d are equal on all ranks.  Every requested row is held by some rank;
 * several ranks may request the same row.  Allocates memory for two messages.
 * Collective.
 */
attend_status attendi_redistribute(struct communicator *comm, const struct ranges *held,
                                   const struct ranges *wanted, const attend_view *from,
                                   const attend_tensor *to, attend_error *err);

#endif
