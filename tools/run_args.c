/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const run_input_name[RUN_INPUTS] = {
    [RUN_Q] = "q",       [RUN_K] = "k",         [RUN_V] = "v",        [RUN_MASK] = "mask",
    [RUN_BIAS] = "bias", [RUN_ALIBI] = "alibi", [RUN_SINKS] = "sinks"};

const char *const run_output_name[RUN_OUTPUTS] = {
    [RUN_OUT] = "out", [RUN_LSE] = "lse", [RUN_WEIGHTS] = "weights"};

/* Positions that the library can add without overflow. */
#define OFFSET_MAX ((int64_t)1 << 60)

enum {
    OPT_INPUT,
    OPT_OUTPUT = OPT_INPUT + RUN_INPUTS,
    OPT_LAYOUT = OPT_OUTPUT + RUN_OUTPUTS,
    OPT_SCALE,
    OPT_SOFTCAP,
    OPT_CAUSAL,
    OPT_WINDOW_LEFT,
    OPT_WINDOW_RIGHT,
    OPT_KEY_LENGTHS,
    OPT_OUT_DTYPE,
    OPT_THREADS,
    OPT_ISA,
    OPT_DTYPE,
    OPT_FORCE,
    OPT_JSON,
    OPT_HELP,
    OPTIONS
};

/* The index of `text` among the choices, NULL-terminated; -1 with a message. */
static int parse_choice(const char *flag, const char *text, const char *const *choices,
                        const char *all)
{
    for (int c = 0; choices[c]; c++)
        if (!strcmp(text, choices[c]))
            return c;
    tool_fail("run", TOOL_USAGE, "%s: '%s' is not one of %s", flag, text, all);
    return -1;
}

/* Whole numbers of at most `limit`, negative or not, separated by commas. */
static int parse_list(const char *flag, const char *text, int64_t limit,
                      struct run_list *list)
{
    int64_t count = 1;

    for (const char *c = text; *c; c++)
        count += *c == ',';
    list->value = calloc((size_t)count, sizeof *list->value);
    char *const words = strdup(text);
    if (!list->value || !words) {
        free(words);
        return tool_fail("run", TOOL_FAILED, "%s: out of memory", flag);
    }
    int status = TOOL_OK;
    char *word = words;
    for (list->count = 0; list->count < count && status == TOOL_OK; list->count++) {
        char *const end = word + strcspn(word, ",");
        *end = '\0';
        status =
            tool_parse_int("run", flag, word, -limit, limit, &list->value[list->count]);
        word = end + 1;
    }
    free(words);
    return status;
}

static int parse_causal(const char *text, struct run_args *args)
{
    static const char *const choices[] = {"none", "top-left", "bottom-right", NULL};
    static const char offset[] = "offset:";

    if (!strncmp(text, offset, sizeof offset - 1)) {
        args->causal = ATTEND_CAUSAL_OFFSET;
        return parse_list("--causal", text + sizeof offset - 1, OFFSET_MAX,
                          &args->causal_offset);
    }
    const int choice = parse_choice("--causal", text, choices,
                                    "none, top-left, bottom-right, offset:N[,N...]");
    if (choice < 0)
        return TOOL_USAGE;
    args->causal = (attend_causal)choice;
    return TOOL_OK;
}

static int parse_choices(const tool_option *options, struct run_args *args)
{
    static const char *const layouts[] = {"bhld", "blhd", NULL};
    static const char *const out_dtypes[] = {"same", "f32", NULL};
    static const char *const dtypes[] = {"bf16", NULL};

    if (options[OPT_LAYOUT].value)
        args->is_blhd =
            parse_choice("--layout", options[OPT_LAYOUT].value, layouts, "bhld, blhd");
    if (args->is_blhd < 0)
        return TOOL_USAGE;
    if (options[OPT_OUT_DTYPE].value)
        args->out_is_f32 = parse_choice("--out-dtype", options[OPT_OUT_DTYPE].value,
                                        out_dtypes, "same, f32");
    if (args->out_is_f32 < 0)
        return TOOL_USAGE;
    if (options[OPT_DTYPE].value) {
        if (parse_choice("--dtype", options[OPT_DTYPE].value, dtypes, "bf16") < 0)
            return TOOL_USAGE;
        args->v2_is_bf16 = 1;
    }
    return options[OPT_CAUSAL].value ? parse_causal(options[OPT_CAUSAL].value, args)
                                     : TOOL_OK;
}

static int parse_numbers(const tool_option *options, struct run_args *args)
{
    int64_t threads = 0;
    int status = TOOL_OK;

    args->window_left = args->window_right = -1;
    args->scale_is_set = options[OPT_SCALE].value != NULL;
    if (args->scale_is_set)
        status =
            tool_parse_double("run", "--scale", options[OPT_SCALE].value, &args->scale);
    if (!status && options[OPT_SOFTCAP].value) {
        const char *const text = options[OPT_SOFTCAP].value;
        status = tool_parse_double("run", "--softcap", text, &args->softcap);
        if (!status && args->softcap < 0)
            status = tool_fail("run", TOOL_USAGE, "--softcap: %s is negative", text);
    }
    if (!status && options[OPT_WINDOW_LEFT].value)
        status = tool_parse_int("run", "--window-left", options[OPT_WINDOW_LEFT].value,
                                -1, INT64_MAX, &args->window_left);
    if (!status && options[OPT_WINDOW_RIGHT].value)
        status = tool_parse_int("run", "--window-right", options[OPT_WINDOW_RIGHT].value,
                                -1, INT64_MAX, &args->window_right);
    if (!status && options[OPT_THREADS].value)
        status = tool_parse_int("run", "--threads", options[OPT_THREADS].value, 1,
                                TOOL_THREADS_MAX, &threads);
    if (!status && options[OPT_KEY_LENGTHS].value)
        status = parse_list("--key-lengths", options[OPT_KEY_LENGTHS].value,
                            INT64_MAX - 1, &args->key_lengths);
    args->threads = (int)threads;
    return status;
}

/* The file of a spec: what comes before ":NAME" for FILE.safetensors:NAME. */
static size_t path_length(const char *spec)
{
    static const char mark[] = ".safetensors:";
    const char *last = NULL;

    for (const char *at = strstr(spec, mark); at; at = strstr(at + 1, mark))
        last = at;
    return last ? (size_t)(last - spec) + sizeof mark - 2 : strlen(spec);
}

/* Whether two specs name one file, which need not exist. */
static int is_same_file(const char *a, const char *b)
{
    char path[2][PATH_MAX];
    struct stat status[2];
    const char *const spec[2] = {a, b};

    for (int x = 0; x < 2; x++) {
        const size_t length = path_length(spec[x]);
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
    const size_t length = path_length(name[0]);
    return length == path_length(name[1]) && !memcmp(name[0], name[1], length) &&
           status[0].st_dev == status[1].st_dev && status[0].st_ino == status[1].st_ino;
}

/*
 * Outputs that would overwrite each other or an input.  Tensors of different
 * names may share a new .safetensors file.
 */
static int check_outputs(const struct run_args *args)
{
    for (int x = 0; x < RUN_OUTPUTS; x++) {
        const char *const output = args->output[x];
        for (int i = 0; output && i < RUN_INPUTS; i++)
            if (args->input[i] && is_same_file(output, args->input[i]))
                return tool_fail("run", TOOL_USAGE,
                                 "--%s: %s is the file that --%s reads",
                                 run_output_name[x], output, run_input_name[i]);
        for (int y = 0; output && y < x; y++) {
            const char *const other = args->output[y];
            if (!other || !is_same_file(output, other))
                continue;
            const char *const name = output + path_length(output);
            if (!*name || !strcmp(name, other + path_length(other)))
                return tool_fail("run", TOOL_USAGE, "--%s and --%s both name %s",
                                 run_output_name[y], run_output_name[x], output);
        }
    }
    return TOOL_OK;
}

static int check_required(const struct run_args *args)
{
    for (int i = RUN_Q; i <= RUN_V; i++)
        if (!args->input[i])
            return tool_fail("run", TOOL_USAGE,
                             "--%s is missing: see 'attend run --help'",
                             run_input_name[i]);
    if (!args->output[RUN_OUT])
        return tool_fail("run", TOOL_USAGE, "--out is missing: see 'attend run --help'");
    return TOOL_OK;
}

int run_args_parse(int argc, char **argv, struct run_args *args)
{
    tool_option options[OPTIONS] = {
        [OPT_LAYOUT] = {.name = "layout", .takes_value = 1},
        [OPT_SCALE] = {.name = "scale", .takes_value = 1},
        [OPT_SOFTCAP] = {.name = "softcap", .takes_value = 1},
        [OPT_CAUSAL] = {.name = "causal", .takes_value = 1},
        [OPT_WINDOW_LEFT] = {.name = "window-left", .takes_value = 1},
        [OPT_WINDOW_RIGHT] = {.name = "window-right", .takes_value = 1},
        [OPT_KEY_LENGTHS] = {.name = "key-lengths", .takes_value = 1},
        [OPT_OUT_DTYPE] = {.name = "out-dtype", .takes_value = 1},
        [OPT_THREADS] = {.name = "threads", .takes_value = 1},
        [OPT_ISA] = {.name = "isa", .takes_value = 1},
        [OPT_DTYPE] = {.name = "dtype", .takes_value = 1},
        [OPT_FORCE] = {.name = "force"},
        [OPT_JSON] = {.name = "json"},
        [OPT_HELP] = {.name = "help"},
    };

    *args = (struct run_args){.threads = 0};
    for (int i = 0; i < RUN_INPUTS; i++)
        options[OPT_INPUT + i] =
            (tool_option){.name = run_input_name[i], .takes_value = 1};
    for (int x = 0; x < RUN_OUTPUTS; x++)
        options[OPT_OUTPUT + x] =
            (tool_option){.name = run_output_name[x], .takes_value = 1};

    int status = tool_parse_options("run", argc, argv, options, OPTIONS);
    if (status)
        return status;
    for (int i = 0; i < RUN_INPUTS; i++)
        args->input[i] = options[OPT_INPUT + i].value;
    for (int x = 0; x < RUN_OUTPUTS; x++)
        args->output[x] = options[OPT_OUTPUT + x].value;
    args->isa = options[OPT_ISA].value;
    args->is_forced = options[OPT_FORCE].value != NULL;
    args->wants_json = options[OPT_JSON].value != NULL;
    args->wants_help = options[OPT_HELP].value != NULL;
    if (args->wants_help)
        return TOOL_OK;
    if (args->input[RUN_ALIBI] && !strcmp(args->input[RUN_ALIBI], "auto")) {
        args->input[RUN_ALIBI] = NULL;
        args->alibi_is_auto = 1;
    }
    if ((status = check_required(args)) || (status = parse_choices(options, args)) ||
        (status = parse_numbers(options, args)))
        return status;
    return check_outputs(args);
}

void run_args_free(struct run_args *args)
{
    free(args->causal_offset.value);
    free(args->key_lengths.value);
    *args = (struct run_args){.threads = 0};
}
