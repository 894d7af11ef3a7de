/* SPDX-License-Identifier: MIT */
#include "mpi/mpi_work.h"

#include "base/base.h"
#include "mpi/comm/views.h"
#include "mpi/mpi_stats.h"

/*
 * Work of a piece, for each thread: some milliseconds, after which messages are looked
 * at, since few MPIs move them in between.  Several threads have more, to share it
 * evenly.
 */
#define PIECE_FLOP 6e8
#define PIECE_FLOP_SHARED 2e9
/*
 * Rows of a piece, for each thread.  The kernel sets pack the keys once for up to 192
 * rows, and records of 1024 rows of a head stay in the cache until they are joined.
 */
enum { PIECE_ROWS_LEAST = 384, PIECE_ROWS_MOST = 1024 };

static int64_t at_least(double wanted, int64_t least)
{
    return wanted < (double)least ? least : (int64_t)(wanted < 1e9 ? wanted : 1e9);
}

static double piece_flop(const struct job *job)
{
    const int threads = attend_context_threads(job->ctx);

    return threads > 1 ? PIECE_FLOP_SHARED * threads : PIECE_FLOP;
}

/* Work of one row of all queries of a head of K. */
static double row_flop(const struct job *job, int64_t keys)
{
    const int64_t group = job->hq / max_i64(job->hkv, 1);

    return 2.0 * (double)(job->nb * group) * (double)keys *
           (double)(job->d + job->dv + 1);
}

static int64_t band_rows(const struct job *job, int64_t most_keys)
{
    const int64_t most = (int64_t)PIECE_ROWS_MOST * attend_context_threads(job->ctx);

    return min_i64(most, at_least(piece_flop(job) / (row_flop(job, most_keys) + 1),
                                  PIECE_ROWS_LEAST));
}

/* Heads of K that one piece has. */
static int64_t piece_heads(const struct job *job, int64_t rows, int64_t keys)
{
    const double flop = row_flop(job, keys) * (double)rows;

    return min_i64(job->hkv, at_least(piece_flop(job) / (flop + 1), 1));
}

/* A chunk that is computed with, the node that it becomes, and what that is joined with.
 */
struct piece {
    const struct chunk *chunk;
    const attend_view *k, *v;
    int64_t column; /* of mask and bias, that its first key has */
    int32_t *classes;
    struct node node;
    struct join join;
};

/* Some heads of a band. */
struct part {
    int64_t head, heads; /* of K */
    int64_t band;
    int64_t row, rows;
    attend_partials records; /* where they go */
    attend_tensor sums;
};

/* Mask or bias of a part. */
static attend_view columns_of(attend_view view, const struct part *part, int64_t group,
                              const struct piece *piece)
{
    view = attendi_broadcast_slice(view, 1, part->head * group, part->heads * group);
    view = attendi_broadcast_slice(view, 2, part->row, part->rows);
    return attendi_broadcast_slice(view, 3, piece->column, piece->chunk->keys);
}

/*
 * The heads of a part in the memory of the new node.  If the part is joined with records
 * of the place where the whole will be, the new ones wait at the beginning of that
 * memory, always the same, which stays in the cache; else they are where the whole will
 * be.
 */
static void place_part(const struct work *w, const struct piece *piece, struct part *part)
{
    const struct nodes *const n = &w->nodes;
    const int64_t group = w->job->hq / w->job->hkv;
    const bool joins = piece->join.count > 0;
    const bool waits = joins && piece->join.whole.seen[part->band];
    struct node node = piece->node;

    if (joins && !waits)
        node.data = piece->join.whole.data;
    part->records = attendi_node_partials(n, &node, waits ? 0 : part->row, part->rows);
    part->records.data = attendi_tensor_slice(
        part->records.data, 1, waits ? 0 : part->head * group, part->heads * group);
    part->sums = attendi_tensor_slice(
        attendi_node_sums(n, &node, waits ? 0 : part->row, part->rows), 1,
        waits ? 0 : part->head * group, part->heads * group);
}

static attend_status compute(struct work *w, const struct piece *piece,
                             const struct part *part, attend_error *err)
{
    const int64_t group = w->job->hq / w->job->hkv;
    const int64_t head = part->head * group, heads = part->heads * group;
    attend_rule rule = w->rule;
    attend_io io = attend_io_default();
    attend_stats sums;

    rule.first_query = w->nodes.band[part->band].query;
    rule.mask = columns_of(rule.mask, part, group, piece);
    rule.bias = columns_of(rule.bias, part, group, piece);
    rule.alibi = rule.alibi ? rule.alibi + head : NULL;
    rule.sinks = rule.sinks ? rule.sinks + head : NULL;
    io.q = attendi_view_slice(w->q, 2, part->row, part->rows);
    io.q = attendi_view_slice(io.q, 1, head, heads);
    io.k = attendi_view_slice(*piece->k, 1, part->head, part->heads);
    io.v = attendi_view_slice(*piece->v, 1, part->head, part->heads);
    if (w->job->sums > 0) {
        sums = attendi_stats_sums(w->job, &part->sums, piece->classes);
        io.stats = &sums;
    }
    return attend_forward_partials(w->job->ctx, &rule, &io, &part->records, err);
}

/* One part, and a look at the messages; *goes_on: whether there is more to do. */
static attend_status compute_part(struct work *w, const struct piece *piece,
                                  const struct part *part, bool *goes_on,
                                  attend_error *err)
{
    const int64_t group = w->job->hq / w->job->hkv;
    struct communicator *const comm = &w->job->comm;
    const double start = MPI_Wtime();

    TRY(compute(w, piece, part, err));
    TRY(attendi_nodes_join(&w->nodes, &piece->join, &piece->node, part->band,
                           part->head * group, part->heads * group, &part->records,
                           &part->sums, err));
    const double end = MPI_Wtime();
    comm->cost.computing += end - start;
    attendi_comm_trace(comm, 'c', piece->chunk->rank, piece->chunk->first_key, start,
                       end);
    if (w->between)
        w->between(w->arg);
    *goes_on = attendi_comm_should_continue(comm);
    return ATTEND_OK;
}

static attend_status compute_band(struct work *w, const struct piece *piece, int64_t x,
                                  bool *goes_on, attend_error *err)
{
    const struct band *const band = &w->nodes.band[x];
    const int64_t most = piece_heads(w->job, band->rows, piece->chunk->keys);

    for (int64_t head = 0; head < w->job->hkv && *goes_on; head += most) {
        struct part part = {.head = head,
                            .heads = min_i64(most, w->job->hkv - head),
                            .band = x,
                            .row = band->row,
                            .rows = band->rows};

        place_part(w, piece, &part);
        TRY(compute_part(w, piece, &part, goes_on, err));
    }
    return ATTEND_OK;
}

/* Whether a band has to do with a chunk: statistics, and nodes that are sent, are whole.
 */
static bool band_sees(const struct work *w, const struct band *band,
                      const struct chunk *chunk)
{
    const attend_mpi_range queries = {band->query, band->rows};
    int64_t lo, hi;

    if (w->sees_all || w->job->sums > 0)
        return true;
    attendi_job_sees(w->job, &queries, &lo, &hi);
    return max_i64(lo, chunk->first_key) < min_i64(hi, chunk->first_key + chunk->keys);
}

/* All bands, into the memory of the whole. */
static attend_status compute_bands(struct work *w, const struct piece *piece,
                                   attend_error *err)
{
    const struct nodes *const n = &w->nodes;
    const struct join *const join = &piece->join;
    bool *const seen = join->count > 0 ? join->whole.seen : piece->node.seen;
    bool goes_on = true;

    for (int64_t x = 0; x < n->bands && goes_on; x++) {
        bool sees = band_sees(w, &n->band[x], piece->chunk);

        if (sees)
            TRY(compute_band(w, piece, x, &goes_on, err));
        else
            TRY(attendi_nodes_join(n, join, &piece->node, x, 0, w->job->hq, NULL, NULL,
                                   err));
        for (int64_t y = join->first; y < join->first + join->count; y++)
            sees = sees || n->list[y].seen[x];
        seen[x] = sees;
    }
    return ATTEND_OK;
}

static attend_status compute_rows(struct work *w, struct piece *piece, attend_error *err)
{
    struct job *const job = w->job;

    if (job->sums > 0) {
        piece->classes =
            attendi_stats_classes(job, piece->chunk->first_key, piece->chunk->keys, err);
        if (!piece->classes)
            return ATTEND_ENOMEM;
    }
    const attend_status status = compute_bands(w, piece, err);
    attendi_mpi_free(&job->comm, piece->classes);
    return status;
}

attend_status attendi_work_begin(struct work *w, int64_t most_keys, attend_error *err)
{
    return attendi_nodes_begin(&w->nodes, w->job, w->range, w->ranges,
                               band_rows(w->job, most_keys), err);
}

attend_status attendi_work_add(struct work *w, const struct chunk *chunk,
                               const attend_view *k, const attend_view *v, int64_t column,
                               attend_error *err)
{
    struct communicator *const comm = &w->job->comm;
    struct piece piece = {.chunk = chunk,
                          .k = k,
                          .v = v,
                          .column = column,
                          .node = attendi_chunk_node(chunk)};

    if (!attendi_comm_should_continue(comm) || w->nodes.rows == 0)
        return ATTEND_OK;
    TRY(attendi_nodes_plan(&w->nodes, &piece.node, &piece.join, err));
    if (!attendi_node_alloc(&w->nodes, &piece.node, err))
        return ATTEND_ENOMEM;
    const attend_status status = compute_rows(w, &piece, err);
    if (status == ATTEND_OK && !comm->stopped)
        attendi_nodes_replace(&w->nodes, &piece.join, &piece.node);
    else
        attendi_node_free(&w->nodes, &piece.node);
    return status;
}

attend_status attendi_work_end(struct work *w, const attend_tensor *out,
                               const attend_tensor *lse, attend_error *err)
{
    for (int64_t x = 0; x < w->nodes.bands; x++) {
        const struct band *const band = &w->nodes.band[x];
        const attend_tensor o = attendi_tensor_slice(*out, 2, band->row, band->rows);
        const attend_tensor l = attendi_tensor_slice(*lse, 2, band->row, band->rows);

        TRY(attendi_nodes_end(&w->nodes, x, &o, &l, err));
    }
    return attendi_nodes_end_stats(&w->nodes, err);
}
