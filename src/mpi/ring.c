/* SPDX-License-Identifier: MIT */
/*
 * Chunks of keys go round: at step s each rank receives from the one s ahead and sends to
 * the one s behind, chunks that the receiver sees and no others.  Two chunks are under
 * way in each direction while a third is computed with.
 */
#include "base/base.h"
#include "mpi/comm/polite.h"
#include "mpi/comm/rows.h"
#include "mpi/strategies.h"
#include "mpi/mpi_work.h"

enum { SLOTS = 2 };

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
    void *data;
    double began;
};

struct ring {
    struct job *job;
    struct chunks chunks;
    struct work work;
    struct way in, out;
    struct slot slot[2 * SLOTS]; /* those that receive first */
    MPI_Request *requests;
    int requests_per_slot;
    int64_t own; /* own chunk to look at */
    int error;   /* MPI's */
};

static int peer_of(const struct ring *ring, const struct way *way)
{
    const struct team *const team = &ring->job->team;
    const int step = way->sends ? team->size - way->step : way->step;

    return (team->rank + step) % team->size;
}

/* The next chunk of a way and its other end; NULL after the last. */
static const struct chunk *next_chunk(const struct ring *ring, struct way *way, int *peer)
{
    const struct team *const team = &ring->job->team;

    for (; way->step < team->size; way->step++, way->next = 0) {
        *peer = peer_of(ring, way);
        const int from = way->sends ? team->rank : *peer;
        const int to = way->sends ? *peer : team->rank;
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

static void pack(const struct ring *ring, const struct slot *slot)
{
    const struct job *const job = ring->job;
    const attend_view k = attendi_chunk_keys(&ring->chunks, job, slot->chunk);
    const attend_view v = attendi_chunk_values(&ring->chunks, job, slot->chunk);
    const attend_tensor to_k = keys_in(job, slot->data, slot->chunk->keys);
    const attend_tensor to_v = values_in(job, slot->data, slot->chunk->keys);

    attendi_copy(&k, &to_k);
    attendi_copy(&v, &to_v);
}

/* Starts the messages of a slot, none longer than allowed. */
static void post(struct ring *ring, struct slot *slot, bool sends)
{
    struct team *const team = &ring->job->team;
    const int64_t bytes = chunk_bytes(ring->job, slot->chunk->keys);

    slot->requests = 0;
    slot->done = false;
    slot->began = MPI_Wtime();
    for (int64_t at = 0; at < bytes; at += team->message_bytes) {
        char *const data = (char *)slot->data + at;
        const int count = (int)min_i64(team->message_bytes, bytes - at);
        MPI_Request *const request = &slot->request[slot->requests++];
        const int result = sends ? MPI_Isend(data, count, MPI_BYTE, slot->peer, TAG_CHUNK,
                                             team->comm, request)
                                 : MPI_Irecv(data, count, MPI_BYTE, slot->peer, TAG_CHUNK,
                                             team->comm, request);

        if (result != MPI_SUCCESS)
            ring->error = result;
    }
    team->cost.messages += sends ? slot->requests : 0;
    *(sends ? &team->cost.sent : &team->cost.received) += bytes;
}

/* Fills free slots, and finds out which are done. */
static void advance(void *arg)
{
    struct ring *const ring = arg;

    for (int x = 0; x < 2 * SLOTS; x++) {
        struct slot *const slot = &ring->slot[x];
        const bool sends = x >= SLOTS;

        if (slot->chunk && !slot->done) {
            int done = 0;
            const int result =
                MPI_Testall(slot->requests, slot->request, &done, MPI_STATUSES_IGNORE);

            if (result != MPI_SUCCESS)
                ring->error = result;
            slot->done = done;
            if (done)
                attendi_team_trace(&ring->job->team, sends ? 's' : 'r', slot->peer,
                                   slot->chunk->first_key, slot->began, MPI_Wtime());
        }
        if (slot->chunk && slot->done && sends)
            slot->chunk = NULL;
        if (!slot->chunk && (slot->chunk = next_chunk(
                                 ring, sends ? &ring->out : &ring->in, &slot->peer))) {
            if (sends)
                pack(ring, slot);
            post(ring, slot, sends);
        }
    }
}

/* ---- work -------------------------------------------------------------------- */

/* After a failure of this rank: it goes on sending and receiving. */
static void note(struct ring *ring, attend_status status, const attend_error *err)
{
    if (status != ATTEND_OK)
        attendi_team_stop(&ring->job->team, err);
}

/* Computes with a chunk that has come; false: none has. */
static bool work_with_received(struct ring *ring)
{
    for (int x = 0; x < SLOTS; x++) {
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

        if (c->rank != job->team.rank ||
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
    for (int x = 0; x < 2 * SLOTS; x++)
        if (ring->slot[x].chunk && !ring->slot[x].done) {
            int done = 0;
            const int result = MPI_Testall(ring->slot[x].requests, ring->slot[x].request,
                                           &done, MPI_STATUSES_IGNORE);

            if (result != MPI_SUCCESS)
                ring->error = result;
            if (done)
                return true;
        }
    return false;
}

/* Nothing to compute: waits for a message; false: none is under way. */
static bool wait(struct ring *ring)
{
    struct team *const team = &ring->job->team;
    const double start = MPI_Wtime();
    bool busy = false;

    for (int x = 0; x < 2 * SLOTS; x++)
        busy = busy || (ring->slot[x].chunk && !ring->slot[x].done);
    if (!busy)
        return false;
    while (ring->error == MPI_SUCCESS && !one_is_done(ring)) {
        attendi_team_goes_on(team);
        attendi_pause(start);
    }
    team->cost.waiting += MPI_Wtime() - start;
    attendi_team_trace(team, 'w', -1, -1, start, MPI_Wtime());
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
    const int64_t bytes = chunk_bytes(job, ring->chunks.most_keys);
    const int slots = job->team.size > 1 ? 2 * SLOTS : 0;

    ring->requests_per_slot = (int)(bytes / job->team.message_bytes + 1);
    ring->requests =
        attendi_team_alloc(&job->team, (int64_t)slots * ring->requests_per_slot,
                           sizeof *ring->requests, err);
    if (!ring->requests)
        return ATTEND_ENOMEM;
    for (int x = 0; x < slots * ring->requests_per_slot; x++)
        ring->requests[x] = MPI_REQUEST_NULL;
    for (int x = 0; x < slots; x++) {
        ring->slot[x].request = ring->requests + x * ring->requests_per_slot;
        ring->slot[x].data = attendi_team_alloc(&job->team, bytes, 1, err);
        if (!ring->slot[x].data)
            return ATTEND_ENOMEM;
    }
    return ATTEND_OK;
}

static void close_ring(struct ring *ring)
{
    struct job *const job = ring->job;

    attendi_nodes_free(&ring->work.nodes);
    for (int x = 0; x < 2 * SLOTS; x++)
        attendi_team_free(&job->team, ring->slot[x].data);
    attendi_team_free(&job->team, ring->requests);
    attendi_chunks_free(&ring->chunks, job);
}

attend_status attendi_forward_ring(struct job *job, attend_error *err)
{
    const int rank = job->team.rank;
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
    attendi_nodes_begin(&ring.work.nodes, job, job->nq);
    attend_status status = attendi_chunks_make(&ring.chunks, job, err);
    if (status == ATTEND_OK)
        status = attendi_team_agree(&job->team, open_slots(&ring, err), err);
    if (status == ATTEND_OK)
        status = turn(&ring, err);
    if (status == ATTEND_OK)
        status = attendi_team_settle(&job->team, err);
    if (status == ATTEND_OK)
        status = attendi_team_agree(
            &job->team, attendi_work_end(&ring.work, &job->io.out, &job->io.lse, err),
            err);
    close_ring(&ring);
    return status;
}
