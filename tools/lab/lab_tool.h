/* SPDX-License-Identifier: MIT */
/* The parts of `attend lab`: what was asked for, and how rows are printed. */
#ifndef TOOLS_LAB_TOOL_H
#define TOOLS_LAB_TOOL_H

#include "lab/experiments/experiment.h"
#include "shared/tool.h"

enum lab_format { LAB_TABLE, LAB_JSON, LAB_CSV };

struct lab_request {
    struct lab_run run;
    enum lab_format format;
    const char *svg;     /* NULL: no file */
    int64_t done, total; /* trials of the measurement that was last under way */
};

/*
 * Reads argv[1 ..] for request->run.experiment, whose run is initialised; the words
 * stay the caller's.  As tool_read_flags(), and --help is printed.
 */
int lab_read_flags(const char *command, int argc, char **argv,
                   struct lab_request *request);

/* Prints rows as they come; the header with the first of them. */
struct lab_printer {
    const char *command; /* for messages */
    const struct lab_run *run;
    enum lab_format format;
    int rows;
    struct lab_count count;
    char where[160]; /* in a table: how the last row differs from the run */
    int failed;      /* a status, after a message */
};

void lab_print_row(struct lab_printer *printer, const struct lab_row *row);

#endif
