/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "inputs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const input_name[INPUTS] = {
    [INPUT_Q] = "q",        [INPUT_K] = "k",       [INPUT_V] = "v",
    [INPUT_MASK] = "mask",  [INPUT_BIAS] = "bias", [INPUT_ALIBI] = "alibi",
    [INPUT_SINKS] = "sinks"};

/* Positions that the library can add without overflow. */
#define OFFSET_MAX ((int64_t)1 << 60)

enum {
    OPT_INPUT,
    OPT_LAYOUT = OPT_INPUT + INPUTS,
    OPT_SCALE,
    OPT_SOFTCAP,
    OPT_CAUSAL,
    OPT_WINDOW_LEFT,
    OPT_WINDOW_RIGHT,
    OPT_KEY_LENGTHS,
    OPT_THREADS,
    OPT_ISA,
    OPT_DTYPE,
    OPTIONS
};
_Static_assert((int)OPTIONS == (int)INPUTS_OPTIONS, "the header counts them");

void inputs_options(tool_option options[INPUTS_OPTIONS])
{
    static const char *const names[OPTIONS] = {
        [OPT_LAYOUT] = "layout",
        [OPT_SCALE] = "scale",
        [OPT_SOFTCAP] = "softcap",
        [OPT_CAUSAL] = "causal",
        [OPT_WINDOW_LEFT] = "window-left",
        [OPT_WINDOW_RIGHT] = "window-right",
        [OPT_KEY_LENGTHS] = "key-lengths",
        [OPT_THREADS] = "threads",
        [OPT_ISA] = "isa",
        [OPT_DTYPE] = "dtype",
    };

    for (int o = 0; o < OPTIONS; o++)
        options[o] = (tool_option){.name = o < OPT_LAYOUT ? input_name[o] : names[o],
                                   .takes_value = 1};
}

/* Whole numbers of at most `limit`, negative or not, separated by commas. */
static int parse_list(const char *command, const char *flag, const char *text,
                      int64_t limit, struct inputs_list *list)
{
    int64_t count = 1;

    for (const char *c = text; *c; c++)
        count += *c == ',';
    list->value = calloc((size_t)count, sizeof *list->value);
    char *const words = strdup(text);
    if (!list->value || !words) {
        free(words);
        return tool_fail(command, TOOL_FAILED, "%s: out of memory", flag);
    }
    int status = TOOL_OK;
    char *word = words;
    for (list->count = 0; list->count < count && status == TOOL_OK; list->count++) {
        char *const end = word + strcspn(word, ",");
        *end = '\0';
        status =
            tool_parse_int(command, flag, word, -limit, limit, &list->value[list->count]);
        word = end + 1;
    }
    free(words);
    return status;
}

static int parse_causal(const char *text, struct inputs_args *args)
{
    static const char *const choices[] = {"none", "top-left", "bottom-right", NULL};
    static const char offset[] = "offset:";

    if (!strncmp(text, offset, sizeof offset - 1)) {
        args->causal = ATTEND_CAUSAL_OFFSET;
        return parse_list(args->command, "--causal", text + sizeof offset - 1, OFFSET_MAX,
                          &args->causal_offset);
    }
    const int choice = tool_parse_choice(args->command, "--causal", text, choices,
                                         "none, top-left, bottom-right, offset:N[,N...]");
    if (choice < 0)
        return TOOL_USAGE;
    args->causal = (attend_causal)choice;
    return TOOL_OK;
}

static int parse_choices(const tool_option *options, struct inputs_args *args)
{
    static const char *const layouts[] = {"bhld", "blhd", NULL};
    static const char *const dtypes[] = {"bf16", NULL};

    if (options[OPT_LAYOUT].value)
        args->is_blhd = tool_parse_choice(
            args->command, "--layout", options[OPT_LAYOUT].value, layouts, "bhld, blhd");
    if (args->is_blhd < 0)
        return TOOL_USAGE;
    if (options[OPT_DTYPE].value) {
        if (tool_parse_choice(args->command, "--dtype", options[OPT_DTYPE].value, dtypes,
                              "bf16") < 0)
            return TOOL_USAGE;
        args->v2_is_bf16 = 1;
    }
    return options[OPT_CAUSAL].value ? parse_causal(options[OPT_CAUSAL].value, args)
                                     : TOOL_OK;
}

static int parse_numbers(const tool_option *options, struct inputs_args *args)
{
    int64_t threads = 0;
    int status = TOOL_OK;

    args->window_left = args->window_right = -1;
    args->scale_is_set = options[OPT_SCALE].value != NULL;
    if (args->scale_is_set)
        status = tool_parse_double(args->command, "--scale", options[OPT_SCALE].value,
                                   &args->scale);
    if (!status && options[OPT_SOFTCAP].value) {
        const char *const text = options[OPT_SOFTCAP].value;
        status = tool_parse_double(args->command, "--softcap", text, &args->softcap);
        if (!status && args->softcap < 0)
            status =
                tool_fail(args->command, TOOL_USAGE, "--softcap: %s is negative", text);
    }
    if (!status && options[OPT_WINDOW_LEFT].value)
        status =
            tool_parse_int(args->command, "--window-left", options[OPT_WINDOW_LEFT].value,
                           -1, INT64_MAX, &args->window_left);
    if (!status && options[OPT_WINDOW_RIGHT].value)
        status = tool_parse_int(args->command, "--window-right",
                                options[OPT_WINDOW_RIGHT].value, -1, INT64_MAX,
                                &args->window_right);
    if (!status && options[OPT_THREADS].value)
        status = tool_parse_int(args->command, "--threads", options[OPT_THREADS].value, 1,
                                TOOL_THREADS_MAX, &threads);
    if (!status && options[OPT_KEY_LENGTHS].value)
        status =
            parse_list(args->command, "--key-lengths", options[OPT_KEY_LENGTHS].value,
                       INT64_MAX - 1, &args->key_lengths);
    args->threads = (int)threads;
    return status;
}

size_t inputs_path_length(const char *spec)
{
    static const char mark[] = ".safetensors:";
    const char *last = NULL;

    for (const char *at = strstr(spec, mark); at; at = strstr(at + 1, mark))
        last = at;
    return last ? (size_t)(last - spec) + sizeof mark - 2 : strlen(spec);
}

int inputs_is_same_file(const char *a, const char *b)
{
    char path[2][PATH_MAX];
    struct stat status[2];
    const char *const spec[2] = {a, b};

    for (int x = 0; x < 2; x++) {
        const size_t length = inputs_path_length(spec[x]);
        if (length >= PATH_MAX)
            return 0;
        memcpy(path[x], spec[x], length);
        path[x][length] = '\0';
    }
    if (!strcmp(path[0], path[1]))
        return 1;
    if (!stat(path[0], &status[0]) && !stat(path[1], &status[1]))
        return status[0].st_dev == status[1].st_dev &&
               status[0].st_ino == status[1].st_ino;
    const char *name[2];
    for (int x = 0; x < 2; x++) {
        char *const slash = strrchr(path[x], '/');
        name[x] = spec[x] + (slash ? slash + 1 - path[x] : 0);
        if (slash)
            slash[1] = '\0';
        if (stat(slash ? path[x] : ".", &status[x]))
            return 0;
    }
    const size_t length = inputs_path_length(name[0]);
    return length == inputs_path_length(name[1]) && !memcmp(name[0], name[1], length) &&
           status[0].st_dev == status[1].st_dev && status[0].st_ino == status[1].st_ino;
}

int inputs_check_output(const struct inputs_args *args, const char *flag,
                        const char *spec)
{
    for (int i = 0; i < INPUTS; i++)
        if (args->file[i] && inputs_is_same_file(spec, args->file[i]))
            return tool_fail(args->command, TOOL_USAGE,
                             "--%s: %s is the file that --%s reads", flag, spec,
                             input_name[i]);
    return TOOL_OK;
}

int inputs_require(const struct inputs_args *args, enum input which)
{
    if (args->file[which])
        return TOOL_OK;
    return tool_fail(args->command, TOOL_USAGE, "--%s is missing: see 'attend %s --help'",
                     input_name[which], args->command);
}

int inputs_args_read(const char *command, const tool_option options[INPUTS_OPTIONS],
                     struct inputs_args *args)
{
    int status;

    *args = (struct inputs_args){.command = command, .isa = options[OPT_ISA].value};
    for (int i = 0; i < INPUTS; i++)
        args->file[i] = options[OPT_INPUT + i].value;
    if (args->file[INPUT_ALIBI] && !strcmp(args->file[INPUT_ALIBI], "auto")) {
        args->file[INPUT_ALIBI] = NULL;
        args->alibi_is_auto = 1;
    }
    if ((status = inputs_require(args, INPUT_Q)) ||
        (status = inputs_require(args, INPUT_K)) ||
        (status = parse_choices(options, args)))
        return status;
    return parse_numbers(options, args);
}

void inputs_args_free(struct inputs_args *args)
{
    free(args->causal_offset.value);
    free(args->key_lengths.value);
    *args = (struct inputs_args){.threads = 0};
}
