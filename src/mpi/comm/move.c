/* SPDX-License-Identifier: MIT */
#include "mpi/comm/move.h"

#include "base/base.h"
#include "mpi/comm/polite.h"
#include "mpi/comm/rows.h"

/*
 * The messages from one rank to another, in their order: pieces that a range wanted and a
 * range held have in common, cut to `most` rows.
 */
struct pieces {
    const struct ranges *held, *wanted;
    int from, to;
    int64_t most;
    int64_t w, h;         /* the pair of ranges to look at */
    int64_t w_row, h_row; /* rows before them */
    int64_t done;         /* rows of their common part that have been told */
};

struct piece {
    int64_t held_row, wanted_row, rows;
};

static struct pieces begin(const struct ranges *held, const struct ranges *wanted,
                           int from, int to, int64_t most)
{
    return (struct pieces){.held = held,
                           .wanted = wanted,
                           .from = from,
                           .to = to,
                           .most = most,
                           .w = wanted->start[to],
                           .h = held->start[from]};
}

/* The next pair of ranges; false after the last. */
static bool next_pair(struct pieces *p)
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

/* False where there is no more. */
static bool next_piece(struct pieces *p, struct piece *piece)
{
    bool more = p->w < p->wanted->start[p->to + 1] && p->h < p->held->start[p->from + 1];

    while (more) {
        const attend_mpi_range *const w = &p->wanted->range[p->w];
        const attend_mpi_range *const h = &p->held->range[p->h];
        const int64_t first = max_i64(w->first, h->first) + p->done;
        const int64_t end = min_i64(w->first + w->count, h->first + h->count);

        if (first < end) {
            *piece = (struct piece){.held_row = p->h_row + first - h->first,
                                    .wanted_row = p->w_row + first - w->first,
                                    .rows = min_i64(end - first, p->most)};
            p->done += piece->rows;
            return true;
        }
        more = next_pair(p);
    }
    return false;
}

struct exchange {
    struct team *team;
    const attend_view *from;
    const attend_tensor *to;
    int64_t row_bytes;
    void *out, *in; /* messages */
};

static attend_tensor dense(const struct exchange *x, void *data, int64_t rows)
{
    return attend_tensor_dense(data, x->from->dtype, x->from->size[0], x->from->size[1],
                               rows, x->from->size[3]);
}

static void copy_own(const struct exchange *x, const struct ranges *held,
                     const struct ranges *wanted)
{
    const int rank = x->team->rank;
    struct pieces own = begin(held, wanted, rank, rank, INT64_MAX);
    struct piece piece;

    while (next_piece(&own, &piece)) {
        const attend_view from =
            attendi_view_part(*x->from, 2, piece.held_row, piece.rows);
        const attend_tensor to =
            attendi_tensor_part(*x->to, 2, piece.wanted_row, piece.rows);

        attendi_copy(&from, &to);
    }
}

static attend_status post_out(const struct exchange *x, const struct piece *piece,
                              int rank, MPI_Request *request, attend_error *err)
{
    const attend_view from = attendi_view_part(*x->from, 2, piece->held_row, piece->rows);
    const attend_tensor message = dense(x, x->out, piece->rows);

    attendi_copy(&from, &message);
    x->team->cost.sent += piece->rows * x->row_bytes;
    x->team->cost.messages++;
    return attendi_mpi_result(MPI_Isend(x->out, (int)(piece->rows * x->row_bytes),
                                        MPI_BYTE, rank, TAG_ROWS, x->team->comm, request),
                              err);
}

static void take_in(const struct exchange *x, const struct piece *piece)
{
    const attend_tensor message = dense(x, x->in, piece->rows);
    const attend_view view = attend_view_of(&message);
    const attend_tensor to =
        attendi_tensor_part(*x->to, 2, piece->wanted_row, piece->rows);

    attendi_copy(&view, &to);
    x->team->cost.received += piece->rows * x->row_bytes;
}

/*
 * To the rank `distance` ahead and from the one as far behind, a message each way at a
 * time: all ranks do so in the same order, so that none waits for one that waits for it.
 */
static attend_status exchange(const struct exchange *x, const struct ranges *held,
                              const struct ranges *wanted, int distance, int64_t most,
                              attend_error *err)
{
    const struct team *const team = x->team;
    const int ahead = (team->rank + distance) % team->size;
    const int behind = (team->rank + team->size - distance) % team->size;
    struct pieces out = begin(held, wanted, team->rank, ahead, most);
    struct pieces in = begin(held, wanted, behind, team->rank, most);
    bool sends = true, receives = true;

    while (sends || receives) {
        MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        struct piece sent, received;

        receives = receives && next_piece(&in, &received);
        sends = sends && next_piece(&out, &sent);
        if (receives)
            TRY_MPI(MPI_Irecv(x->in, (int)(received.rows * x->row_bytes), MPI_BYTE,
                              behind, TAG_ROWS, team->comm, &request[0]));
        if (sends)
            TRY(post_out(x, &sent, ahead, &request[1], err));
        TRY_MPI(attendi_wait_all(2, request));
        if (receives)
            take_in(x, &received);
    }
    return ATTEND_OK;
}

attend_status attendi_move(struct team *team, const struct ranges *held,
                           const struct ranges *wanted, const attend_view *from,
                           const attend_tensor *to, attend_error *err)
{
    struct exchange x = {
        .team = team, .from = from, .to = to, .row_bytes = attendi_row_bytes(from)};
    const int64_t most = max_i64(1, team->message_bytes / max_i64(1, x.row_bytes));
    const int64_t rows = min_i64(most, held->all);
    attend_status status = ATTEND_OK;

    if (x.row_bytes == 0)
        return ATTEND_OK;
    copy_own(&x, held, wanted);
    if (team->size == 1)
        return ATTEND_OK;
    if (x.row_bytes > INT32_MAX)
        return attendi_mpi_fail(err, ATTEND_EUNSUPPORTED,
                                "a row of all batches and heads has %lld bytes",
                                LL(x.row_bytes));
    x.out = attendi_team_alloc(team, rows, (size_t)x.row_bytes, err);
    x.in = attendi_team_alloc(team, rows, (size_t)x.row_bytes, err);
    status = attendi_team_agree(team, x.out && x.in ? ATTEND_OK : ATTEND_ENOMEM, err);
    for (int distance = 1; distance < team->size && status == ATTEND_OK; distance++)
        status = exchange(&x, held, wanted, distance, most, err);
    attendi_team_free(team, x.out);
    attendi_team_free(team, x.in);
    return status;
}
