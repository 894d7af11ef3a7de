/* SPDX-License-Identifier: MIT */
#include "mpi/mpi_work.h"

#include "base/base.h"
#include "mpi/comm/rows.h"
#include "mpi/mpi_stats.h"

/*
 * Work of a piece, for each thread: some milliseconds, after which messages are looked
 * at, since few MPIs move them in between.  Several threads have more, to share it
 * evenly. Its rows fill whole items of the kernel sets, which pack the keys once for up
 * to 192 of them.
 */
#define PIECE_FLOP 4e8
#define PIECE_FLOP_SHARED 2e9
enum { PIECE_ROWS = 384 };

/* Heads of K, and rows of each of their queries, that one piece has. */
struct extent {
    int64_t heads, rows;
};

static int64_t at_least(double wanted, int64_t least)
{
    return wanted < (double)least ? least : (int64_t)(wanted < 1e9 ? wanted : 1e9);
}

static struct extent piece_extent(const struct work *w, int64_t keys)
{
    const struct job *const job = w->job;
    const int threads = attend_context_threads(job->ctx);
    const double flop = threads > 1 ? PIECE_FLOP_SHARED * threads : PIECE_FLOP;
    const int64_t group = job->hq / max_i64(job->hkv, 1);
    const double row =
        2.0 * (double)(job->nb * group) * (double)keys * (double)(job->d + job->dv + 1);
    const int64_t heads = min_i64(job->hkv, at_least(flop / (row * PIECE_ROWS), 1));
    const int64_t rows = at_least(flop / (row * (double)heads), PIECE_ROWS);

    return (struct extent){heads, rows / PIECE_ROWS * PIECE_ROWS};
}

/* Some rows of some heads. */
struct part {
    int64_t head, heads; /* of K */
    int64_t query;       /* of the sequence, that row `row` of q is */
    int64_t row, rows;
};

/* A chunk that is computed with, and the node that it becomes. */
struct piece {
    const struct chunk *chunk;
    const attend_view *k, *v;
    int64_t column; /* of mask and bias, that its first key has */
    int32_t *classes;
    struct node node;
};

/* Mask or bias of a part. */
static attend_view columns_of(attend_view view, const struct part *part, int64_t group,
                              const struct piece *piece)
{
    view = attendi_broadcast_part(view, 1, part->head * group, part->heads * group);
    view = attendi_broadcast_part(view, 2, part->row, part->rows);
    return attendi_broadcast_part(view, 3, piece->column, piece->chunk->keys);
}

static attend_status compute(struct work *w, const struct piece *piece,
                             const struct part *part, attend_error *err)
{
    const int64_t group = w->job->hq / w->job->hkv;
    const int64_t head = part->head * group, heads = part->heads * group;
    attend_partials records =
        attendi_node_partials(&w->nodes, &piece->node, part->row, part->rows);
    attend_tensor raw = attendi_node_sums(&w->nodes, &piece->node, part->row, part->rows);
    attend_rule rule = w->rule;
    attend_io io = attend_io_default();
    attend_stats sums;

    records.data = attendi_tensor_part(records.data, 1, head, heads);
    raw = attendi_tensor_part(raw, 1, head, heads);
    rule.first_query = part->query;
    rule.mask = columns_of(rule.mask, part, group, piece);
    rule.bias = columns_of(rule.bias, part, group, piece);
    rule.alibi = rule.alibi ? rule.alibi + head : NULL;
    rule.sinks = rule.sinks ? rule.sinks + head : NULL;
    io.q = attendi_view_part(w->q, 2, part->row, part->rows);
    io.q = attendi_view_part(io.q, 1, head, heads);
    io.k = attendi_view_part(*piece->k, 1, part->head, part->heads);
    io.v = attendi_view_part(*piece->v, 1, part->head, part->heads);
    if (w->job->sums > 0) {
        sums = attendi_stats_sums(w->job, &raw, piece->classes);
        io.stats = &sums;
    }
    return attend_forward_partials(w->job->ctx, &rule, &io, &records, err);
}

/* One part, and a look at the messages; *goes_on: whether there is more to do. */
static attend_status compute_part(struct work *w, const struct piece *piece,
                                  const struct part *part, bool *goes_on,
                                  attend_error *err)
{
    struct team *const team = &w->job->team;
    const double start = MPI_Wtime();

    TRY(compute(w, piece, part, err));
    const double end = MPI_Wtime();
    team->cost.computing += end - start;
    attendi_team_trace(team, 'c', piece->chunk->rank, piece->chunk->first_key, start,
                       end);
    if (w->between)
        w->between(w->arg);
    *goes_on = attendi_team_goes_on(team);
    return ATTEND_OK;
}

static attend_status compute_range(struct work *w, const struct piece *piece,
                                   const attend_mpi_range *range, int64_t row,
                                   attend_error *err)
{
    const struct extent most = piece_extent(w, piece->chunk->keys);
    bool goes_on = true;

    for (int64_t at = 0; at < range->count && goes_on; at += most.rows)
        for (int64_t head = 0; head < w->job->hkv && goes_on; head += most.heads) {
            const struct part part = {.head = head,
                                      .heads = min_i64(most.heads, w->job->hkv - head),
                                      .query = range->first + at,
                                      .row = row + at,
                                      .rows = min_i64(most.rows, range->count - at)};

            TRY(compute_part(w, piece, &part, &goes_on, err));
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
