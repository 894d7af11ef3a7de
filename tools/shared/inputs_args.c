/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "inputs.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const input_name[INPUTS] = {
    [INPUT_Q] = "q",        [INPUT_K] = "k",       [INPUT_V] = "v",
    [INPUT_MASK] = "mask",  [INPUT_BIAS] = "bias", [INPUT_ALIBI] = "alibi",
    [INPUT_SINKS] = "sinks"};

/* Positions that the library can add without overflow. */
#define OFFSET_MAX ((int64_t)1 << 60)

/* Whole numbers of at most `limit`, negative or not, separated by commas. */
struct list_request {
    const char *command, *flag;
    int64_t limit;
    struct inputs_list *list;
};

static int take_number(void *user, const char *word, int64_t index)
{
    const struct list_request *const r = user;

    r->list->count = index + 1;
    return tool_parse_int(r->command, r->flag, word, -r->limit, r->limit,
                          &r->list->value[index]);
}

static int read_list(const char *command, const char *flag, const char *text,
                     int64_t limit, struct inputs_list *list)
{
    struct list_request request = {command, flag, limit, list};
    int64_t count = 1;

    for (const char *c = text; *c; c++)
        count += *c == ',';
    list->value = calloc((size_t)count, sizeof *list->value);
    if (!list->value)
        return tool_fail(command, TOOL_FAILED, "--%s: out of memory", flag);
    return tool_split(command, flag, text, take_number, &request);
}

static int read_causal(const char *command, const struct tool_flag *flag)
{
    static const char offset[] = "offset:";
    struct inputs_args *const args = flag->to;

    if (!strncmp(flag->value, offset, sizeof offset - 1)) {
        args->causal = ATTEND_CAUSAL_OFFSET;
        return read_list(command, flag->name, flag->value + sizeof offset - 1, OFFSET_MAX,
                         &args->causal_offset);
    }
    const int choice = tool_parse_choice(command, flag->name, flag->value, flag->choices);
    if (choice < 0)
        return TOOL_USAGE;
    args->causal = (attend_causal)choice;
    return TOOL_OK;
}

static int read_key_lengths(const char *command, const struct tool_flag *flag)
{
    return read_list(command, flag->name, flag->value, INT64_MAX - 1, flag->to);
}

static int read_dtype(const char *command, const struct tool_flag *flag)
{
    if (tool_parse_choice(command, flag->name, flag->value, flag->choices) < 0)
        return TOOL_USAGE;
    *(int *)flag->to = 1;
    return TOOL_OK;
}

static int read_alibi(const char *command, const struct tool_flag *flag)
{
    struct inputs_args *const args = flag->to;

    (void)command;
    args->alibi_is_auto = !strcmp(flag->value, "auto");
    args->file[INPUT_ALIBI] = args->alibi_is_auto ? NULL : flag->value;
    return TOOL_OK;
}

void inputs_flags(const char *command, struct inputs_args *args,
                  struct tool_flag flags[INPUTS_FLAGS])
{
    const struct tool_flag all[INPUTS_FLAGS] = {
        [INPUT_Q] = FLAG_NEEDED("q", &args->file[INPUT_Q], "F", "queries (b, hq, nq, d)"),
        [INPUT_K] =
            FLAG_NEEDED("k", &args->file[INPUT_K], "F", "keys    (b, hkv, nk, d)"),
        [INPUT_V] = FLAG_TEXT("v", &args->file[INPUT_V], "F", "values  (b, hkv, nk, dv)"),
        [INPUT_MASK] = FLAG_TEXT("mask", &args->file[INPUT_MASK], "F",
                                 "boolean, true where a key is seen"),
        [INPUT_BIAS] = FLAG_TEXT("bias", &args->file[INPUT_BIAS], "F",
                                 "added to the scores; any of the four dtypes"),
        [INPUT_ALIBI] = FLAG_LINE(
            void, "alibi", read_alibi, args, .takes = "F|auto",
            .help = "slopes (hq,), or 2^(-8 (h + 1) / n) with the usual extension\n"
                    "where hq is not a power of two"),
        [INPUT_SINKS] = FLAG_TEXT("sinks", &args->file[INPUT_SINKS], "F",
                                  "logits (hq,) that join the denominator"),
        FLAG_CHOICE("layout", &args->is_blhd, "bhld, blhd", "bhld|blhd",
                    "order of the axes of q, k, v and out (default bhld); without\n"
                    "b, 3-D tensors are (h, l, d) or (l, h, d); without h too,\n"
                    "2-D tensors are (l, d); LSE and weights lack the same axes"),
        FLAG_LINE(int, "dtype", read_dtype, &args->v2_is_bf16, .choices = "bf16",
                  .takes = "bf16", .help = "read 'V2' in .npy files as bf16"),
        FLAG_LINE(void, "causal", read_causal, args,
                  .choices = "none, top-left, bottom-right, offset:N[,N...]",
                  .takes = "none|top-left|bottom-right|offset:N[,N...]",
                  .help = "\n"
                          "key j is seen if j <= position(i) = i, i + nk - nq or i + N,\n"
                          "an N per batch; none, the default: all are seen, and\n"
                          "position(i) = i"),
        FLAG_REAL("scale", &args->scale, -INFINITY, INFINITY, "X", "default 1 / sqrt(d)"),
        FLAG_REAL("softcap", &args->softcap, 0, INFINITY, "X",
                  "cap(x) = X tanh(x / X); 0, the default, for none"),
        FLAG_INT64("window-left", &args->window_left, -1, INFINITY, "N",
                   "keys from position(i) - N on; -1, the default: all"),
        FLAG_INT64("window-right", &args->window_right, -1, INFINITY, "N",
                   "keys up to position(i) + N; -1, the default: all"),
        FLAG_LINE(void, "key-lengths", read_key_lengths, &args->key_lengths,
                  .takes = "N[,N...]", .help = "only keys j < N, an N per batch"),
        FLAG_THREADS(&args->threads,
                     "default: OMP_NUM_THREADS, else every core; the result is the\n"
                     "same, bit for bit"),
        FLAG_TEXT("isa", &args->isa, "NAME",
                  "kernel set, see 'attend info'; default: ATTEND_ISA, else the\n"
                  "best that runs here; 'ref' is the definition in double"),
        FLAG_TEXT("device", &args->device, "NAME",
                  "cuda or cuda:N: a GPU computes, on copies of the inputs"),
    };

    memcpy(flags, all, sizeof all);
    *args = (struct inputs_args){
        .command = command, .scale = NAN, .window_left = -1, .window_right = -1};
}

int inputs_is_same_file(const char *a, const char *b)
{
    char path[2][PATH_MAX];
    struct stat status[2];
    const char *const spec[2] = {a, b};

    for (int x = 0; x < 2; x++) {
        const size_t length = io_path_length(spec[x]);
        if (length >= PATH_MAX)
            return 0;
        memcpy(path[x], spec[x], length);
        path[x][length] = '\0';
    }
    if (!stat(path[0], &status[0]) && !stat(path[1], &status[1]))
        return status[0].st_dev == status[1].st_dev &&
               status[0].st_ino == status[1].st_ino;
    return io_is_same_path(path[0], path[1]);
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

void inputs_args_free(struct inputs_args *args)
{
    free(args->causal_offset.value);
    free(args->key_lengths.value);
    *args = (struct inputs_args){.threads = 0};
}
