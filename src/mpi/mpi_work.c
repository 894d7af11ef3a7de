/* SPDX-License-Identifier: MIT */
#include "mpi/mpi_work.h"

#include "base/base.h"
#include "mpi/comm/rows.h"
#include "mpi/mpi_stats.h"

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

/* A chunk that is computed with, and the node that it becomes. */
struct piece {
    const struct chunk *chunk;
    const attend_view *k, *v;
    int64_t column; /* of mask and bias, that its first key has */
    int32_t *classes;
    struct node node;
};

/* `count` queries from `query` of the sequence on, row `row` of q. */
static attend_status compute(struct work *w, const struct piece *piece, int64_t query,
                             int64_t row, int64_t count, attend_error *err)
{
    const attend_partials records =
        attendi_node_partials(&w->nodes, &piece->node, row, count);
    const attend_tensor raw = attendi_node_sums(&w->nodes, &piece->node, row, count);
    const int64_t keys = piece->chunk->keys, column = piece->column;
    attend_rule rule = w->rule;
    attend_io io = attend_io_default();
    attend_stats sums;

    rule.first_query = query;
    rule.mask = attendi_broadcast_part(rule.mask, 2, row, count);
    rule.bias = attendi_broadcast_part(rule.bias, 2, row, count);
    rule.mask = attendi_broadcast_part(rule.mask, 3, column, keys);
    rule.bias = attendi_broadcast_part(rule.bias, 3, column, keys);
    io.q = attendi_view_part(w->q, 2, row, count);
    io.k = *piece->k;
    io.v = *piece->v;
    if (w->job->sums > 0) {
        sums = attendi_stats_sums(w->job, &raw, piece->classes);
        io.stats = &sums;
    }
    return attend_forward_partials(w->job->ctx, &rule, &io, &records, err);
}

static attend_status compute_range(struct work *w, const struct piece *piece,
                                   const attend_mpi_range *range, int64_t row,
                                   attend_error *err)
{
    const struct chunk *const chunk = piece->chunk;
    const int64_t most = piece_rows(w, chunk->keys);

    for (int64_t at = 0; at < range->count; at += most) {
        const double start = MPI_Wtime();

        TRY(compute(w, piece, range->first + at, row + at,
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

/* All rows, into the memory of the node. */
static attend_status compute_rows(struct work *w, struct piece *piece, attend_error *err)
{
    struct job *const job = w->job;
    attend_status status = ATTEND_OK;
    int64_t row = 0;

    if (job->sums > 0) {
        piece->classes =
            attendi_stats_classes(job, piece->chunk->first_key, piece->chunk->keys, err);
        status = piece->classes ? ATTEND_OK : ATTEND_ENOMEM;
    }
    for (int64_t x = 0; x < w->ranges && status == ATTEND_OK; x++) {
        status = compute_range(w, piece, &w->range[x], row, err);
        row += w->range[x].count;
    }
    attendi_team_free(&job->team, piece->classes);
    return status;
}

attend_status attendi_work_add(struct work *w, const struct chunk *chunk,
                               const attend_view *k, const attend_view *v, int64_t column,
                               attend_error *err)
{
    struct team *const team = &w->job->team;
    struct piece piece = {.chunk = chunk,
                          .k = k,
                          .v = v,
                          .column = column,
                          .node = attendi_chunk_node(chunk)};

    if (!attendi_team_goes_on(team) || w->nodes.rows == 0)
        return ATTEND_OK;
    piece.node.data = attendi_nodes_memory(&w->nodes, err);
    if (!piece.node.data)
        return ATTEND_ENOMEM;
    const attend_status status = compute_rows(w, &piece, err);
    if (status == ATTEND_OK && !team->stopped)
        return attendi_nodes_add(&w->nodes, piece.node, err);
    attendi_team_free(team, piece.node.data);
    return status;
}

attend_status attendi_work_end(struct work *w, const attend_tensor *out,
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
    return attendi_nodes_end_stats(&w->nodes, err);
}
