/* SPDX-License-Identifier: MIT */
/*
 * Records of rows over subtrees of the splits.  Two that are the halves of a subtree
 * become one as soon as both are there, so that few are kept, in whatever order they
 * come.  Rows are joined band by band, while the newest records are in the cache.
 */
#ifndef ATTEND_MPI_NODES_H
#define ATTEND_MPI_NODES_H

#include "mpi/chunks.h"

/* Rows that are computed and ended together, `query` of the sequence being the first. */
struct band {
    int64_t query, row, rows;
};

/*
 * A subtree and what is known of its rows: records, (nb, hq, rows, dv + 2), and after
 * them the raw sums of statistics, (nb, hq, rows, job->sums).
 */
struct node {
    int64_t split, splits;
    int64_t first_key, keys;
    void *data;
    bool *seen; /* [bands]; those that are not see none of the keys: no records */
};

struct nodes {
    struct job *job;
    int64_t rows;
    int64_t bands;
    struct band *band;
    int64_t count, room;
    struct node *list; /* in the order of splits */
    int64_t spare_count;
    void **spare; /* memory for the next nodes */
};

/* What a new node is joined with, all at once: the subtree of its siblings and theirs. */
struct join {
    int64_t place;        /* of the new node in the list */
    int64_t first, count; /* nodes of the list that it is joined with */
    struct node whole; /* what comes of it, in the memory of the first; count 0: unset */
};

/*
 * For the rows of `ranges`, which are cut into bands of at most `band_rows`.  Free in any
 * case.
 */
attend_status attendi_nodes_begin(struct nodes *n, struct job *job,
                                  const attend_mpi_range *range, int64_t ranges,
                                  int64_t band_rows, attend_error *err);
void attendi_nodes_free(struct nodes *n);

/* Memory for a node that no band has seen; false with a message. */
bool attendi_node_alloc(struct nodes *n, struct node *node, attend_error *err);
void attendi_node_free(const struct nodes *n, struct node *node);

/* Finds out what a node will be joined with, and makes room for it in the list. */
attend_status attendi_nodes_plan(struct nodes *n, const struct node *node,
                                 struct join *join, attend_error *err);
/*
 * Joins heads head .. head + heads - 1 of one band.  `records` and `sums` are those of
 * the new node, for these heads and rows; records NULL: it sees none of the keys.
 */
attend_status attendi_nodes_join(const struct nodes *n, const struct join *join,
                                 const struct node *node, int64_t band, int64_t head,
                                 int64_t heads, const attend_partials *records,
                                 const attend_tensor *sums, attend_error *err);
/* After all heads and bands: the list has the whole.  Takes the memory of the node. */
void attendi_nodes_replace(struct nodes *n, const struct join *join,
                           const struct node *node);

/* All of that for a node that has records of all rows.  Takes its memory. */
attend_status attendi_nodes_add(struct nodes *n, struct node node, attend_error *err);

/* Bytes of the memory of a node. */
int64_t attendi_node_bytes(const struct nodes *n);

/* The records and the sums of a node as the engine takes them, some of its rows. */
attend_partials attendi_node_partials(const struct nodes *n, const struct node *node,
                                      int64_t first, int64_t count);

attend_tensor attendi_node_sums(const struct nodes *n, const struct node *node,
                                int64_t first, int64_t count);

/* A chunk as a node that has no records yet. */
struct node attendi_chunk_node(const struct chunk *chunk);

/* Ends the rows of a band into `out` and `lse`, which have these rows. */
attend_status attendi_nodes_end(const struct nodes *n, int64_t band,
                                const attend_tensor *out, const attend_tensor *lse,
                                attend_error *err);

/* The statistics of all rows, where they are wanted.  No more can be added after it. */
attend_status attendi_nodes_end_stats(struct nodes *n, attend_error *err);

#endif
