/* SPDX-License-Identifier: MIT */
/*
 * The subcommands of `attend`, and what they share: option parsing, messages,
 * JSON lines and progress.
 *
 * Exit status everywhere: TOOL_OK, TOOL_FAILED (the work could not be done or a
 * check did not hold), TOOL_USAGE (bad usage or input).  Both failures come with
 * exactly one line on standard error, written by tool_fail().
 */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "attend/attend.h"

enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

/* Each takes argv[0] = its own name and returns the exit status of the process. */
int cmd_run(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_sheets(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_design(int argc, char **argv);

/* ---- messages ---------------------------------------------------------- */

/*
 * Print "attend COMMAND: message" as one line on standard error (control
 * characters become '?') and return `status`.  An empty command gives "attend: ".
 */
__attribute__((format(printf, 3, 4))) int tool_fail(const char *command, int status,
                                                    const char *format, ...);

/*
 * attend_context_create() with a message that says where a wrong kernel set came
 * from.  Returns TOOL_OK, or the status to exit with and *ctx = NULL.
 */
int tool_create_context(const char *command, const attend_options *options,
                        attend_context **ctx);

/* The exit status that a failed library call deserves: ENOMEM failed, others usage. */
int tool_status(attend_status status);

/*
 * Flush standard output.  Returns `status`, or TOOL_FAILED with a message when
 * what was printed could not be written.
 */
int tool_finish_output(const char *command, int status);

/* ---- options ----------------------------------------------------------- */

/* One "--name"; the parser sets `value`. */
typedef struct tool_option {
    const char *name;  /* without the dashes */
    int takes_value;   /* 0: a flag; 1: "--name VALUE" or "--name=VALUE" */
    const char *value; /* NULL: not given; "" for a flag that was given */
} tool_option;

/*
 * Parse argv[1 .. argc-1]; no command takes positional arguments.  A word after
 * an option that takes a value is its value also when it starts with one dash
 * (negative numbers), but not with two.  "-h" is "--help".  Unknown, repeated
 * and incomplete options are reported; returns TOOL_OK or TOOL_USAGE.
 */
int tool_parse_options(const char *command, int argc, char **argv, tool_option *options,
                       int count);

/*
 * The whole of `text` as a number in lo..hi, or as a finite double.  `flag` is
 * the name for messages, dashes included.  Return TOOL_OK or TOOL_USAGE.
 */
int tool_parse_int(const char *command, const char *flag, const char *text, int64_t lo,
                   int64_t hi, int64_t *value);
int tool_parse_double(const char *command, const char *flag, const char *text,
                      double *value);

/*
 * The index of `text` among the choices, NULL-terminated, which `all` lists; -1 with a
 * message.
 */
int tool_parse_choice(const char *command, const char *flag, const char *text,
                      const char *const *choices, const char *all);

/* Most threads that a context takes. */
enum { TOOL_THREADS_MAX = 4096 };

/* The candidate closest to `text` if it is close enough to suggest, else NULL. */
const char *tool_nearest(const char *text, const char *const *candidates, int count);

/* ---- JSON -------------------------------------------------------------- */

/* `value`, or null when it is not finite. */
json_t *tool_json_real(double value);
/* `text`, or with '?' for every byte above 0x7f when it is not UTF-8. */
json_t *tool_json_string(const char *text);
/* Print `object` as one line on standard output and release it; takes NULL as ENOMEM. */
int tool_print_json(const char *command, json_t *object);
/* The same for one of many: tool_finish_output() is left to the caller. */
int tool_put_json(const char *command, json_t *object);

/* ---- text files --------------------------------------------------------- */

/* A text file that appears under its name when it is complete, or not at all. */
typedef struct tool_text {
    const char *path;
    char temporary[4096];
    FILE *stream; /* what to write to */
} tool_text;

/*
 * Opens a temporary file beside `path`, so that what cannot be written is said before
 * the work; returns TOOL_OK or TOOL_USAGE.  `flag` is named in the message.
 */
int tool_text_open(const char *command, const char *flag, const char *path,
                   tool_text *text);
/* Gives the file its name; returns TOOL_OK, or TOOL_FAILED with nothing left behind. */
int tool_text_commit(const char *command, tool_text *text);
void tool_text_discard(tool_text *text);

/* ---- memory ------------------------------------------------------------ */

/*
 * Zeros for `count` >= 0 elements of `size` bytes and one more, to be freed; NULL: no
 * memory, or more of it than can be counted.
 */
void *tool_zeros(int64_t count, size_t size);

/* ---- time and progress ------------------------------------------------- */

/* Seconds of a clock that never runs backwards. */
double tool_seconds(void);

/*
 * A line on standard error for work that takes longer than two seconds, shown
 * on a terminal only, and cleared at the end.
 */
typedef struct tool_progress {
    const char *what;
    double started, shown; /* tool_seconds(); shown is 0 while nothing is on screen */
    int enabled;
} tool_progress;

void tool_progress_start(tool_progress *progress, const char *what);
/* Fits attend_options.progress, with the tool_progress as its user pointer. */
void tool_progress_update(void *progress, int64_t done, int64_t total);
void tool_progress_finish(tool_progress *progress);

/* ---- stopping ---------------------------------------------------------- */

/* Exit status after Ctrl-C, as a shell says it. */
enum { TOOL_STOPPED = 130 };

/* The first SIGINT or SIGTERM after tool_catch_stop() sets it, the second ends the
 * process. */
extern volatile sig_atomic_t tool_stop;
void tool_catch_stop(void);

#endif
