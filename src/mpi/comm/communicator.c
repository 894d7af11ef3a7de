/* SPDX-License-Identifier: MIT */
#include "mpi/comm/communicator.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/struct_size.h"
#include "mpi/comm/shared_memory.h"
#include "mpi/comm/wait.h"

/* Longest message.  Counts of MPI are int. */
#define MESSAGE_BYTES ((int64_t)1 << 26)

/* ---- the duplicated communicator --------------------------------------------- */

struct cached {
    MPI_Comm mpi;
    bool shares_memory;
    struct shared_memory shared;
    bool *received_stop;
    int64_t allgather_buffer[]; /* [size][ALLGATHER_NUMBERS], then received_stop */
};

/*
 * Frees the duplicate together with the communicator that it was made from, unless MPI
 * has been finalized.
 */
static int free_duplicate(MPI_Comm comm, int key, void *value, void *extra)
{
    struct cached *const cached = value;
    int finalized = 1;

    (void)comm;
    (void)key;
    (void)extra;
    if (MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized)
        MPI_Comm_free(&cached->mpi);
    attendi_shared_memory_close(&cached->shared);
    free(cached);
    return MPI_SUCCESS;
}

/* The attribute key of the duplicates.  Not locked: one thread of a rank calls MPI. */
static int attribute_key(void)
{
    static int key = MPI_KEYVAL_INVALID;

    if (key == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_duplicate, &key, NULL);
    return key;
}

static attend_status read_rank(struct communicator *comm, MPI_Comm mpi, attend_error *err)
{
    comm->mpi = mpi;
    TRY_MPI(MPI_Comm_rank(mpi, &comm->rank));
    return attendi_mpi_result(MPI_Comm_size(mpi, &comm->size), err);
}

static attend_status make_duplicate(struct communicator *comm, MPI_Comm user_comm,
                                    struct cached **made, attend_error *err)
{
    MPI_Comm own;
    bool shares_memory;

    TRY_MPI(attendi_comm_dup(user_comm, &own));
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    TRY(read_rank(comm, own, err));
    TRY_MPI(attendi_comm_shares_memory(own, &shares_memory));
    const size_t size = (size_t)comm->size, numbers = size * ALLGATHER_NUMBERS;
    struct cached *const cached =
        malloc(sizeof *cached + numbers * sizeof *cached->allgather_buffer +
               size * sizeof(bool));
    if (!cached)
        attendi_fail(err, ATTEND_ENOMEM, "out of memory for %d ranks", comm->size);
    const attend_status status =
        attendi_comm_agree(comm, cached ? ATTEND_OK : ATTEND_ENOMEM, err);
    if (status != ATTEND_OK) {
        free(cached);
        MPI_Comm_free(&own);
        return status;
    }
    cached->mpi = own;
    cached->shares_memory = shares_memory;
    cached->shared.bytes = 0;
    cached->received_stop = (bool *)(void *)(cached->allgather_buffer + numbers);
    *made = cached;
    return attendi_mpi_result(MPI_Comm_set_attr(user_comm, attribute_key(), cached), err);
}

static attend_status find_duplicate(struct communicator *comm, MPI_Comm user_comm,
                                    attend_error *err)
{
    struct cached *cached;
    int found = 0, is_inter = 0;

    TRY_MPI(MPI_Comm_test_inter(user_comm, &is_inter));
    if (is_inter)
        return attendi_fail(err, ATTEND_EINVAL, "comm is an intercommunicator");
    TRY_MPI(MPI_Comm_get_attr(user_comm, attribute_key(), &cached, &found));
    if (!found)
        TRY(make_duplicate(comm, user_comm, &cached, err));
    TRY(read_rank(comm, cached->mpi, err));
    comm->shares_memory = cached->shares_memory;
    comm->shared = &cached->shared;
    comm->received_stop = cached->received_stop;
    comm->allgather_buffer = cached->allgather_buffer;
    memset(comm->received_stop, 0, (size_t)comm->size * sizeof *comm->received_stop);
    return ATTEND_OK;
}

/* ---- a call --------------------------------------------------------------- */

/*
 * ATTEND_MPI_MESSAGE, for tests, makes messages shorter.  The minimum keeps the number of
 * messages in flight within what an MPI can hold.
 */
enum { MESSAGE_BYTES_MIN = 512 };
static int64_t message_bytes(void)
{
    const char *const text = getenv("ATTEND_MPI_MESSAGE");
    const long long bytes = text ? strtoll(text, NULL, 10) : 0;

    return bytes > 0 && bytes < MESSAGE_BYTES ? max_i64(bytes, MESSAGE_BYTES_MIN)
                                              : MESSAGE_BYTES;
}

attend_status attendi_dist_read(const attend_mpi_dist *given, attend_mpi_dist *own,
                                attend_error *err)
{
    static const size_t size[] = {sizeof *own};
    static const struct struct_sizes sizes = {"dist", ARRAY_LEN(size), size};

    *own = attend_mpi_dist_default();
    return given ? attendi_struct_read(&sizes, given, own, err) : ATTEND_OK;
}

attend_status attendi_comm_open(struct communicator *comm, MPI_Comm user_comm,
                                const attend_mpi_dist *dist, attend_error *err)
{
    int initialized = 0, finalized = 0;

    *comm = (struct communicator){.dist = attend_mpi_dist_default(),
                                  .message_bytes = message_bytes()};
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!initialized || finalized)
        return attendi_fail(err, ATTEND_ECOMM, "MPI is not initialized");
    if (user_comm == MPI_COMM_NULL)
        return attendi_fail(err, ATTEND_EINVAL, "comm is MPI_COMM_NULL");
    comm->start = MPI_Wtime();
    TRY(find_duplicate(comm, user_comm, err));
    if (attendi_dist_read(dist, &comm->dist, NULL) != ATTEND_OK)
        comm->dist = attend_mpi_dist_default();
    return ATTEND_OK;
}

void attendi_comm_close(struct communicator *comm)
{
    if (!comm->received_stop)
        return; /* not opened */
    comm->received_stop = NULL;
    comm->cost.seconds = MPI_Wtime() - comm->start;
    if (comm->dist.cost)
        *comm->dist.cost = comm->cost;
}

/* ---- agreement ------------------------------------------------------------ */

/* Every rank gets the error of `rank`; the message begins with its number. */
static attend_status broadcast_error(struct communicator *comm, int rank,
                                     const attend_error *own, attend_error *err)
{
    attend_error shared;

    if (comm->rank == rank)
        shared = *own;
    TRY_MPI(attendi_broadcast(&shared, sizeof shared, MPI_BYTE, rank, comm->mpi));
    attendi_fail(err, shared.status, "rank %d: %.230s", rank, shared.message);
    if (err) {
        err->field = shared.field;
        err->member = shared.member;
    }
    return shared.status;
}

attend_status attendi_comm_agree(struct communicator *comm, attend_status status,
                                 attend_error *err)
{
    const int mine = status == ATTEND_OK ? INT_MAX : comm->rank;
    attend_error own = {.status = status};
    int lowest;

    if (status != ATTEND_OK && err)
        own = *err;
    own.status = status;
    TRY_MPI(attendi_allreduce_min(&mine, &lowest, comm->mpi));
    return lowest == INT_MAX ? ATTEND_OK : broadcast_error(comm, lowest, &own, err);
}

/* ---- stopping a call early --------------------------------------------------- */

void attendi_comm_stop(struct communicator *comm, const attend_error *why)
{
    if (comm->sent_stop)
        return;
    comm->stopped = comm->sent_stop = true;
    comm->error = *why;
    /* Empty messages: no MPI blocks their sender. */
    for (int rank = 0; rank < comm->size; rank++)
        if (rank != comm->rank)
            attendi_send(NULL, 0, rank, TAG_STOP, comm->mpi);
}

bool attendi_comm_should_continue(struct communicator *comm)
{
    MPI_Status status;
    int found = 0;

    if (comm->stopped)
        return false;
    if (comm->dist.cancelled && comm->dist.cancelled(comm->dist.cancel_user)) {
        const attend_error why = {.status = ATTEND_ECANCELLED,
                                  .message = "cancelled by the caller"};
        attendi_comm_stop(comm, &why);
        return false;
    }
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_STOP, comm->mpi, &found, &status) == MPI_SUCCESS &&
        found) {
        attendi_receive(NULL, 0, status.MPI_SOURCE, TAG_STOP, comm->mpi);
        comm->received_stop[status.MPI_SOURCE] = comm->stopped = true;
    }
    return !comm->stopped;
}

attend_status attendi_comm_agree_stop(struct communicator *comm, attend_error *err)
{
    const int mine = comm->sent_stop ? comm->rank : INT_MAX;
    attend_status status = ATTEND_OK;
    int lowest;

    TRY_MPI(attendi_allreduce_min(&mine, &lowest, comm->mpi));
    if (lowest == INT_MAX)
        return ATTEND_OK;
    const int64_t flag = comm->sent_stop;
    status = attendi_mpi_result(
        attendi_allgather(&flag, 1, MPI_INT64_T, comm->allgather_buffer, comm->mpi), err);
    for (int rank = 0; rank < comm->size && status == ATTEND_OK; rank++)
        if (comm->allgather_buffer[rank] && rank != comm->rank &&
            !comm->received_stop[rank])
            status = attendi_mpi_result(
                attendi_receive(NULL, 0, rank, TAG_STOP, comm->mpi), err);
    return status ? status : broadcast_error(comm, lowest, &comm->error, err);
}

/* ---- memory and time ------------------------------------------------------- */

/* Each allocation is preceded by its size, in a cache line of its own. */
enum { HEADER_BYTES = ATTENDI_ALIGN };

void *attendi_mpi_alloc(struct communicator *comm, int64_t count, size_t size,
                        attend_error *err)
{
    const size_t bytes = add_bytes(count_bytes(count, size), (size_t)2 * HEADER_BYTES);
    const size_t whole = bytes > SIZE_MAX / 2 ? 0 : bytes / HEADER_BYTES * HEADER_BYTES;
    char *const memory = whole ? aligned_alloc(HEADER_BYTES, whole) : NULL;

    if (!memory) {
        attendi_fail(err, ATTEND_ENOMEM, "out of memory for %lld elements of %zu bytes",
                     LL(count), size);
        return NULL;
    }
    memcpy(memory, &whole, sizeof whole);
    comm->memory += (int64_t)whole;
    comm->cost.memory = max_i64(comm->cost.memory, comm->memory);
    return memory + HEADER_BYTES;
}

void attendi_mpi_free(struct communicator *comm, void *memory)
{
    size_t whole;

    if (!memory)
        return;
    memcpy(&whole, (char *)memory - HEADER_BYTES, sizeof whole);
    comm->memory -= (int64_t)whole;
    free((char *)memory - HEADER_BYTES);
}

void attendi_comm_trace(const struct communicator *comm, char what, int peer,
                        int64_t first_key, double start, double end)
{
    if (comm->dist.trace)
        comm->dist.trace(comm->dist.trace_user, what, peer, first_key, start, end);
}
