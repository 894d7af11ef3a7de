/* SPDX-License-Identifier: MIT */
#include "mpi/mpi_work.h"

#include "base/base.h"
#include "mpi/comm/rows.h"

/*
 * Of a piece, for each thread: some 50 ms, after which messages are looked at.  Its rows
 * fill whole items of the kernel sets, which pack the keys once for up to 192 of them.
 */
#define PIECE_FLOP 2e9
enum { PIECE_ROWS = 384 };

static int64_t piece_rows(const struct work *w, int64_t keys)
{
    const struct job *const job = w->job;
    const double flop =
        2.0 * (double)(job->nb * job->hq) * (double)keys * (double)(job->d + job->dv + 1);
    const double rows = PIECE_FLOP * attend_context_threads(job->ctx) / flop;

    return rows < PIECE_ROWS
               ? PIECE_ROWS
               : (int64_t)(rows < 1e9 ? rows : 1e9) / PIECE_ROWS * PIECE_ROWS;
}

/* `count` queries from `query` of the sequence on, row `row` of q. */
static attend_status compute(struct work *w, const struct chunk *chunk,
                             const struct node *node, const attend_view *k,
                             const attend_view *v, int64_t column, int64_t query,
                             int64_t row, int64_t count, attend_error *err)
{
    const attend_partials records = attendi_node_partials(&w->nodes, node, row, count);
    attend_rule rule = w->rule;
    attend_io io = attend_io_default();

    rule.first_query = query;
    rule.mask = attendi_broadcast_part(rule.mask, 2, row, count);
    rule.bias = attendi_broadcast_part(rule.bias, 2, row, count);
    rule.mask = attendi_broadcast_part(rule.mask, 3, column, chunk->keys);
    rule.bias = attendi_broadcast_part(rule.bias, 3, column, chunk->keys);
    io.q = attendi_view_part(w->q, 2, row, count);
    io.k = *k;
    io.v = *v;
    return attend_forward_partials(w->job->ctx, &rule, &io, &records, err);
}

static attend_status compute_range(struct work *w, const struct chunk *chunk,
                                   const struct node *node, const attend_view *k,
                                   const attend_view *v, int64_t column,
                                   const attend_mpi_range *range, int64_t row,
                                   attend_error *err)
{
    const int64_t most = piece_rows(w, chunk->keys);

    for (int64_t at = 0; at < range->count; at += most) {
        const double start = MPI_Wtime();

        TRY(compute(w, chunk, node, k, v, column, range->first + at, row + at,
                    min_i64(most, range->count - at), err));
        const double end = MPI_Wtime();
        w->job->team.cost.computing += end - start;
        attendi_team_trace(&w->job->team, 'c', chunk->rank, chunk->first_key, start, end);
        if (w->between)
            w->between(w->arg);
        if (!attendi_team_goes_on(&w->job->team))
            break;
    }
    return ATTEND_OK;
}

attend_status attendi_work_add(struct work *w, const struct chunk *chunk,
                               const attend_view *k, const attend_view *v, int64_t column,
                               attend_error *err)
{
    struct node node = attendi_chunk_node(chunk);
    int64_t row = 0;

    if (!attendi_team_goes_on(&w->job->team) || w->nodes.rows == 0)
        return ATTEND_OK;
    node.data = attendi_nodes_memory(&w->nodes, err);
    if (!node.data)
        return ATTEND_ENOMEM;
    for (int64_t x = 0; x < w->ranges; x++) {
        const attend_status status =
            compute_range(w, chunk, &node, k, v, column, &w->range[x], row, err);

        if (status != ATTEND_OK) {
            attendi_team_free(&w->job->team, node.data);
            return status;
        }
        row += w->range[x].count;
    }
    if (!w->job->team.stopped)
        return attendi_nodes_add(&w->nodes, node, err);
    attendi_team_free(&w->job->team, node.data);
    return ATTEND_OK;
}

attend_status attendi_work_end(const struct work *w, const attend_tensor *out,
                               const attend_tensor *lse, attend_error *err)
{
    int64_t row = 0;

    for (int64_t x = 0; x < w->ranges; x++) {
        const attend_mpi_range *const range = &w->range[x];
        const attend_tensor o = attendi_tensor_part(*out, 2, row, range->count);
        const attend_tensor l = attendi_tensor_part(*lse, 2, row, range->count);

        TRY(attendi_nodes_end(&w->nodes, range->first, row, range->count, &o, &l, err));
        row += range->count;
    }
    return ATTEND_OK;
}
