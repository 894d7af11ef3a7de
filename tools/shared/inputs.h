/* SPDX-License-Identifier: MIT */
/*
 * Q, K, V and the rule, as `attend run` and `attend stats` take them: the options they
 * share, and the problem that the files make together.
 */
#ifndef TOOLS_INPUTS_H
#define TOOLS_INPUTS_H

#include "commands.h"
#include "io/io.h"

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
    int scale_is_set;
    double scale, softcap;
    attend_causal causal;
    int64_t window_left, window_right;
    struct inputs_list causal_offset, key_lengths;
    int threads; /* 0: not given */
    const char *isa;
};

/* The shared options come first among a command's. */
enum { INPUTS_OPTIONS = INPUTS + 10 };
void inputs_options(tool_option options[INPUTS_OPTIONS]);

/*
 * TOOL_OK or TOOL_USAGE with a message; nothing but the command line is looked at, so
 * lists are not yet known to fit.  --q and --k must be given.  *args must be freed in
 * both cases.
 */
int inputs_args_read(const char *command, const tool_option options[INPUTS_OPTIONS],
                     struct inputs_args *args);
void inputs_args_free(struct inputs_args *args);

/* TOOL_OK, or TOOL_USAGE with a message that this input is missing. */
int inputs_require(const struct inputs_args *args, enum input which);

/* The file of a spec: the length of what comes before ":NAME", if that is there. */
size_t inputs_path_length(const char *spec);
/* Whether two specs name one file, which need not exist. */
int inputs_is_same_file(const char *a, const char *b);
/* TOOL_OK, or TOOL_USAGE with a message if `--flag spec` would overwrite an input. */
int inputs_check_output(const struct inputs_args *args, const char *flag,
                        const char *spec);

/* Opened files and what they mean together. */
struct inputs {
    const char *command;
    struct io_tensor tensor[INPUTS];
    int rank; /* of q, k and v */
    attend_rule rule;
    attend_io io; /* without --v, v has width 0; outputs are the command's to set */
    double *alibi, *sinks;
};

/*
 * The context that the machine's flags ask for, which tells *progress how far it is.
 * TOOL_OK, or another status with a message.
 */
int inputs_context(const struct inputs_args *args, tool_progress *progress,
                   attend_context **ctx);

/*
 * TOOL_OK or another status with a message; *inputs must be freed in both cases.  The
 * lists stay those of *args.
 */
int inputs_open(const struct inputs_args *args, struct inputs *inputs);
void inputs_free(struct inputs *inputs);

/* For inputs_open(): the slopes and sinks, with the same contract. */
int inputs_open_heads(const struct inputs_args *args, struct inputs *inputs);

/* TOOL_OK if an input has a floating dtype that attend computes with. */
int inputs_check_float(const struct inputs *inputs, enum input which);

/* Element `offset` of the data of a tensor of a floating dtype. */
double input_read_value(const struct io_tensor *tensor, int64_t offset);

/* 0 for what attend does not compute with. */
attend_dtype input_dtype(enum io_dtype dtype);
/* "f32" for what attend computes with, else the name the file format has for it. */
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
