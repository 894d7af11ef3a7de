/* SPDX-License-Identifier: MIT */
/*
 * Reduction tree of split-KV partials.  Each entry has the partials (m, l, acc) of all
 * rows over a subtree of splits.  Two sibling subtrees are reduced to their parent as
 * soon as both are present, in any order of arrival, so few are kept.  The reduction goes
 * row block by row block, while the newest partials are in the cache.
 */
#ifndef ATTEND_MPI_REDUCTION_H
#define ATTEND_MPI_REDUCTION_H

#include "mpi/chunks.h"

/*
 * Rows that are computed and finished together.  `query` is the position of the first in
 * the sequence.
 */
struct row_block {
    int64_t query, row, rows;
};

/*
 * A subtree of splits with the partials of all rows, (nb, hq, rows, dv + 2), followed by
 * the raw sums of statistics, (nb, hq, rows, call->raw_size).
 */
struct subtree {
    int64_t split, splits;
    int64_t first_key, keys;
    void *data;
    bool *seen; /* [row_blocks]; false: sees none of the keys, no partials */
};

struct reduction {
    struct mpi_call *call;
    int64_t rows;
    int64_t row_blocks;
    struct row_block *row_block;
    int64_t count, capacity;
    struct subtree *list; /* sorted by split */
    int64_t spare_count;
    void **spare; /* memory for the next subtrees */
};

/* How a new subtree is reduced: all levels of siblings at once. */
struct reduce_plan {
    int64_t place;         /* of the new subtree in the list */
    int64_t first, count;  /* subtrees of the list that it is reduced with */
    struct subtree result; /* in the memory of the first; unset if count is 0 */
};

/*
 * For the rows of `ranges` ranges, cut into row blocks of at most block_rows.  Free it
 * even after a failure.
 */
attend_status attendi_reduction_begin(struct reduction *r, struct mpi_call *call,
                                      const attend_mpi_range *range, int64_t ranges,
                                      int64_t block_rows, attend_error *err);
void attendi_reduction_free(struct reduction *r);

/* Memory for a subtree, with all row blocks unseen.  False with a message in err. */
bool attendi_subtree_alloc(struct reduction *r, struct subtree *subtree,
                           attend_error *err);
void attendi_subtree_free(const struct reduction *r, struct subtree *subtree);

/*
 * Finds the subtrees that a new one is reduced with, and reserves an entry of the list.
 */
attend_status attendi_reduction_plan(struct reduction *r, const struct subtree *subtree,
                                     struct reduce_plan *plan, attend_error *err);
/*
 * Reduces heads head .. head + heads - 1 of one row block.  `partials` and `sums` are
 * those of the new subtree for these heads and rows; partials NULL: these rows see none
 * of its keys.
 */
attend_status attendi_reduction_reduce_rows(const struct reduction *r,
                                            const struct reduce_plan *plan,
                                            const struct subtree *subtree, int64_t block,
                                            int64_t head, int64_t heads,
                                            const attend_partials *partials,
                                            const attend_tensor *sums, attend_error *err);
/*
 * Call after all heads and row blocks: updates the list.  Takes over the memory of
 * `subtree`.
 */
void attendi_reduction_commit(struct reduction *r, const struct reduce_plan *plan,
                              const struct subtree *subtree);

/* All three steps, for a subtree with partials of all rows.  Takes over its memory. */
attend_status attendi_reduction_add(struct reduction *r, struct subtree subtree,
                                    attend_error *err);

/* Bytes of the partials and sums of a subtree. */
int64_t attendi_subtree_bytes(const struct reduction *r);

/* Partials and raw sums of some rows of a subtree, as arguments for the engine. */
attend_partials attendi_subtree_partials(const struct reduction *r,
                                         const struct subtree *subtree, int64_t first,
                                         int64_t count);

attend_tensor attendi_subtree_sums(const struct reduction *r,
                                   const struct subtree *subtree, int64_t first,
                                   int64_t count);

/* The subtree of a chunk, without memory. */
struct subtree attendi_chunk_subtree(const struct chunk *chunk);

/* Combines the partials of a row block into `out` and `lse`, which have its rows. */
attend_status attendi_reduction_finish(const struct reduction *r, int64_t block,
                                       const attend_tensor *out, const attend_tensor *lse,
                                       attend_error *err);

/* Writes the statistics of all rows, if requested.  Nothing can be added afterwards. */
attend_status attendi_reduction_finish_stats(struct reduction *r, attend_error *err);

#endif
