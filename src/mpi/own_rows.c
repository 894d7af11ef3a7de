/* SPDX-License-Identifier: MIT */
#include "mpi/own_rows.h"

#include <string.h>

#include "base/base.h"
#include "mpi/comm/views.h"

/* Work of a thread between two looks at whether to go on: some tenths of a second. */
#define PIECE_FLOP 2e10
enum { PIECE_ROWS = 384 };

static int64_t piece_rows(const struct job *job)
{
    const int threads = attend_context_threads(job->ctx);
    const double row = 2.0 * (double)(job->nb * job->hq) * (double)job->keys.all *
                       (double)(job->d + job->dv + 1);
    const double rows = PIECE_FLOP * threads / (row + 1);

    return max_i64((int64_t)PIECE_ROWS * threads, rows < 1e9 ? (int64_t)rows : 1 << 30);
}

/* Rows of a request for statistics, as far as they are strides. */
static attend_stats stats_part(const attend_stats *all, int64_t row, int64_t count)
{
    attend_stats part = *all;

    part.rows = attendi_tensor_slice(all->rows, 2, row, count);
    part.top_weights = attendi_tensor_slice(all->top_weights, 2, row, count);
    part.distances = attendi_tensor_slice(all->distances, 2, row, count);
    part.class_mass = attendi_tensor_slice(all->class_mass, 2, row, count);
    part.raw = attendi_tensor_slice(all->raw, 2, row, count);
    return part;
}

/* Top keys of the rows of one range to their places among those of all. */
static void spread_top(const struct job *job, const int64_t *from, int64_t row,
                       int64_t count)
{
    const int64_t top = job->io.stats->top_weights.size[3];

    for (int64_t head = 0; head < job->nb * job->hq; head++)
        memcpy(job->io.stats->top_keys + (head * job->nq + row) * top,
               from + head * count * top, (size_t)(count * top) * sizeof *from);
}

static attend_status compute_range(struct job *job, const attend_io *all,
                                   const attend_mpi_range *range, int64_t row,
                                   attend_error *err)
{
    const attend_rule rule =
        attendi_job_rule(job, range->first, row, range->count, 0, job->keys.all);
    const bool names = all->stats && all->stats->top_keys;
    attend_stats stats;
    attend_io io = *all;
    int64_t *top = NULL;

    io.q = attendi_view_slice(all->q, 2, row, range->count);
    io.out = attendi_tensor_slice(all->out, 2, row, range->count);
    io.lse = attendi_tensor_slice(all->lse, 2, row, range->count);
    io.weights = attendi_tensor_slice(all->weights, 2, row, range->count);
    if (all->stats) {
        stats = stats_part(all->stats, row, range->count);
        io.stats = &stats;
    }
    if (names) {
        top = attendi_mpi_alloc(&job->comm,
                                job->nb * job->hq * range->count *
                                    all->stats->top_weights.size[3],
                                sizeof *top, err);
        if (!top)
            return ATTEND_ENOMEM;
        stats.top_keys = top;
    }
    const attend_status status = attend_forward(job->ctx, &rule, &io, err);
    if (names && status == ATTEND_OK)
        spread_top(job, top, row, range->count);
    attendi_mpi_free(&job->comm, top);
    return status;
}

/* A range, piece by piece; *goes_on: whether there is more to do. */
static attend_status compute_pieces(struct job *job, const attend_io *io,
                                    const attend_mpi_range *range, int64_t row,
                                    bool *goes_on, attend_error *err)
{
    const int64_t rows = piece_rows(job);

    for (int64_t at = 0; at < range->count && *goes_on; at += rows) {
        const attend_mpi_range piece = {range->first + at,
                                        min_i64(rows, range->count - at)};

        *goes_on = attendi_comm_should_continue(&job->comm);
        if (*goes_on)
            TRY(compute_range(job, io, &piece, row + at, err));
    }
    return ATTEND_OK;
}

attend_status attendi_own_rows(struct job *job, const attend_io *io, attend_error *err)
{
    const int rank = job->comm.rank;
    const double start = MPI_Wtime();
    bool goes_on = true;
    int64_t row = 0;

    for (int64_t x = job->queries.start[rank]; x < job->queries.start[rank + 1]; x++) {
        TRY(compute_pieces(job, io, &job->queries.range[x], row, &goes_on, err));
        row += job->queries.range[x].count;
    }
    job->comm.cost.computing += MPI_Wtime() - start;
    attendi_comm_trace(&job->comm, 'c', rank, 0, start, MPI_Wtime());
    return ATTEND_OK;
}
