/* SPDX-License-Identifier: MIT */
/* `attend bench`: the time of each case, and the limits of the machine. */
#define _POSIX_C_SOURCE 200809L

#include "shared/commands.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "gpu/gpu_bench.h"
#include "bench/bench_ranks.h"
#include "bench/bench_report.h"
#include "shared/flags.h"
#include "shared/progress_line.h"
#include "shared/ranks.h"

static const char help_text[] =
    "usage: attend bench [--case NAME] [--dtype TYPE] [--threads N] [--isa NAME]\n"
    "                    [--seconds S] [--list] [--json]\n"
    "                    [--mpi [--trace FILE]] [--device NAME [--order NAME]]\n"
    "\n"
    "Times attention on a fixed table of cases, beside its shares of the limits\n"
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
    "  read          another of these copies streamed by as many threads, right before\n"
    "                each sample, in the order of lines that this machine reads "
    "fastest;\n"
    "                the median\n"
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
    "otherwise; a second line has the time of its inspection and the peak memory of the\n"
    "process.\n"
    "\n"
    "options:\n"
    "@16 case dtype threads isa seconds list json mpi trace device order help\n"
    "\n"
    "example: how much of the memory bandwidth decoding reaches\n"
    "  attend bench --case 'decode-*' --json | jq -c '[.case, .dtype, .of_bandwidth]'\n";

struct request {
    const char *pattern;
    attend_dtype dtype; /* 0: each */
    double seconds;
    attend_options options;
    int only_list, as_json, on_ranks, same;
    const char *trace;
};

/* A pattern lists a long case but does not start it. */
static int is_wanted(const struct request *request, int index)
{
    const struct bench_case *const shape = &bench_cases[index];

    if (shape->stats == BENCH_MAP && !request->only_list)
        return strcmp(request->pattern, shape->name) == 0;
    return fnmatch(request->pattern, shape->name, 0) == 0;
}

/* Number of types in which a case is timed; 0 for a case that is not selected. */
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

static int read_dtype(const char *command, const struct tool_flag *flag)
{
    for (int t = 0; t < bench_dtype_count; t++)
        if (!strcmp(flag->value, attend_dtype_name(bench_dtypes[t]))) {
            *(attend_dtype *)flag->to = bench_dtypes[t];
            return TOOL_OK;
        }
    return tool_fail(command, TOOL_USAGE, "--dtype: '%s' is not f32, bf16 or f16",
                     flag->value);
}

static int on_device(const struct request *request)
{
    const struct bench_device_request with = {.pattern = request->pattern,
                                              .device = request->options.device,
                                              .dtype = request->dtype,
                                              .seconds = request->seconds,
                                              .order = request->same ? ATTEND_ORDER_SAME
                                                                     : ATTEND_ORDER_FAST,
                                              .as_json = request->as_json,
                                              .only_list = request->only_list};

    if (request->on_ranks || request->options.isa)
        return tool_fail("bench", TOOL_USAGE, "--device: not together with %s",
                         request->on_ranks ? "--mpi" : "--isa");
    if (!bench_device_has(request->pattern))
        return tool_fail("bench", TOOL_USAGE,
                         "--case: no case for a device matches '%s': see 'attend bench "
                         "--device cuda --list'",
                         request->pattern);
    return bench_device(&with);
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
                    struct progress_line *progress)
{
    struct bench_result result;
    attend_error err = {.status = ATTEND_OK, .message = ""};
    const attend_status status =
        bench_time(ctx, shape, dtype, request->seconds, &result, &err);

    if (status != ATTEND_OK)
        return tool_fail("bench", TOOL_FAILED, "%s, %s, %s: %s", shape->name,
                         attend_dtype_name(dtype), attend_context_isa(ctx), err.message);
    progress_line_clear(progress);
    if (request->as_json)
        return bench_print_result_json(ctx, shape, dtype, &result);
    bench_print_result(shape, dtype, &result);
    return tool_finish_output("bench", TOOL_OK);
}

static int time_all(const struct request *request, attend_context *ctx)
{
    const int total = count_lines(request);
    int done = 0, status = TOOL_OK;
    struct progress_line progress;

    if (!request->as_json)
        bench_print_head(ctx);
    progress_line_start(&progress, "timing", NULL);
    for (int c = 0; c < bench_case_count; c++)
        for (int t = 0; t < count_dtypes(request, c) && status == TOOL_OK; t++) {
            const attend_dtype dtype = request->dtype ? request->dtype : bench_dtypes[t];
            progress_line_update(&progress, done++, total);
            status = time_one(request, ctx, &bench_cases[c], dtype, &progress);
        }
    progress_line_clear(&progress);
    return status;
}

int cmd_bench(int argc, char **argv)
{
    struct request request = {
        .pattern = "*", .seconds = 1, .options = attend_options_default()};
    const struct tool_flag flags[] = {
        FLAG_TEXT("case", &request.pattern, "NAME",
                  "this case, or all that a pattern like 'decode-*' matches"),
        FLAG_LINE(attend_dtype, "dtype", read_dtype, &request.dtype,
                  .choices = "f32, bf16, f16", .takes = "TYPE",
                  .help = "f32, bf16 or f16 (default: each of them)"),
        FLAG_THREADS(&request.options.threads,
                     "threads (default: OMP_NUM_THREADS, else every core)"),
        FLAG_TEXT("isa", &request.options.isa, "NAME",
                  "kernel set (default: ATTEND_ISA, else the best that runs here)"),
        FLAG_BETWEEN("seconds", &request.seconds, 0, INFINITY, "S",
                     "time for each line (default 1); three calls are made in any case"),
        FLAG_SWITCH("list", &request.only_list,
                    "print the table of cases instead: shapes, and what a row sees"),
        FLAG_SWITCH("json", &request.as_json,
                    "one JSON object per line: case, dtype, threads, isa, median_ms,\n"
                    "min_ms, gflops, peak_gflops, peak_by (its instruction), of_peak,\n"
                    "visited_gflops, visited_of_peak (null without a mask), gbps,\n"
                    "read_gbps, of_bandwidth, of_roof (these four null but for\n"
                    "decoding), bins (of samples, read_gbps, gbps, of_roof; empty but\n"
                    "for decoding), over_forward (null but for statistics), inspect_ms,\n"
                    "peak_mb (null but for stats-128k); with --list: case, kind, batch,\n"
                    "hq, hkv, nq, nk, d, dv, causal, window_left (-1: open), mask\n"
                    "(none, random, docs8), stats"),
        FLAG_SWITCH("mpi", &request.on_ranks,
                    "cases of attention over ranks instead, under mpirun or as one\n"
                    "process: time, bytes sent, memory beyond the slices, and a sum of\n"
                    "the bits of all outputs, which is the same for any ranks"),
        FLAG_TEXT("trace", &request.trace, "FILE",
                  "with --mpi: FILE.RANK gets the times of the last call, by chunk"),
        FLAG_TEXT("device", &request.options.device, "NAME",
                  "cuda or cuda:N: these cases, and some that fill a GPU, in bf16 and\n"
                  "f16, queued and timed on the stream; no peak, no read, and\n"
                  "stats-128k is repeated like the others; docs/CUDA.md"),
        FLAG_CHOICE("order", &request.same, "fast, same", "NAME",
                    "with --device: fast (default) or same"),
    };
    attend_context *ctx;

    int status = tool_read_flags("bench", argc, argv, FLAG_TABLE(flags), help_text);
    if (!status && request.options.device)
        return on_device(&request);
    if (!status && !request.on_ranks && count_lines(&request) == 0)
        status = no_such_case(request.pattern);
    if (!status && ranks.mpi && !request.on_ranks)
        status =
            tool_fail("bench", TOOL_USAGE, "under a launcher of MPI, --mpi is needed");
    if (status)
        return status;
    if (request.only_list)
        return list(&request);
    status = tool_create_context("bench", &request.options, &ctx);
    if (status)
        return status;
    const struct bench_ranks_request with = {.pattern = request.pattern,
                                             .dtype = request.dtype,
                                             .as_json = request.as_json,
                                             .trace = request.trace};
    status = request.on_ranks ? bench_ranks(ctx, &with) : time_all(&request, ctx);
    attend_context_destroy(ctx);
    return status;
}
