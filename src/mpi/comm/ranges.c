/* SPDX-License-Identifier: MIT */
#include "mpi/comm/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/comm/wait.h"

/* ---- slices for callers ------------------------------------------------------ */

/* First row of slice n of `slices`. */
static int64_t slice_start(int64_t all, int64_t n, int64_t slices)
{
    const int64_t splits = ceil_div_i64(all, ATTEND_SPLIT_KEYS);
    const int64_t units = splits >= slices ? splits : all;
    const int64_t unit = splits >= slices ? ATTEND_SPLIT_KEYS : 1;
    const int64_t start = units / slices * n + min_i64(n, units % slices);

    return min_i64(start * unit, all);
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

attend_status attendi_ranges_make(struct ranges *r, struct communicator *comm,
                                  int64_t all, int64_t count, attend_error *err)
{
    *r = (struct ranges){.all = all};
    r->start = attendi_mpi_alloc(comm, comm->size + 1, sizeof *r->start, err);
    r->range = attendi_mpi_alloc(comm, count, sizeof *r->range, err);
    if (!r->start || !r->range)
        return ATTEND_ENOMEM;
    memset(r->start, 0, (size_t)(comm->size + 1) * sizeof *r->start);
    return ATTEND_OK;
}

void attendi_ranges_free(struct ranges *r, struct communicator *comm)
{
    attendi_mpi_free(comm, r->start);
    attendi_mpi_free(comm, r->range);
    *r = (struct ranges){.all = 0};
}

attend_status attendi_ranges_replicated(struct ranges *r, struct communicator *comm,
                                        int64_t all, attend_error *err)
{
    TRY(attendi_ranges_make(r, comm, all, comm->size, err));
    for (int rank = 0; rank < comm->size; rank++) {
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

/* Temporary memory of an allgather of ranges: `count` ranges of all ranks. */
struct allgather {
    int *counts, *displacements; /* [ranks], in int64_t */
    attend_mpi_range *sorted;    /* [count] */
    int64_t count;
};

/* Whether the ranges of all ranks cover rows 0 .. all - 1 once. */
static attend_status check_cover(const struct ranges *r, const struct allgather *s,
                                 const char *name, attend_error *err)
{
    int64_t next = 0;

    memcpy(s->sorted, r->range, (size_t)s->count * sizeof *s->sorted);
    qsort(s->sorted, (size_t)s->count, sizeof *s->sorted, compare_ranges);
    for (int64_t x = 0; x < s->count; x++) {
        const attend_mpi_range range = s->sorted[x];

        if (range.count > 0 && range.first != next)
            return attendi_fail(err, ATTEND_EINVAL, "dist.%s: row %lld of %lld is %s",
                                name, LL(min_i64(next, range.first)), LL(r->all),
                                range.first > next ? "in no range" : "in two ranges");
        next += range.count;
    }
    return ATTEND_OK;
}

/*
 * Allocates the table and the temporary memory, and sets the displacements.  Collective.
 */
static attend_status make_table(struct ranges *r, struct allgather *s,
                                struct communicator *comm, attend_error *err)
{
    const int64_t *const of_rank =
        comm->allgather_buffer; /* ranges and rows of each rank */
    int64_t rows = 0;

    for (int rank = 0; rank < comm->size; rank++) {
        if (of_rank[2 * rank] > RANGES_MAX - s->count ||
            of_rank[2 * rank + 1] > ROWS_MAX - rows)
            return attendi_fail(err, ATTEND_EINVAL,
                                "dist: all ranks together have more than %lld ranges or "
                                "%lld rows",
                                LL(RANGES_MAX), LL(ROWS_MAX));
        s->count += of_rank[2 * rank];
        rows += of_rank[2 * rank + 1];
    }
    attend_status status = attendi_ranges_make(r, comm, rows, s->count, err);
    s->counts = attendi_mpi_alloc(comm, comm->size, sizeof *s->counts, err);
    s->displacements = attendi_mpi_alloc(comm, comm->size, sizeof *s->displacements, err);
    s->sorted = attendi_mpi_alloc(comm, s->count, sizeof *s->sorted, err);
    if (!s->counts || !s->displacements || !s->sorted)
        status = ATTEND_ENOMEM;
    TRY(attendi_comm_agree(comm, status, err));
    for (int rank = 0; rank < comm->size; rank++) {
        r->start[rank + 1] = r->start[rank] + of_rank[2 * rank];
        s->counts[rank] = 2 * (int)of_rank[2 * rank];
        s->displacements[rank] = 2 * (int)r->start[rank];
    }
    return ATTEND_OK;
}

static attend_status fill_table(struct ranges *r, const struct allgather *s,
                                const struct communicator *comm,
                                const attend_mpi_range *own, attend_error *err)
{
    MPI_Request request;

    TRY_MPI(MPI_Iallgatherv(own, s->counts[comm->rank], MPI_INT64_T, r->range, s->counts,
                            s->displacements, MPI_INT64_T, comm->mpi, &request));
    return attendi_mpi_result(attendi_wait_all(1, &request), err);
}

attend_status attendi_ranges_allgather(struct ranges *r, struct communicator *comm,
                                       const char *name, const attend_mpi_range *own,
                                       int64_t count, int64_t rows, attend_error *err)
{
    const int64_t mine[2] = {own ? count : 1, rows};
    attend_mpi_range next = {0, rows};
    struct allgather s = {.count = 0};

    TRY_MPI(attendi_allgather(mine, 2, MPI_INT64_T, comm->allgather_buffer, comm->mpi));
    attend_status status = make_table(r, &s, comm, err);
    for (int rank = 0; rank < comm->rank && status == ATTEND_OK; rank++)
        next.first += comm->allgather_buffer[2 * rank + 1];
    if (status == ATTEND_OK)
        status = fill_table(r, &s, comm, own ? own : &next, err);
    if (status == ATTEND_OK)
        status = check_cover(r, &s, name, err);
    attendi_mpi_free(comm, s.counts);
    attendi_mpi_free(comm, s.displacements);
    attendi_mpi_free(comm, s.sorted);
    return status;
}
