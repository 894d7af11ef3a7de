/* SPDX-License-Identifier: MIT */
/*
 * Shared by the commands: exit status, messages, output, the engine's context.
 *
 * A failure comes with exactly one line on standard error, written by tool_fail().
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "attend/attend.h"
#include "stopwatch.h"

enum {
    TOOL_HELPED = -1, /* --help was printed, and that was all: main() exits with 0 */
    TOOL_OK = 0,
    TOOL_FAILED = 1,   /* the work could not be done or a check did not hold */
    TOOL_USAGE = 2,    /* bad usage or input */
    TOOL_STOPPED = 130 /* Ctrl-C: the status that shells give */
};

/*
 * Print "attend COMMAND: message" as one line on standard error (control
 * characters become '?') and return `status`.  An empty command gives "attend: ".
 */
__attribute__((format(printf, 3, 4))) int tool_fail(const char *command, int status,
                                                    const char *format, ...);

/* Takes the lines of tool_fail() in place of standard error; NULL: standard error. */
extern void (*tool_failure_taker)(const char *line, size_t length);

/* The exit status of a failed library call: ENOMEM failed, others usage. */
int tool_status(attend_status status);

/*
 * attend_context_create() with a message that says where a wrong kernel set came
 * from.  Returns TOOL_OK, or the status to exit with and *ctx = NULL.
 */
int tool_create_context(const char *command, const attend_options *options,
                        attend_context **ctx);

/* The threads of a context: *threads, or where that is 0 the default.  TOOL_OK or not. */
int tool_choose_threads(const char *command, int *threads);

/*
 * Flush standard output.  Returns `status`, or TOOL_FAILED with a message when
 * writing failed.
 */
int tool_finish_output(const char *command, int status);

/* "0.1 s, avx2, 2 threads": the end of a report. */
void tool_print_timing(double seconds, const attend_context *ctx);

/* A number in 12 columns after a blank, "-" where it is not finite. */
void tool_print_cell(double value);

/*
 * A paragraph on standard output, in lines of at most 88 characters.  The first `indent`
 * are blank in every line but the first: there the caller has written them.
 */
void tool_print_wrapped(const char *text, int indent);
void tool_write_wrapped(FILE *out, const char *text, int indent);

/*
 * Zeros for `count` >= 0 elements of `size` bytes and one more, to be freed; NULL: no
 * memory, or more of it than can be counted.
 */
void *tool_zeros(int64_t count, size_t size);

/* Set by the first SIGINT or SIGTERM after tool_catch_stop(); the second is fatal. */
extern volatile sig_atomic_t tool_stop;
void tool_catch_stop(void);

#endif
