/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "output_files.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Where a signal handler finds the temporary files. */
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
        /* What was ignored on purpose, as by nohup, stays so. */
        if (!sigaction(numbers[n], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(numbers[n], &action, NULL);
    }
    /* A file beyond the size limit shall be an error, not a death. */
    signal(SIGXFSZ, SIG_IGN);
}

int output_files_prepare(const char *command, struct io_output *outputs, int count)
{
    struct io_error err;

    catch_signals();
    /* For an end that is not ours, such as a thread pool's that gives up. */
    atexit(remove_temporaries);
    if (io_outputs_prepare(&outputs_under_way, outputs, count, &err))
        return tool_fail(command, TOOL_USAGE, "%s", err.message);
    return TOOL_OK;
}

int output_files_commit(const char *command)
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

void output_files_abort(void) { io_outputs_abort(&outputs_under_way); }

void output_files_guard(const char *temporary) { atomic_store(&guarded, temporary); }
