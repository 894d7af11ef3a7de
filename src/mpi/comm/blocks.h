/* SPDX-License-Identifier: MIT */
/*
 * Messages of a whole tensor (b, h, l, d), sent from where it lies, whatever its strides
 * are, to one without gaps.  It is cut into blocks, the same on both ends: one head each,
 * parts of a head that is too long for a message, or several heads that are short.
 */
#ifndef ATTEND_MPI_BLOCKS_H
#define ATTEND_MPI_BLOCKS_H

#include "mpi/comm/mpi_team.h"

/* Messages of a tensor of these sizes. */
int64_t attendi_count_blocks(const struct team *team, const int64_t size[4],
                             attend_dtype dtype);

/*
 * Starts all of them, to or from `peer`: requests[*count] and on, *count rising.  The
 * data of a view that receives are written.  Returns MPI's result.
 */
int attendi_post_blocks(const struct team *team, const attend_view *view, int peer,
                        bool sends, MPI_Request *requests, int *count);

#endif
