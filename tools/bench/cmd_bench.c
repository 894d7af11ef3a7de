/* SPDX-License-Identifier: MIT */
/* `attend bench`: the time of each case beside what the machine can do. */
#define _POSIX_C_SOURCE 200809L

#include "shared/commands.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench_report.h"

static const char help_text[] =
    "usage: attend bench [--case NAME] [--dtype TYPE] [--threads N] [--isa NAME]\n"
    "                    [--seconds S] [--list] [--json]\n"
    "\n"
    "Times attention on a fixed table of cases and says how near it comes to the limits\n"
    "of the machine, which are measured in the same run, between the calls.\n"
    "\n"
    "  median, min   time of a call after a warm-up; a call below 0.2 ms is timed\n"
    "                together with others, and counts with their mean\n"
    "  GFLOP/s       useful work by the median time: 2 (d + dv) operations for each "
    "pair\n"
    "                of query and key that see each other\n"
    "  peak          multiply-adds on registers in the widest instruction that the\n"
    "                kernel set has for the type, all threads at once; the best sample\n"
    "  GB/s          cases of decoding only: K and V counted once, by the median time;\n"
    "                they rotate over copies that fill 256 MB and more\n"
    "  read          the same copies streamed by the same threads, right before each\n"
    "                sample; the median\n"
    "  share         of the peak, and of the read\n"
    "  roof          share of the smaller of the read and of the bytes that the\n"
    "                operations on them let pass at 0.7 of the peak\n"
    "  over          cases of statistics only: the median of the time over that of\n"
    "                plain attention, called in turns\n"
    "\n"
    "Lines below a case of decoding tell its samples apart by the read beside each: the\n"
    "median read, how many samples, their median GB/s, and the median of each one's own\n"
    "share of the roof.  There are two where the 95th percentile of the reads is more\n"
    "than 15 % above the 5th, split midway between these, else one.\n"
    "\n"
    "A line below a case with a mask has what a kernel must compute that leaves out\n"
    "hidden blocks but nothing smaller, an estimate: all pairs of each tile of 48 rows\n"
    "and block of 128 keys in which one is seen.\n"
    "\n"
    "The case stats-128k runs when it is named in full: once, in f32 unless --dtype "
    "says\n"
    "otherwise; a second line has the time of its second pass and the peak memory of "
    "the\n"
    "process.\n"
    "\n"
    "options:\n"
    "  --case NAME   this case, or all that a pattern like 'decode-*' matches\n"
    "  --dtype TYPE  f32, bf16 or f16 (default: each of them)\n"
    "  --threads N   threads (default: OMP_NUM_THREADS, else every core)\n"
    "  --isa NAME    kernel set (default: ATTEND_ISA, else the best that runs here)\n"
    "  --seconds S   time for each line (default 1); three calls are made in any case\n"
    "  --list        print the table of cases instead: shapes, and what a row sees\n"
    "  --json        one JSON object per line: case, dtype, threads, isa, median_ms,\n"
    "                min_ms, gflops, peak_gflops, peak_by (its instruction), of_peak,\n"
    "                visited_gflops, visited_of_peak (null without a mask), gbps,\n"
    "                read_gbps, of_bandwidth, of_roof (these four null but for\n"
    "                decoding), bins (of samples, read_gbps, gbps, of_roof; empty but\n"
    "                for decoding), over_forward (null but for statistics), second_ms,\n"
    "                peak_mb (null but for stats-128k); with --list: case, kind, batch,\n"
    "                hq, hkv, nq, nk, d, dv, causal, window_left (-1: open), mask\n"
    "                (none, random, docs8), stats\n"
    "  --help        this text\n"
    "\n"
    "example: how much of the memory bandwidth decoding reaches\n"
    "  attend bench --case 'decode-*' --json | jq -c '[.case, .dtype, .of_bandwidth]'\n";

enum {
    OPT_CASE,
    OPT_DTYPE,
    OPT_THREADS,
    OPT_ISA,
    OPT_SECONDS,
    OPT_LIST,
    OPT_JSON,
    OPT_HELP,
    OPTIONS
};

struct request {
    const char *pattern;
    attend_dtype dtype; /* 0: each */
    double seconds;
    attend_options options;
    int only_list, as_json;
};

/* A pattern lists a long case but does not start it. */
static int is_wanted(const struct request *request, int index)
{
    const struct bench_case *const shape = &bench_cases[index];

    if (shape->stats == BENCH_MAP && !request->only_list)
        return strcmp(request->pattern, shape->name) == 0;
    return fnmatch(request->pattern, shape->name, 0) == 0;
}

/* How many types it is timed in; 0 for a case that is not wanted. */
static int count_dtypes(const struct request *request, int index)
{
    if (!is_wanted(request, index))
        return 0;
    return request->dtype || bench_cases[index].stats == BENCH_MAP ? 1
                                                                   : bench_dtype_count;
}

static int count_lines(const struct request *request)
{
    int count = 0;

    for (int c = 0; c < bench_case_count; c++)
        count += count_dtypes(request, c);
    return count;
}

static int no_such_case(const char *name)
{
    enum { NAMES_MAX = 64 };
    const char *names[NAMES_MAX];
    const int count = bench_case_count < NAMES_MAX ? bench_case_count : NAMES_MAX;

    for (int c = 0; c < count; c++)
        names[c] = bench_cases[c].name;
    const char *const nearest = tool_nearest(name, names, count);
    if (nearest)
        return tool_fail("bench", TOOL_USAGE,
                         "--case: no case matches '%s': did you mean '%s'?", name,
                         nearest);
    return tool_fail("bench", TOOL_USAGE,
                     "--case: no case matches '%s': see 'attend bench --list'", name);
}

static int parse_dtype(const char *text, attend_dtype *dtype)
{
    for (int t = 0; t < bench_dtype_count; t++)
        if (!strcmp(text, attend_dtype_name(bench_dtypes[t]))) {
            *dtype = bench_dtypes[t];
            return TOOL_OK;
        }
    return tool_fail("bench", TOOL_USAGE, "--dtype: '%s' is not f32, bf16 or f16", text);
}

static int parse_seconds(const char *text, double *seconds)
{
    const int status = tool_parse_double("bench", "--seconds", text, seconds);

    if (!status && !(*seconds > 0))
        return tool_fail("bench", TOOL_USAGE, "--seconds: %s is not above 0", text);
    return status;
}

static int read_request(const tool_option *options, struct request *request)
{
    int64_t threads = 0;
    int status = TOOL_OK;

    *request = (struct request){.pattern = "*",
                                .seconds = 1,
                                .options = attend_options_default(),
                                .only_list = options[OPT_LIST].value != NULL,
                                .as_json = options[OPT_JSON].value != NULL};
    if (options[OPT_CASE].value)
        request->pattern = options[OPT_CASE].value;
    if (count_lines(request) == 0)
        return no_such_case(request->pattern);
    if (options[OPT_DTYPE].value)
        status = parse_dtype(options[OPT_DTYPE].value, &request->dtype);
    if (!status && options[OPT_THREADS].value)
        status = tool_parse_int("bench", "--threads", options[OPT_THREADS].value, 1,
                                TOOL_THREADS_MAX, &threads);
    if (!status && options[OPT_SECONDS].value)
        status = parse_seconds(options[OPT_SECONDS].value, &request->seconds);
    request->options.threads = (int)threads;
    request->options.isa = options[OPT_ISA].value;
    return status;
}

static int list(const struct request *request)
{
    int status = TOOL_OK;

    if (!request->as_json)
        bench_print_case_head();
    for (int c = 0; c < bench_case_count && status == TOOL_OK; c++)
        if (is_wanted(request, c)) {
            if (request->as_json)
                status = bench_print_case_json(&bench_cases[c]);
            else
                bench_print_case(&bench_cases[c]);
        }
    return tool_finish_output("bench", status);
}

static int time_one(const struct request *request, attend_context *ctx,
                    const struct bench_case *shape, attend_dtype dtype,
                    const tool_progress *progress)
{
    struct bench_result result;
    attend_error err = {ATTEND_OK, ""};
    const attend_status status =
        bench_time(ctx, shape, dtype, request->seconds, &result, &err);

    if (status != ATTEND_OK)
        return tool_fail("bench", TOOL_FAILED, "%s, %s, %s: %s", shape->name,
                         attend_dtype_name(dtype), attend_context_isa(ctx), err.message);
    if (progress->shown > 0)
        fputs("\r\033[K", stderr);
    if (request->as_json)
        return bench_print_result_json(ctx, shape, dtype, &result);
    bench_print_result(shape, dtype, &result);
    return tool_finish_output("bench", TOOL_OK);
}

static int time_all(const struct request *request, attend_context *ctx)
{
    const int total = count_lines(request);
    int done = 0, status = TOOL_OK;
    tool_progress progress;

    if (!request->as_json)
        bench_print_head(ctx);
    tool_progress_start(&progress, "timing");
    for (int c = 0; c < bench_case_count; c++)
        for (int t = 0; t < count_dtypes(request, c) && status == TOOL_OK; t++) {
            const attend_dtype dtype = request->dtype ? request->dtype : bench_dtypes[t];
            tool_progress_update(&progress, done++, total);
            status = time_one(request, ctx, &bench_cases[c], dtype, &progress);
        }
    tool_progress_finish(&progress);
    return status;
}

int cmd_bench(int argc, char **argv)
{
    tool_option options[OPTIONS] = {
        [OPT_CASE] = {.name = "case", .takes_value = 1},
        [OPT_DTYPE] = {.name = "dtype", .takes_value = 1},
        [OPT_THREADS] = {.name = "threads", .takes_value = 1},
        [OPT_ISA] = {.name = "isa", .takes_value = 1},
        [OPT_SECONDS] = {.name = "seconds", .takes_value = 1},
        [OPT_LIST] = {.name = "list"},
        [OPT_JSON] = {.name = "json"},
        [OPT_HELP] = {.name = "help"},
    };
    struct request request;
    attend_context *ctx;

    int status = tool_parse_options("bench", argc, argv, options, OPTIONS);
    if (status)
        return status;
    if (options[OPT_HELP].value) {
        fputs(help_text, stdout);
        return tool_finish_output("bench", TOOL_OK);
    }
    status = read_request(options, &request);
    if (status)
        return status;
    if (request.only_list)
        return list(&request);
    status = tool_create_context("bench", &request.options, &ctx);
    if (status)
        return status;
    status = time_all(&request, ctx);
    attend_context_destroy(ctx);
    return status;
}
