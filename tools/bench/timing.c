/* SPDX-License-Identifier: MIT */
#include "bench/timing.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "bench/bench_input.h"
#include "bench/bench_stats.h"
#include "bench/peak.h"
#include "bench/read_bandwidth.h"
#include "bench/samples.h"
#include "shared/stopwatch.h"

enum { SAMPLES_MIN = 3, WARM_UP_CALLS = 3 };

/* At least; new threads may share a core until the system has placed them. */
static const double warm_up_seconds = 20e-3;

/* A call much shorter than this is timed with others: reading the clock takes time. */
static const double group_seconds = 200e-6;
/* Seconds of calls between two measurements of the peak. */
static const double round_seconds = 50e-3;

/* At this share of the peak, arithmetic is not the bottleneck. */
static const double roof_of_peak = 0.7;

struct run {
    attend_context *ctx;
    attend_error *err;
    const struct bench_case *shape;
    struct bench_input input;
    struct bench_stats stats;
    const struct bench_peak *peak;
    int64_t calls, group; /* made so far; timed together */
    double best_peak;
    int is_decode, pattern;                    /* of reading */
    struct bench_samples times, reads, ratios; /* reads: one per time, or none */
};

static attend_status fail(attend_error *err, attend_status status, const char *message)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, "%s", message);
    return status;
}

static attend_status forward(struct run *run, const attend_stats *stats)
{
    run->input.io.stats = stats;
    return attend_forward(run->ctx, &run->input.rule, &run->input.io, run->err);
}

static attend_status inspect(struct run *run)
{
    return attend_inspect(run->ctx, &run->input.rule, &run->stats.inspection, run->err);
}

/* The timed call of the case. */
static attend_status call(struct run *run)
{
    bench_input_rotate(&run->input, run->calls++);
    return run->shape->stats == BENCH_COLUMNS ? inspect(run)
                                              : forward(run, &run->stats.request);
}

/* Plain attention of the same tensors, of another copy where there are some. */
static attend_status call_plain(struct run *run)
{
    bench_input_rotate(&run->input, run->calls++);
    return forward(run, NULL);
}

/* Makes run->group calls; *seconds is the time of one. */
static attend_status call_group(struct run *run, attend_status (*one)(struct run *run),
                                double *seconds)
{
    attend_status status = ATTEND_OK;
    const double start = tool_seconds();

    for (int64_t n = 0; status == ATTEND_OK && n < run->group; n++)
        status = one(run);
    *seconds = (tool_seconds() - start) / (double)run->group;
    return status;
}

/* One group, and one of the plain call if the case is compared with it. */
static attend_status sample(struct run *run, double *seconds, double *ratio)
{
    double plain = NAN;
    attend_status status = ATTEND_OK;

    if (run->shape->stats != BENCH_NONE)
        status = call_group(run, call_plain, &plain);
    if (status == ATTEND_OK)
        status = call_group(run, call, seconds);
    *ratio = *seconds / plain;
    return status;
}

/* The first calls allocate and wake threads; the shortest decides how many make a group.
 */
static attend_status warm_up(struct run *run, double seconds)
{
    const double end = tool_seconds() + warm_up_seconds;
    const double wanted = fmax(group_seconds, 2 * seconds / BENCH_SAMPLES_MAX);
    double shortest = INFINITY;

    run->group = 1;
    while (run->calls < WARM_UP_CALLS || tool_seconds() < end) {
        double time, ratio;
        const attend_status status = sample(run, &time, &ratio);
        if (status != ATTEND_OK)
            return status;
        shortest = fmin(shortest, time);
    }
    if (shortest < wanted)
        run->group = (int64_t)ceil(wanted / fmax(shortest, 1e-9));
    return ATTEND_OK;
}

static void sample_peak(struct run *run)
{
    const int threads = attend_context_threads(run->ctx);

    run->best_peak = fmax(run->best_peak, bench_peak_sample(run->peak, threads));
}

/*
 * Reads as many bytes as a call, before each call.  It reads the copy half a rotation
 * away, which neither the previous nor the next call uses, so that caches do not help.
 */
static double sample_read(const struct run *run)
{
    const struct bench_input *const input = &run->input;
    const size_t copy = (size_t)((run->calls + input->copies / 2) % input->copies);
    const size_t bytes = 2 * input->k_bytes;

    return bench_read_sample(input->store + copy * bytes, bytes,
                             attend_context_threads(run->ctx), run->pattern);
}

static attend_status repeat(struct run *run, double seconds)
{
    const double end = tool_seconds() + seconds;

    sample_peak(run);
    if (run->is_decode)
        run->pattern =
            bench_read_pattern(run->input.store, run->input.store_bytes,
                               2 * run->input.k_bytes, attend_context_threads(run->ctx));
    do {
        const double round_end = tool_seconds() + round_seconds;
        do {
            double time, ratio;
            const double read = run->is_decode ? sample_read(run) : NAN;
            const attend_status status = sample(run, &time, &ratio);
            if (status != ATTEND_OK)
                return status;
            bench_samples_add(&run->times, time);
            if (run->is_decode)
                bench_samples_add(&run->reads, read);
            if (!isnan(ratio))
                bench_samples_add(&run->ratios, ratio);
        } while (tool_seconds() < round_end);
        sample_peak(run);
    } while (run->times.count < SAMPLES_MIN ||
             (run->times.count < BENCH_SAMPLES_MAX && tool_seconds() < end));
    return ATTEND_OK;
}

/* Both passes, timed one after the other. */
static attend_status run_once(struct run *run, double *seconds)
{
    double first = NAN;

    run->group = 1;
    sample_peak(run);
    attend_status status = call_group(run, call, &first);
    bench_samples_add(&run->times, first);
    if (status == ATTEND_OK)
        status = call_group(run, inspect, seconds);
    sample_peak(run);
    return status;
}

/* Of this process, in bytes. */
static double peak_memory(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) ? NAN : 1024 * (double)usage.ru_maxrss;
}

static attend_status time_calls(struct run *run, double seconds,
                                struct bench_result *result)
{
    attend_status status = ATTEND_OK;

    result->inspection = result->memory = NAN;
    if (run->shape->stats == BENCH_MAP) {
        status = run_once(run, &result->inspection);
        result->memory = peak_memory();
        return status;
    }
    /* The inspection reads the LSE of this. */
    if (run->shape->stats == BENCH_COLUMNS)
        status = forward(run, &run->stats.request);
    if (status == ATTEND_OK)
        status = warm_up(run, seconds);
    return status == ATTEND_OK ? repeat(run, seconds) : status;
}

static void judge_decoding(struct run *run, double flops, struct bench_result *result)
{
    const double bytes = 2 * (double)run->input.k_bytes;
    const double limit = roof_of_peak * run->best_peak * bytes / flops;

    /* Before the medians, whose sorting separates times from their reads. */
    result->bin_count =
        bench_bins_make(&run->times, &run->reads, bytes, limit, result->bins);
    result->bytes = bytes / bench_samples_median(&run->times);
    result->read = bench_samples_median(&run->reads);
    result->roof = fmin(result->read, limit);
}

static void judge(struct run *run, struct bench_result *result)
{
    const double flops = bench_useful_flops(run->shape, run->input.mask);

    result->bytes = result->read = result->roof = result->visited = NAN;
    result->bin_count = 0;
    if (run->is_decode)
        judge_decoding(run, flops, result);
    result->median = bench_samples_median(&run->times);
    result->min = run->times.value[0];
    result->flops = flops / result->median;
    if (run->input.mask)
        result->visited =
            bench_visited_flops(run->shape, run->input.mask) / result->median;
    result->peak = run->best_peak;
    result->peak_by = run->peak->instruction;
    result->over_forward = bench_samples_median(&run->ratios);
}

attend_status bench_time(attend_context *ctx, const struct bench_case *shape,
                         attend_dtype dtype, double seconds, struct bench_result *result,
                         attend_error *err)
{
    static struct run run;

    run = (struct run){.ctx = ctx,
                       .err = err,
                       .shape = shape,
                       .is_decode = shape->kind == BENCH_DECODE,
                       .peak = bench_peak_find(attend_context_isa(ctx), dtype)};
    if (!run.peak)
        return fail(err, ATTEND_EUNSUPPORTED, "no way to measure the peak of this set");
    attend_status status = ATTEND_OK;
    if (bench_input_make(shape, dtype, &run.input) ||
        bench_stats_make(shape, &run.input.io, &bench_host_memory, &run.stats))
        status = fail(err, ATTEND_ENOMEM, "out of memory for its tensors");
    if (status == ATTEND_OK)
        status = time_calls(&run, seconds, result);
    if (status == ATTEND_OK)
        judge(&run, result);
    bench_stats_free(&run.stats);
    bench_input_free(&run.input);
    return status;
}
