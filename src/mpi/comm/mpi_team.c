/* SPDX-License-Identifier: MIT */
#include "mpi/comm/mpi_team.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/comm/polite.h"

/* A message that all MPIs take: counts are int. */
#define MESSAGE_BYTES ((int64_t)1 << 26)

/* ---- the duplicate -------------------------------------------------------- */

/* Frees the duplicate with the communicator that it is of, unless MPI is at its end. */
static int free_duplicate(MPI_Comm comm, int key, void *value, void *extra)
{
    MPI_Comm *const kept = value;
    int finalized = 1;

    (void)comm;
    (void)key;
    (void)extra;
    if (MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized)
        MPI_Comm_free(kept);
    free(kept);
    return MPI_SUCCESS;
}

/* The key under which duplicates are kept; MPI's calls are of one thread. */
static int duplicate_key(void)
{
    static int key = MPI_KEYVAL_INVALID;

    if (key == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_duplicate, &key, NULL);
    return key;
}

static attend_status duplicate(MPI_Comm comm, MPI_Comm *to, attend_error *err)
{
    const int key = duplicate_key();
    MPI_Comm *kept;
    int found = 0;

    TRY_MPI(MPI_Comm_get_attr(comm, key, &kept, &found));
    if (found) {
        *to = *kept;
        return ATTEND_OK;
    }
    kept = malloc(sizeof *kept);
    if (!kept)
        return attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for a communicator");
    const int made = MPI_Comm_dup(comm, kept);
    if (made != MPI_SUCCESS) {
        free(kept);
        return attendi_mpi_result(made, err);
    }
    MPI_Comm_set_errhandler(*kept, MPI_ERRORS_RETURN);
    *to = *kept;
    return attendi_mpi_result(MPI_Comm_set_attr(comm, key, kept), err);
}

/* ---- a call --------------------------------------------------------------- */

/* ATTEND_MPI_MESSAGE, of tests, makes messages shorter. */
static int64_t message_bytes(void)
{
    const char *const text = getenv("ATTEND_MPI_MESSAGE");
    const long long bytes = text ? strtoll(text, NULL, 10) : 0;

    return bytes > 0 && bytes < MESSAGE_BYTES ? bytes : MESSAGE_BYTES;
}

attend_status attendi_team_open(struct team *team, MPI_Comm comm,
                                const attend_mpi_dist *dist, attend_error *err)
{
    int initialized = 0, finalized = 0;

    *team = (struct team){.dist = attend_mpi_dist_default(),
                          .message_bytes = message_bytes()};
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!initialized || finalized)
        return attendi_mpi_fail(err, ATTEND_ECOMM, "MPI is not initialized");
    if (comm == MPI_COMM_NULL)
        return attendi_mpi_fail(err, ATTEND_EINVAL, "comm is MPI_COMM_NULL");
    team->began = MPI_Wtime();
    TRY(duplicate(comm, &team->comm, err));
    TRY_MPI(MPI_Comm_rank(team->comm, &team->rank));
    TRY_MPI(MPI_Comm_size(team->comm, &team->size));
    team->heard = calloc((size_t)team->size, sizeof *team->heard);
    if (!team->heard)
        return attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %d ranks", team->size);
    if (dist && dist->struct_size == sizeof *dist)
        team->dist = *dist;
    return ATTEND_OK;
}

void attendi_team_close(struct team *team)
{
    if (!team->heard)
        return; /* it was not opened */
    free(team->heard);
    team->heard = NULL;
    team->cost.seconds = MPI_Wtime() - team->began;
    if (team->dist.cost)
        *team->dist.cost = team->cost;
}

/* ---- agreement ------------------------------------------------------------ */

/* On every rank the error of `rank`, which its words begin with. */
static attend_status share_error(struct team *team, int rank, const attend_error *own,
                                 attend_error *err)
{
    attend_error shared;

    if (team->rank == rank)
        shared = *own;
    TRY_MPI(attendi_broadcast(&shared, sizeof shared, MPI_BYTE, rank, team->comm));
    return attendi_mpi_fail(err, shared.status, "rank %d: %.230s", rank, shared.message);
}

attend_status attendi_team_agree(struct team *team, attend_status status,
                                 attend_error *err)
{
    const int mine = status == ATTEND_OK ? INT_MAX : team->rank;
    attend_error own = {.status = status};
    int lowest;

    if (status != ATTEND_OK && err)
        own = *err;
    own.status = status;
    TRY_MPI(attendi_allreduce_min(&mine, &lowest, team->comm));
    return lowest == INT_MAX ? ATTEND_OK : share_error(team, lowest, &own, err);
}

/* ---- the end of work that ranks do by themselves --------------------------- */

void attendi_team_stop(struct team *team, const attend_error *why)
{
    if (team->told)
        return;
    team->stopped = team->told = true;
    team->error = *why;
    /* Empty messages: no MPI keeps the sender waiting for those. */
    for (int rank = 0; rank < team->size; rank++)
        if (rank != team->rank)
            attendi_send(NULL, 0, rank, TAG_STOP, team->comm);
}

bool attendi_team_goes_on(struct team *team)
{
    MPI_Status status;
    int found = 0;

    if (team->stopped)
        return false;
    if (team->dist.cancelled && team->dist.cancelled(team->dist.cancel_user)) {
        const attend_error why = {ATTEND_ECANCELLED, "cancelled by the caller"};
        attendi_team_stop(team, &why);
        return false;
    }
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_STOP, team->comm, &found, &status) ==
            MPI_SUCCESS &&
        found) {
        attendi_receive(NULL, 0, status.MPI_SOURCE, TAG_STOP, team->comm);
        team->heard[status.MPI_SOURCE] = team->stopped = true;
    }
    return !team->stopped;
}

attend_status attendi_team_settle(struct team *team, attend_error *err)
{
    const int mine = team->told ? team->rank : INT_MAX;
    attend_status status = ATTEND_OK;
    int lowest;

    TRY_MPI(attendi_allreduce_min(&mine, &lowest, team->comm));
    if (lowest == INT_MAX)
        return ATTEND_OK;
    int *const told = calloc((size_t)team->size, sizeof *told);
    const int flag = team->told;
    if (!told)
        return attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory to end a call");
    status =
        attendi_mpi_result(attendi_allgather(&flag, 1, MPI_INT, told, team->comm), err);
    for (int rank = 0; rank < team->size && status == ATTEND_OK; rank++)
        if (told[rank] && rank != team->rank && !team->heard[rank])
            status = attendi_mpi_result(
                attendi_receive(NULL, 0, rank, TAG_STOP, team->comm), err);
    free(told);
    return status ? status : share_error(team, lowest, &team->error, err);
}

/* ---- memory and time ------------------------------------------------------- */

/* Before each piece: its size, in a line of its own. */
enum { HEAD = ATTENDI_ALIGN };

void *attendi_team_alloc(struct team *team, int64_t count, size_t size, attend_error *err)
{
    const size_t bytes = add_bytes(count_bytes(count, size), (size_t)2 * HEAD);
    const size_t whole = bytes > SIZE_MAX / 2 ? 0 : bytes / HEAD * HEAD;
    char *const memory = whole ? aligned_alloc(HEAD, whole) : NULL;

    if (!memory) {
        attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %lld pieces of %zu bytes",
                         LL(count), size);
        return NULL;
    }
    memcpy(memory, &whole, sizeof whole);
    team->memory += (int64_t)whole;
    team->cost.memory = max_i64(team->cost.memory, team->memory);
    return memory + HEAD;
}

void attendi_team_free(struct team *team, void *memory)
{
    size_t whole;

    if (!memory)
        return;
    memcpy(&whole, (char *)memory - HEAD, sizeof whole);
    team->memory -= (int64_t)whole;
    free((char *)memory - HEAD);
}

void attendi_team_trace(const struct team *team, char what, int peer, int64_t first_key,
                        double start, double end)
{
    if (team->dist.trace)
        team->dist.trace(team->dist.trace_user, what, peer, first_key, start, end);
}
