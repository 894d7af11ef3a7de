/* SPDX-License-Identifier: MIT */
/*
 * Q, K, V and the rule, as `attend run` and `attend stats` take them: the options they
 * share, and the problem that the files make together.
 */
#ifndef TOOLS_INPUTS_H
#define TOOLS_INPUTS_H

#include "flags.h"
#include "io/io.h"
#include "progress_line.h"

/* Each is an option that names a file. */
enum input {
    INPUT_Q,
    INPUT_K,
    INPUT_V,
    INPUT_MASK,
    INPUT_BIAS,
    INPUT_ALIBI,
    INPUT_SINKS
};
enum { INPUTS = INPUT_SINKS + 1 };

/* "q" and so on, as the options are called without their dashes. */
extern const char *const input_name[INPUTS];

struct inputs_list {
    int64_t *value; /* NULL: not given */
    int64_t count;
};

struct inputs_args {
    const char *command;      /* for messages */
    const char *file[INPUTS]; /* specs of files, NULL: not given */
    int alibi_is_auto;        /* then file[INPUT_ALIBI] is NULL */
    int is_blhd;              /* layout (b, l, h, d) instead of (b, h, l, d) */
    int v2_is_bf16;
    double scale; /* NaN: not given */
    double softcap;
    attend_causal causal;
    int64_t window_left, window_right;
    struct inputs_list causal_offset, key_lengths;
    int threads; /* 0: not given */
    const char *isa, *device;
};

/*
 * The shared flags come first in a command's table.  Sets *args to the
 * defaults; it must be freed after the flags were read.  Lengths of lists are checked
 * later.
 */
enum { INPUTS_FLAGS = INPUTS + 11 };
void inputs_flags(const char *command, struct inputs_args *args,
                  struct tool_flag flags[INPUTS_FLAGS]);
void inputs_args_free(struct inputs_args *args);

/* Whether two specs name one file, which need not exist. */
int inputs_is_same_file(const char *a, const char *b);
/* TOOL_OK, or TOOL_USAGE with a message if `--flag spec` would overwrite an input. */
int inputs_check_output(const struct inputs_args *args, const char *flag,
                        const char *spec);

/* Opened files and the problem that they form. */
struct inputs {
    const char *command;
    struct io_tensor tensor[INPUTS];
    int rank; /* of q, k and v */
    attend_rule rule;
    attend_io io; /* without --v, v has width 0; outputs are the command's to set */
    double *alibi, *sinks;
};

/*
 * Makes the context that the flags ask for, which reports progress to *line, opens the
 * inputs, and does the work.  TOOL_OK, or another status with a message.
 */
int inputs_perform(const struct inputs_args *args, const void *user,
                   int (*work)(const void *user, struct inputs *inputs,
                               attend_context *ctx, struct progress_line *line));

/* The slopes and sinks: TOOL_OK or another status with a message. */
int inputs_open_heads(const struct inputs_args *args, struct inputs *inputs);

/* TOOL_OK if an input has a floating dtype that attend computes with. */
int inputs_check_float(const struct inputs *inputs, enum input which);

/* Element `offset` of the data of a tensor of a floating dtype. */
double input_read_value(const struct io_tensor *tensor, int64_t offset);

/* 0 for types that attend does not compute with. */
attend_dtype input_dtype(enum io_dtype dtype);
/* "f32" for types that attend computes with, else the file format's name. */
const char *input_dtype_name(enum io_dtype dtype);

/* "(2, 3)", "(2,)", "()", cut with "..." when there are too many axes. */
struct shape_text {
    char text[160];
};
struct shape_text shape_text(const int64_t *size, int ndim);

/* Fail about an input: "--FLAG: FILE: shape SHAPE: ...". */
#define INPUTS_FAIL_SHAPE(inputs, which, format, ...)                                    \
    tool_fail(                                                                           \
        (inputs)->command, TOOL_USAGE, "--%s: %s: shape %s: " format, input_name[which], \
        (inputs)->tensor[which].name,                                                    \
        shape_text((inputs)->tensor[which].size, (inputs)->tensor[which].ndim).text,     \
        __VA_ARGS__)

#endif
