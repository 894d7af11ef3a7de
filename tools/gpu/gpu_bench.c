/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "gpu/gpu_bench.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench_input.h"
#include "bench/bench_report.h"
#include "bench/bench_stats.h"
#include "gpu/gpu.h"
#include "bench/samples.h"
#include "check/numbers.h"
#include "shared/json_line.h"
#include "shared/progress_line.h"
#include "shared/stopwatch.h"

enum { SAMPLES_MIN = 3, WARM_UP_CALLS = 3, GROUP_MOST = 1000 };
/* Size of the pool of random numbers from which all tensors are copied. */
enum { POOL = 1 << 22 };

/* Least time of the calls of one sample: events have a resolution of 0.5 us. */
static const double group_seconds = 2e-3;

static const attend_dtype device_dtypes[] = {ATTEND_BF16, ATTEND_F16};

struct run {
    const struct bench_device_request *request;
    attend_context *ctx;
    struct bench_gpu gpu;
    attend_error err;
    struct progress_line progress;
    int done, total;
};

/* The tensors of a case: `store` is `copies` times K, then V. */
struct device_input {
    const struct bench_case *shape;
    char *q, *out, *store, *mask;
    unsigned char *host_mask;
    size_t k_bytes;
    int64_t copies, calls;
    attend_rule rule;
    attend_io io;
    struct bench_stats stats;
};

/* Seconds of one call; NaN where the case makes no such call. */
struct times {
    double plain, call, inspection;
};

struct samples {
    struct bench_samples calls, ratios, inspections;
};

/* ---- cases ------------------------------------------------------------------ */

static const struct bench_case *case_at(int index)
{
    return index < bench_case_count ? &bench_cases[index]
                                    : &bench_device_cases[index - bench_case_count];
}

static int case_count(void) { return bench_case_count + bench_device_case_count; }

static int is_wanted(const char *pattern, const struct bench_case *shape)
{
    return fnmatch(pattern, shape->name, 0) == 0;
}

int bench_device_has(const char *pattern)
{
    for (int c = 0; c < case_count(); c++)
        if (is_wanted(pattern, case_at(c)))
            return 1;
    return 0;
}

static int list(const struct bench_device_request *request)
{
    int status = TOOL_OK;

    if (!request->as_json)
        bench_print_case_head();
    for (int c = 0; c < case_count() && status == TOOL_OK; c++)
        if (is_wanted(request->pattern, case_at(c))) {
            if (request->as_json)
                status = bench_print_case_json(case_at(c));
            else
                bench_print_case(case_at(c));
        }
    return tool_finish_output("bench", status);
}

/* ---- tensors ------------------------------------------------------------------ */

static void *make_pool(attend_dtype dtype)
{
    struct check_random random = {.seed = 1};
    void *const pool = malloc((size_t)POOL * attend_dtype_size(dtype));

    for (int64_t n = 0; pool && n < POOL; n++)
        check_store(pool, dtype, n, sqrt(3.0) * (2 * check_random_unit(&random) - 1));
    return pool;
}

/* Random numbers, in pieces of the pool that begin elsewhere each time. */
static int fill(struct bench_gpu *gpu, char *to, size_t bytes, const char *pool,
                size_t number, uint64_t seed)
{
    struct check_random random = {.seed = seed};
    const size_t piece = (size_t)POOL / 2 * number;

    for (size_t at = 0; at < bytes; at += piece) {
        const size_t from = (size_t)check_random_int(&random, 0, POOL / 2) * number;
        const size_t size = bytes - at < piece ? bytes - at : piece;
        if (gpu->copy_in((uintptr_t)to + at, pool + from, size))
            return -1;
    }
    return 0;
}

static void *take(void *gpu, size_t size) { return bench_gpu_memory(gpu, size); }

static void give_back(void *gpu, void *block) { bench_gpu_free(gpu, block); }

static int copy_in(void *gpu, void *to, const void *from, size_t size)
{
    return ((struct bench_gpu *)gpu)->copy_in((uintptr_t)to, from, size);
}

static void rotate(struct device_input *in)
{
    char *const k = in->store + (size_t)(in->calls++ % in->copies) * 2 * in->k_bytes;

    in->io.k.data = k;
    in->io.v.data = k + in->k_bytes;
}

static void set_views(const struct bench_case *s, attend_dtype dtype,
                      struct device_input *in)
{
    in->rule = attend_rule_default();
    in->rule.causal = s->causal;
    in->rule.window_left = s->window_left;
    if (in->mask)
        in->rule.mask = attend_view_dense(in->mask, ATTEND_BOOL, 1, 1, s->nq, s->nk);
    in->io = attend_io_default();
    in->io.q = attend_view_dense(in->q, dtype, s->nb, s->hq, s->nq, s->d);
    in->io.k = in->io.v = attend_view_dense(in->store, dtype, s->nb, s->hkv, s->nk, s->d);
    in->io.out = attend_tensor_dense(in->out, dtype, s->nb, s->hq, s->nq, s->d);
    rotate(in);
}

static int make_mask(struct bench_gpu *gpu, const struct bench_case *shape,
                     struct device_input *in)
{
    const size_t bytes = (size_t)(shape->nq * shape->nk);

    if (shape->mask == BENCH_MASK_NONE)
        return 0;
    in->host_mask = malloc(bytes);
    in->mask = bench_gpu_memory(gpu, bytes);
    if (!in->host_mask || !in->mask)
        return -1;
    bench_fill_mask(shape, in->host_mask);
    return gpu->copy_in((uintptr_t)in->mask, in->host_mask, bytes);
}

/* 0, or -1 without memory; to be freed in both cases. */
static int make_input(struct bench_gpu *gpu, const struct bench_case *s,
                      attend_dtype dtype, struct device_input *in)
{
    const size_t number = attend_dtype_size(dtype);
    const size_t q_bytes = (size_t)(s->nb * s->hq * s->nq * s->d) * number;
    const struct bench_memory memory = {
        .take = take, .give_back = give_back, .copy_in = copy_in, .of = gpu};
    char *const pool = make_pool(dtype);

    *in = (struct device_input){.shape = s, .copies = 1};
    in->k_bytes = (size_t)(s->nb * s->hkv * s->nk * s->d) * number;
    if (s->kind == BENCH_DECODE)
        in->copies = (int64_t)((BENCH_ROTATION_BYTES - 1) / (2 * in->k_bytes) + 1);
    const size_t store_bytes = (size_t)in->copies * 2 * in->k_bytes;
    in->q = bench_gpu_memory(gpu, q_bytes);
    in->out = bench_gpu_memory(gpu, q_bytes);
    in->store = bench_gpu_memory(gpu, store_bytes);
    const int failed = !pool || !in->q || !in->out || !in->store ||
                       fill(gpu, in->q, q_bytes, pool, number, 2) ||
                       fill(gpu, in->store, store_bytes, pool, number, 3) ||
                       make_mask(gpu, s, in);
    free(pool);
    if (failed)
        return -1;
    set_views(s, dtype, in);
    return bench_stats_make(s, &in->io, &memory, &in->stats);
}

static void free_input(struct bench_gpu *gpu, struct device_input *in)
{
    bench_gpu_free(gpu, in->q);
    bench_gpu_free(gpu, in->out);
    bench_gpu_free(gpu, in->store);
    bench_gpu_free(gpu, in->mask);
    bench_stats_free(&in->stats);
    free(in->host_mask);
}

/* ---- time --------------------------------------------------------------------- */

typedef attend_status one_call(struct run *run, struct device_input *in);

static attend_status forward(struct run *run, struct device_input *in,
                             const attend_stats *stats)
{
    rotate(in);
    in->io.stats = stats;
    return attend_forward(run->ctx, &in->rule, &in->io, &run->err);
}

static attend_status call_plain(struct run *run, struct device_input *in)
{
    return forward(run, in, NULL);
}

static attend_status call_stats(struct run *run, struct device_input *in)
{
    return forward(run, in, &in->stats.request);
}

/* Reads the LSE of an earlier call_stats(). */
static attend_status call_inspection(struct run *run, struct device_input *in)
{
    return attend_inspect(run->ctx, &in->rule, &in->stats.inspection, &run->err);
}

/* The timed call of the case. */
static one_call *call_of(const struct bench_case *shape)
{
    return shape->stats == BENCH_NONE      ? call_plain
           : shape->stats == BENCH_COLUMNS ? call_inspection
                                           : call_stats;
}

/* Queues `count` calls; *seconds is the time of one on the stream. */
static attend_status call_group(struct run *run, struct device_input *in, one_call *call,
                                int64_t count, double *seconds)
{
    struct bench_gpu *const gpu = &run->gpu;
    attend_status status = ATTEND_OK;
    float ms = NAN;

    gpu->event_record(gpu->event[0], gpu->stream);
    for (int64_t n = 0; n < count && status == ATTEND_OK; n++)
        status = call(run, in);
    gpu->event_record(gpu->event[1], gpu->stream);
    if (status == ATTEND_OK)
        status = attend_context_wait(run->ctx, &run->err);
    gpu->event_wait(gpu->event[1]);
    gpu->event_elapsed(&ms, gpu->event[0], gpu->event[1]);
    *seconds = (double)ms * 1e-3 / (double)count;
    return status;
}

/* Groups in turns: plain attention of the same tensors, the call, the inspection. */
static attend_status sample(struct run *run, struct device_input *in, int64_t count,
                            struct times *times)
{
    const enum bench_wanted stats = in->shape->stats;
    attend_status status = ATTEND_OK;

    *times = (struct times){NAN, NAN, NAN};
    if (stats != BENCH_NONE)
        status = call_group(run, in, call_plain, count, &times->plain);
    if (status == ATTEND_OK)
        status = call_group(run, in, call_of(in->shape), count, &times->call);
    if (status == ATTEND_OK && stats == BENCH_MAP)
        status = call_group(run, in, call_inspection, count, &times->inspection);
    return status;
}

static attend_status warm_up(struct run *run, struct device_input *in, int64_t *group)
{
    struct times one = {NAN, NAN, NAN};
    attend_status status = ATTEND_OK;

    if (in->shape->stats == BENCH_COLUMNS)
        status = call_stats(run, in);
    if (status == ATTEND_OK)
        status = sample(run, in, WARM_UP_CALLS, &one);
    if (status == ATTEND_OK)
        status = sample(run, in, 1, &one);
    *group =
        (int64_t)fmin(GROUP_MOST, fmax(1, ceil(group_seconds / fmax(one.call, 1e-7))));
    return status;
}

static attend_status time_calls(struct run *run, struct device_input *in,
                                struct samples *to)
{
    int64_t group;
    attend_status status = warm_up(run, in, &group);
    const double end = tool_seconds() + run->request->seconds;

    while (status == ATTEND_OK && to->calls.count < BENCH_SAMPLES_MAX &&
           (to->calls.count < SAMPLES_MIN || tool_seconds() < end)) {
        struct times one;
        status = sample(run, in, group, &one);
        bench_samples_add(&to->calls, one.call);
        bench_samples_add(&to->ratios, one.call / one.plain);
        bench_samples_add(&to->inspections, one.inspection);
    }
    return status;
}

/* NaN stays NaN: a case has all numbers of a kind, or none. */
static struct bench_result judge(const struct device_input *in, struct samples *samples)
{
    const double median = bench_samples_median(&samples->calls);
    const double bytes =
        in->shape->kind == BENCH_DECODE ? 2 * (double)in->k_bytes : (double)NAN;

    return (struct bench_result){
        .median = median,
        .min = samples->calls.value[0],
        .flops = bench_useful_flops(in->shape, in->host_mask) / median,
        .bytes = bytes / median,
        .over_forward = bench_samples_median(&samples->ratios),
        .inspection = bench_samples_median(&samples->inspections)};
}

/* ---- output ------------------------------------------------------------------- */

static void print_head(const struct run *run)
{
    char name[96] = "?";

    run->gpu.name(name, sizeof name, run->gpu.device);
    printf("attend %s, %s, order %s\n", attend_version(), name,
           run->request->order == ATTEND_ORDER_FAST ? "fast" : "same");
    printf("%-26s%-5s %10s %10s %9s %8s %6s\n", "case", "dtype", "median ms", "min ms",
           "GFLOP/s", "GB/s", "over");
}

static int print_json(const struct run *run, const struct bench_case *shape,
                      attend_dtype dtype, const struct bench_result *result)
{
    struct lab_json json;

    tool_open_json(&json);
    lab_json_put(&json,
                 "case:s dtype:s device:s order:s median_ms:r min_ms:r gflops:r gbps:r "
                 "over_forward:r inspect_ms:r",
                 shape->name, attend_dtype_name(dtype), run->request->device,
                 run->request->order == ATTEND_ORDER_FAST ? "fast" : "same",
                 result->median * 1e3, result->min * 1e3, result->flops * 1e-9,
                 result->bytes * 1e-9, result->over_forward, result->inspection * 1e3);
    return tool_print_json("bench", &json);
}

static int print_text(const struct bench_case *shape, attend_dtype dtype,
                      const struct bench_result *result)
{
    printf("%-26s%-5s", shape->name, attend_dtype_name(dtype));
    bench_print_number(10, 4, result->median * 1e3);
    bench_print_number(10, 4, result->min * 1e3);
    bench_print_number(9, 0, result->flops * 1e-9);
    bench_print_number(8, 0, result->bytes * 1e-9);
    bench_print_number(6, 3, result->over_forward);
    putchar('\n');
    if (shape->stats == BENCH_MAP)
        printf("  inspection %.4f ms\n", result->inspection * 1e3);
    return tool_finish_output("bench", TOOL_OK);
}

static int time_one(struct run *run, const struct bench_case *shape, attend_dtype dtype)
{
    static struct samples samples;
    struct device_input in;
    int status = TOOL_OK;

    samples.calls.count = samples.ratios.count = samples.inspections.count = 0;
    progress_line_update(&run->progress, run->done++, run->total);
    if (make_input(&run->gpu, shape, dtype, &in))
        status = tool_fail("bench", TOOL_FAILED, "%s, %s: out of memory for its tensors",
                           shape->name, attend_dtype_name(dtype));
    else if (time_calls(run, &in, &samples) != ATTEND_OK)
        status = tool_fail("bench", TOOL_FAILED, "%s, %s: %s", shape->name,
                           attend_dtype_name(dtype), run->err.message);
    progress_line_clear(&run->progress);
    if (status == TOOL_OK) {
        const struct bench_result result = judge(&in, &samples);
        status = run->request->as_json ? print_json(run, shape, dtype, &result)
                                       : print_text(shape, dtype, &result);
    }
    free_input(&run->gpu, &in);
    return status;
}

static int time_all(struct run *run)
{
    const attend_dtype only = run->request->dtype;
    const int dtypes = only ? 1 : (int)(sizeof device_dtypes / sizeof *device_dtypes);
    int status = TOOL_OK;

    for (int c = 0; c < case_count(); c++)
        run->total += is_wanted(run->request->pattern, case_at(c)) * dtypes;
    if (!run->request->as_json)
        print_head(run);
    progress_line_start(&run->progress, "timing", NULL);
    for (int c = 0; c < case_count(); c++)
        for (int t = 0; is_wanted(run->request->pattern, case_at(c)) && t < dtypes &&
                        status == TOOL_OK;
             t++)
            status = time_one(run, case_at(c), only ? only : device_dtypes[t]);
    progress_line_clear(&run->progress);
    return status;
}

int bench_device(const struct bench_device_request *request)
{
    struct run run = {.request = request};
    attend_options options = attend_options_default();

    if (request->only_list)
        return list(request);
    options.device = request->device;
    options.order = request->order;
    int status = tool_create_context("bench", &options, &run.ctx);
    if (status)
        return status;
    if (bench_gpu_open(&run.gpu, request->device) ||
        attend_context_set_stream(run.ctx, run.gpu.stream, &run.err) != ATTEND_OK)
        status = tool_fail("bench", TOOL_FAILED, "--device: the driver does not answer");
    else
        status = time_all(&run);
    attend_context_destroy(run.ctx);
    bench_gpu_close(&run.gpu);
    return status;
}
