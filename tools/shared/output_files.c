/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "output_files.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"

/* The temporary files, for the signal handler. */
static struct io_outputs outputs_under_way;
/* While files get their names, a signal waits: they appear together. */
static atomic_int is_committing, waiting_signal;
/* A temporary file of another kind; NULL: none. */
static const char *_Atomic guarded;

static void remove_temporaries(void)
{
    const char *const other = atomic_load(&guarded);

    io_outputs_unlink(&outputs_under_way);
    if (other)
        unlink(other);
}

static void on_signal(int number)
{
    if (atomic_load(&is_committing)) {
        atomic_store(&waiting_signal, number);
        return;
    }
    remove_temporaries();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    const struct sigaction action = {.sa_handler = on_signal};

    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
        struct sigaction old;
        /* Signals that are ignored on purpose, as by nohup, stay ignored. */
        if (!sigaction(numbers[n], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(numbers[n], &action, NULL);
    }
    /* Writing beyond the size limit is then an error, not fatal. */
    signal(SIGXFSZ, SIG_IGN);
}

/* Opens the files of rank 0 on the other ranks. */
static int attach(const char *command, int status, struct io_output *outputs, int count)
{
    static struct io_outputs owner;
    struct io_error err;
    attend_error error;

    if (status)
        return status;
    if (ranks.rank == 0)
        for (int f = 0; f < outputs_under_way.count; f++)
            memcpy(owner.file[f].temp, outputs_under_way.file[f].temp,
                   sizeof owner.file[f].temp);
    status =
        ranks_status(command, ranks.mpi->broadcast(&owner, sizeof owner, &error), &error);
    if (!status && ranks.rank > 0 &&
        io_outputs_attach(&outputs_under_way, outputs, count, &owner, &err))
        status = tool_fail(command, TOOL_USAGE, "%s", err.message);
    status = ranks_agree(status);
    if (status)
        io_outputs_abort(&outputs_under_way);
    return status;
}

int output_files_prepare(const char *command, struct io_output *outputs, int count)
{
    struct io_error err;

    catch_signals();
    /* For calls of exit() elsewhere, such as in a thread pool. */
    atexit(remove_temporaries);
    int status = TOOL_OK;
    if (ranks.rank == 0 && io_outputs_prepare(&outputs_under_way, outputs, count, &err))
        status = tool_fail(command, TOOL_USAGE, "%s", err.message);
    return ranks.mpi ? attach(command, ranks_agree(status), outputs, count) : status;
}

static int commit(const char *command)
{
    struct io_error err;

    atomic_store(&is_committing, 1);
    const int failed = io_outputs_commit(&outputs_under_way, &err);
    atomic_store(&is_committing, 0);
    const int number = atomic_load(&waiting_signal);
    if (number) {
        signal(number, SIG_DFL);
        raise(number);
    }
    return failed ? tool_fail(command, TOOL_USAGE, "%s", err.message) : TOOL_OK;
}

int output_files_commit(const char *command, int status)
{
    struct io_error err;

    if (status == TOOL_OK && ranks.rank > 0 &&
        io_outputs_detach(&outputs_under_way, &err))
        status = tool_fail(command, TOOL_USAGE, "%s", err.message);
    status = ranks_agree(status);
    if (status)
        io_outputs_abort(&outputs_under_way);
    else if (ranks.rank == 0)
        status = commit(command);
    return ranks_agree(status);
}

void output_files_abort(void) { io_outputs_abort(&outputs_under_way); }

void output_files_guard(const char *temporary) { atomic_store(&guarded, temporary); }
