/* SPDX-License-Identifier: MIT */
#include "stats_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_OUT = INPUTS_OPTIONS,
    OPT_MAP,
    OPT_TOP,
    OPT_LAST,
    OPT_ZOOM,
    OPT_NOISE,
    OPT_ROWS,
    OPT_COLUMNS,
    OPT_JSON,
    OPT_HELP,
    OPTIONS
};

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && !strcmp(text + length - end_length, end);
}

/* The number before `mark`, which is passed. */
static int parse_before(const char **at, char mark, int64_t *number)
{
    char *end;

    if (**at < '0' || **at > '9')
        return 0;
    const intmax_t value = strtoimax(*at, &end, 10);
    if (value == INTMAX_MAX || *end != mark)
        return 0;
    *at = end + 1;
    *number = value;
    return 1;
}

static int parse_zoom(const char *text, struct stats_zoom *zoom)
{
    const char *at = text;

    if (!parse_before(&at, ':', &zoom->first) || !parse_before(&at, ',', &zoom->end) ||
        !parse_before(&at, ':', &zoom->key_first) ||
        !parse_before(&at, '\0', &zoom->key_end))
        return tool_fail("stats", TOOL_USAGE,
                         "--zoom: '%s' is not r0:r1,c0:c1, queries r0 to r1 - 1 by keys "
                         "c0 to c1 - 1",
                         text);
    zoom->is_wanted = 1;
    return TOOL_OK;
}

static int parse_numbers(const tool_option *options, struct stats_args *args)
{
    int64_t top = 0;
    int status = TOOL_OK;

    if (options[OPT_TOP].value)
        status = tool_parse_int("stats", "--top", options[OPT_TOP].value, 1,
                                ATTEND_TOP_MAX, &top);
    if (!status && options[OPT_LAST].value)
        status = tool_parse_int("stats", "--last", options[OPT_LAST].value, 1, INT64_MAX,
                                &args->last);
    if (!status && options[OPT_ZOOM].value)
        status = parse_zoom(options[OPT_ZOOM].value, &args->zoom);
    if (!status && options[OPT_NOISE].value)
        status =
            tool_parse_double("stats", "--noise", options[OPT_NOISE].value, &args->noise);
    if (!status && args->noise < 0)
        status = tool_fail("stats", TOOL_USAGE, "--noise: %s is negative",
                           options[OPT_NOISE].value);
    args->top = (int)top;
    return status;
}

/* Options that say nothing together. */
static int check_together(const struct stats_args *args)
{
    if (args->last && !args->wants_columns)
        return tool_fail("stats", TOOL_USAGE, "--last needs --columns");
    if (args->wants_rows && args->wants_json && !args->out) {
        if (args->wants_columns)
            return tool_fail("stats", TOOL_USAGE,
                             "--columns: --rows --json prints rows only: add --out");
        if (args->zoom.is_wanted)
            return tool_fail("stats", TOOL_USAGE,
                             "--zoom: --rows --json prints rows only: add --out");
    }
    return TOOL_OK;
}

static int check_files(const struct stats_args *args)
{
    int status = TOOL_OK;

    if (args->out && !ends_with(args->out, ".safetensors"))
        return tool_fail("stats", TOOL_USAGE, "--out: '%s' is not FILE.safetensors",
                         args->out);
    if (args->map && !ends_with(args->map, ".png"))
        return tool_fail("stats", TOOL_USAGE, "--map: '%s' is not FILE.png", args->map);
    if (args->out && strlen(args->out) >= 4096)
        return tool_fail("stats", TOOL_USAGE, "--out: the name is too long");
    if (args->out)
        status = inputs_check_output(&args->inputs, "out", args->out);
    if (!status && args->map)
        status = inputs_check_output(&args->inputs, "map", args->map);
    return status;
}

int stats_args_parse(int argc, char **argv, struct stats_args *args)
{
    tool_option options[OPTIONS] = {
        [OPT_OUT] = {.name = "out", .takes_value = 1},
        [OPT_MAP] = {.name = "map", .takes_value = 1},
        [OPT_TOP] = {.name = "top", .takes_value = 1},
        [OPT_LAST] = {.name = "last", .takes_value = 1},
        [OPT_ZOOM] = {.name = "zoom", .takes_value = 1},
        [OPT_NOISE] = {.name = "noise", .takes_value = 1},
        [OPT_ROWS] = {.name = "rows"},
        [OPT_COLUMNS] = {.name = "columns"},
        [OPT_JSON] = {.name = "json"},
        [OPT_HELP] = {.name = "help"},
    };

    *args = (struct stats_args){.noise = ATTEND_HEAD_NOISE};
    inputs_options(options);
    int status = tool_parse_options("stats", argc, argv, options, OPTIONS);
    if (status)
        return status;
    args->out = options[OPT_OUT].value;
    args->map = options[OPT_MAP].value;
    args->wants_rows = options[OPT_ROWS].value != NULL;
    args->wants_columns = options[OPT_COLUMNS].value != NULL;
    args->wants_json = options[OPT_JSON].value != NULL;
    args->wants_help = options[OPT_HELP].value != NULL;
    if (args->wants_help)
        return TOOL_OK;
    if ((status = inputs_args_read("stats", options, &args->inputs)) ||
        (status = parse_numbers(options, args)) || (status = check_together(args)))
        return status;
    return check_files(args);
}

void stats_args_free(struct stats_args *args) { inputs_args_free(&args->inputs); }

static int check_range(const char *what, int64_t first, int64_t end, int64_t size,
                       const char *letter)
{
    if (first < end && end <= size)
        return TOOL_OK;
    return tool_fail("stats", TOOL_USAGE,
                     "--zoom: %s %" PRId64 ":%" PRId64 " are %s 0:%" PRId64 " (%s)", what,
                     first, end, first >= end ? "empty, within" : "outside", size,
                     letter);
}

static int check_zoom(const struct stats_args *args, const struct inputs *inputs)
{
    const struct stats_zoom *const z = &args->zoom;
    const attend_io *const io = &inputs->io;
    const int64_t rows = z->end - z->first, keys = z->key_end - z->key_first;
    int64_t count = io->q.size[0];
    int status = check_range("queries", z->first, z->end, io->q.size[2], "nq");

    if (!status)
        status = check_range("keys", z->key_first, z->key_end, io->k.size[2], "nk");
    if (status)
        return status;
    if (!args->out && !args->wants_json &&
        (rows > STATS_ZOOM_ROWS || keys > STATS_ZOOM_KEYS))
        return tool_fail("stats", TOOL_USAGE,
                         "--zoom: %" PRId64 " x %" PRId64 " is more than the %d x %d "
                         "that are printed: add --out or --json",
                         rows, keys, STATS_ZOOM_ROWS, STATS_ZOOM_KEYS);
    if (__builtin_mul_overflow(count, io->q.size[1], &count) ||
        __builtin_mul_overflow(count, rows, &count) ||
        __builtin_mul_overflow(count, keys, &count) || count > ATTEND_WEIGHTS_MAX)
        return tool_fail("stats", TOOL_USAGE,
                         "--zoom: %" PRId64 " x %" PRId64 " of every head are more than "
                         "%" PRId64 " weights",
                         rows, keys, ATTEND_WEIGHTS_MAX);
    return TOOL_OK;
}

int stats_args_check(const struct stats_args *args, const struct inputs *inputs)
{
    const int64_t *const q = inputs->io.q.size, *const k = inputs->io.k.size;

    if (args->last > q[2])
        return tool_fail("stats", TOOL_USAGE,
                         "--last: %" PRId64 " is outside 1..%" PRId64 " (nq)", args->last,
                         q[2]);
    if (args->map && (q[0] == 0 || q[1] == 0 || q[2] == 0 || k[2] == 0))
        return tool_fail("stats", TOOL_USAGE,
                         "--map: nothing to draw: b, hq, nq, nk are %" PRId64 ", %" PRId64
                         ", %" PRId64 ", %" PRId64,
                         q[0], q[1], q[2], k[2]);
    return args->zoom.is_wanted ? check_zoom(args, inputs) : TOOL_OK;
}
