/* SPDX-License-Identifier: MIT */
/* Masks and biases of all queries, for a rank that computes with some keys. */
#ifndef ATTEND_MPI_RULE_COLUMNS_H
#define ATTEND_MPI_RULE_COLUMNS_H

#include "mpi/job.h"

/*
 * `view`, a mask or bias of own rows by all keys or 1, becomes one of all rows by the
 * columns that `columns` names for this rank, in their order.  *data is to be freed.
 * Collective; without data it stays as it is.
 */
attend_status attendi_rule_columns(struct job *job, const struct ranges *columns,
                                   attend_view *view, void **data, attend_error *err);

#endif
