/* SPDX-License-Identifier: MIT */
/* The parts of `attend run`: arguments, the problem made of files, the report. */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "commands.h"
#include "io/io.h"

/* Every option but --json, --force and --help names one of these. */
enum run_input {
    RUN_Q,
    RUN_K,
    RUN_V,
    RUN_MASK,
    RUN_BIAS,
    RUN_ALIBI,
    RUN_SINKS,
    RUN_INPUTS
};
enum run_output { RUN_OUT, RUN_LSE, RUN_WEIGHTS, RUN_OUTPUTS };

/* "q", "out" and so on, as the options are called without their dashes. */
extern const char *const run_input_name[RUN_INPUTS];
extern const char *const run_output_name[RUN_OUTPUTS];

struct run_list {
    int64_t *value; /* NULL: not given */
    int64_t count;
};

struct run_args {
    const char *input[RUN_INPUTS];   /* specs of files, NULL: not given */
    const char *output[RUN_OUTPUTS]; /* the same */
    int alibi_is_auto;               /* then input[RUN_ALIBI] is NULL */
    int is_blhd;                     /* layout (b, l, h, d) instead of (b, h, l, d) */
    int scale_is_set;
    double scale, softcap;
    attend_causal causal;
    int64_t window_left, window_right;
    struct run_list causal_offset, key_lengths;
    int out_is_f32;
    int v2_is_bf16;
    int threads; /* 0: not given */
    const char *isa;
    int is_forced, wants_json, wants_help;
};

/*
 * TOOL_OK or TOOL_USAGE with a message; nothing but the command line is looked
 * at, so lists are not yet known to fit.  *args must be freed in both cases.
 */
int run_args_parse(int argc, char **argv, struct run_args *args);
void run_args_free(struct run_args *args);

/* Opened files and what they mean together. */
struct run_problem {
    struct io_tensor tensor[RUN_INPUTS];
    int rank; /* of q, k, v and out */
    attend_rule rule;
    attend_io io; /* outputs get their data by run_problem_set_outputs() */
    double *alibi, *sinks;
};

/* TOOL_OK or another status with a message; *problem must be freed in both cases. */
int run_problem_open(const struct run_args *args, struct run_problem *problem);
void run_problem_free(struct run_problem *problem);

/* For run_problem_open(): the slopes and sinks, with the same contract. */
int run_heads_open(const struct run_args *args, struct run_problem *problem);

/* TOOL_OK if an input has a floating dtype that attend computes with. */
int run_check_float(enum run_input which, const struct io_tensor *tensor);

/* Element `offset` of the data of a tensor of a floating dtype. */
double run_read_value(const struct io_tensor *tensor, int64_t offset);

/* What to write: outputs[0 .. return value - 1], in the order of enum run_output. */
int run_problem_outputs(const struct run_args *args, const struct run_problem *problem,
                        struct io_output outputs[RUN_OUTPUTS]);
/* Point the problem's outputs at the memory of the same array, now prepared. */
void run_problem_set_outputs(const struct run_args *args, struct run_problem *problem,
                             const struct io_output outputs[RUN_OUTPUTS]);

/* 0 for what attend does not compute with. */
attend_dtype run_dtype(enum io_dtype dtype);
/* "f32" for what attend computes with, else the name the file format has for it. */
const char *run_dtype_name(enum io_dtype dtype);

/* "(2, 3)", "(2,)", "()", cut with "..." when there are too many axes. */
struct run_shape {
    char text[160];
};
struct run_shape run_shape_text(const int64_t *size, int ndim);

/* Fail about an input: "--FLAG: FILE: shape SHAPE: ...". */
#define RUN_FAIL_SHAPE(which, tensor, format, ...)                                       \
    tool_fail("run", TOOL_USAGE, "--%s: %s: shape %s: " format, run_input_name[which],   \
              (tensor)->name, run_shape_text((tensor)->size, (tensor)->ndim).text,       \
              __VA_ARGS__)

/* Say on standard output what was done. */
int run_report(const struct run_args *args, const struct run_problem *problem,
               const struct io_output *outputs, const attend_context *ctx,
               double seconds);

#endif
