/* SPDX-License-Identifier: MIT */
/*
 * Point-to-point messages of a whole tensor (b, h, l, d).  The sender's tensor may have
 * any strides and is not packed first; the receiver's is contiguous.  The tensor is cut
 * into the same blocks on both ends: one head each, parts of a head that is longer than a
 * message, or several short heads.
 */
#ifndef ATTEND_MPI_TENSOR_MESSAGES_H
#define ATTEND_MPI_TENSOR_MESSAGES_H

#include "mpi/comm/communicator.h"

/* Number of messages for a tensor of these sizes. */
int64_t attendi_tensor_messages_count(const struct communicator *comm,
                                      const int64_t size[4], attend_dtype dtype);

/*
 * Posts all sends to, or receives from, `peer`.  Appends the requests at requests[*count]
 * and advances *count.  A receive writes to the data of `view`.  Returns MPI's result.
 */
int attendi_tensor_messages_post(const struct communicator *comm, const attend_view *view,
                                 int peer, bool sends, MPI_Request *requests, int *count);

#endif
