/* SPDX-License-Identifier: MIT */
/*
 * Messages of a whole tensor (b, h, l, d), sent from where it lies, whatever its strides
 * are, to one without gaps.  It is cut into blocks, the same on both ends: one head each,
 * parts of a head that is too long for a message, or several heads that are short.
 */
#ifndef ATTEND_MPI_TENSOR_MESSAGES_H
#define ATTEND_MPI_TENSOR_MESSAGES_H

#include "mpi/comm/communicator.h"

/* Messages of a tensor of these sizes. */
int64_t attendi_tensor_messages_count(const struct communicator *comm,
                                      const int64_t size[4], attend_dtype dtype);

/*
 * Starts all of them, to or from `peer`: requests[*count] and on, *count rising.  The
 * data of a view that receives are written.  Returns MPI's result.
 */
int attendi_tensor_messages_post(const struct communicator *comm, const attend_view *view,
                                 int peer, bool sends, MPI_Request *requests, int *count);

#endif
