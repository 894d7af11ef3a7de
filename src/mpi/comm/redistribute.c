/* SPDX-License-Identifier: MIT */
#include "mpi/comm/redistribute.h"

#include "base/base.h"
#include "mpi/comm/views.h"
#include "mpi/comm/wait.h"

/*
 * Iterates over the messages from one rank to another: the intersections of requested and
 * held ranges, at most max_rows rows each.
 */
struct messages {
    const struct ranges *held, *wanted;
    int from, to;
    int64_t max_rows;
    int64_t w, h;         /* the current pair of ranges */
    int64_t w_row, h_row; /* local rows before these ranges */
    int64_t done;         /* rows of their intersection already returned */
};

struct message {
    int64_t held_row, wanted_row, rows;
};

static struct messages begin(const struct ranges *held, const struct ranges *wanted,
                             int from, int to, int64_t max_rows)
{
    return (struct messages){.held = held,
                             .wanted = wanted,
                             .from = from,
                             .to = to,
                             .max_rows = max_rows,
                             .w = wanted->start[to],
                             .h = held->start[from]};
}

/* The next pair of ranges; false after the last. */
static bool next_pair(struct messages *p)
{
    p->h_row += p->held->range[p->h].count;
    p->done = 0;
    if (++p->h < p->held->start[p->from + 1])
        return true;
    p->w_row += p->wanted->range[p->w].count;
    p->h = p->held->start[p->from];
    p->h_row = 0;
    return ++p->w < p->wanted->start[p->to + 1];
}

/* False after the last message. */
static bool next_message(struct messages *p, struct message *message)
{
    bool more = p->w < p->wanted->start[p->to + 1] && p->h < p->held->start[p->from + 1];

    while (more) {
        const attend_mpi_range *const w = &p->wanted->range[p->w];
        const attend_mpi_range *const h = &p->held->range[p->h];
        const int64_t first = max_i64(w->first, h->first) + p->done;
        const int64_t end = min_i64(w->first + w->count, h->first + h->count);

        if (first < end) {
            *message = (struct message){.held_row = p->h_row + first - h->first,
                                        .wanted_row = p->w_row + first - w->first,
                                        .rows = min_i64(end - first, p->max_rows)};
            p->done += message->rows;
            return true;
        }
        more = next_pair(p);
    }
    return false;
}

struct exchange {
    struct communicator *comm;
    const attend_view *from;
    const attend_tensor *to;
    int64_t row_bytes;
    void *send_buffer, *receive_buffer; /* one message each */
};

static attend_tensor dense(const struct exchange *x, void *data, int64_t rows)
{
    return attend_tensor_dense(data, x->from->dtype, x->from->size[0], x->from->size[1],
                               rows, x->from->size[3]);
}

static void copy_local(const struct exchange *x, const struct ranges *held,
                       const struct ranges *wanted)
{
    const int rank = x->comm->rank;
    struct messages own = begin(held, wanted, rank, rank, INT64_MAX);
    struct message message;

    while (next_message(&own, &message)) {
        const attend_view from =
            attendi_view_slice(*x->from, 2, message.held_row, message.rows);
        const attend_tensor to =
            attendi_tensor_slice(*x->to, 2, message.wanted_row, message.rows);

        attendi_copy_tensor(&from, &to);
    }
}

static attend_status post_send(const struct exchange *x, const struct message *message,
                               int rank, MPI_Request *request, attend_error *err)
{
    const attend_view from =
        attendi_view_slice(*x->from, 2, message->held_row, message->rows);
    const attend_tensor buffer = dense(x, x->send_buffer, message->rows);

    attendi_copy_tensor(&from, &buffer);
    x->comm->cost.sent += message->rows * x->row_bytes;
    x->comm->cost.messages++;
    return attendi_mpi_result(MPI_Isend(x->send_buffer,
                                        (int)(message->rows * x->row_bytes), MPI_BYTE,
                                        rank, TAG_ROWS, x->comm->mpi, request),
                              err);
}

static void unpack(const struct exchange *x, const struct message *message)
{
    const attend_tensor buffer = dense(x, x->receive_buffer, message->rows);
    const attend_view view = attend_view_of(&buffer);
    const attend_tensor to =
        attendi_tensor_slice(*x->to, 2, message->wanted_row, message->rows);

    attendi_copy_tensor(&view, &to);
    x->comm->cost.received += message->rows * x->row_bytes;
}

/*
 * Sends to the rank `shift` above and receives from the rank `shift` below, one message
 * each way at a time.  All ranks use the same order, so there is no deadlock.
 */
static attend_status exchange(const struct exchange *x, const struct ranges *held,
                              const struct ranges *wanted, int shift, int64_t max_rows,
                              attend_error *err)
{
    const struct communicator *const comm = x->comm;
    const int destination = (comm->rank + shift) % comm->size;
    const int source = (comm->rank + comm->size - shift) % comm->size;
    struct messages out = begin(held, wanted, comm->rank, destination, max_rows);
    struct messages in = begin(held, wanted, source, comm->rank, max_rows);
    bool sends = true, receives = true;

    while (sends || receives) {
        MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        struct message sent, received;

        receives = receives && next_message(&in, &received);
        sends = sends && next_message(&out, &sent);
        if (receives)
            TRY_MPI(MPI_Irecv(x->receive_buffer, (int)(received.rows * x->row_bytes),
                              MPI_BYTE, source, TAG_ROWS, comm->mpi, &request[0]));
        if (sends)
            TRY(post_send(x, &sent, destination, &request[1], err));
        TRY_MPI(attendi_wait_all(2, request));
        if (receives)
            unpack(x, &received);
    }
    return ATTEND_OK;
}

attend_status attendi_redistribute(struct communicator *comm, const struct ranges *held,
                                   const struct ranges *wanted, const attend_view *from,
                                   const attend_tensor *to, attend_error *err)
{
    struct exchange x = {
        .comm = comm, .from = from, .to = to, .row_bytes = attendi_row_bytes(from)};
    const int64_t max_rows = max_i64(1, comm->message_bytes / max_i64(1, x.row_bytes));
    const int64_t rows = min_i64(max_rows, held->all);
    attend_status status = ATTEND_OK;

    if (x.row_bytes == 0)
        return ATTEND_OK;
    copy_local(&x, held, wanted);
    if (comm->size == 1)
        return ATTEND_OK;
    if (x.row_bytes > INT32_MAX)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "a row of all batches and heads has %lld bytes",
                            LL(x.row_bytes));
    x.send_buffer = attendi_mpi_alloc(comm, rows, (size_t)x.row_bytes, err);
    x.receive_buffer = attendi_mpi_alloc(comm, rows, (size_t)x.row_bytes, err);
    status = attendi_comm_agree(
        comm, x.send_buffer && x.receive_buffer ? ATTEND_OK : ATTEND_ENOMEM, err);
    for (int shift = 1; shift < comm->size && status == ATTEND_OK; shift++)
        status = exchange(&x, held, wanted, shift, max_rows, err);
    attendi_mpi_free(comm, x.send_buffer);
    attendi_mpi_free(comm, x.receive_buffer);
    return status;
}
