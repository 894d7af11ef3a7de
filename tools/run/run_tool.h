/* SPDX-License-Identifier: MIT */
/* The parts of `attend run`: arguments, outputs, the report. */
#ifndef TOOLS_RUN_TOOL_H
#define TOOLS_RUN_TOOL_H

#include "shared/inputs.h"

enum run_output { RUN_OUT, RUN_LSE, RUN_WEIGHTS, RUN_OUTPUTS };

/* "out" and so on, as the options are called without their dashes. */
extern const char *const run_output_name[RUN_OUTPUTS];

struct run_args {
    struct inputs_args inputs;
    const char *output[RUN_OUTPUTS]; /* specs of files, NULL: not given */
    int out_is_f32;
    int is_forced, wants_json;
};

/*
 * tool_read_flags(), and refuses conflicting outputs; only the command line is examined.
 * args->inputs must be freed in any case.
 */
int run_args_read(int argc, char **argv, struct run_args *args, const char *help);

/* TOOL_OK, or TOOL_USAGE with a message for weights that need --force. */
int run_check_weights(const struct run_args *args, const struct inputs *inputs);

/* The outputs, --out first. */
struct run_outputs {
    int count;
    enum run_output which[RUN_OUTPUTS];
    struct io_output output[RUN_OUTPUTS];
};
struct run_outputs run_list_outputs(const struct run_args *args,
                                    const struct inputs *inputs);
/* Points the problem's outputs at the files, now prepared. */
void run_set_outputs(const struct run_args *args, struct inputs *inputs,
                     const struct run_outputs *outputs);

/* Computes with the other ranks of a launcher; each writes its slice of the outputs. */
int run_compute_on_ranks(const struct inputs *inputs, attend_context *ctx);

/* Prints the report on standard output. */
int run_report(const struct run_args *args, const struct inputs *inputs,
               const struct run_outputs *outputs, const attend_context *ctx,
               double seconds);

#endif
