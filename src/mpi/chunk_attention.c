/* SPDX-License-Identifier: MIT */
#include "mpi/chunk_attention.h"

#include "base/base.h"
#include "mpi/comm/views.h"
#include "mpi/mpi_stats.h"

/*
 * Work of an item, for each thread: some milliseconds.  MPI progress is made between
 * items, since few MPIs make progress by themselves.  With several threads items are
 * larger, for load balance.
 */
#define ITEM_FLOP 6e8
#define ITEM_FLOP_THREADED 2e9
/*
 * Rows of a row block, for each thread.  The kernel sets pack the keys once for up to 192
 * rows.  Partials of 1024 rows of a head stay in the cache until they are reduced.
 */
enum { BLOCK_ROWS_MIN = 384, BLOCK_ROWS_MAX = 1024 };

static int64_t at_least(double wanted, int64_t least)
{
    return wanted < (double)least ? least : (int64_t)(wanted < 1e9 ? wanted : 1e9);
}

static double item_flop(const struct mpi_call *call)
{
    const int threads = attend_context_threads(call->ctx);

    return threads > 1 ? ITEM_FLOP_THREADED * threads : ITEM_FLOP;
}

/* FLOP of one row of all query heads that share one key/value head. */
static double row_flop(const struct mpi_call *call, int64_t keys)
{
    const int64_t group = call->hq / max_i64(call->hkv, 1);

    return 2.0 * (double)(call->nb * group) * (double)keys *
           (double)(call->d + call->dv + 1);
}

static int64_t block_rows(const struct mpi_call *call, int64_t max_keys)
{
    const int64_t most = (int64_t)BLOCK_ROWS_MAX * attend_context_threads(call->ctx);

    return min_i64(
        most, at_least(item_flop(call) / (row_flop(call, max_keys) + 1), BLOCK_ROWS_MIN));
}

/* Key/value heads of one work item. */
static int64_t item_heads(const struct mpi_call *call, int64_t rows, int64_t keys)
{
    const double flop = row_flop(call, keys) * (double)rows;

    return min_i64(call->hkv, at_least(item_flop(call) / (flop + 1), 1));
}

/* One chunk: its keys, the subtree it becomes, and how that is reduced. */
struct chunk_step {
    const struct chunk *chunk;
    const attend_view *k, *v;
    int64_t column; /* of mask and bias, for the first key of the chunk */
    int32_t *classes;
    struct subtree subtree;
    struct reduce_plan plan;
};

/* One call of the engine: some heads of a row block, with one chunk. */
struct work_item {
    int64_t head, heads; /* key/value heads */
    int64_t block;
    int64_t row, rows;
    attend_partials partials; /* where the engine writes */
    attend_tensor sums;
};

/* Mask or bias of a work item. */
static attend_view mask_of_item(attend_view view, const struct work_item *item,
                                int64_t group, const struct chunk_step *step)
{
    view = attendi_broadcast_slice(view, 1, item->head * group, item->heads * group);
    view = attendi_broadcast_slice(view, 2, item->row, item->rows);
    return attendi_broadcast_slice(view, 3, step->column, step->chunk->keys);
}

/*
 * Sets where the engine writes the partials of an item.  If they are reduced with
 * partials that already are at the place of the result, they are staged at the start of
 * the new subtree's memory: the same addresses for every item, which stay in the cache.
 * Else they are written to their final place.
 */
static void place_item(const struct chunk_attention *a, const struct chunk_step *step,
                       struct work_item *item)
{
    const struct reduction *const r = &a->reduction;
    const int64_t group = a->call->hq / a->call->hkv;
    const bool reduces = step->plan.count > 0;
    const bool is_staged = reduces && step->plan.result.seen[item->block];
    struct subtree subtree = step->subtree;

    if (reduces && !is_staged)
        subtree.data = step->plan.result.data;
    item->partials =
        attendi_subtree_partials(r, &subtree, is_staged ? 0 : item->row, item->rows);
    item->partials.data = attendi_tensor_slice(
        item->partials.data, 1, is_staged ? 0 : item->head * group, item->heads * group);
    item->sums = attendi_tensor_slice(
        attendi_subtree_sums(r, &subtree, is_staged ? 0 : item->row, item->rows), 1,
        is_staged ? 0 : item->head * group, item->heads * group);
}

static attend_status compute(struct chunk_attention *a, const struct chunk_step *step,
                             const struct work_item *item, attend_error *err)
{
    const int64_t group = a->call->hq / a->call->hkv;
    const int64_t head = item->head * group, heads = item->heads * group;
    attend_rule rule = a->rule;
    attend_io io = attend_io_default();
    attend_stats sums;

    rule.first_query = a->reduction.row_block[item->block].query;
    rule.mask = mask_of_item(rule.mask, item, group, step);
    rule.bias = mask_of_item(rule.bias, item, group, step);
    rule.alibi = rule.alibi ? rule.alibi + head : NULL;
    rule.sinks = rule.sinks ? rule.sinks + head : NULL;
    io.q = attendi_view_slice(a->q, 2, item->row, item->rows);
    io.q = attendi_view_slice(io.q, 1, head, heads);
    io.k = attendi_view_slice(*step->k, 1, item->head, item->heads);
    io.v = attendi_view_slice(*step->v, 1, item->head, item->heads);
    if (a->call->raw_size > 0) {
        sums = attendi_stats_raw_request(a->call, &item->sums, step->classes);
        io.stats = &sums;
    }
    return attend_forward_partials(a->call->ctx, &rule, &io, &item->partials, err);
}

/*
 * Computes and reduces one item, then makes MPI progress.  *continues: whether to go on.
 */
static attend_status compute_item(struct chunk_attention *a,
                                  const struct chunk_step *step,
                                  const struct work_item *item, bool *continues,
                                  attend_error *err)
{
    const int64_t group = a->call->hq / a->call->hkv;
    struct communicator *const comm = &a->call->comm;
    const double start = MPI_Wtime();

    TRY(compute(a, step, item, err));
    TRY(attendi_reduction_reduce_rows(
        &a->reduction, &step->plan, &step->subtree, item->block, item->head * group,
        item->heads * group, &item->partials, &item->sums, err));
    const double end = MPI_Wtime();
    comm->cost.computing += end - start;
    attendi_comm_trace(comm, 'c', step->chunk->rank, step->chunk->first_key, start, end);
    if (a->progress)
        a->progress(a->progress_arg);
    *continues = attendi_comm_should_continue(comm);
    return ATTEND_OK;
}

static attend_status compute_row_block(struct chunk_attention *a,
                                       const struct chunk_step *step, int64_t x,
                                       bool *continues, attend_error *err)
{
    const struct row_block *const block = &a->reduction.row_block[x];
    const int64_t most = item_heads(a->call, block->rows, step->chunk->keys);

    for (int64_t head = 0; head < a->call->hkv && *continues; head += most) {
        struct work_item item = {.head = head,
                                 .heads = min_i64(most, a->call->hkv - head),
                                 .block = x,
                                 .row = block->row,
                                 .rows = block->rows};

        place_item(a, step, &item);
        TRY(compute_item(a, step, &item, continues, err));
    }
    return ATTEND_OK;
}

/*
 * Whether a row block needs this chunk.  Statistics, and partials that are sent to other
 * ranks, need all rows.
 */
static bool block_sees(const struct chunk_attention *a, const struct row_block *block,
                       const struct chunk *chunk)
{
    const attend_mpi_range queries = {block->query, block->rows};
    int64_t lo, hi;

    if (a->computes_all_rows || a->call->raw_size > 0)
        return true;
    attendi_mpi_keys_seen(a->call, &queries, &lo, &hi);
    return max_i64(lo, chunk->first_key) < min_i64(hi, chunk->first_key + chunk->keys);
}

/* All row blocks, into the memory of the result. */
static attend_status compute_row_blocks(struct chunk_attention *a,
                                        const struct chunk_step *step, attend_error *err)
{
    const struct reduction *const r = &a->reduction;
    const struct reduce_plan *const plan = &step->plan;
    bool *const seen = plan->count > 0 ? plan->result.seen : step->subtree.seen;
    bool continues = true;

    for (int64_t x = 0; x < r->row_blocks && continues; x++) {
        bool sees = block_sees(a, &r->row_block[x], step->chunk);

        if (sees)
            TRY(compute_row_block(a, step, x, &continues, err));
        else
            TRY(attendi_reduction_reduce_rows(r, plan, &step->subtree, x, 0, a->call->hq,
                                              NULL, NULL, err));
        for (int64_t y = plan->first; y < plan->first + plan->count; y++)
            sees = sees || r->list[y].seen[x];
        seen[x] = sees;
    }
    return ATTEND_OK;
}

static attend_status compute_rows(struct chunk_attention *a, struct chunk_step *step,
                                  attend_error *err)
{
    struct mpi_call *const call = a->call;

    if (call->raw_size > 0) {
        step->classes =
            attendi_stats_classes(call, step->chunk->first_key, step->chunk->keys, err);
        if (!step->classes)
            return ATTEND_ENOMEM;
    }
    const attend_status status = compute_row_blocks(a, step, err);
    attendi_mpi_free(&call->comm, step->classes);
    return status;
}

attend_status attendi_chunk_attention_begin(struct chunk_attention *a, int64_t max_keys,
                                            attend_error *err)
{
    return attendi_reduction_begin(&a->reduction, a->call, a->range, a->ranges,
                                   block_rows(a->call, max_keys), err);
}

attend_status attendi_chunk_attention_add(struct chunk_attention *a,
                                          const struct chunk *chunk, const attend_view *k,
                                          const attend_view *v, int64_t column,
                                          attend_error *err)
{
    struct communicator *const comm = &a->call->comm;
    struct chunk_step step = {.chunk = chunk,
                              .k = k,
                              .v = v,
                              .column = column,
                              .subtree = attendi_chunk_subtree(chunk)};

    if (!attendi_comm_should_continue(comm) || a->reduction.rows == 0)
        return ATTEND_OK;
    TRY(attendi_reduction_plan(&a->reduction, &step.subtree, &step.plan, err));
    if (!attendi_subtree_alloc(&a->reduction, &step.subtree, err))
        return ATTEND_ENOMEM;
    const attend_status status = compute_rows(a, &step, err);
    if (status == ATTEND_OK && !comm->stopped)
        attendi_reduction_commit(&a->reduction, &step.plan, &step.subtree);
    else
        attendi_subtree_free(&a->reduction, &step.subtree);
    return status;
}

attend_status attendi_chunk_attention_finish(struct chunk_attention *a,
                                             const attend_tensor *out,
                                             const attend_tensor *lse, attend_error *err)
{
    for (int64_t x = 0; x < a->reduction.row_blocks; x++) {
        const struct row_block *const block = &a->reduction.row_block[x];
        const attend_tensor o = attendi_tensor_slice(*out, 2, block->row, block->rows);
        const attend_tensor l = attendi_tensor_slice(*lse, 2, block->row, block->rows);

        TRY(attendi_reduction_finish(&a->reduction, x, &o, &l, err));
    }
    return attendi_reduction_finish_stats(&a->reduction, err);
}
