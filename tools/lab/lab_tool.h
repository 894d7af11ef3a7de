/* SPDX-License-Identifier: MIT */
/* The parts of `attend lab`: what was asked for, and how rows are printed. */
#ifndef TOOLS_LAB_TOOL_H
#define TOOLS_LAB_TOOL_H

#include "shared/commands.h"
#include "lab/experiment.h"

enum lab_format { LAB_TABLE, LAB_JSON, LAB_CSV };

struct lab_request {
    struct lab_run run;
    enum lab_format format;
    const char *svg; /* NULL: no file */
    int threads;     /* 0: not given */
    int help;
    int64_t done, total; /* trials of the measurement that was last under way */
};

/*
 * Reads argv[1 ..] for request->run.experiment, whose run is initialised; the words
 * stay the caller's.  TOOL_OK, or TOOL_USAGE with a message.
 */
int lab_parse(const char *command, int argc, char **argv, struct lab_request *request);
void lab_print_help(const struct lab_experiment *experiment);

/* Prints rows as they come; the header with the first of them. */
struct lab_printer {
    const struct lab_run *run;
    enum lab_format format;
    int rows;
    char where[160]; /* in a table: how the last row differs from the run */
    int failed;      /* memory or standard output */
};

/*
 * A paragraph on standard output, in lines of at most 88 characters of which the first
 * `indent` are blank in every line but the first: there they have been written.
 */
void lab_print_wrapped(const char *text, int indent);
void lab_print_row(struct lab_printer *printer, const struct lab_row *row);

/* A bar with rate and time left, on a terminal's standard error only. */
struct lab_progress {
    const char *what;
    double began, started, ended, shown; /* the run, this measurement, its last news */
    int64_t done, total;
    int enabled;
};

void lab_progress_start(struct lab_progress *progress, const char *what);
void lab_progress_update(struct lab_progress *progress, int64_t done, int64_t total);
void lab_progress_clear(struct lab_progress *progress);

#endif
