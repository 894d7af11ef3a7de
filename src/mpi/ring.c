/* SPDX-License-Identifier: MIT */
/*
 * Chunks of keys go round: at step s each rank receives from the one s ahead and sends to
 * the one s behind, chunks that the receiver sees and no others.  There is memory for two
 * chunks: one is computed with while the other comes.  They are sent from the caller's
 * memory.
 */
#include "base/base.h"
#include "mpi/comm/tensor_messages.h"
#include "mpi/comm/views.h"
#include "mpi/comm/wait.h"
#include "mpi/mpi_work.h"
#include "mpi/strategies.h"

/* Chunks that come, and that go: more, since those take no memory. */
enum { RECEIVES = 2, SENDS = 8, SLOTS = RECEIVES + SENDS };
/* Messages of those that go: an MPI has room for some 100,000. */
enum { SENT_MESSAGES = 4096 };
/*
 * An MPI moves a part of a message whenever it is called.  So it is called again until
 * this many calls in turn took no time, or all took long, in seconds: then others may
 * have run on this core.
 */
enum { IDLE_LOOKS = 8 };
#define IDLE_LOOK 5e-6
#define LONG_LOOKS 1e-3

/* Chunks that pass between this rank and the others, in the order of steps. */
struct way {
    bool sends;
    int step;     /* 1 .. ranks - 1; ranks: all have passed */
    int64_t next; /* chunk to look at */
};

/* One chunk under way; `chunk` NULL: none. */
struct slot {
    const struct chunk *chunk;
    int peer;
    bool done;
    int requests;
    MPI_Request *request;
    void *data; /* of one that receives */
    double began;
};

struct ring {
    struct job *job;
    struct chunks chunks;
    struct work work;
    struct way in, out;
    struct slot slot[SLOTS]; /* those that receive first */
    int slots;               /* that are used */
    MPI_Request *requests;
    int64_t own; /* own chunk to look at */
    int error;   /* MPI's */
};

static int peer_of(const struct ring *ring, const struct way *way)
{
    const struct communicator *const comm = &ring->job->comm;
    const int step = way->sends ? comm->size - way->step : way->step;

    return (comm->rank + step) % comm->size;
}

/* The next chunk of a way and its other end; NULL after the last. */
static const struct chunk *next_chunk(const struct ring *ring, struct way *way, int *peer)
{
    const struct communicator *const comm = &ring->job->comm;

    for (; way->step < comm->size; way->step++, way->next = 0) {
        *peer = peer_of(ring, way);
        const int from = way->sends ? comm->rank : *peer;
        const int to = way->sends ? *peer : comm->rank;
        while (way->next < ring->chunks.count) {
            const struct chunk *const c = &ring->chunks.list[way->next++];

            if (c->rank == from &&
                attendi_job_is_seen(ring->job, to, c->first_key, c->first_key + c->keys))
                return c;
        }
    }
    return NULL;
}

static int64_t chunk_bytes(const struct job *job, int64_t keys)
{
    return job->nb * job->hkv * keys * (job->d + job->dv) *
           (int64_t)attend_dtype_size(job->dtype);
}

/* Keys and values of a chunk in a message, one after the other. */
static attend_tensor keys_in(const struct job *job, void *data, int64_t keys)
{
    return attend_tensor_dense(data, job->dtype, job->nb, job->hkv, keys, job->d);
}

static attend_tensor values_in(const struct job *job, void *data, int64_t keys)
{
    return attend_tensor_dense((char *)data + job->nb * job->hkv * keys * job->d *
                                                  (int64_t)attend_dtype_size(job->dtype),
                               job->dtype, job->nb, job->hkv, keys, job->dv);
}

/* ---- messages ------------------------------------------------------------------ */

/* Starts the messages of a slot. */
static void post(struct ring *ring, struct slot *slot, bool sends)
{
    struct job *const job = ring->job;
    struct communicator *const comm = &job->comm;
    const int64_t bytes = chunk_bytes(job, slot->chunk->keys);
    attend_view k, v;

    if (sends) {
        k = attendi_chunk_keys(&ring->chunks, job, slot->chunk);
        v = attendi_chunk_values(&ring->chunks, job, slot->chunk);
    } else {
        const attend_tensor to_k = keys_in(job, slot->data, slot->chunk->keys);
        const attend_tensor to_v = values_in(job, slot->data, slot->chunk->keys);

        k = attend_view_of(&to_k);
        v = attend_view_of(&to_v);
    }
    slot->requests = 0;
    slot->done = false;
    slot->began = MPI_Wtime();
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

/* Whether the messages of a slot that is under way have arrived. */
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

/* Fills free slots, and finds out which are done; whether some are under way. */
static bool look(struct ring *ring)
{
    bool under_way = false;

    for (int x = 0; x < ring->slots; x++) {
        struct slot *const slot = &ring->slot[x];
        const bool sends = x >= RECEIVES;

        if (slot->chunk && !slot->done && test(ring, slot))
            attendi_comm_trace(&ring->job->comm, sends ? 's' : 'r', slot->peer,
                               slot->chunk->first_key, slot->began, MPI_Wtime());
        if (slot->chunk && slot->done && sends)
            slot->chunk = NULL;
        if (!slot->chunk &&
            (slot->chunk = next_chunk(ring, sends ? &ring->out : &ring->in, &slot->peer)))
            post(ring, slot, sends);
        under_way = under_way || (slot->chunk && !slot->done);
    }
    return under_way;
}

/* Looks as long as something moves. */
static void advance(void *arg)
{
    struct ring *const ring = arg;
    const double began = MPI_Wtime();
    double start = began;
    int idle = 0;

    while (idle < IDLE_LOOKS && start - began < LONG_LOOKS && look(ring) &&
           ring->error == MPI_SUCCESS) {
        const double end = MPI_Wtime();

        idle = end - start > IDLE_LOOK ? 0 : idle + 1;
        start = end;
    }
}

/* ---- work -------------------------------------------------------------------- */

/* After a failure of this rank: it goes on sending and receiving. */
static void note(struct ring *ring, attend_status status, const attend_error *err)
{
    if (status != ATTEND_OK)
        attendi_comm_stop(&ring->job->comm, err);
}

/* Computes with a chunk that has come; false: none has. */
static bool work_with_received(struct ring *ring)
{
    for (int x = 0; x < RECEIVES; x++) {
        struct slot *const slot = &ring->slot[x];
        attend_error err;

        if (!slot->chunk || !slot->done)
            continue;
        const attend_tensor k = keys_in(ring->job, slot->data, slot->chunk->keys);
        const attend_tensor v = values_in(ring->job, slot->data, slot->chunk->keys);
        const attend_view keys = attend_view_of(&k), values = attend_view_of(&v);
        note(ring,
             attendi_work_add(&ring->work, slot->chunk, &keys, &values,
                              slot->chunk->first_key, &err),
             &err);
        slot->chunk = NULL;
        return true;
    }
    return false;
}

/* Computes with a chunk of its own; false: none is left. */
static bool work_with_own(struct ring *ring)
{
    struct job *const job = ring->job;

    while (ring->own < ring->chunks.count) {
        const struct chunk *const c = &ring->chunks.list[ring->own++];
        attend_error err;

        if (c->rank != job->comm.rank ||
            !attendi_job_is_seen(job, c->rank, c->first_key, c->first_key + c->keys))
            continue;
        const attend_view k = attendi_chunk_keys(&ring->chunks, job, c);
        const attend_view v = attendi_chunk_values(&ring->chunks, job, c);
        note(ring, attendi_work_add(&ring->work, c, &k, &v, c->first_key, &err), &err);
        return true;
    }
    return false;
}

/* Looks at the messages; whether a slot is free again or has its chunk. */
static bool one_is_done(struct ring *ring)
{
    for (int x = 0; x < SLOTS; x++)
        if (ring->slot[x].chunk && !ring->slot[x].done && test(ring, &ring->slot[x]))
            return true;
    return false;
}

/* Nothing to compute: waits for a message; false: none is under way. */
static bool wait(struct ring *ring)
{
    struct communicator *const comm = &ring->job->comm;
    const double start = MPI_Wtime();
    bool busy = false;

    for (int x = 0; x < SLOTS; x++)
        busy = busy || (ring->slot[x].chunk && !ring->slot[x].done);
    if (!busy)
        return false;
    while (ring->error == MPI_SUCCESS && !one_is_done(ring)) {
        attendi_comm_should_continue(comm);
        attendi_backoff(start);
    }
    comm->cost.waiting += MPI_Wtime() - start;
    attendi_comm_trace(comm, 'w', -1, -1, start, MPI_Wtime());
    return true;
}

static attend_status turn(struct ring *ring, attend_error *err)
{
    bool more = true;

    while (more && ring->error == MPI_SUCCESS) {
        advance(ring);
        more = work_with_received(ring) || work_with_own(ring) || wait(ring);
    }
    return attendi_mpi_result(ring->error, err);
}

/* ---- the call ------------------------------------------------------------------ */

static attend_status open_slots(struct ring *ring, attend_error *err)
{
    struct job *const job = ring->job;
    const int64_t keys = ring->chunks.most_keys;
    const int64_t k[4] = {job->nb, job->hkv, keys, job->d};
    const int64_t v[4] = {job->nb, job->hkv, keys, job->dv};
    const int64_t messages = attendi_tensor_messages_count(&job->comm, k, job->dtype) +
                             attendi_tensor_messages_count(&job->comm, v, job->dtype);

    if (job->comm.size > 1)
        ring->slots =
            RECEIVES + (int)max_i64(1, min_i64(SENDS, SENT_MESSAGES / (messages + 1)));
    ring->requests = attendi_mpi_alloc(&job->comm, ring->slots * messages,
                                       sizeof *ring->requests, err);
    if (!ring->requests)
        return ATTEND_ENOMEM;
    for (int64_t x = 0; x < ring->slots * messages; x++)
        ring->requests[x] = MPI_REQUEST_NULL;
    for (int x = 0; x < ring->slots; x++)
        ring->slot[x].request = ring->requests + x * messages;
    for (int x = 0; x < RECEIVES && x < ring->slots; x++) {
        ring->slot[x].data =
            attendi_mpi_alloc(&job->comm, chunk_bytes(job, keys), 1, err);
        if (!ring->slot[x].data)
            return ATTEND_ENOMEM;
    }
    return ATTEND_OK;
}

static attend_status open_ring(struct ring *ring, attend_error *err)
{
    TRY(attendi_work_begin(&ring->work, ring->chunks.most_keys, err));
    return open_slots(ring, err);
}

static void close_ring(struct ring *ring)
{
    struct job *const job = ring->job;

    attendi_nodes_free(&ring->work.nodes);
    for (int x = 0; x < RECEIVES; x++)
        attendi_mpi_free(&job->comm, ring->slot[x].data);
    attendi_mpi_free(&job->comm, ring->requests);
    attendi_chunks_free(&ring->chunks, job);
}

attend_status attendi_forward_ring(struct job *job, attend_error *err)
{
    const int rank = job->comm.rank;
    struct ring ring = {.job = job,
                        .in = {.sends = false, .step = 1},
                        .out = {.sends = true, .step = 1},
                        .error = MPI_SUCCESS};

    ring.work =
        (struct work){.job = job,
                      .rule = job->rule,
                      .q = job->io.q,
                      .range = job->queries.range + job->queries.start[rank],
                      .ranges = job->queries.start[rank + 1] - job->queries.start[rank],
                      .between = advance,
                      .arg = &ring};
    attend_status status = attendi_chunks_make(&ring.chunks, job, err);
    if (status == ATTEND_OK)
        status = attendi_comm_agree(&job->comm, open_ring(&ring, err), err);
    if (status == ATTEND_OK)
        status = turn(&ring, err);
    if (status == ATTEND_OK)
        status = attendi_comm_agree_stop(&job->comm, err);
    if (status == ATTEND_OK)
        status = attendi_comm_agree(
            &job->comm, attendi_work_end(&ring.work, &job->io.out, &job->io.lse, err),
            err);
    close_ring(&ring);
    return status;
}
