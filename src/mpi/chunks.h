/* SPDX-License-Identifier: MIT */
/*
 * The keys of the sequence, cut into chunks.  A chunk is a subtree of splits and belongs
 * to one rank.  A split belongs to the rank that holds its first key.  Unless
 * all its keys are in one range of that rank, the split straddles ranges: all its keys
 * are first copied to a buffer on that rank.
 */
#ifndef ATTEND_MPI_CHUNKS_H
#define ATTEND_MPI_CHUNKS_H

#include "mpi/mpi_call.h"

struct chunk {
    int64_t split,
        splits; /* 2^x splits that begin at a multiple of 2^x; fewer at the end */
    int64_t first_key, keys;
    int rank;
    bool straddles; /* its keys are in the buffer, not in the caller's tensor */
    int64_t row;    /* of its first key, in the caller's tensor or in the buffer */
};

struct chunks {
    int64_t count;
    struct chunk *list; /* sorted by key */
    int64_t max_keys;   /* of the largest chunk */
    attend_view k, v;   /* this rank's buffer: chunks that straddle ranks */
    void *k_data, *v_data;
};

/*
 * Collective.  The result is the same on all ranks except for k and v.  Free it even
 * after a failure.
 */
attend_status attendi_chunks_make(struct chunks *c, struct mpi_call *call,
                                  attend_error *err);
void attendi_chunks_free(struct chunks *c, struct mpi_call *call);

/* Keys and values of a chunk that belongs to this rank. */
attend_view attendi_chunk_keys(const struct chunks *c, const struct mpi_call *call,
                               const struct chunk *chunk);
attend_view attendi_chunk_values(const struct chunks *c, const struct mpi_call *call,
                                 const struct chunk *chunk);

#endif
