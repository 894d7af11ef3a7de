/* SPDX-License-Identifier: MIT */
/* The parts of `attend lab`: the request, and the printing of rows. */
#ifndef TOOLS_LAB_TOOL_H
#define TOOLS_LAB_TOOL_H

#include "lab/experiments/experiment.h"
#include "shared/inputs.h"

enum lab_format { LAB_TABLE, LAB_JSON, LAB_CSV };

struct lab_request {
    struct lab_run run;
    enum lab_format format;
    const char *svg; /* NULL: no file */
    /* Called with `work_user` in place of lab_perform(); NULL: lab_perform(). */
    int (*work)(struct lab_request *request, void *work_user);
    void *work_user;
    int64_t heads;       /* number of heads of the work */
    const char *unit;    /* "trials", "heads" */
    int64_t done, total; /* progress of the last measurement, in units */
};

/* The ranks that share the trials; NULL without a launcher of MPI. */
const struct lab_peers *lab_rank_peers(void);

/* Called by a work with the time of a head; prints the total once if it is long. */
void lab_work_timed(struct lab_request *request, double seconds);

/* Performs it: rows are printed, figures written.  TOOL_OK or another status. */
int lab_request_perform(const char *command, struct lab_request *request);

/* Flags of every experiment, and their values for the request. */
enum { LAB_COMMON_FLAGS = 7 };
struct lab_common {
    double trials, threads;
    int as_json, as_csv, no_sweep;
};
/* Help of some of them; NULL: that of an experiment's. */
struct lab_common_help {
    const char *trials, *seed, *no_sweep, *json, *svg;
};
void lab_common_flags(struct lab_request *request, struct lab_common *common,
                      const struct lab_common_help *help,
                      struct tool_flag flags[LAB_COMMON_FLAGS]);
int lab_common_settle(const char *command, const struct lab_common *common,
                      struct lab_request *request);
/*
 * The named flags of inputs_flags(), all optional; NULL ends the names.  Returns their
 * number; *inputs must be freed.
 */
int lab_input_flags(const char *command, const char *const *names,
                    struct inputs_args *inputs, struct tool_flag *flags);
/* The flags of the run's experiment, to be read into the run. */
void lab_own_flags(struct lab_run *run, struct tool_flag *flags);

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

/* `attend lab place` and `attend lab transfer`, which take files; argv[0] is the name. */
int lab_place_command(int argc, char **argv);
int lab_transfer_command(int argc, char **argv);

#endif
