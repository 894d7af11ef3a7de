/* SPDX-License-Identifier: MIT */
/* One call: arguments that have been read, compared between the ranks and validated. */
#ifndef ATTEND_MPI_JOB_H
#define ATTEND_MPI_JOB_H

#include "mpi/comm/ranges.h"

struct job {
    struct communicator comm;
    attend_context *ctx;
    attend_rule rule; /* of the sequence, never BOTTOM_RIGHT; mask and bias of own rows */
    attend_io io;     /* own rows */
    attend_inspection inspection;
    bool inspects;
    int64_t nb, hq, hkv, d, dv;
    int64_t nq, nk;             /* of this rank */
    attend_dtype dtype, number; /* of the inputs, and of records */
    int64_t sums;               /* numbers of a row's raw sums; 0: no statistics */
    struct ranges queries, keys;
    int64_t *offsets; /* of a rule that was BOTTOM_RIGHT */
};

/* Either returns the same on all ranks; close in any case. */
attend_status attendi_job_open(struct job *job, MPI_Comm comm, attend_context *ctx,
                               const attend_rule *rule, const attend_io *io,
                               const attend_mpi_dist *dist, attend_error *err);
attend_status attendi_job_open_inspection(struct job *job, MPI_Comm comm,
                                          attend_context *ctx, const attend_rule *rule,
                                          const attend_inspection *inspection,
                                          const attend_mpi_dist *dist, attend_error *err);
void attendi_job_close(struct job *job);

/*
 * The rule for queries of the sequence from `first_query` on, `rows` of this rank's from
 * `row` on, and keys first .. first + count - 1 of its mask's and bias's columns.
 */
attend_rule attendi_job_rule(const struct job *job, int64_t first_query, int64_t row,
                             int64_t rows, int64_t first_key, int64_t count);

/*
 * The keys of the sequence that some of the queries first .. first + count - 1 may see by
 * causal rule, window and key lengths, from *lo to *hi - 1; none: *lo == *hi.
 */
void attendi_job_sees(const struct job *job, const attend_mpi_range *queries, int64_t *lo,
                      int64_t *hi);
/* Whether rank `rank` sees any of the keys lo .. hi - 1. */
bool attendi_job_is_seen(const struct job *job, int rank, int64_t lo, int64_t hi);

#endif
