/* SPDX-License-Identifier: MIT */
#include "stats_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static int read_zoom(const char *command, const struct tool_flag *flag)
{
    struct stats_zoom *const zoom = flag->to;
    const char *at = flag->value;

    if (!parse_before(&at, ':', &zoom->first) || !parse_before(&at, ',', &zoom->end) ||
        !parse_before(&at, ':', &zoom->key_first) ||
        !parse_before(&at, '\0', &zoom->key_end))
        return tool_fail(command, TOOL_USAGE,
                         "--zoom: '%s' is not r0:r1,c0:c1, queries r0 to r1 - 1 by keys "
                         "c0 to c1 - 1",
                         flag->value);
    zoom->is_wanted = 1;
    return TOOL_OK;
}

/* Options that need or exclude each other. */
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

int stats_args_read(int argc, char **argv, struct stats_args *args, const char *help)
{
    struct tool_flag flags[] = {
        [INPUTS_FLAGS] =
            FLAG_TEXT("out", &args->out, "FILE.safetensors",
                      "write all of it as tensors: the statistics (b, hq, nq)\n"
                      "by their names, top_weights and top_keys (b, hq, nq, K),\n"
                      "column_mass, column_max and column_last (b, hq, nk), map,\n"
                      "zoom; f32 (f64 for f64)"),
        FLAG_TEXT("map", &args->map, "FILE.png",
                  "draw the weights, pooled, a panel for every head: queries\n"
                  "down, keys to the right, from black on a logarithmic scale\n"
                  "that starts at 1/16 of what even attention would give"),
        FLAG_INT("top", &args->top, 1, ATTEND_TOP_MAX, "K",
                 "1..8: the K keys of largest weight of every row, or the mean\n"
                 "mass that they hold"),
        FLAG_INT64("last", &args->last, 1, INFINITY, "W",
                   "with --columns: also over the last W queries alone"),
        FLAG_LINE(struct stats_zoom, "zoom", read_zoom, &args->zoom,
                  .takes = "r0:r1,c0:c1",
                  .help = "weights of queries r0 to r1 - 1 on keys c0 to c1 - 1"),
        FLAG_REAL("noise", &args->noise, 0, INFINITY, "X",
                  "relative sd of the keys' lengths, for fragile pairs; default\n"
                  "0.1"),
        FLAG_SWITCH("rows", &args->wants_rows,
                    "a line for every query instead of every head"),
        FLAG_SWITCH("columns", &args->wants_columns,
                    "the keys with the most mass, summed over the queries"),
        FLAG_SWITCH("json", &args->wants_json,
                    "one object per line: of every head, with histograms, all\n"
                    "columns and the zoom; with --rows of every row alone"),
    };

    *args = (struct stats_args){.noise = ATTEND_HEAD_NOISE};
    inputs_flags("stats", &args->inputs, flags);
    int status = tool_read_flags("stats", argc, argv, FLAG_TABLE(flags), help);
    if (!status)
        status = check_together(args);
    return status ? status : check_files(args);
}

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
