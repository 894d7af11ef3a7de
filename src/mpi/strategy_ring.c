/* SPDX-License-Identifier: MIT */
/*
 * ATTEND_MPI_RING: in ring step s each rank receives chunks from the rank s above it and
 * sends chunks to the rank s below it, only those that the receiver sees.  Double
 * buffering: a rank computes with one chunk while it receives the next.  Chunks are sent
 * directly from the caller's memory.
 */
#include "base/base.h"
#include "mpi/chunk_attention.h"
#include "mpi/comm/tensor_messages.h"
#include "mpi/comm/views.h"
#include "mpi/comm/wait.h"
#include "mpi/strategies.h"

/* Chunks in flight, in each direction.  More are sent, since sends need no buffer. */
enum { RECEIVES = 2, SENDS = 8, SLOTS = RECEIVES + SENDS };
/* Maximum number of messages of sends in flight.  MPIs can hold some 100,000. */
enum { SEND_MESSAGES_MAX = 4096 };
/*
 * An MPI moves only a part of a message in each call.  So progress() polls until
 * IDLE_POLLS consecutive polls took less than IDLE_POLL_SECONDS each, or for
 * PROGRESS_SECONDS_MAX in all: then other processes may have run on this core.
 */
enum { IDLE_POLLS = 8 };
#define IDLE_POLL_SECONDS 5e-6
#define PROGRESS_SECONDS_MAX 1e-3

/*
 * Position in the sequence of chunks that this rank sends or receives, ordered by ring
 * step.
 */
struct cursor {
    bool sends;
    int step;     /* 1 .. ranks - 1; ranks: done */
    int64_t next; /* index of the next chunk to consider */
};

/* One chunk in flight, or received and not yet computed; `chunk` NULL: free. */
struct slot {
    const struct chunk *chunk;
    int peer;
    bool done;
    int requests;
    MPI_Request *request;
    void *data; /* receive buffer */
    double start;
};

struct ring {
    struct mpi_call *call;
    struct chunks chunks;
    struct chunk_attention attention;
    struct cursor receiving, sending;
    struct slot slot[SLOTS]; /* receives first */
    int slots;               /* slots in use */
    MPI_Request *requests;
    int64_t next_local; /* index of the next local chunk to consider */
    int error;          /* MPI's result */
};

static int peer_of(const struct ring *ring, const struct cursor *cursor)
{
    const struct communicator *const comm = &ring->call->comm;
    const int step = cursor->sends ? comm->size - cursor->step : cursor->step;

    return (comm->rank + step) % comm->size;
}

/* The next chunk to send or receive, and its peer; NULL after the last. */
static const struct chunk *next_chunk(const struct ring *ring, struct cursor *cursor,
                                      int *peer)
{
    const struct communicator *const comm = &ring->call->comm;

    for (; cursor->step < comm->size; cursor->step++, cursor->next = 0) {
        *peer = peer_of(ring, cursor);
        const int from = cursor->sends ? comm->rank : *peer;
        const int to = cursor->sends ? *peer : comm->rank;
        while (cursor->next < ring->chunks.count) {
            const struct chunk *const c = &ring->chunks.list[cursor->next++];

            if (c->rank == from &&
                attendi_rank_sees(ring->call, to, c->first_key, c->first_key + c->keys))
                return c;
        }
    }
    return NULL;
}

static int64_t chunk_bytes(const struct mpi_call *call, int64_t keys)
{
    return call->nb * call->hkv * keys * (call->d + call->dv) *
           (int64_t)attend_dtype_size(call->dtype);
}

/* Keys and values of a chunk in a receive buffer: all keys, then all values. */
static attend_tensor keys_of_message(const struct mpi_call *call, void *data,
                                     int64_t keys)
{
    return attend_tensor_dense(data, call->dtype, call->nb, call->hkv, keys, call->d);
}

static attend_tensor values_of_message(const struct mpi_call *call, void *data,
                                       int64_t keys)
{
    return attend_tensor_dense((char *)data + call->nb * call->hkv * keys * call->d *
                                                  (int64_t)attend_dtype_size(call->dtype),
                               call->dtype, call->nb, call->hkv, keys, call->dv);
}

/* ---- messages ---------------------------------------------------------------- */

/* Posts the messages of a slot. */
static void post(struct ring *ring, struct slot *slot, bool sends)
{
    struct mpi_call *const call = ring->call;
    struct communicator *const comm = &call->comm;
    const int64_t bytes = chunk_bytes(call, slot->chunk->keys);
    attend_view k, v;

    if (sends) {
        k = attendi_chunk_keys(&ring->chunks, call, slot->chunk);
        v = attendi_chunk_values(&ring->chunks, call, slot->chunk);
    } else {
        const attend_tensor to_k = keys_of_message(call, slot->data, slot->chunk->keys);
        const attend_tensor to_v = values_of_message(call, slot->data, slot->chunk->keys);

        k = attend_view_of(&to_k);
        v = attend_view_of(&to_v);
    }
    slot->requests = 0;
    slot->done = false;
    slot->start = MPI_Wtime();
    int result = attendi_tensor_messages_post(comm, &k, slot->peer, sends, slot->request,
                                              &slot->requests);
    if (result == MPI_SUCCESS)
        result = attendi_tensor_messages_post(comm, &v, slot->peer, sends, slot->request,
                                              &slot->requests);
    if (result != MPI_SUCCESS)
        ring->error = result;
    comm->cost.messages += sends ? slot->requests : 0;
    *(sends ? &comm->cost.sent : &comm->cost.received) += bytes;
}

/* Whether all messages of a slot have completed. */
static bool test(struct ring *ring, struct slot *slot)
{
    int done = 0;
    const int result =
        MPI_Testall(slot->requests, slot->request, &done, MPI_STATUSES_IGNORE);

    if (result != MPI_SUCCESS)
        ring->error = result;
    slot->done = done;
    return done;
}

/*
 * Tests slots in flight and starts the next chunk in free ones.  Returns whether any is
 * in flight.
 */
static bool poll_slots(struct ring *ring)
{
    bool in_flight = false;

    for (int x = 0; x < ring->slots; x++) {
        struct slot *const slot = &ring->slot[x];
        const bool sends = x >= RECEIVES;

        if (slot->chunk && !slot->done && test(ring, slot))
            attendi_comm_trace(&ring->call->comm, sends ? 's' : 'r', slot->peer,
                               slot->chunk->first_key, slot->start, MPI_Wtime());
        if (slot->chunk && slot->done && sends)
            slot->chunk = NULL;
        if (!slot->chunk &&
            (slot->chunk = next_chunk(ring, sends ? &ring->sending : &ring->receiving,
                                      &slot->peer)))
            post(ring, slot, sends);
        in_flight = in_flight || (slot->chunk && !slot->done);
    }
    return in_flight;
}

/* MPI progress: polls as long as messages move. */
static void progress(void *arg)
{
    struct ring *const ring = arg;
    const double first = MPI_Wtime();
    double start = first;
    int idle = 0;

    while (idle < IDLE_POLLS && start - first < PROGRESS_SECONDS_MAX &&
           poll_slots(ring) && ring->error == MPI_SUCCESS) {
        const double end = MPI_Wtime();

        idle = end - start > IDLE_POLL_SECONDS ? 0 : idle + 1;
        start = end;
    }
}

/* ---- computation ------------------------------------------------------------- */

/* After a failure on this rank, which still sends and receives for the others. */
static void stop_on_failure(struct ring *ring, attend_status status,
                            const attend_error *err)
{
    if (status != ATTEND_OK)
        attendi_comm_stop(&ring->call->comm, err);
}

/* Computes with a received chunk; false if there is none. */
static bool compute_received(struct ring *ring)
{
    for (int x = 0; x < RECEIVES; x++) {
        struct slot *const slot = &ring->slot[x];
        attend_error err;

        if (!slot->chunk || !slot->done)
            continue;
        const attend_tensor k =
            keys_of_message(ring->call, slot->data, slot->chunk->keys);
        const attend_tensor v =
            values_of_message(ring->call, slot->data, slot->chunk->keys);
        const attend_view keys = attend_view_of(&k), values = attend_view_of(&v);
        stop_on_failure(ring,
                        attendi_chunk_attention_add(&ring->attention, slot->chunk, &keys,
                                                    &values, slot->chunk->first_key,
                                                    &err),
                        &err);
        slot->chunk = NULL;
        return true;
    }
    return false;
}

/* Computes with a local chunk; false if none is left. */
static bool compute_local(struct ring *ring)
{
    struct mpi_call *const call = ring->call;

    while (ring->next_local < ring->chunks.count) {
        const struct chunk *const c = &ring->chunks.list[ring->next_local++];
        attend_error err;

        if (c->rank != call->comm.rank ||
            !attendi_rank_sees(call, c->rank, c->first_key, c->first_key + c->keys))
            continue;
        const attend_view k = attendi_chunk_keys(&ring->chunks, call, c);
        const attend_view v = attendi_chunk_values(&ring->chunks, call, c);
        stop_on_failure(
            ring,
            attendi_chunk_attention_add(&ring->attention, c, &k, &v, c->first_key, &err),
            &err);
        return true;
    }
    return false;
}

/* Tests until one slot has completed; false if none has. */
static bool test_any(struct ring *ring)
{
    for (int x = 0; x < SLOTS; x++)
        if (ring->slot[x].chunk && !ring->slot[x].done && test(ring, &ring->slot[x]))
            return true;
    return false;
}

/* Nothing to compute: waits until a slot completes; false if none is in flight. */
static bool wait_any(struct ring *ring)
{
    struct communicator *const comm = &ring->call->comm;
    const double start = MPI_Wtime();
    bool busy = false;

    for (int x = 0; x < SLOTS; x++)
        busy = busy || (ring->slot[x].chunk && !ring->slot[x].done);
    if (!busy)
        return false;
    while (ring->error == MPI_SUCCESS && !test_any(ring)) {
        attendi_comm_should_continue(comm);
        attendi_backoff(start);
    }
    comm->cost.waiting += MPI_Wtime() - start;
    attendi_comm_trace(comm, 'w', -1, -1, start, MPI_Wtime());
    return true;
}

static attend_status run_ring(struct ring *ring, attend_error *err)
{
    bool more = true;

    while (more && ring->error == MPI_SUCCESS) {
        progress(ring);
        more = compute_received(ring) || compute_local(ring) || wait_any(ring);
    }
    return attendi_mpi_result(ring->error, err);
}

/* ---- the call ------------------------------------------------------------------ */

static attend_status open_slots(struct ring *ring, attend_error *err)
{
    struct mpi_call *const call = ring->call;
    const int64_t keys = ring->chunks.max_keys;
    const int64_t k[4] = {call->nb, call->hkv, keys, call->d};
    const int64_t v[4] = {call->nb, call->hkv, keys, call->dv};
    const int64_t messages = attendi_tensor_messages_count(&call->comm, k, call->dtype) +
                             attendi_tensor_messages_count(&call->comm, v, call->dtype);

    if (call->comm.size > 1)
        ring->slots = RECEIVES +
                      (int)max_i64(1, min_i64(SENDS, SEND_MESSAGES_MAX / (messages + 1)));
    ring->requests = attendi_mpi_alloc(&call->comm, ring->slots * messages,
                                       sizeof *ring->requests, err);
    if (!ring->requests)
        return ATTEND_ENOMEM;
    for (int64_t x = 0; x < ring->slots * messages; x++)
        ring->requests[x] = MPI_REQUEST_NULL;
    for (int x = 0; x < ring->slots; x++)
        ring->slot[x].request = ring->requests + x * messages;
    for (int x = 0; x < RECEIVES && x < ring->slots; x++) {
        ring->slot[x].data =
            attendi_mpi_alloc(&call->comm, chunk_bytes(call, keys), 1, err);
        if (!ring->slot[x].data)
            return ATTEND_ENOMEM;
    }
    return ATTEND_OK;
}

static attend_status open_ring(struct ring *ring, attend_error *err)
{
    TRY(attendi_chunk_attention_begin(&ring->attention, ring->chunks.max_keys, err));
    return open_slots(ring, err);
}

static void close_ring(struct ring *ring)
{
    struct mpi_call *const call = ring->call;

    attendi_reduction_free(&ring->attention.reduction);
    for (int x = 0; x < RECEIVES; x++)
        attendi_mpi_free(&call->comm, ring->slot[x].data);
    attendi_mpi_free(&call->comm, ring->requests);
    attendi_chunks_free(&ring->chunks, call);
}

attend_status attendi_forward_ring(struct mpi_call *call, attend_error *err)
{
    const int rank = call->comm.rank;
    struct ring ring = {.call = call,
                        .receiving = {.sends = false, .step = 1},
                        .sending = {.sends = true, .step = 1},
                        .error = MPI_SUCCESS};

    ring.attention = (struct chunk_attention){
        .call = call,
        .rule = call->rule,
        .q = call->io.q,
        .range = call->queries.range + call->queries.start[rank],
        .ranges = call->queries.start[rank + 1] - call->queries.start[rank],
        .progress = progress,
        .progress_arg = &ring};
    attend_status status = attendi_chunks_make(&ring.chunks, call, err);
    if (status == ATTEND_OK)
        status = attendi_comm_agree(&call->comm, open_ring(&ring, err), err);
    if (status == ATTEND_OK)
        status = run_ring(&ring, err);
    if (status == ATTEND_OK)
        status = attendi_comm_agree_stop(&call->comm, err);
    if (status == ATTEND_OK)
        status =
            attendi_comm_agree(&call->comm,
                               attendi_chunk_attention_finish(
                                   &ring.attention, &call->io.out, &call->io.lse, err),
                               err);
    close_ring(&ring);
    return status;
}
