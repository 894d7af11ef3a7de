/* SPDX-License-Identifier: MIT */
#include "mpi/comm/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/comm/polite.h"

/* ---- slices that callers may take ------------------------------------------ */

/* Where slice n of `slices` begins. */
static int64_t slice_start(int64_t all, int64_t n, int64_t slices)
{
    const int64_t splits = ceil_div_i64(all, ATTEND_SPLIT_KEYS);
    const int64_t pieces = splits >= slices ? splits : all;
    const int64_t piece = splits >= slices ? ATTEND_SPLIT_KEYS : 1;
    const int64_t start = pieces / slices * n + min_i64(n, pieces % slices);

    return min_i64(start * piece, all);
}

attend_mpi_range attend_mpi_slice(int64_t all, int rank, int ranks)
{
    const int64_t first = slice_start(all, rank, ranks);

    return (attend_mpi_range){first, slice_start(all, rank + 1, ranks) - first};
}

void attend_mpi_zigzag(int64_t all, int rank, int ranks, attend_mpi_range ranges[2])
{
    for (int x = 0; x < 2; x++) {
        const int64_t n = x == 0 ? rank : 2 * (int64_t)ranks - 1 - rank;
        const int64_t first = slice_start(all, n, 2 * (int64_t)ranks);

        ranges[x] = (attend_mpi_range){
            first, slice_start(all, n + 1, 2 * (int64_t)ranks) - first};
    }
}

/* ---- tables ----------------------------------------------------------------- */

attend_status attendi_ranges_make(struct ranges *r, struct team *team, int64_t all,
                                  int64_t count, attend_error *err)
{
    *r = (struct ranges){.all = all};
    r->start = attendi_team_alloc(team, team->size + 1, sizeof *r->start, err);
    r->range = attendi_team_alloc(team, count, sizeof *r->range, err);
    if (!r->start || !r->range)
        return ATTEND_ENOMEM;
    memset(r->start, 0, (size_t)(team->size + 1) * sizeof *r->start);
    return ATTEND_OK;
}

void attendi_ranges_free(struct ranges *r, struct team *team)
{
    attendi_team_free(team, r->start);
    attendi_team_free(team, r->range);
    *r = (struct ranges){.all = 0};
}

attend_status attendi_ranges_all(struct ranges *r, struct team *team, int64_t all,
                                 attend_error *err)
{
    TRY(attendi_ranges_make(r, team, all, team->size, err));
    for (int rank = 0; rank < team->size; rank++) {
        r->range[rank] = (attend_mpi_range){0, all};
        r->start[rank + 1] = rank + 1;
    }
    return ATTEND_OK;
}

int64_t attendi_ranges_rows(const struct ranges *r, int rank)
{
    int64_t rows = 0;

    for (int64_t x = r->start[rank]; x < r->start[rank + 1]; x++)
        rows += r->range[x].count;
    return rows;
}

static int compare_ranges(const void *a, const void *b)
{
    const attend_mpi_range *const x = a, *const y = b;

    return x->first != y->first ? (x->first < y->first ? -1 : 1)
                                : (x->count > y->count) - (x->count < y->count);
}

/* Whether the ranges of all ranks cover rows 0 .. all - 1 once. */
static attend_status check_cover(const struct ranges *r, int64_t count, const char *name,
                                 attend_error *err)
{
    attend_mpi_range *const sorted = malloc((size_t)(count + 1) * sizeof *sorted);
    attend_status status = ATTEND_OK;
    int64_t next = 0;

    if (!sorted)
        return attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %lld ranges",
                                LL(count));
    memcpy(sorted, r->range, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_ranges);
    for (int64_t x = 0; x < count && status == ATTEND_OK; x++) {
        if (sorted[x].count == 0)
            continue;
        if (sorted[x].first != next)
            status =
                attendi_mpi_fail(err, ATTEND_EINVAL, "dist.%s: row %lld of %lld is %s",
                                 name, LL(min_i64(next, sorted[x].first)), LL(r->all),
                                 sorted[x].first > next ? "on no rank" : "on two ranks");
        next = sorted[x].first + sorted[x].count;
    }
    free(sorted);
    return status;
}

static attend_status gather_ranges(struct ranges *r, struct team *team,
                                   const attend_mpi_range *own, int64_t count,
                                   attend_error *err)
{
    int *const counts = calloc(2 * (size_t)team->size, sizeof *counts);
    int *const places = counts + team->size;
    attend_status status = ATTEND_OK;

    if (!counts)
        return attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %d ranks", team->size);
    for (int rank = 0; rank < team->size; rank++) {
        counts[rank] = 2 * (int)(r->start[rank + 1] - r->start[rank]);
        places[rank] = 2 * (int)r->start[rank];
    }
    MPI_Request request;
    int result = MPI_Iallgatherv(own, 2 * (int)count, MPI_INT64_T, r->range, counts,
                                 places, MPI_INT64_T, team->comm, &request);
    if (result == MPI_SUCCESS)
        result = attendi_wait_all(1, &request);
    status = attendi_mpi_result(result, err);
    free(counts);
    return status;
}

attend_status attendi_ranges_share(struct ranges *r, struct team *team, const char *name,
                                   const attend_mpi_range *own, int64_t count,
                                   int64_t rows, attend_error *err)
{
    const int64_t mine[2] = {own ? count : 1, rows};
    attend_mpi_range next = {0, rows};
    int64_t *const all = malloc(2 * (size_t)team->size * sizeof *all);

    if (!all)
        return attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %d ranks", team->size);
    attend_status status =
        attendi_mpi_result(attendi_allgather(mine, 2, MPI_INT64_T, all, team->comm), err);
    int64_t ranges = 0, sum = 0;
    for (int rank = 0; rank < team->size; rank++) {
        if (rank < team->rank)
            next.first += all[2 * rank + 1];
        ranges += all[2 * rank];
        sum += all[2 * rank + 1];
    }
    if (status == ATTEND_OK)
        status = attendi_ranges_make(r, team, sum, ranges, err);
    for (int rank = 0; rank < team->size && status == ATTEND_OK; rank++)
        r->start[rank + 1] = r->start[rank] + all[2 * rank];
    free(all);
    TRY(status);
    TRY(gather_ranges(r, team, own ? own : &next, mine[0], err));
    return check_cover(r, ranges, name, err);
}
