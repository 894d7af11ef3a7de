/* SPDX-License-Identifier: MIT */
/* Masks and biases for a rank that computes all queries with some of the keys. */
#ifndef ATTEND_MPI_REDISTRIBUTE_MASK_H
#define ATTEND_MPI_REDISTRIBUTE_MASK_H

#include "mpi/mpi_call.h"

/*
 * `view` is a mask or bias: local rows by all keys, or 1.  It becomes all rows by this
 * rank's ranges of `columns`, in their order.  Free *data with attendi_mpi_free().  A
 * view without data stays as it is.  Collective.
 */
attend_status attendi_redistribute_mask(struct mpi_call *call,
                                        const struct ranges *columns, attend_view *view,
                                        void **data, attend_error *err);

#endif
