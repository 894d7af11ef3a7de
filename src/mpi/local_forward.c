/* SPDX-License-Identifier: MIT */
#include "mpi/local_forward.h"

#include <string.h>

#include "base/base.h"
#include "mpi/comm/views.h"

/* Work of a thread between two polls for an early stop: some tenths of a second. */
#define BLOCK_FLOP 2e10
enum { BLOCK_ROWS = 384 };

static int64_t block_rows(const struct mpi_call *call)
{
    const int threads = attend_context_threads(call->ctx);
    const double row = 2.0 * (double)(call->nb * call->hq) * (double)call->keys.all *
                       (double)(call->d + call->dv + 1);
    const double rows = BLOCK_FLOP * threads / (row + 1);

    return max_i64((int64_t)BLOCK_ROWS * threads, rows < 1e9 ? (int64_t)rows : 1 << 30);
}

/*
 * The rows of a statistics request; top_keys, which has no strides, is handled
 * separately.
 */
static attend_stats stats_slice(const attend_stats *all, int64_t row, int64_t count)
{
    attend_stats slice = *all;

    slice.rows = attendi_tensor_slice(all->rows, 2, row, count);
    slice.top_weights = attendi_tensor_slice(all->top_weights, 2, row, count);
    slice.distances = attendi_tensor_slice(all->distances, 2, row, count);
    slice.class_mass = attendi_tensor_slice(all->class_mass, 2, row, count);
    slice.raw = attendi_tensor_slice(all->raw, 2, row, count);
    return slice;
}

/* Copies the top keys of the rows of one range to their place in the caller's array. */
static void store_top_keys(const struct mpi_call *call, const int64_t *from, int64_t row,
                           int64_t count)
{
    const int64_t top = call->io.stats->top_weights.size[3];

    for (int64_t head = 0; head < call->nb * call->hq; head++)
        memcpy(call->io.stats->top_keys + (head * call->nq + row) * top,
               from + head * count * top, (size_t)(count * top) * sizeof *from);
}

static attend_status compute_range(struct mpi_call *call, const attend_io *all,
                                   const attend_mpi_range *range, int64_t row,
                                   attend_error *err)
{
    const attend_rule rule =
        attendi_rule_slice(call, range->first, row, range->count, 0, call->keys.all);
    const bool wants_top_keys = all->stats && all->stats->top_keys;
    attend_stats stats;
    attend_io io = *all;
    int64_t *top = NULL;

    io.q = attendi_view_slice(all->q, 2, row, range->count);
    io.out = attendi_tensor_slice(all->out, 2, row, range->count);
    io.lse = attendi_tensor_slice(all->lse, 2, row, range->count);
    io.weights = attendi_tensor_slice(all->weights, 2, row, range->count);
    if (all->stats) {
        stats = stats_slice(all->stats, row, range->count);
        io.stats = &stats;
    }
    if (wants_top_keys) {
        top = attendi_mpi_alloc(&call->comm,
                                call->nb * call->hq * range->count *
                                    all->stats->top_weights.size[3],
                                sizeof *top, err);
        if (!top)
            return ATTEND_ENOMEM;
        stats.top_keys = top;
    }
    const attend_status status = attend_forward(call->ctx, &rule, &io, err);
    if (wants_top_keys && status == ATTEND_OK)
        store_top_keys(call, top, row, range->count);
    attendi_mpi_free(&call->comm, top);
    return status;
}

/* One range in blocks of rows; *continues: whether to go on. */
static attend_status compute_blocks(struct mpi_call *call, const attend_io *io,
                                    const attend_mpi_range *range, int64_t row,
                                    bool *continues, attend_error *err)
{
    const int64_t rows = block_rows(call);

    for (int64_t at = 0; at < range->count && *continues; at += rows) {
        const attend_mpi_range block = {range->first + at,
                                        min_i64(rows, range->count - at)};

        *continues = attendi_comm_should_continue(&call->comm);
        if (*continues)
            TRY(compute_range(call, io, &block, row + at, err));
    }
    return ATTEND_OK;
}

attend_status attendi_local_forward(struct mpi_call *call, const attend_io *io,
                                    attend_error *err)
{
    const int rank = call->comm.rank;
    const double start = MPI_Wtime();
    bool continues = true;
    int64_t row = 0;

    for (int64_t x = call->queries.start[rank]; x < call->queries.start[rank + 1]; x++) {
        TRY(compute_blocks(call, io, &call->queries.range[x], row, &continues, err));
        row += call->queries.range[x].count;
    }
    call->comm.cost.computing += MPI_Wtime() - start;
    attendi_comm_trace(&call->comm, 'c', rank, 0, start, MPI_Wtime());
    return ATTEND_OK;
}
