/* SPDX-License-Identifier: MIT */
/*
 * attend: attention over tensors that are spread over the ranks of an MPI communicator.
 *
 * Every rank holds some queries and some keys with their values, along the sequence and
 * of any lengths, none included.  An output stays where its query is.  Results have the
 * bits of attend_forward() over the whole sequence, for any number of ranks and any
 * slicing, where all ranks use the same kernel set (with `ref`, they lie within the
 * bound): keys are summed in splits of ATTEND_SPLIT_KEYS, counted from key 0 of the
 * sequence, and these combine in the same tree.
 *
 * Calls are collective: every rank of the communicator makes them, with the same rule,
 * dtype, heads and widths.  What differs is found and named.  A call that fails on one
 * rank fails on all, with the same status and message, the lowest rank's that has one.
 * The communicator is duplicated, once, and errors of MPI are returned, not fatal.
 * MPI_THREAD_FUNNELED is enough: the caller's thread alone calls MPI, while the threads
 * of the context compute.  docs/MPI.md explains and has the costs.
 */
#ifndef ATTEND_MPI_H
#define ATTEND_MPI_H

#include <mpi.h>

#include "mpi_dist.h"
#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- attention ------------------------------------------------------------ */

/*
 * attend_forward() over the whole sequence.  `io` has this rank's rows.  `rule` is that
 * of the sequence: positions, windows, key lengths and bottom-right alignment count all
 * queries and all keys; first_query is to be 0.  Mask and bias have this rank's query
 * rows by all keys, or 1.  `dist` may be NULL for slices in the order of the ranks.
 *
 * Row statistics move as the rest does.  What is asked for is the same on all ranks, also
 * where there are no rows; stats.classes is [nb][all keys].  stats.summaries are of whole
 * heads and refused: gather stats.raw, and call attend_stats_merge().  Weights (nb, hq,
 * this rank's nq, all keys) are as wide as all keys: ATTEND_MPI_AUTO gathers for them,
 * and the other strategies refuse them.
 *
 * After EINVAL no output has been written, after another failure some may have been.
 */
ATTEND_API attend_status attend_mpi_forward(MPI_Comm comm, attend_context *ctx,
                                            const attend_rule *rule, const attend_io *io,
                                            const attend_mpi_dist *dist,
                                            attend_error *err);

/*
 * attend_inspect() over the whole sequence.  q and lse have this rank's queries, k its
 * keys.  column_mass, column_max and column_last are of this rank's keys, (nb, hq, 1, nk
 * of this rank); `pooled`, `zoom` and `probe_weights` are whole, and the same on every
 * rank.  Without ALiBi all but the map have the bits of attend_inspect().  The blocks of
 * the map, and with ALiBi everything, are the same within rounding: their sums have the
 * same terms in another order.
 */
ATTEND_API attend_status attend_mpi_inspect(MPI_Comm comm, attend_context *ctx,
                                            const attend_rule *rule,
                                            const attend_inspection *inspection,
                                            const attend_mpi_dist *dist,
                                            attend_error *err);

#ifdef __cplusplus
}
#endif

#endif
