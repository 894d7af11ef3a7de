/* SPDX-License-Identifier: MIT */
#include "mpi/chunks.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/comm/redistribute.h"
#include "mpi/comm/views.h"

enum { DEFAULT_SPLITS = 2 };

/* A range that a rank holds, for a look-up by key. */
struct holder {
    attend_mpi_range range;
    int rank;
    int64_t row;
};

static int by_first_key(const void *a, const void *b)
{
    const struct holder *const x = a, *const y = b;

    return (x->range.first > y->range.first) - (x->range.first < y->range.first);
}

/* All ranges of keys but empty ones, in the order of keys; *count of them. */
static struct holder *list_holders(const struct job *job, int64_t *count)
{
    const int ranks = job->comm.size;
    struct holder *const list =
        malloc((size_t)(job->keys.start[ranks] + 1) * sizeof *list);

    *count = 0;
    for (int rank = 0; list && rank < ranks; rank++) {
        int64_t row = 0;

        for (int64_t x = job->keys.start[rank]; x < job->keys.start[rank + 1]; x++) {
            const attend_mpi_range range = job->keys.range[x];

            if (range.count > 0)
                list[(*count)++] = (struct holder){range, rank, row};
            row += range.count;
        }
    }
    if (list)
        qsort(list, (size_t)*count, sizeof *list, by_first_key);
    return list;
}

/* Splits of a chunk at most: a power of two. */
static int64_t chunk_splits(const struct job *job)
{
    /* No chunk is longer than the sequence. */
    const int64_t keys = min_i64(job->comm.dist.chunk_keys, job->keys.all);
    int64_t splits = 1;

    if (job->comm.dist.chunk_keys == 0)
        return DEFAULT_SPLITS;
    while (2 * splits * ATTEND_SPLIT_KEYS <= keys)
        splits *= 2;
    return splits;
}

/* Whether chunk b goes on where chunk a ends, in the same memory. */
static bool continues(const struct chunk *a, const struct chunk *b)
{
    return a->rank == b->rank && a->moved == b->moved && a->row + a->keys == b->row;
}

/*
 * Two chunks of one size and one memory that are the halves of a subtree become one, as
 * long as it has no more than `most` splits.
 */
static void join_halves(struct chunks *c, int64_t most)
{
    while (c->count > 1) {
        struct chunk *const a = &c->list[c->count - 2], *const b = a + 1;

        if (a->splits != b->splits || 2 * a->splits > most ||
            a->split % (2 * a->splits) != 0 || !continues(a, b))
            return;
        a->splits *= 2;
        a->keys += b->keys;
        c->count--;
    }
}

/* Every split to its rank; moved_rows[rank] rows are moved there. */
static void list_chunks(struct chunks *c, const struct job *job,
                        const struct holder *holders, int64_t *moved_rows)
{
    const int64_t all = job->keys.all, most = chunk_splits(job);
    int64_t at = 0;

    for (int64_t first = 0; first < all; first += ATTEND_SPLIT_KEYS) {
        const int64_t keys = min_i64(ATTEND_SPLIT_KEYS, all - first);

        while (holders[at].range.first + holders[at].range.count <= first)
            at++;
        const struct holder *const h = &holders[at];
        const bool moved = h->range.first + h->range.count < first + keys;
        const int64_t row = moved ? moved_rows[h->rank] : h->row + first - h->range.first;
        c->list[c->count++] = (struct chunk){.split = first / ATTEND_SPLIT_KEYS,
                                             .splits = 1,
                                             .first_key = first,
                                             .keys = keys,
                                             .rank = h->rank,
                                             .moved = moved,
                                             .row = row};
        if (moved)
            moved_rows[h->rank] += keys;
        join_halves(c, most);
    }
    for (int64_t x = 0; x < c->count; x++)
        c->most_keys = max_i64(c->most_keys, c->list[x].keys);
}

/* What each rank wants besides what it has: the chunks that are moved. */
static attend_status list_moved(struct ranges *wanted, const struct chunks *c,
                                struct job *job, attend_error *err)
{
    int64_t count = 0, at = 0;

    for (int64_t x = 0; x < c->count; x++)
        count += c->list[x].moved;
    TRY(attendi_ranges_make(wanted, &job->comm, job->keys.all, count, err));
    for (int rank = 0; rank < job->comm.size; rank++) {
        for (int64_t x = 0; count > 0 && x < c->count; x++)
            if (c->list[x].moved && c->list[x].rank == rank)
                wanted->range[at++] =
                    (attend_mpi_range){c->list[x].first_key, c->list[x].keys};
        wanted->start[rank + 1] = at;
    }
    return ATTEND_OK;
}

static attend_status move_keys(struct chunks *c, struct job *job,
                               const struct ranges *wanted, attend_error *err)
{
    struct communicator *const comm = &job->comm;
    const int64_t rows = attendi_ranges_rows(wanted, comm->rank);
    const int64_t heads = job->nb * job->hkv;
    const size_t size = attend_dtype_size(job->dtype);

    c->k_data = attendi_mpi_alloc(comm, heads * rows * job->d, size, err);
    c->v_data = attendi_mpi_alloc(comm, heads * rows * job->dv, size, err);
    TRY(attendi_comm_agree(comm, c->k_data && c->v_data ? ATTEND_OK : ATTEND_ENOMEM,
                           err));
    const attend_tensor k =
        attend_tensor_dense(c->k_data, job->dtype, job->nb, job->hkv, rows, job->d);
    const attend_tensor v =
        attend_tensor_dense(c->v_data, job->dtype, job->nb, job->hkv, rows, job->dv);
    c->k = attend_view_of(&k);
    c->v = attend_view_of(&v);
    TRY(attendi_redistribute(comm, &job->keys, wanted, &job->io.k, &k, err));
    return attendi_redistribute(comm, &job->keys, wanted, &job->io.v, &v, err);
}

attend_status attendi_chunks_make(struct chunks *c, struct job *job, attend_error *err)
{
    struct communicator *const comm = &job->comm;
    const int64_t splits = ceil_div_i64(job->keys.all, ATTEND_SPLIT_KEYS);
    struct ranges wanted = {.all = 0};
    int64_t holders;

    *c = (struct chunks){.count = 0};
    c->list = attendi_mpi_alloc(comm, splits, sizeof *c->list, err);
    struct holder *const list = list_holders(job, &holders);
    int64_t *const moved_rows = calloc((size_t)comm->size, sizeof *moved_rows);
    attend_status status = c->list && list && moved_rows ? ATTEND_OK : ATTEND_ENOMEM;
    if (status != ATTEND_OK && c->list)
        attendi_mpi_fail(err, status, "no memory for %lld splits", LL(splits));
    status = attendi_comm_agree(comm, status, err);
    if (status == ATTEND_OK) {
        list_chunks(c, job, list, moved_rows);
        status = list_moved(&wanted, c, job, err);
        status = attendi_comm_agree(comm, status, err);
    }
    if (status == ATTEND_OK && wanted.start[comm->size] > 0)
        status = move_keys(c, job, &wanted, err);
    attendi_ranges_free(&wanted, comm);
    free(moved_rows);
    free(list);
    return status;
}

void attendi_chunks_free(struct chunks *c, struct job *job)
{
    attendi_mpi_free(&job->comm, c->list);
    attendi_mpi_free(&job->comm, c->k_data);
    attendi_mpi_free(&job->comm, c->v_data);
}

attend_view attendi_chunk_keys(const struct chunks *c, const struct job *job,
                               const struct chunk *chunk)
{
    return attendi_view_slice(chunk->moved ? c->k : job->io.k, 2, chunk->row,
                              chunk->keys);
}

attend_view attendi_chunk_values(const struct chunks *c, const struct job *job,
                                 const struct chunk *chunk)
{
    return attendi_view_slice(chunk->moved ? c->v : job->io.v, 2, chunk->row,
                              chunk->keys);
}
