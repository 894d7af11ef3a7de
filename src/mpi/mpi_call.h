/* SPDX-License-Identifier: MIT */
/* One collective call: its arguments, read, compared between ranks and validated. */
#ifndef ATTEND_MPI_CALL_H
#define ATTEND_MPI_CALL_H

#include "mpi/comm/ranges.h"

struct mpi_call {
    struct communicator comm;
    attend_context *ctx;
    attend_rule rule; /* positions in the sequence, never BOTTOM_RIGHT; mask and bias have
                         local rows */
    attend_io io;     /* local rows */
    attend_stats stats; /* of io.stats, if there are any */
    attend_inspection inspection;
    bool inspects;
    int64_t nb, hq, hkv, d, dv;
    int64_t nq, nk;                    /* of this rank */
    attend_dtype dtype, partial_dtype; /* of the inputs, and of partials */
    int64_t raw_size;                  /* raw sums of a row; 0: no statistics */
    struct ranges queries, keys;
    int64_t *offsets; /* causal offsets of a rule that was BOTTOM_RIGHT */
};

/* Both return the same status on all ranks.  Close even after a failure. */
attend_status attendi_mpi_call_open(struct mpi_call *call, MPI_Comm comm,
                                    attend_context *ctx, const attend_rule *rule,
                                    const attend_io *io, const attend_mpi_dist *dist,
                                    attend_error *err);
attend_status attendi_mpi_call_open_inspection(
    struct mpi_call *call, MPI_Comm comm, attend_context *ctx, const attend_rule *rule,
    const attend_inspection *inspection, const attend_mpi_dist *dist, attend_error *err);
void attendi_mpi_call_close(struct mpi_call *call);

/*
 * The rule for `rows` local queries from `row` on, of which `first_query` is the first in
 * the sequence.  Mask and bias are cut to these rows and to columns first_key ..
 * first_key + count - 1.
 */
attend_rule attendi_rule_slice(const struct mpi_call *call, int64_t first_query,
                               int64_t row, int64_t rows, int64_t first_key,
                               int64_t count);

/*
 * The range *lo .. *hi - 1 of keys that some of these queries may see by causal rule,
 * window and key lengths; *lo == *hi if none.
 */
void attendi_mpi_keys_seen(const struct mpi_call *call, const attend_mpi_range *queries,
                           int64_t *lo, int64_t *hi);
/* Whether some query of `rank` sees any of the keys lo .. hi - 1. */
bool attendi_rank_sees(const struct mpi_call *call, int rank, int64_t lo, int64_t hi);

#endif
