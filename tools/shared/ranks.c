/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct ranks ranks = {.count = 1};

/* ---- the launcher ------------------------------------------------------------ */

/* Variables that launchers set for their processes. */
static const struct launcher {
    const char *rank, *size; /* variables */
    const char *abi;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi"},
    {"PMI_RANK", "PMI_SIZE", "mpich"},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "openmpi"},
};

static const struct launcher *find_launcher(void)
{
    for (size_t x = 0; x < sizeof launchers / sizeof launchers[0]; x++)
        if (getenv(launchers[x].rank))
            return &launchers[x];
    return NULL;
}

/* A step of Slurm with several tasks that no MPI knows of: copies. */
static int is_bare_step(void)
{
    const char *const tasks = getenv("SLURM_STEP_NUM_TASKS");

    return tasks && atoi(tasks) > 1 && getenv("SLURM_PROCID");
}

int ranks_are_started(int *rank)
{
    const struct launcher *const launcher = find_launcher();
    const int is_bare = !launcher && is_bare_step();

    *rank = launcher || is_bare ? atoi(getenv(launcher ? launcher->rank : "SLURM_PROCID"))
                                : 0;
    return launcher || is_bare;
}

/* ---- the library -------------------------------------------------------------- */

/* Its file in a folder beside the command's, or where the system looks. */
static void *open_beside(const char *folder, const char *abi)
{
    char path[4096 + 128];
    const ssize_t length = readlink("/proc/self/exe", path, 4096);
    char *const slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;

    if (!slash)
        return NULL;
    snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "%slibattend_mpi_%s.so",
             folder, abi);
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void *open_library(const char *abi)
{
    char name[256];
    const char *const given = getenv("ATTEND_MPI");

    if (given && strchr(given, '/'))
        return dlopen(given, RTLD_NOW | RTLD_GLOBAL);
    if (given && *given)
        abi = given;
    void *library = open_beside("", abi);
    if (!library)
        library = open_beside("../" ATTEND_LIBRARY_DIR "/", abi);
    snprintf(name, sizeof name, "libattend_mpi_%.200s.so", abi);
    return library ? library : dlopen(name, RTLD_NOW | RTLD_GLOBAL);
}

/* ---- failures ------------------------------------------------------------------ */

static char failure[2 * 4096 + 1024];
static int has_joined;

/* The first line is kept. */
static void take_failure(const char *line, size_t length)
{
    if (failure[0] || length >= sizeof failure)
        return;
    memcpy(failure, line, length);
    failure[length] = '\0';
}

/*
 * Open MPI ends the ranks of a job a second after one has failed; MPICH drops what it has
 * not yet passed on.
 */
enum { OTHERS_SECONDS = 3, PRINTED_NANOSECONDS = 200000000 };

int ranks_begin(void)
{
    int rank;

    if (!ranks_are_started(&rank) || rank == 0)
        return TOOL_OK;
    tool_failure_taker = take_failure;
    return freopen("/dev/null", "w", stdout)
               ? TOOL_OK
               : tool_fail("", TOOL_FAILED, "/dev/null cannot be opened");
}

/*
 * The launcher of MPICH waits for a rank that has ended before MPI_Init(), and so do the
 * other ranks.  This is the line by which MPI_Abort() ends them (PMI-1).
 */
static void abort_pmi(int status)
{
    const char *const descriptor = getenv("PMI_FD");
    char line[64];
    const int length = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);

    if (descriptor && write(atoi(descriptor), line, (size_t)length) != length)
        fputs("attend: the launcher does not answer\n", stderr);
}

int ranks_end(int status)
{
    int rank;

    if (has_joined || !ranks_are_started(&rank) || status == TOOL_OK ||
        status == TOOL_HELPED)
        return status;
    if (rank > 0) {
        sleep(OTHERS_SECONDS);
        fprintf(stderr, "rank %d: %s", rank, failure);
        fflush(stderr);
    }
    nanosleep(&(const struct timespec){.tv_nsec = PRINTED_NANOSECONDS}, NULL);
    abort_pmi(status);
    return status;
}

int ranks_agree(int status)
{
    /* After a failure nobody waits for anybody: all are on their way out. */
    static int failed;

    if (!ranks.mpi || failed)
        return ranks.mpi ? failed : status;
    const int rank = ranks.mpi->agree(&status, failure, sizeof failure);
    if (rank < 0)
        return TOOL_OK;
    if (ranks.rank == 0 && failure[0]) {
        if (rank > 0)
            fprintf(stderr, "rank %d: ", rank);
        fputs(failure, stderr);
        fflush(stderr);
    }
    return failed = status;
}

int ranks_status(const char *command, attend_status status, const attend_error *err)
{
    if (status == ATTEND_ECOMM && ranks.mpi) {
        fprintf(stderr, "attend %s: %s\n", command, err->message);
        fflush(stderr);
        ranks.mpi->abort(TOOL_FAILED);
    }
    return status ? tool_fail(command, tool_status(status), "%s", err->message) : TOOL_OK;
}

/* Whether processes were started together, and each finds itself alone. */
static int are_strangers(const struct launcher *launcher)
{
    const char *const size = getenv(launcher->size);

    return ranks.count == 1 && size && atoi(size) > 1;
}

/* ---- a command -------------------------------------------------------------------- */

int ranks_join(void)
{
    const struct launcher *const launcher = find_launcher();
    const struct mpi_session *(*find)(void);
    attend_error err;

    if (!launcher)
        return tool_fail(
            "", TOOL_USAGE,
            "started by srun as several tasks without a launcher of MPI: add "
            "--mpi=pmix or --mpi=pmi2");
    void *const library = open_library(launcher->abi);
    void *const symbol = library ? dlsym(library, "attend_mpi_session") : NULL;
    memcpy(&find, &symbol, sizeof find);
    if (!symbol || find()->version != ATTEND_MPI_SESSION_VERSION)
        return tool_fail("", TOOL_USAGE,
                         "started by a launcher of MPI, but %s: %s; build attend with "
                         "this MPI, or run it without the launcher",
                         symbol ? "its library is of another version"
                                : "the library for it cannot be opened",
                         symbol ? "libattend_mpi" : dlerror());
    const attend_status status = find()->open(&ranks.rank, &ranks.count, &err);
    if (status != ATTEND_OK)
        return tool_fail("", TOOL_FAILED, "%s", err.message);
    if (are_strangers(launcher)) {
        find()->close();
        return tool_fail("", TOOL_USAGE,
                         "%s processes were started, and each finds itself alone: the "
                         "library is for another MPI than the launcher",
                         getenv(launcher->size));
    }
    ranks.mpi = find();
    has_joined = 1;
    tool_failure_taker = take_failure;
    return TOOL_OK;
}

int ranks_compare(int argc, char **argv)
{
    uint64_t own = 0xcbf29ce484222325u, first; /* FNV-1a of all words and their ends */
    attend_error err;

    for (int x = 0; x < argc; x++)
        for (size_t c = 0; c <= strlen(argv[x]); c++)
            own = (own ^ (unsigned char)argv[x][c]) * 0x100000001b3u;
    first = own;
    int status =
        ranks_status(argv[0], ranks.mpi->broadcast(&first, sizeof first, &err), &err);
    if (!status && own != first)
        status = tool_fail(argv[0], TOOL_USAGE, "other arguments than those of rank 0");
    return ranks_agree(status);
}

int ranks_leave(int status)
{
    if (!ranks.mpi)
        return status;
    status = ranks_agree(status);
    ranks.mpi->close();
    ranks.mpi = NULL;
    tool_failure_taker = NULL;
    return status;
}
