/* SPDX-License-Identifier: MIT */
/* Queries that a rank computes with one chunk of keys after another. */
#ifndef ATTEND_MPI_WORK_H
#define ATTEND_MPI_WORK_H

#include "mpi/nodes.h"

struct work {
    struct job *job;
    attend_rule rule; /* mask and bias have the rows of q */
    attend_view q;
    const attend_mpi_range *range; /* where these queries are in the sequence */
    int64_t ranges;
    bool sees_all; /* records of all rows, also of those that see none of a chunk */
    struct nodes nodes;
    /* Called between pieces of work, to keep messages moving. */
    void (*between)(void *arg);
    void *arg;
};

/*
 * Once all above is set, for chunks of at most most_keys.  Its nodes are to be freed in
 * any case.
 */
attend_status attendi_work_begin(struct work *w, int64_t most_keys, attend_error *err);

/*
 * Adds a chunk: its keys and values, and the column of mask and bias that its first key
 * has.  Does nothing but keep the node once the comm has stopped.
 */
attend_status attendi_work_add(struct work *w, const struct chunk *chunk,
                               const attend_view *k, const attend_view *v, int64_t column,
                               attend_error *err);

/*
 * Ends all rows into tensors that have them; lse may have no data.  Statistics go where
 * the call wants them: the rows are this rank's.
 */
attend_status attendi_work_end(struct work *w, const attend_tensor *out,
                               const attend_tensor *lse, attend_error *err);

#endif
