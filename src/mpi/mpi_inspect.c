/* SPDX-License-Identifier: MIT */
/*
 * attend_mpi_inspect: queries and their LSE are sent to all ranks.  Each rank inspects
 * all queries with one range of keys, which begins and ends at block boundaries of the
 * map.  So every sum is computed by one rank, with the bits of one process.
 */
#include "base/base.h"
#include "mpi/comm/redistribute.h"
#include "mpi/comm/views.h"
#include "mpi/mpi_probes.h"
#include "mpi/redistribute_mask.h"

enum { COLUMN_MASS, COLUMN_MAX, COLUMN_LAST, COLUMNS };

struct local_inspection {
    struct mpi_call *call;
    struct ranges keys,
        replicated; /* one range of keys for each rank; all queries for each rank */
    struct ranges map_columns, zoom_columns; /* of each rank */
    attend_inspection own; /* all queries by this rank's range of keys */
    attend_rule rule;
    int64_t *lengths;
    int64_t first, count; /* this rank's range of keys */
    void *q, *k, *lse, *mask, *bias, *column[COLUMNS], *pooled, *zoom;
    struct probes probes;
};

/* The columns of the zoom whose keys are in a range. */
static attend_mpi_range zoom_of_keys(const struct mpi_call *call,
                                     const attend_mpi_range *keys)
{
    const attend_inspection *const s = &call->inspection;
    const int64_t first = max_i64(0, keys->first - s->zoom_key);
    const int64_t end = min_i64(s->zoom.size[3], keys->first + keys->count - s->zoom_key);

    return (attend_mpi_range){first, s->zoom.data ? max_i64(0, end - first) : 0};
}

/* Even ranges of whole blocks, one for each rank. */
static attend_status partition_keys(struct local_inspection *l, attend_error *err)
{
    struct mpi_call *const call = l->call;
    struct communicator *const comm = &call->comm;
    const bool pools = call->inspection.pooled.data != NULL;
    const int64_t block = pools ? max_i64(1, call->inspection.pooled_block) : 1;
    const int64_t all = call->keys.all, blocks = ceil_div_i64(all, block);

    TRY(attendi_ranges_make(&l->keys, comm, all, comm->size, err));
    TRY(attendi_ranges_make(&l->map_columns, comm, blocks, comm->size, err));
    TRY(attendi_ranges_make(&l->zoom_columns, comm, call->inspection.zoom.size[3],
                            comm->size, err));
    TRY(attendi_ranges_replicated(&l->replicated, comm, call->queries.all, err));
    for (int rank = 0; rank < comm->size; rank++) {
        const attend_mpi_range part = attend_mpi_slice(blocks, rank, comm->size);
        const int64_t first = min_i64(part.first * block, all);

        l->map_columns.range[rank] = part;
        l->keys.range[rank] = (attend_mpi_range){
            first, min_i64((part.first + part.count) * block, all) - first};
        l->zoom_columns.range[rank] = zoom_of_keys(call, &l->keys.range[rank]);
        l->keys.start[rank + 1] = l->map_columns.start[rank + 1] =
            l->zoom_columns.start[rank + 1] = rank + 1;
    }
    l->first = l->keys.range[comm->rank].first;
    l->count = l->keys.range[comm->rank].count;
    return ATTEND_OK;
}

static void *allocate_tensor(struct local_inspection *l, int64_t heads, int64_t rows,
                             int64_t columns, attend_dtype dtype, attend_status *status,
                             attend_error *err)
{
    void *const memory =
        attendi_mpi_alloc(&l->call->comm, l->call->nb * heads * rows * columns,
                          attend_dtype_size(dtype), err);

    if (!memory)
        *status = ATTEND_ENOMEM;
    return memory;
}

static attend_tensor *column_of(attend_inspection *s, int which)
{
    attend_tensor *const all[COLUMNS] = {&s->column_mass, &s->column_max,
                                         &s->column_last};

    return all[which];
}

/* Memory for this rank's `columns` of an output of the whole sequence. */
static attend_tensor own_tensor(struct local_inspection *l, const attend_tensor *shared,
                                int64_t columns, void **data, attend_status *status,
                                attend_error *err)
{
    const struct mpi_call *const call = l->call;

    *data = allocate_tensor(l, call->hq, shared->size[2], columns, shared->dtype, status,
                            err);
    return attend_tensor_dense(*data, shared->dtype, call->nb, call->hq, shared->size[2],
                               columns);
}

static attend_status allocate(struct local_inspection *l, attend_error *err)
{
    struct mpi_call *const call = l->call;
    const int64_t nq = call->queries.all;
    const attend_mpi_range blocks = l->map_columns.range[call->comm.rank];
    const attend_mpi_range zoomed = l->zoom_columns.range[call->comm.rank];
    attend_status status =
        attendi_probes_select(&l->probes, call, l->first, l->count, err);

    l->q = allocate_tensor(l, call->hq, nq, call->d, call->dtype, &status, err);
    l->k = allocate_tensor(l, call->hkv, l->count, call->d, call->dtype, &status, err);
    l->lse =
        allocate_tensor(l, call->hq, nq, 1, call->inspection.lse.dtype, &status, err);
    l->lengths = allocate_tensor(l, 1, 1, 1, ATTEND_F64, &status, err);
    l->own = call->inspection;
    for (int x = 0; x < COLUMNS; x++) {
        attend_tensor *const column = column_of(&l->own, x);

        if (column->data)
            *column = own_tensor(l, column, l->count, &l->column[x], &status, err);
    }
    if (l->own.pooled.data)
        l->own.pooled =
            own_tensor(l, &l->own.pooled, blocks.count, &l->pooled, &status, err);
    if (l->own.zoom.data)
        l->own.zoom = own_tensor(l, &l->own.zoom, zoomed.count, &l->zoom, &status, err);
    l->own.zoom_key =
        zoomed.count > 0 ? call->inspection.zoom_key + zoomed.first - l->first : 0;
    l->own.probes = l->probes.list;
    l->own.probe_count = l->probes.count;
    l->own.probe_weights = l->probes.weights;
    return status;
}

/* Checks the size of the map.  The engine sees only this rank's columns of it. */
static attend_status check_map(const struct mpi_call *call, attend_error *err)
{
    const attend_inspection *const s = &call->inspection;

    if (!s->pooled.data)
        return ATTEND_OK;
    if (s->pooled_block < 1)
        return attendi_fail(err, ATTEND_EINVAL, "pooled_block (%lld) is below 1",
                            LL(s->pooled_block));
    const int64_t want[4] = {call->nb, call->hq,
                             ceil_div_i64(call->queries.all, s->pooled_block),
                             ceil_div_i64(call->keys.all, s->pooled_block)};
    for (int a = 0; a < 4; a++)
        if (s->pooled.size[a] != want[a])
            return attendi_fail(err, ATTEND_EINVAL, "pooled.size[%d] (%lld) must be %lld",
                                a, LL(s->pooled.size[a]), LL(want[a]));
    return ATTEND_OK;
}

/* The same for the zoom. */
static attend_status check_zoom(const struct mpi_call *call, attend_error *err)
{
    const attend_inspection *const s = &call->inspection;
    const struct {
        const char *name;
        int64_t first, all;
    } axis[] = {{"zoom_query", s->zoom_query, call->queries.all},
                {"zoom_key", s->zoom_key, call->keys.all}};

    for (int a = 0; s->zoom.data && a < 2; a++) {
        const int64_t count = s->zoom.size[2 + a];

        if (axis[a].first < 0 || count < 0 || count > axis[a].all ||
            axis[a].first > axis[a].all - count)
            return attendi_fail(
                err, ATTEND_EINVAL, "%s (%lld) and zoom.size[%d] (%lld) leave 0..%lld",
                axis[a].name, LL(axis[a].first), 2 + a, LL(count), LL(axis[a].all - 1));
    }
    return ATTEND_OK;
}

/* Positions and key lengths count from this rank's first key. */
static void shift_rule(struct local_inspection *l)
{
    l->rule.first_query = -l->first;
    for (int64_t b = 0; l->rule.key_lengths && b < l->call->nb; b++)
        l->lengths[b] = max_i64(0, min_i64(l->rule.key_lengths[b] - l->first, l->count));
    if (l->rule.key_lengths)
        l->rule.key_lengths = l->lengths;
}

static attend_status fetch(struct local_inspection *l, attend_error *err)
{
    struct mpi_call *const call = l->call;
    const attend_inspection *const s = &call->inspection;
    const int64_t nq = call->queries.all;
    const attend_tensor q =
        attend_tensor_dense(l->q, call->dtype, call->nb, call->hq, nq, call->d);
    const attend_tensor lse =
        attend_tensor_dense(l->lse, s->lse.dtype, call->nb, call->hq, nq, 1);
    const attend_tensor k =
        attend_tensor_dense(l->k, call->dtype, call->nb, call->hkv, l->count, call->d);

    TRY(attendi_redistribute(&call->comm, &call->queries, &l->replicated, &s->q, &q,
                             err));
    TRY(attendi_redistribute(&call->comm, &call->queries, &l->replicated, &s->lse, &lse,
                             err));
    TRY(attendi_redistribute(&call->comm, &call->keys, &l->keys, &s->k, &k, err));
    l->own.q = attend_view_of(&q);
    l->own.lse = attend_view_of(&lse);
    l->own.k = attend_view_of(&k);
    l->rule = call->rule;
    shift_rule(l);
    TRY(attendi_redistribute_mask(call, &l->keys, &l->rule.mask, &l->mask, err));
    return attendi_redistribute_mask(call, &l->keys, &l->rule.bias, &l->bias, err);
}

/* Gathers the columns of all ranks, on all ranks. */
static attend_status allgather_columns(struct local_inspection *l,
                                       const struct ranges *held,
                                       const attend_tensor *own,
                                       const attend_tensor *shared, attend_error *err)
{
    struct communicator *const comm = &l->call->comm;
    const attend_view source = attendi_view_transposed(attend_view_of(own));
    const attend_tensor target = attendi_tensor_transposed(*shared);
    struct ranges all = {.all = 0};

    if (!shared->data)
        return ATTEND_OK;
    const attend_status made = attendi_ranges_replicated(&all, comm, held->all, err);
    attend_status status = attendi_comm_agree(comm, made, err);
    if (status == ATTEND_OK)
        status = attendi_redistribute(comm, held, &all, &source, &target, err);
    attendi_ranges_free(&all, comm);
    return status;
}

/* Columns go to the ranks that hold their keys, everything else to all ranks. */
static attend_status redistribute_outputs(struct local_inspection *l, attend_error *err)
{
    struct mpi_call *const call = l->call;
    const attend_inspection *const s = &call->inspection;

    for (int x = 0; x < COLUMNS; x++) {
        const attend_tensor from = *column_of(&l->own, x);
        const attend_tensor to = *column_of(&call->inspection, x);
        const attend_view source = attendi_view_transposed(attend_view_of(&from));
        const attend_tensor target = attendi_tensor_transposed(to);

        if (to.data)
            TRY(attendi_redistribute(&call->comm, &l->keys, &call->keys, &source, &target,
                                     err));
    }
    TRY(allgather_columns(l, &l->map_columns, &l->own.pooled, &s->pooled, err));
    TRY(allgather_columns(l, &l->zoom_columns, &l->own.zoom, &s->zoom, err));
    return attendi_probes_allreduce(&l->probes, call, err);
}

static attend_status inspect(struct local_inspection *l, attend_error *err)
{
    struct communicator *const comm = &l->call->comm;
    attend_status status = check_map(l->call, err);

    if (status == ATTEND_OK)
        status = check_zoom(l->call, err);
    if (status == ATTEND_OK)
        status = partition_keys(l, err);
    if (status == ATTEND_OK)
        status = allocate(l, err);
    TRY(attendi_comm_agree(comm, status, err));
    TRY(fetch(l, err));
    /*
     * A rank without keys has no part in the outputs, and a map without columns is
     * refused.
     */
    if (l->count > 0)
        status = attend_inspect(l->call->ctx, &l->rule, &l->own, err);
    TRY(attendi_comm_agree(comm, status, err));
    return redistribute_outputs(l, err);
}

attend_status attend_mpi_inspect(MPI_Comm comm, attend_context *ctx,
                                 const attend_rule *rule,
                                 const attend_inspection *inspection,
                                 const attend_mpi_dist *dist, attend_error *err)
{
    attend_error own;
    struct mpi_call call;
    struct local_inspection l = {.call = &call};

    if (!err)
        err = &own;
    attend_status status =
        attendi_mpi_call_open_inspection(&call, comm, ctx, rule, inspection, dist, err);
    if (status == ATTEND_OK)
        status = inspect(&l, err);
    void *const memory[] = {l.q,         l.k,      l.lse,       l.lengths,
                            l.mask,      l.bias,   l.column[0], l.column[1],
                            l.column[2], l.pooled, l.zoom};
    for (size_t x = 0; x < ARRAY_LEN(memory); x++)
        attendi_mpi_free(&call.comm, memory[x]);
    attendi_ranges_free(&l.keys, &call.comm);
    attendi_ranges_free(&l.map_columns, &call.comm);
    attendi_ranges_free(&l.zoom_columns, &call.comm);
    attendi_probes_free(&l.probes, &call);
    attendi_ranges_free(&l.replicated, &call.comm);
    attendi_mpi_call_close(&call);
    return status;
}
