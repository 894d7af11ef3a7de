/* SPDX-License-Identifier: MIT */
/*
 * attend: attention over tensors that are distributed over the ranks of an MPI
 * communicator.
 *
 * The sequence is distributed.  Every rank holds some queries, and some keys with their
 * values, of any lengths, 0 included.  An output is on the rank that holds its query.
 * Results have the bits of attend_forward() over the whole sequence, for any number of
 * ranks and any slicing, if all ranks use the same kernel set (with `ref`, they are
 * within the error bound): keys are summed in splits of ATTEND_SPLIT_KEYS, counted from
 * key 0 of the sequence, and the partials are reduced in the same tree.
 *
 * Calls are collective: every rank of the communicator makes them, with the same rule,
 * dtype, heads and widths.  Ranks compare these, and an error names the difference.  A
 * call that fails on one rank fails on all, with the same status and message: those of
 * the lowest rank that failed.  The communicator is duplicated once, and MPI errors are
 * returned, not fatal.  MPI_THREAD_FUNNELED is enough: only the caller's thread calls
 * MPI, while the threads of the context compute.  docs/MPI.md explains the strategies and
 * their costs.
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
 * queries and all keys; first_query has to be 0.  Mask and bias have this rank's query
 * rows by all keys, or 1.  `dist` may be NULL: slices in rank order.
 *
 * Row statistics work with every strategy.  The request has to be the same on all ranks,
 * also on those without rows; stats.classes is [nb][all keys].  stats.summaries is
 * refused, since summaries need whole heads: gather stats.raw and call
 * attend_stats_merge().  Weights are (nb, hq, this rank's nq, all keys): ATTEND_MPI_AUTO
 * chooses ATTEND_MPI_GATHER for them, and the other strategies refuse them.
 *
 * After EINVAL no output has been written; after other failures some may have been.
 */
ATTEND_API attend_status attend_mpi_forward(MPI_Comm comm, attend_context *ctx,
                                            const attend_rule *rule, const attend_io *io,
                                            const attend_mpi_dist *dist,
                                            attend_error *err);

/*
 * attend_inspect() over the whole sequence.  q and lse have this rank's queries, k its
 * keys.  column_mass, column_max and column_last are of this rank's keys, (nb, hq, 1, nk
 * of this rank).  `pooled`, `zoom` and `probe_weights` are of the whole sequence, and the
 * same on every rank.  Without ALiBi all outputs except the map have the bits of
 * attend_inspect().  The blocks of the map, and with ALiBi all outputs, are the same
 * within rounding: their sums have the same terms in another order.
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
