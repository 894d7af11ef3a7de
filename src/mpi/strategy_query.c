/* SPDX-License-Identifier: MIT */
/*
 * ATTEND_MPI_QUERY: queries are sent to all ranks, and each rank computes all queries
 * with its own keys.  The partials of all rows are reduced to one rank along a binary
 * tree, and scattered to the ranks that hold the queries.
 */
#include <stdlib.h>

#include "base/base.h"
#include "mpi/chunk_attention.h"
#include "mpi/comm/redistribute.h"
#include "mpi/comm/views.h"
#include "mpi/comm/wait.h"
#include "mpi/redistribute_mask.h"
#include "mpi/strategies.h"

struct query {
    struct mpi_call *call;
    struct chunks chunks;
    struct chunk_attention attention; /* all queries of the sequence */
    attend_mpi_range all;
    struct ranges replicated, local_keys;
    void *q, *mask, *bias;
    struct subtree spare; /* receives partials that cannot be allocated */
    int root;             /* of the reduction tree: the rank with most queries */
};

static int find_root(const struct mpi_call *call)
{
    int root = 0;

    for (int rank = 1; rank < call->comm.size; rank++)
        if (attendi_ranges_rows(&call->queries, rank) >
            attendi_ranges_rows(&call->queries, root))
            root = rank;
    return root;
}

/* ---- queries to all ranks ---------------------------------------------------- */

/* The keys of each rank's chunks, in order. */
static attend_status list_local_keys(struct query *q, attend_error *err)
{
    struct mpi_call *const call = q->call;
    int64_t at = 0;

    TRY(attendi_ranges_make(&q->local_keys, &call->comm, call->keys.all, q->chunks.count,
                            err));
    for (int rank = 0; rank < call->comm.size; rank++) {
        for (int64_t x = 0; x < q->chunks.count; x++)
            if (q->chunks.list[x].rank == rank)
                q->local_keys.range[at++] = (attend_mpi_range){
                    q->chunks.list[x].first_key, q->chunks.list[x].keys};
        q->local_keys.start[rank + 1] = at;
    }
    return ATTEND_OK;
}

static attend_status gather_queries(struct query *q, attend_error *err)
{
    struct mpi_call *const call = q->call;
    struct communicator *const comm = &call->comm;
    attend_status status =
        attendi_ranges_replicated(&q->replicated, comm, call->queries.all, err);

    if (status == ATTEND_OK)
        status = list_local_keys(q, err);
    q->q = attendi_mpi_alloc(comm, call->nb * call->hq * call->queries.all * call->d,
                             attend_dtype_size(call->dtype), err);
    q->all = (attend_mpi_range){0, call->queries.all};
    q->attention.range = &q->all;
    q->attention.ranges = 1;
    if (!q->q)
        status = ATTEND_ENOMEM;
    if (status == ATTEND_OK)
        status = attendi_chunk_attention_begin(&q->attention, q->chunks.max_keys, err);
    if (status == ATTEND_OK &&
        !attendi_subtree_alloc(&q->attention.reduction, &q->spare, err))
        status = ATTEND_ENOMEM;
    TRY(attendi_comm_agree(comm, status, err));
    const attend_tensor to = attend_tensor_dense(q->q, call->dtype, call->nb, call->hq,
                                                 call->queries.all, call->d);
    TRY(attendi_redistribute(comm, &call->queries, &q->replicated, &call->io.q, &to,
                             err));
    q->attention.rule = call->rule;
    q->attention.q = attend_view_of(&to);
    TRY(attendi_redistribute_mask(call, &q->local_keys, &q->attention.rule.mask, &q->mask,
                                  err));
    return attendi_redistribute_mask(call, &q->local_keys, &q->attention.rule.bias,
                                     &q->bias, err);
}

/* Computes all queries with the keys of this rank. */
static void compute(struct query *q)
{
    struct mpi_call *const call = q->call;
    attend_error err;
    int64_t column = 0, lo, hi;

    attendi_comm_should_continue(&call->comm);
    attendi_mpi_keys_seen(call, &q->all, &lo, &hi);
    for (int64_t x = 0; x < q->chunks.count; x++) {
        const struct chunk *const c = &q->chunks.list[x];

        if (c->rank != call->comm.rank)
            continue;
        const attend_view k = attendi_chunk_keys(&q->chunks, call, c);
        const attend_view v = attendi_chunk_values(&q->chunks, call, c);
        if (c->first_key < hi && c->first_key + c->keys > lo &&
            attendi_chunk_attention_add(&q->attention, c, &k, &v, column, &err) !=
                ATTEND_OK)
            attendi_comm_stop(&call->comm, &err);
        column += c->keys;
    }
}

/* ---- partials to the root ---------------------------------------------------- */

enum { HEADER_NUMBERS = 4 };

static void write_header(const struct subtree *subtree, int64_t header[HEADER_NUMBERS])
{
    header[0] = subtree->split;
    header[1] = subtree->splits;
    header[2] = subtree->first_key;
    header[3] = subtree->keys;
}

static struct subtree read_header(const int64_t header[HEADER_NUMBERS])
{
    return (struct subtree){.split = header[0],
                            .splits = header[1],
                            .first_key = header[2],
                            .keys = header[3]};
}

static attend_status send_bytes(struct communicator *comm, const void *data,
                                int64_t bytes, int rank, attend_error *err)
{
    for (int64_t at = 0; at < bytes; at += comm->message_bytes) {
        const int count = (int)min_i64(comm->message_bytes, bytes - at);

        TRY_MPI(
            attendi_send((const char *)data + at, count, rank, TAG_PARTIALS, comm->mpi));
        comm->cost.messages++;
    }
    comm->cost.sent += bytes;
    return ATTEND_OK;
}

static attend_status receive_bytes(struct communicator *comm, void *data, int64_t bytes,
                                   int rank, attend_error *err)
{
    for (int64_t at = 0; at < bytes; at += comm->message_bytes) {
        const int count = (int)min_i64(comm->message_bytes, bytes - at);

        TRY_MPI(attendi_receive((char *)data + at, count, rank, TAG_PARTIALS, comm->mpi));
    }
    comm->cost.received += bytes;
    return ATTEND_OK;
}

static attend_status send_subtrees(struct query *q, int rank, attend_error *err)
{
    const struct reduction *const r = &q->attention.reduction;
    struct communicator *const comm = &q->call->comm;
    const int64_t count = comm->stopped ? 0 : r->count;

    TRY(send_bytes(comm, &count, sizeof count, rank, err));
    for (int64_t x = 0; x < count; x++) {
        int64_t header[HEADER_NUMBERS];

        write_header(&r->list[x], header);
        TRY(send_bytes(comm, header, sizeof header, rank, err));
        TRY(send_bytes(comm, r->list[x].data, attendi_subtree_bytes(r), rank, err));
    }
    return ATTEND_OK;
}

/* Receives one subtree.  If its memory cannot be allocated, the call is stopped. */
static attend_status receive_subtree(struct query *q, int rank, attend_error *err)
{
    struct reduction *const r = &q->attention.reduction;
    struct communicator *const comm = &q->call->comm;
    int64_t header[HEADER_NUMBERS];
    attend_error own;

    TRY(receive_bytes(comm, header, sizeof header, rank, err));
    struct subtree subtree = read_header(header);
    if (!attendi_subtree_alloc(r, &subtree, &own)) {
        attendi_comm_stop(comm, &own);
        return receive_bytes(comm, q->spare.data, attendi_subtree_bytes(r), rank, err);
    }
    TRY(receive_bytes(comm, subtree.data, attendi_subtree_bytes(r), rank, err));
    if (attendi_reduction_add(r, subtree, &own) != ATTEND_OK)
        attendi_comm_stop(comm, &own);
    return ATTEND_OK;
}

static attend_status receive_subtrees(struct query *q, int rank, attend_error *err)
{
    int64_t count;

    TRY(receive_bytes(&q->call->comm, &count, sizeof count, rank, err));
    for (int64_t x = 0; x < count; x++)
        TRY(receive_subtree(q, rank, err));
    return ATTEND_OK;
}

/* Binary reduction tree over the ranks, numbered from the root. */
static attend_status reduce_to_root(struct query *q, attend_error *err)
{
    const struct communicator *const comm = &q->call->comm;
    const int place = (comm->rank - q->root + comm->size) % comm->size;

    for (int step = 1; step < comm->size; step *= 2) {
        if (place & step)
            return send_subtrees(q, (place - step + q->root) % comm->size, err);
        if (place + step < comm->size)
            TRY(receive_subtrees(q, (place + step + q->root) % comm->size, err));
    }
    return ATTEND_OK;
}

/* ---- partials to the ranks that hold the queries ----------------------------- */

/* Scatters the partials and raw sums of one subtree from the root. */
static attend_status scatter_partials(struct query *q, const struct ranges *held,
                                      const struct subtree *from,
                                      const struct reduction *own,
                                      const struct subtree *to, attend_error *err)
{
    struct mpi_call *const call = q->call;
    const bool is_root = call->comm.rank == q->root;
    const struct reduction *const all = is_root ? &q->attention.reduction : own;
    const int64_t rows = is_root ? all->rows : 0;
    const attend_tensor partials =
        attendi_subtree_partials(all, is_root ? from : to, 0, rows).data;
    const attend_tensor sums = attendi_subtree_sums(all, is_root ? from : to, 0, rows);
    const attend_tensor to_partials =
        attendi_subtree_partials(own, to, 0, own->rows).data;
    const attend_tensor to_sums = attendi_subtree_sums(own, to, 0, own->rows);
    const attend_view source = attend_view_of(&partials),
                      source_sums = attend_view_of(&sums);

    TRY(attendi_redistribute(&call->comm, held, &call->queries, &source, &to_partials,
                             err));
    return attendi_redistribute(&call->comm, held, &call->queries, &source_sums, &to_sums,
                                err);
}

/*
 * Scatters one subtree of the root.  *failed is a failure of this rank alone; ranks agree
 * on it at the next call of attendi_comm_agree().
 */
static attend_status scatter_subtree(struct query *q, const struct ranges *held,
                                     int64_t x, struct reduction *own,
                                     attend_status *failed, attend_error *err)
{
    struct communicator *const comm = &q->call->comm;
    const struct subtree *const from = &q->attention.reduction.list[x];
    int64_t header[HEADER_NUMBERS];

    if (comm->rank == q->root)
        write_header(from, header);
    TRY_MPI(attendi_broadcast(header, HEADER_NUMBERS, MPI_INT64_T, q->root, comm->mpi));
    struct subtree subtree = read_header(header);
    if (*failed == ATTEND_OK && !attendi_subtree_alloc(own, &subtree, err))
        *failed = ATTEND_ENOMEM;
    attend_status status = attendi_comm_agree(comm, *failed, err);
    if (status == ATTEND_OK)
        status = scatter_partials(q, held, from, own, &subtree, err);
    if (status == ATTEND_OK)
        *failed = attendi_reduction_add(own, subtree, err);
    else
        attendi_subtree_free(own, &subtree);
    return status;
}

static attend_status scatter_subtrees(struct query *q, struct reduction *own,
                                      attend_status *failed, attend_error *err)
{
    struct mpi_call *const call = q->call;
    int64_t count = q->attention.reduction.count;
    struct ranges held;

    TRY_MPI(attendi_broadcast(&count, 1, MPI_INT64_T, q->root, call->comm.mpi));
    *failed = attendi_ranges_replicated(&held, &call->comm, call->queries.all, err);
    attend_status status = attendi_comm_agree(&call->comm, *failed, err);
    for (int rank = 0; rank < call->comm.size && status == ATTEND_OK; rank++)
        if (rank != q->root)
            held.range[rank].count = 0;
    for (int64_t x = 0; x < count && status == ATTEND_OK; x++)
        status = scatter_subtree(q, &held, x, own, failed, err);
    attendi_ranges_free(&held, &call->comm);
    return status;
}

/* Scatters the partials and finishes this rank's rows. */
static attend_status finish_rows(struct query *q, attend_error *err)
{
    struct mpi_call *const call = q->call;
    const int rank = call->comm.rank;
    struct chunk_attention own = {
        .call = call,
        .range = call->queries.range + call->queries.start[rank],
        .ranges = call->queries.start[rank + 1] - call->queries.start[rank]};
    attend_status failed;

    attend_status status = attendi_chunk_attention_begin(&own, q->chunks.max_keys, err);
    status = attendi_comm_agree(&call->comm, status, err);
    if (status == ATTEND_OK)
        status = scatter_subtrees(q, &own.reduction, &failed, err);
    if (status == ATTEND_OK) {
        if (failed == ATTEND_OK)
            failed =
                attendi_chunk_attention_finish(&own, &call->io.out, &call->io.lse, err);
        status = attendi_comm_agree(&call->comm, failed, err);
    }
    attendi_reduction_free(&own.reduction);
    return status;
}

attend_status attendi_forward_query(struct mpi_call *call, attend_error *err)
{
    struct query q = {.call = call,
                      .root = find_root(call),
                      .attention = {.call = call, .computes_all_rows = true}};

    attend_status status = attendi_chunks_make(&q.chunks, call, err);
    if (status == ATTEND_OK)
        status = gather_queries(&q, err);
    if (status == ATTEND_OK) {
        compute(&q);
        status = reduce_to_root(&q, err);
    }
    if (status == ATTEND_OK)
        status = attendi_comm_agree_stop(&call->comm, err);
    if (status == ATTEND_OK)
        status = finish_rows(&q, err);
    attendi_mpi_free(&call->comm, q.spare.data);
    attendi_reduction_free(&q.attention.reduction);
    attendi_ranges_free(&q.replicated, &call->comm);
    attendi_ranges_free(&q.local_keys, &call->comm);
    attendi_mpi_free(&call->comm, q.q);
    attendi_mpi_free(&call->comm, q.mask);
    attendi_mpi_free(&call->comm, q.bias);
    attendi_chunks_free(&q.chunks, call);
    return status;
}
