/* SPDX-License-Identifier: MIT */
/*
 * Queries go to all ranks, each computes with the keys that it holds, and what it leaves,
 * a few records of every row, comes together along a binary tree.
 */
#include <stdlib.h>

#include "base/base.h"
#include "mpi/comm/redistribute.h"
#include "mpi/comm/views.h"
#include "mpi/comm/wait.h"
#include "mpi/mpi_work.h"
#include "mpi/rule_columns.h"
#include "mpi/strategies.h"

struct query {
    struct job *job;
    struct chunks chunks;
    struct work work; /* all queries of the sequence */
    attend_mpi_range all;
    struct ranges everyone, columns;
    void *q, *mask, *bias;
    struct node reserve; /* for records that there is no memory for */
    int root;            /* where the tree ends: who has most queries */
};

static int find_root(const struct job *job)
{
    int root = 0;

    for (int rank = 1; rank < job->comm.size; rank++)
        if (attendi_ranges_rows(&job->queries, rank) >
            attendi_ranges_rows(&job->queries, root))
            root = rank;
    return root;
}

/* ---- queries to the keys ------------------------------------------------------- */

/* The keys of each rank's chunks, in their order. */
static attend_status list_columns(struct query *q, attend_error *err)
{
    struct job *const job = q->job;
    int64_t at = 0;

    TRY(attendi_ranges_make(&q->columns, &job->comm, job->keys.all, q->chunks.count,
                            err));
    for (int rank = 0; rank < job->comm.size; rank++) {
        for (int64_t x = 0; x < q->chunks.count; x++)
            if (q->chunks.list[x].rank == rank)
                q->columns.range[at++] = (attend_mpi_range){q->chunks.list[x].first_key,
                                                            q->chunks.list[x].keys};
        q->columns.start[rank + 1] = at;
    }
    return ATTEND_OK;
}

static attend_status gather_queries(struct query *q, attend_error *err)
{
    struct job *const job = q->job;
    struct communicator *const comm = &job->comm;
    attend_status status =
        attendi_ranges_replicated(&q->everyone, comm, job->queries.all, err);

    if (status == ATTEND_OK)
        status = list_columns(q, err);
    q->q = attendi_mpi_alloc(comm, job->nb * job->hq * job->queries.all * job->d,
                             attend_dtype_size(job->dtype), err);
    q->all = (attend_mpi_range){0, job->queries.all};
    q->work.range = &q->all;
    q->work.ranges = 1;
    if (!q->q)
        status = ATTEND_ENOMEM;
    if (status == ATTEND_OK)
        status = attendi_work_begin(&q->work, q->chunks.most_keys, err);
    if (status == ATTEND_OK && !attendi_node_alloc(&q->work.nodes, &q->reserve, err))
        status = ATTEND_ENOMEM;
    TRY(attendi_comm_agree(comm, status, err));
    const attend_tensor to =
        attend_tensor_dense(q->q, job->dtype, job->nb, job->hq, job->queries.all, job->d);
    TRY(attendi_redistribute(comm, &job->queries, &q->everyone, &job->io.q, &to, err));
    q->work.rule = job->rule;
    q->work.q = attend_view_of(&to);
    TRY(attendi_rule_columns(job, &q->columns, &q->work.rule.mask, &q->mask, err));
    return attendi_rule_columns(job, &q->columns, &q->work.rule.bias, &q->bias, err);
}

/* All queries with the keys of this rank. */
static void compute(struct query *q)
{
    struct job *const job = q->job;
    attend_error err;
    int64_t column = 0, lo, hi;

    attendi_comm_should_continue(&job->comm);
    attendi_job_sees(job, &q->all, &lo, &hi);
    for (int64_t x = 0; x < q->chunks.count; x++) {
        const struct chunk *const c = &q->chunks.list[x];

        if (c->rank != job->comm.rank)
            continue;
        const attend_view k = attendi_chunk_keys(&q->chunks, job, c);
        const attend_view v = attendi_chunk_values(&q->chunks, job, c);
        if (c->first_key < hi && c->first_key + c->keys > lo &&
            attendi_work_add(&q->work, c, &k, &v, column, &err) != ATTEND_OK)
            attendi_comm_stop(&job->comm, &err);
        column += c->keys;
    }
}

/* ---- records back ---------------------------------------------------------------- */

enum { NODE_NUMBERS = 4 };

static void write_node(const struct node *node, int64_t numbers[NODE_NUMBERS])
{
    numbers[0] = node->split;
    numbers[1] = node->splits;
    numbers[2] = node->first_key;
    numbers[3] = node->keys;
}

static struct node read_node(const int64_t numbers[NODE_NUMBERS])
{
    return (struct node){.split = numbers[0],
                         .splits = numbers[1],
                         .first_key = numbers[2],
                         .keys = numbers[3]};
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

static attend_status send_nodes(struct query *q, int rank, attend_error *err)
{
    const struct nodes *const n = &q->work.nodes;
    struct communicator *const comm = &q->job->comm;
    const int64_t count = comm->stopped ? 0 : n->count;

    TRY(send_bytes(comm, &count, sizeof count, rank, err));
    for (int64_t x = 0; x < count; x++) {
        int64_t numbers[NODE_NUMBERS];

        write_node(&n->list[x], numbers);
        TRY(send_bytes(comm, numbers, sizeof numbers, rank, err));
        TRY(send_bytes(comm, n->list[x].data, attendi_node_bytes(n), rank, err));
    }
    return ATTEND_OK;
}

/* The records of one node; where there is no memory for them, the call ends. */
static attend_status receive_node(struct query *q, int rank, attend_error *err)
{
    struct nodes *const n = &q->work.nodes;
    struct communicator *const comm = &q->job->comm;
    int64_t numbers[NODE_NUMBERS];
    attend_error own;

    TRY(receive_bytes(comm, numbers, sizeof numbers, rank, err));
    struct node node = read_node(numbers);
    if (!attendi_node_alloc(n, &node, &own)) {
        attendi_comm_stop(comm, &own);
        return receive_bytes(comm, q->reserve.data, attendi_node_bytes(n), rank, err);
    }
    TRY(receive_bytes(comm, node.data, attendi_node_bytes(n), rank, err));
    if (attendi_nodes_add(n, node, &own) != ATTEND_OK)
        attendi_comm_stop(comm, &own);
    return ATTEND_OK;
}

static attend_status receive_nodes(struct query *q, int rank, attend_error *err)
{
    int64_t count;

    TRY(receive_bytes(&q->job->comm, &count, sizeof count, rank, err));
    for (int64_t x = 0; x < count; x++)
        TRY(receive_node(q, rank, err));
    return ATTEND_OK;
}

/* Along a binary tree over the ranks, counted from the root, to the root. */
static attend_status collect(struct query *q, attend_error *err)
{
    const struct communicator *const comm = &q->job->comm;
    const int place = (comm->rank - q->root + comm->size) % comm->size;

    for (int step = 1; step < comm->size; step *= 2) {
        if (place & step)
            return send_nodes(q, (place - step + q->root) % comm->size, err);
        if (place + step < comm->size)
            TRY(receive_nodes(q, (place + step + q->root) % comm->size, err));
    }
    return ATTEND_OK;
}

/* ---- rows to the ranks that hold the queries --------------------------------------- */

/* The root's rows of one node to all. */
static attend_status scatter_node(struct query *q, const struct ranges *held,
                                  const struct node *from, const struct nodes *own,
                                  const struct node *to, attend_error *err)
{
    struct job *const job = q->job;
    const bool is_root = job->comm.rank == q->root;
    const struct nodes *const all = is_root ? &q->work.nodes : own;
    const int64_t rows = is_root ? all->rows : 0;
    const attend_tensor records =
        attendi_node_partials(all, is_root ? from : to, 0, rows).data;
    const attend_tensor sums = attendi_node_sums(all, is_root ? from : to, 0, rows);
    const attend_tensor to_records = attendi_node_partials(own, to, 0, own->rows).data;
    const attend_tensor to_sums = attendi_node_sums(own, to, 0, own->rows);
    const attend_view source = attend_view_of(&records),
                      source_sums = attend_view_of(&sums);

    TRY(attendi_redistribute(&job->comm, held, &job->queries, &source, &to_records, err));
    return attendi_redistribute(&job->comm, held, &job->queries, &source_sums, &to_sums,
                                err);
}

/*
 * One node of the root to the ranks that hold its rows.  *failed is a failure of this
 * rank alone, which all agree on when they meet the next time.
 */
static attend_status share_node(struct query *q, const struct ranges *held, int64_t x,
                                struct nodes *own, attend_status *failed,
                                attend_error *err)
{
    struct communicator *const comm = &q->job->comm;
    const struct node *const from = &q->work.nodes.list[x];
    int64_t numbers[NODE_NUMBERS];

    if (comm->rank == q->root)
        write_node(from, numbers);
    TRY_MPI(attendi_broadcast(numbers, NODE_NUMBERS, MPI_INT64_T, q->root, comm->mpi));
    struct node node = read_node(numbers);
    if (*failed == ATTEND_OK && !attendi_node_alloc(own, &node, err))
        *failed = ATTEND_ENOMEM;
    attend_status status = attendi_comm_agree(comm, *failed, err);
    if (status == ATTEND_OK)
        status = scatter_node(q, held, from, own, &node, err);
    if (status == ATTEND_OK)
        *failed = attendi_nodes_add(own, node, err);
    else
        attendi_node_free(own, &node);
    return status;
}

static attend_status scatter_nodes(struct query *q, struct nodes *own,
                                   attend_status *failed, attend_error *err)
{
    struct job *const job = q->job;
    int64_t count = q->work.nodes.count;
    struct ranges held;

    TRY_MPI(attendi_broadcast(&count, 1, MPI_INT64_T, q->root, job->comm.mpi));
    *failed = attendi_ranges_replicated(&held, &job->comm, job->queries.all, err);
    attend_status status = attendi_comm_agree(&job->comm, *failed, err);
    for (int rank = 0; rank < job->comm.size && status == ATTEND_OK; rank++)
        if (rank != q->root)
            held.range[rank].count = 0;
    for (int64_t x = 0; x < count && status == ATTEND_OK; x++)
        status = share_node(q, &held, x, own, failed, err);
    attendi_ranges_free(&held, &job->comm);
    return status;
}

/* Ends this rank's rows. */
static attend_status end_rows(struct query *q, attend_error *err)
{
    struct job *const job = q->job;
    const int rank = job->comm.rank;
    struct work own = {.job = job,
                       .range = job->queries.range + job->queries.start[rank],
                       .ranges = job->queries.start[rank + 1] - job->queries.start[rank]};
    attend_status failed;

    attend_status status = attendi_work_begin(&own, q->chunks.most_keys, err);
    status = attendi_comm_agree(&job->comm, status, err);
    if (status == ATTEND_OK)
        status = scatter_nodes(q, &own.nodes, &failed, err);
    if (status == ATTEND_OK) {
        if (failed == ATTEND_OK)
            failed = attendi_work_end(&own, &job->io.out, &job->io.lse, err);
        status = attendi_comm_agree(&job->comm, failed, err);
    }
    attendi_nodes_free(&own.nodes);
    return status;
}

attend_status attendi_forward_query(struct job *job, attend_error *err)
{
    struct query q = {
        .job = job, .root = find_root(job), .work = {.job = job, .sees_all = true}};

    attend_status status = attendi_chunks_make(&q.chunks, job, err);
    if (status == ATTEND_OK)
        status = gather_queries(&q, err);
    if (status == ATTEND_OK) {
        compute(&q);
        status = collect(&q, err);
    }
    if (status == ATTEND_OK)
        status = attendi_comm_agree_stop(&job->comm, err);
    if (status == ATTEND_OK)
        status = end_rows(&q, err);
    attendi_mpi_free(&job->comm, q.reserve.data);
    attendi_nodes_free(&q.work.nodes);
    attendi_ranges_free(&q.everyone, &job->comm);
    attendi_ranges_free(&q.columns, &job->comm);
    attendi_mpi_free(&job->comm, q.q);
    attendi_mpi_free(&job->comm, q.mask);
    attendi_mpi_free(&job->comm, q.bias);
    attendi_chunks_free(&q.chunks, job);
    return status;
}
