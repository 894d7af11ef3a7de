/* SPDX-License-Identifier: MIT */
#include "mpi/chunks.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/comm/redistribute.h"
#include "mpi/comm/views.h"

enum { DEFAULT_SPLITS = 2 };

/* A range of keys and the rank that holds it, for lookup by key. */
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

/* All non-empty ranges of keys, sorted by key; *count of them. */
static struct holder *list_holders(const struct mpi_call *call, int64_t *count)
{
    const int ranks = call->comm.size;
    struct holder *const list =
        malloc((size_t)(call->keys.start[ranks] + 1) * sizeof *list);

    *count = 0;
    for (int rank = 0; list && rank < ranks; rank++) {
        int64_t row = 0;

        for (int64_t x = call->keys.start[rank]; x < call->keys.start[rank + 1]; x++) {
            const attend_mpi_range range = call->keys.range[x];

            if (range.count > 0)
                list[(*count)++] = (struct holder){range, rank, row};
            row += range.count;
        }
    }
    if (list)
        qsort(list, (size_t)*count, sizeof *list, by_first_key);
    return list;
}

/* Maximum number of splits of a chunk, a power of two. */
static int64_t chunk_splits(const struct mpi_call *call)
{
    /* No chunk is longer than the sequence. */
    const int64_t keys = min_i64(call->comm.dist.chunk_keys, call->keys.all);
    int64_t splits = 1;

    if (call->comm.dist.chunk_keys == 0)
        return DEFAULT_SPLITS;
    while (2 * splits * ATTEND_SPLIT_KEYS <= keys)
        splits *= 2;
    return splits;
}

/* Whether chunk b continues chunk a in the same memory. */
static bool is_adjacent(const struct chunk *a, const struct chunk *b)
{
    return a->rank == b->rank && a->straddles == b->straddles &&
           a->row + a->keys == b->row;
}

/*
 * Merges the last two chunks as long as they are siblings in the tree, contiguous in
 * memory, and have at most `most` splits together.
 */
static void merge_siblings(struct chunks *c, int64_t most)
{
    while (c->count > 1) {
        struct chunk *const a = &c->list[c->count - 2], *const b = a + 1;

        if (a->splits != b->splits || 2 * a->splits > most ||
            a->split % (2 * a->splits) != 0 || !is_adjacent(a, b))
            return;
        a->splits *= 2;
        a->keys += b->keys;
        c->count--;
    }
}

/*
 * Assigns every split to its rank.  straddling_rows[rank] counts the keys copied to that
 * rank.
 */
static void assign_splits(struct chunks *c, const struct mpi_call *call,
                          const struct holder *holders, int64_t *straddling_rows)
{
    const int64_t all = call->keys.all, most = chunk_splits(call);
    int64_t at = 0;

    for (int64_t first = 0; first < all; first += ATTEND_SPLIT_KEYS) {
        const int64_t keys = min_i64(ATTEND_SPLIT_KEYS, all - first);

        while (holders[at].range.first + holders[at].range.count <= first)
            at++;
        const struct holder *const h = &holders[at];
        const bool straddles = h->range.first + h->range.count < first + keys;
        const int64_t row =
            straddles ? straddling_rows[h->rank] : h->row + first - h->range.first;
        c->list[c->count++] = (struct chunk){.split = first / ATTEND_SPLIT_KEYS,
                                             .splits = 1,
                                             .first_key = first,
                                             .keys = keys,
                                             .rank = h->rank,
                                             .straddles = straddles,
                                             .row = row};
        if (straddles)
            straddling_rows[h->rank] += keys;
        merge_siblings(c, most);
    }
    for (int64_t x = 0; x < c->count; x++)
        c->max_keys = max_i64(c->max_keys, c->list[x].keys);
}

/* The keys that each rank has to fetch: those of its chunks that straddle ranks. */
static attend_status list_straddling(struct ranges *wanted, const struct chunks *c,
                                     struct mpi_call *call, attend_error *err)
{
    int64_t count = 0, at = 0;

    for (int64_t x = 0; x < c->count; x++)
        count += c->list[x].straddles;
    TRY(attendi_ranges_make(wanted, &call->comm, call->keys.all, count, err));
    for (int rank = 0; rank < call->comm.size; rank++) {
        for (int64_t x = 0; count > 0 && x < c->count; x++)
            if (c->list[x].straddles && c->list[x].rank == rank)
                wanted->range[at++] =
                    (attend_mpi_range){c->list[x].first_key, c->list[x].keys};
        wanted->start[rank + 1] = at;
    }
    return ATTEND_OK;
}

static attend_status fetch_straddling(struct chunks *c, struct mpi_call *call,
                                      const struct ranges *wanted, attend_error *err)
{
    struct communicator *const comm = &call->comm;
    const int64_t rows = attendi_ranges_rows(wanted, comm->rank);
    const int64_t heads = call->nb * call->hkv;
    const size_t size = attend_dtype_size(call->dtype);

    c->k_data = attendi_mpi_alloc(comm, heads * rows * call->d, size, err);
    c->v_data = attendi_mpi_alloc(comm, heads * rows * call->dv, size, err);
    TRY(attendi_comm_agree(comm, c->k_data && c->v_data ? ATTEND_OK : ATTEND_ENOMEM,
                           err));
    const attend_tensor k =
        attend_tensor_dense(c->k_data, call->dtype, call->nb, call->hkv, rows, call->d);
    const attend_tensor v =
        attend_tensor_dense(c->v_data, call->dtype, call->nb, call->hkv, rows, call->dv);
    c->k = attend_view_of(&k);
    c->v = attend_view_of(&v);
    TRY(attendi_redistribute(comm, &call->keys, wanted, &call->io.k, &k, err));
    return attendi_redistribute(comm, &call->keys, wanted, &call->io.v, &v, err);
}

attend_status attendi_chunks_make(struct chunks *c, struct mpi_call *call,
                                  attend_error *err)
{
    struct communicator *const comm = &call->comm;
    const int64_t splits = ceil_div_i64(call->keys.all, ATTEND_SPLIT_KEYS);
    struct ranges wanted = {.all = 0};
    int64_t holders;

    *c = (struct chunks){.count = 0};
    c->list = attendi_mpi_alloc(comm, splits, sizeof *c->list, err);
    struct holder *const list = list_holders(call, &holders);
    int64_t *const straddling_rows = calloc((size_t)comm->size, sizeof *straddling_rows);
    attend_status status = c->list && list && straddling_rows ? ATTEND_OK : ATTEND_ENOMEM;
    if (status != ATTEND_OK && c->list)
        attendi_fail(err, status, "out of memory for %lld splits", LL(splits));
    status = attendi_comm_agree(comm, status, err);
    if (status == ATTEND_OK) {
        assign_splits(c, call, list, straddling_rows);
        status = list_straddling(&wanted, c, call, err);
        status = attendi_comm_agree(comm, status, err);
    }
    if (status == ATTEND_OK && wanted.start[comm->size] > 0)
        status = fetch_straddling(c, call, &wanted, err);
    attendi_ranges_free(&wanted, comm);
    free(straddling_rows);
    free(list);
    return status;
}

void attendi_chunks_free(struct chunks *c, struct mpi_call *call)
{
    attendi_mpi_free(&call->comm, c->list);
    attendi_mpi_free(&call->comm, c->k_data);
    attendi_mpi_free(&call->comm, c->v_data);
}

attend_view attendi_chunk_keys(const struct chunks *c, const struct mpi_call *call,
                               const struct chunk *chunk)
{
    return attendi_view_slice(chunk->straddles ? c->k : call->io.k, 2, chunk->row,
                              chunk->keys);
}

attend_view attendi_chunk_values(const struct chunks *c, const struct mpi_call *call,
                                 const struct chunk *chunk)
{
    return attendi_view_slice(chunk->straddles ? c->v : call->io.v, 2, chunk->row,
                              chunk->keys);
}
