/* SPDX-License-Identifier: MIT */
/*
 * Records of rows over subtrees of the splits.  Two that are the halves of a subtree
 * become one as soon as both are there, so that few are kept, in whatever order they
 * come.
 */
#ifndef ATTEND_MPI_NODES_H
#define ATTEND_MPI_NODES_H

#include "mpi/chunks.h"

/*
 * A subtree and what is known of its rows: records, (nb, hq, rows, dv + 2), and after
 * them the raw sums of statistics, (nb, hq, rows, job->sums).
 */
struct node {
    int64_t split, splits;
    int64_t first_key, keys;
    void *data;
};

struct nodes {
    struct job *job;
    int64_t rows;
    int64_t count, room;
    struct node *list; /* in the order of splits */
    int64_t spare_count;
    void **spare; /* records' memory for the next nodes */
};

void attendi_nodes_begin(struct nodes *n, struct job *job, int64_t rows);
void attendi_nodes_free(struct nodes *n);

/* Memory for the records of one node; NULL with a message. */
void *attendi_nodes_memory(struct nodes *n, attend_error *err);
/* Takes the node, and its memory. */
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

/*
 * Ends rows first .. first + count - 1, queries from first_query on of the sequence, into
 * `out` and `lse`, which have these rows.
 */
attend_status attendi_nodes_end(const struct nodes *n, int64_t first_query, int64_t first,
                                int64_t count, const attend_tensor *out,
                                const attend_tensor *lse, attend_error *err);

/* The statistics of all rows, where they are wanted.  No more can be added after it. */
attend_status attendi_nodes_end_stats(struct nodes *n, attend_error *err);

#endif
