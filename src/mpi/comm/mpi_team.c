/* SPDX-License-Identifier: MIT */
#include "mpi/comm/mpi_team.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mpi/comm/polite.h"
#include "mpi/comm/window.h"

/* A message that all MPIs take: counts are int. */
#define MESSAGE_BYTES ((int64_t)1 << 26)

/* ---- the duplicate -------------------------------------------------------- */

struct kept {
    MPI_Comm comm;
    bool is_local;
    struct window window;
    bool *heard;
    int64_t numbers[]; /* [size][TEAM_NUMBERS], then heard */
};

/* Frees the duplicate with the communicator that it is of, unless MPI is at its end. */
static int free_duplicate(MPI_Comm comm, int key, void *value, void *extra)
{
    struct kept *const kept = value;
    int finalized = 1;

    (void)comm;
    (void)key;
    (void)extra;
    if (MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized)
        MPI_Comm_free(&kept->comm);
    attendi_window_close(&kept->window);
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

static attend_status take_ranks(struct team *team, MPI_Comm comm, attend_error *err)
{
    team->comm = comm;
    TRY_MPI(MPI_Comm_rank(comm, &team->rank));
    return attendi_mpi_result(MPI_Comm_size(comm, &team->size), err);
}

static attend_status make_duplicate(struct team *team, MPI_Comm comm, struct kept **made,
                                    attend_error *err)
{
    MPI_Comm own;
    bool is_local;

    TRY_MPI(attendi_duplicate(comm, &own));
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    TRY(take_ranks(team, own, err));
    TRY_MPI(attendi_comm_is_local(own, &is_local));
    const size_t size = (size_t)team->size, numbers = size * TEAM_NUMBERS;
    struct kept *const kept =
        malloc(sizeof *kept + numbers * sizeof *kept->numbers + size * sizeof(bool));
    if (!kept)
        attendi_mpi_fail(err, ATTEND_ENOMEM, "no memory for %d ranks", team->size);
    const attend_status status =
        attendi_team_agree(team, kept ? ATTEND_OK : ATTEND_ENOMEM, err);
    if (status != ATTEND_OK) {
        free(kept);
        MPI_Comm_free(&own);
        return status;
    }
    kept->comm = own;
    kept->is_local = is_local;
    kept->window.bytes = 0;
    kept->heard = (bool *)(void *)(kept->numbers + numbers);
    *made = kept;
    return attendi_mpi_result(MPI_Comm_set_attr(comm, duplicate_key(), kept), err);
}

static attend_status duplicate(struct team *team, MPI_Comm comm, attend_error *err)
{
    struct kept *kept;
    int found = 0, is_inter = 0;

    TRY_MPI(MPI_Comm_test_inter(comm, &is_inter));
    if (is_inter)
        return attendi_mpi_fail(err, ATTEND_EINVAL, "comm is an intercommunicator");
    TRY_MPI(MPI_Comm_get_attr(comm, duplicate_key(), &kept, &found));
    if (!found)
        TRY(make_duplicate(team, comm, &kept, err));
    TRY(take_ranks(team, kept->comm, err));
    team->is_local = kept->is_local;
    team->window = &kept->window;
    team->heard = kept->heard;
    team->numbers = kept->numbers;
    memset(team->heard, 0, (size_t)team->size * sizeof *team->heard);
    return ATTEND_OK;
}

/* ---- a call --------------------------------------------------------------- */

/*
 * ATTEND_MPI_MESSAGE, of tests, makes messages shorter, but not so short that an MPI has
 * no room for all of them.
 */
enum { MESSAGE_BYTES_LEAST = 512 };
static int64_t message_bytes(void)
{
    const char *const text = getenv("ATTEND_MPI_MESSAGE");
    const long long bytes = text ? strtoll(text, NULL, 10) : 0;

    return bytes > 0 && bytes < MESSAGE_BYTES ? max_i64(bytes, MESSAGE_BYTES_LEAST)
                                              : MESSAGE_BYTES;
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
    TRY(duplicate(team, comm, err));
    if (dist && dist->struct_size == sizeof *dist)
        team->dist = *dist;
    return ATTEND_OK;
}

void attendi_team_close(struct team *team)
{
    if (!team->heard)
        return; /* it was not opened */
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
    const int64_t flag = team->told;
    status = attendi_mpi_result(
        attendi_allgather(&flag, 1, MPI_INT64_T, team->numbers, team->comm), err);
    for (int rank = 0; rank < team->size && status == ATTEND_OK; rank++)
        if (team->numbers[rank] && rank != team->rank && !team->heard[rank])
            status = attendi_mpi_result(
                attendi_receive(NULL, 0, rank, TAG_STOP, team->comm), err);
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
