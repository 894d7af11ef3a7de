/* SPDX-License-Identifier: MIT */
/* Every rank gets the keys that it sees, and computes as on one machine. */
#include <string.h>

#include "base/base.h"
#include "mpi/comm/move.h"
#include "mpi/comm/rows.h"
#include "mpi/strategies.h"

/* The keys that each rank sees: one range. */
static attend_status list_wanted(struct ranges *wanted, struct job *job,
                                 attend_error *err)
{
    TRY(attendi_ranges_make(wanted, &job->team, job->keys.all, job->team.size, err));
    for (int rank = 0; rank < job->team.size; rank++) {
        attend_mpi_range *const range = &wanted->range[rank];
        int64_t lo = 0, hi = 0;

        for (int64_t x = job->queries.start[rank]; x < job->queries.start[rank + 1];
             x++) {
            int64_t from, to;

            attendi_job_sees(job, &job->queries.range[x], &from, &to);
            if (from == to)
                continue;
            lo = lo == hi ? from : min_i64(lo, from);
            hi = max_i64(hi, to);
        }
        *range = (attend_mpi_range){lo, hi - lo};
        wanted->start[rank + 1] = rank + 1;
    }
    return ATTEND_OK;
}

/* Rows of a request for statistics, as far as they are strides. */
static attend_stats stats_part(const attend_stats *all, int64_t row, int64_t count)
{
    attend_stats part = *all;

    part.rows = attendi_tensor_part(all->rows, 2, row, count);
    part.top_weights = attendi_tensor_part(all->top_weights, 2, row, count);
    part.distances = attendi_tensor_part(all->distances, 2, row, count);
    part.class_mass = attendi_tensor_part(all->class_mass, 2, row, count);
    part.raw = attendi_tensor_part(all->raw, 2, row, count);
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

    io.q = attendi_view_part(all->q, 2, row, range->count);
    io.out = attendi_tensor_part(all->out, 2, row, range->count);
    io.lse = attendi_tensor_part(all->lse, 2, row, range->count);
    io.weights = attendi_tensor_part(all->weights, 2, row, range->count);
    if (all->stats) {
        stats = stats_part(all->stats, row, range->count);
        io.stats = &stats;
    }
    if (names) {
        top = attendi_team_alloc(&job->team,
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
    attendi_team_free(&job->team, top);
    return status;
}

static attend_status compute(struct job *job, const attend_io *io, attend_error *err)
{
    const int rank = job->team.rank;
    const double start = MPI_Wtime();
    int64_t row = 0;

    for (int64_t x = job->queries.start[rank]; x < job->queries.start[rank + 1]; x++) {
        const attend_mpi_range *const range = &job->queries.range[x];

        if (!attendi_team_goes_on(&job->team))
            return ATTEND_OK;
        if (range->count > 0)
            TRY(compute_range(job, io, range, row, err));
        row += range->count;
    }
    job->team.cost.computing += MPI_Wtime() - start;
    attendi_team_trace(&job->team, 'c', rank, 0, start, MPI_Wtime());
    return ATTEND_OK;
}

/* The keys that this rank sees, at their places in memory for all. */
static attend_status fetch(struct job *job, const struct ranges *wanted, void *k, void *v,
                           attend_io *io, attend_error *err)
{
    const attend_mpi_range *const own = &wanted->range[job->team.rank];
    const attend_tensor keys =
        attend_tensor_dense(k, job->dtype, job->nb, job->hkv, job->keys.all, job->d);
    const attend_tensor values =
        attend_tensor_dense(v, job->dtype, job->nb, job->hkv, job->keys.all, job->dv);
    const attend_tensor to_k = attendi_tensor_part(keys, 2, own->first, own->count);
    const attend_tensor to_v = attendi_tensor_part(values, 2, own->first, own->count);

    io->k = attend_view_of(&keys);
    io->v = attend_view_of(&values);
    TRY(attendi_move(&job->team, &job->keys, wanted, &job->io.k, &to_k, err));
    return attendi_move(&job->team, &job->keys, wanted, &job->io.v, &to_v, err);
}

attend_status attendi_forward_gather(struct job *job, attend_error *err)
{
    struct team *const team = &job->team;
    const int64_t rows = job->nb * job->hkv * job->keys.all;
    const size_t size = attend_dtype_size(job->dtype);
    struct ranges wanted = {.all = 0};
    attend_io io = job->io;

    void *const k = attendi_team_alloc(team, rows * job->d, size, err);
    void *const v = attendi_team_alloc(team, rows * job->dv, size, err);
    attend_status status =
        k && v ? list_wanted(&wanted, job, err) : (attend_status)ATTEND_ENOMEM;
    status = attendi_team_agree(team, status, err);
    if (status == ATTEND_OK)
        status = fetch(job, &wanted, k, v, &io, err);
    if (status == ATTEND_OK) {
        attend_error own;
        const attend_status failed = compute(job, &io, &own);

        if (failed != ATTEND_OK)
            attendi_team_stop(team, &own);
        status = attendi_team_settle(team, err);
    }
    attendi_ranges_free(&wanted, team);
    attendi_team_free(team, k);
    attendi_team_free(team, v);
    return status;
}
