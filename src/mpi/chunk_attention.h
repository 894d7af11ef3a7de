/* SPDX-License-Identifier: MIT */
/*
 * Attention of a set of queries with one chunk of keys after another: split-KV partials,
 * which are reduced as they are computed.
 */
#ifndef ATTEND_MPI_CHUNK_ATTENTION_H
#define ATTEND_MPI_CHUNK_ATTENTION_H

#include "mpi/reduction.h"

struct chunk_attention {
    struct mpi_call *call;
    attend_rule rule; /* mask and bias have the rows of q */
    attend_view q;
    const attend_mpi_range *range; /* positions of these queries in the sequence */
    int64_t ranges;
    bool computes_all_rows; /* also rows that see no key of a chunk */
    struct reduction reduction;
    /* Called between work items, for MPI progress.  May be NULL. */
    void (*progress)(void *arg);
    void *progress_arg;
};

/*
 * Call once the fields above are set, for chunks of at most max_keys.  The reduction has
 * to be freed even if this fails.
 */
attend_status attendi_chunk_attention_begin(struct chunk_attention *a, int64_t max_keys,
                                            attend_error *err);

/*
 * Computes with a chunk and adds its partials.  `column` is the column of mask and bias
 * of its first key.  Does nothing once the call has been stopped.
 */
attend_status attendi_chunk_attention_add(struct chunk_attention *a,
                                          const struct chunk *chunk, const attend_view *k,
                                          const attend_view *v, int64_t column,
                                          attend_error *err);

/*
 * Combines the partials of all rows into `out` and `lse`, which have the rows of q; lse
 * may have no data.  Statistics go to the caller's io.stats, so the rows have to be this
 * rank's.
 */
attend_status attendi_chunk_attention_finish(struct chunk_attention *a,
                                             const attend_tensor *out,
                                             const attend_tensor *lse, attend_error *err);

#endif
