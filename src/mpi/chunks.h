/* SPDX-License-Identifier: MIT */
/*
 * The keys of the sequence in chunks: subtrees of splits, each on one rank.  A split
 * belongs to the rank that holds its first key.  Keys of it that another rank holds are
 * moved there first, to memory beside the caller's.
 */
#ifndef ATTEND_MPI_CHUNKS_H
#define ATTEND_MPI_CHUNKS_H

#include "mpi/job.h"

struct chunk {
    int64_t split, splits; /* 2^x splits that begin at a multiple of 2^x, or the end */
    int64_t first_key, keys;
    int rank;
    bool moved;  /* its keys lie beside the caller's */
    int64_t row; /* of its first key, in the caller's tensor or beside it, on its rank */
};

struct chunks {
    int64_t count;
    struct chunk *list; /* in the order of keys */
    int64_t most_keys;  /* of a chunk */
    attend_view k, v;   /* this rank's moved keys and values */
    void *k_data, *v_data;
};

/* Collective; the same on all ranks but for k and v.  Free in any case. */
attend_status attendi_chunks_make(struct chunks *c, struct job *job, attend_error *err);
void attendi_chunks_free(struct chunks *c, struct job *job);

/* Keys and values of a chunk of this rank. */
attend_view attendi_chunk_keys(const struct chunks *c, const struct job *job,
                               const struct chunk *chunk);
attend_view attendi_chunk_values(const struct chunks *c, const struct job *job,
                                 const struct chunk *chunk);

#endif
