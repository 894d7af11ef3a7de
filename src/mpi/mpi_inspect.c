/* SPDX-License-Identifier: MIT */
/*
 * attend_mpi_inspect: queries and their LSE go to all ranks, and each rank inspects all
 * of them with a range of keys that begins and ends where a block of the map does.  So no
 * two ranks have a share in one sum, and sums have the bits of one machine.
 */
#include "base/base.h"
#include "mpi/comm/redistribute.h"
#include "mpi/comm/views.h"
#include "mpi/mpi_probes.h"
#include "mpi/rule_columns.h"

enum { COLUMN_MASS, COLUMN_MAX, COLUMN_LAST, COLUMNS };

struct look {
    struct job *job;
    struct ranges keys, everyone;  /* as all ranks hold them */
    struct ranges columns, zoomed; /* of the map and of the zoom */
    attend_inspection own;         /* all queries by this rank's range of keys */
    attend_rule rule;
    int64_t *lengths;
    int64_t first, count; /* keys of this rank's range */
    void *q, *k, *lse, *mask, *bias, *column[COLUMNS], *pooled, *zoom;
    struct probes probes;
};

/* Columns of the zoom that have keys of a range. */
static attend_mpi_range cut_zoom(const struct job *job, const attend_mpi_range *keys)
{
    const attend_inspection *const s = &job->inspection;
    const int64_t first = max_i64(0, keys->first - s->zoom_key);
    const int64_t end = min_i64(s->zoom.size[3], keys->first + keys->count - s->zoom_key);

    return (attend_mpi_range){first, s->zoom.data ? max_i64(0, end - first) : 0};
}

/* Even ranges of whole blocks. */
static attend_status cut_keys(struct look *l, attend_error *err)
{
    struct job *const job = l->job;
    struct communicator *const comm = &job->comm;
    const bool pools = job->inspection.pooled.data != NULL;
    const int64_t block = pools ? max_i64(1, job->inspection.pooled_block) : 1;
    const int64_t all = job->keys.all, blocks = ceil_div_i64(all, block);

    TRY(attendi_ranges_make(&l->keys, comm, all, comm->size, err));
    TRY(attendi_ranges_make(&l->columns, comm, blocks, comm->size, err));
    TRY(attendi_ranges_make(&l->zoomed, comm, job->inspection.zoom.size[3], comm->size,
                            err));
    TRY(attendi_ranges_replicated(&l->everyone, comm, job->queries.all, err));
    for (int rank = 0; rank < comm->size; rank++) {
        const attend_mpi_range part = attend_mpi_slice(blocks, rank, comm->size);
        const int64_t first = min_i64(part.first * block, all);

        l->columns.range[rank] = part;
        l->keys.range[rank] = (attend_mpi_range){
            first, min_i64((part.first + part.count) * block, all) - first};
        l->zoomed.range[rank] = cut_zoom(job, &l->keys.range[rank]);
        l->keys.start[rank + 1] = l->columns.start[rank + 1] = l->zoomed.start[rank + 1] =
            rank + 1;
    }
    l->first = l->keys.range[comm->rank].first;
    l->count = l->keys.range[comm->rank].count;
    return ATTEND_OK;
}

static void *room(struct look *l, int64_t heads, int64_t rows, int64_t columns,
                  attend_dtype dtype, attend_status *status, attend_error *err)
{
    void *const memory =
        attendi_mpi_alloc(&l->job->comm, l->job->nb * heads * rows * columns,
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

/* Memory for `columns` of this rank in place of a tensor that all ranks share. */
static attend_tensor own_tensor(struct look *l, const attend_tensor *shared,
                                int64_t columns, void **data, attend_status *status,
                                attend_error *err)
{
    const struct job *const job = l->job;

    *data = room(l, job->hq, shared->size[2], columns, shared->dtype, status, err);
    return attend_tensor_dense(*data, shared->dtype, job->nb, job->hq, shared->size[2],
                               columns);
}

static attend_status allocate(struct look *l, attend_error *err)
{
    struct job *const job = l->job;
    const int64_t nq = job->queries.all;
    const attend_mpi_range blocks = l->columns.range[job->comm.rank];
    const attend_mpi_range zoomed = l->zoomed.range[job->comm.rank];
    attend_status status = attendi_probes_take(&l->probes, job, l->first, l->count, err);

    l->q = room(l, job->hq, nq, job->d, job->dtype, &status, err);
    l->k = room(l, job->hkv, l->count, job->d, job->dtype, &status, err);
    l->lse = room(l, job->hq, nq, 1, job->inspection.lse.dtype, &status, err);
    l->lengths = room(l, 1, 1, 1, ATTEND_F64, &status, err);
    l->own = job->inspection;
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
        zoomed.count > 0 ? job->inspection.zoom_key + zoomed.first - l->first : 0;
    l->own.probes = l->probes.list;
    l->own.probe_count = l->probes.count;
    l->own.probe_weights = l->probes.weights;
    return status;
}

/* The map's size, which the engine sees in parts only. */
static attend_status check_map(const struct job *job, attend_error *err)
{
    const attend_inspection *const s = &job->inspection;

    if (!s->pooled.data)
        return ATTEND_OK;
    if (s->pooled_block < 1)
        return attendi_mpi_fail(err, ATTEND_EINVAL, "pooled_block (%lld) is below 1",
                                LL(s->pooled_block));
    const int64_t want[4] = {job->nb, job->hq,
                             ceil_div_i64(job->queries.all, s->pooled_block),
                             ceil_div_i64(job->keys.all, s->pooled_block)};
    for (int a = 0; a < 4; a++)
        if (s->pooled.size[a] != want[a])
            return attendi_mpi_fail(err, ATTEND_EINVAL,
                                    "pooled.size[%d] (%lld) must be %lld", a,
                                    LL(s->pooled.size[a]), LL(want[a]));
    return ATTEND_OK;
}

/* And the zoom's. */
static attend_status check_zoom(const struct job *job, attend_error *err)
{
    const attend_inspection *const s = &job->inspection;
    const struct {
        const char *name;
        int64_t first, all;
    } axis[] = {{"zoom_query", s->zoom_query, job->queries.all},
                {"zoom_key", s->zoom_key, job->keys.all}};

    for (int a = 0; s->zoom.data && a < 2; a++) {
        const int64_t count = s->zoom.size[2 + a];

        if (axis[a].first < 0 || count < 0 || count > axis[a].all ||
            axis[a].first > axis[a].all - count)
            return attendi_mpi_fail(
                err, ATTEND_EINVAL, "%s (%lld) and zoom.size[%d] (%lld) leave 0..%lld",
                axis[a].name, LL(axis[a].first), 2 + a, LL(count), LL(axis[a].all - 1));
    }
    return ATTEND_OK;
}

/* Positions and lengths count from this rank's first key. */
static void move_rule(struct look *l)
{
    l->rule.first_query = -l->first;
    for (int64_t b = 0; l->rule.key_lengths && b < l->job->nb; b++)
        l->lengths[b] = max_i64(0, min_i64(l->rule.key_lengths[b] - l->first, l->count));
    if (l->rule.key_lengths)
        l->rule.key_lengths = l->lengths;
}

static attend_status fetch(struct look *l, attend_error *err)
{
    struct job *const job = l->job;
    const attend_inspection *const s = &job->inspection;
    const int64_t nq = job->queries.all;
    const attend_tensor q =
        attend_tensor_dense(l->q, job->dtype, job->nb, job->hq, nq, job->d);
    const attend_tensor lse =
        attend_tensor_dense(l->lse, s->lse.dtype, job->nb, job->hq, nq, 1);
    const attend_tensor k =
        attend_tensor_dense(l->k, job->dtype, job->nb, job->hkv, l->count, job->d);

    TRY(attendi_redistribute(&job->comm, &job->queries, &l->everyone, &s->q, &q, err));
    TRY(attendi_redistribute(&job->comm, &job->queries, &l->everyone, &s->lse, &lse,
                             err));
    TRY(attendi_redistribute(&job->comm, &job->keys, &l->keys, &s->k, &k, err));
    l->own.q = attend_view_of(&q);
    l->own.lse = attend_view_of(&lse);
    l->own.k = attend_view_of(&k);
    l->rule = job->rule;
    move_rule(l);
    TRY(attendi_rule_columns(job, &l->keys, &l->rule.mask, &l->mask, err));
    return attendi_rule_columns(job, &l->keys, &l->rule.bias, &l->bias, err);
}

/* Columns that each rank has of a tensor, to all ranks. */
static attend_status give_all(struct look *l, const struct ranges *held,
                              const attend_tensor *own, const attend_tensor *shared,
                              attend_error *err)
{
    struct communicator *const comm = &l->job->comm;
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

/* Columns to the ranks that hold their keys, the rest to all. */
static attend_status give_back(struct look *l, attend_error *err)
{
    struct job *const job = l->job;
    const attend_inspection *const s = &job->inspection;

    for (int x = 0; x < COLUMNS; x++) {
        const attend_tensor from = *column_of(&l->own, x);
        const attend_tensor to = *column_of(&job->inspection, x);
        const attend_view source = attendi_view_transposed(attend_view_of(&from));
        const attend_tensor target = attendi_tensor_transposed(to);

        if (to.data)
            TRY(attendi_redistribute(&job->comm, &l->keys, &job->keys, &source, &target,
                                     err));
    }
    TRY(give_all(l, &l->columns, &l->own.pooled, &s->pooled, err));
    TRY(give_all(l, &l->zoomed, &l->own.zoom, &s->zoom, err));
    return attendi_probes_share(&l->probes, job, err);
}

static attend_status inspect(struct look *l, attend_error *err)
{
    struct communicator *const comm = &l->job->comm;
    attend_status status = check_map(l->job, err);

    if (status == ATTEND_OK)
        status = check_zoom(l->job, err);
    if (status == ATTEND_OK)
        status = cut_keys(l, err);
    if (status == ATTEND_OK)
        status = allocate(l, err);
    TRY(attendi_comm_agree(comm, status, err));
    TRY(fetch(l, err));
    /* A rank without keys has nothing to say, and a map without columns is refused. */
    if (l->count > 0)
        status = attend_inspect(l->job->ctx, &l->rule, &l->own, err);
    TRY(attendi_comm_agree(comm, status, err));
    return give_back(l, err);
}

attend_status attend_mpi_inspect(MPI_Comm comm, attend_context *ctx,
                                 const attend_rule *rule,
                                 const attend_inspection *inspection,
                                 const attend_mpi_dist *dist, attend_error *err)
{
    attend_error own;
    struct job job;
    struct look l = {.job = &job};

    if (!err)
        err = &own;
    attend_status status =
        attendi_job_open_inspection(&job, comm, ctx, rule, inspection, dist, err);
    if (status == ATTEND_OK)
        status = inspect(&l, err);
    void *const memory[] = {l.q,         l.k,      l.lse,       l.lengths,
                            l.mask,      l.bias,   l.column[0], l.column[1],
                            l.column[2], l.pooled, l.zoom};
    for (size_t x = 0; x < ARRAY_LEN(memory); x++)
        attendi_mpi_free(&job.comm, memory[x]);
    attendi_ranges_free(&l.keys, &job.comm);
    attendi_ranges_free(&l.columns, &job.comm);
    attendi_ranges_free(&l.zoomed, &job.comm);
    attendi_probes_free(&l.probes, &job);
    attendi_ranges_free(&l.everyone, &job.comm);
    attendi_job_close(&job);
    return status;
}
