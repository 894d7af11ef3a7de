/* SPDX-License-Identifier: MIT */
#include "bench/bench_report.h"

#include <math.h>
#include <stdio.h>

#include "shared/json_line.h"

/* Wide enough for the longest name of a case. */
#define NAME_FORMAT "%-26s"

void bench_print_head(const attend_context *ctx)
{
    printf("attend %s, kernel set %s, threads: %d\n", attend_version(),
           attend_context_isa(ctx), attend_context_threads(ctx));
    printf(NAME_FORMAT "%-5s %10s %10s %8s %8s %6s %6s %6s %6s %6s %6s\n", "case",
           "dtype", "median ms", "min ms", "GFLOP/s", "peak", "share", "GB/s", "read",
           "share", "roof", "over");
}

void bench_print_number(int width, int digits, double value)
{
    if (isfinite(value))
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

void bench_print_result(const struct bench_case *shape, attend_dtype dtype,
                        const struct bench_result *result)
{
    printf(NAME_FORMAT "%-5s", shape->name, attend_dtype_name(dtype));
    bench_print_number(10, 4, result->median * 1e3);
    bench_print_number(10, 4, result->min * 1e3);
    bench_print_number(8, 1, result->flops * 1e-9);
    bench_print_number(8, 1, result->peak * 1e-9);
    bench_print_number(6, 3, result->flops / result->peak);
    bench_print_number(6, 1, result->bytes * 1e-9);
    bench_print_number(6, 1, result->read * 1e-9);
    bench_print_number(6, 3, result->bytes / result->read);
    bench_print_number(6, 3, result->bytes / result->roof);
    bench_print_number(6, 3, result->over_forward);
    putchar('\n');
    for (int n = 0; n < result->bin_count; n++) {
        const struct bench_bin *const bin = &result->bins[n];
        printf("  read %.1f GB/s: samples %d, %.1f GB/s, roof %.3f\n", bin->read * 1e-9,
               bin->samples, bin->bytes * 1e-9, bin->of_roof);
    }
    if (isfinite(result->visited))
        printf("  visited %.1f GFLOP/s, share %.3f\n", result->visited * 1e-9,
               result->visited / result->peak);
    if (shape->stats == BENCH_MAP)
        printf("  inspection %.1f ms, peak memory %.1f MB\n", result->inspection * 1e3,
               result->memory * 1e-6);
}

/* NULL without memory, like what it is made of. */
static json_t *bins_json(const struct bench_result *result)
{
    json_t *const bins = json_array();

    for (int n = 0; n < result->bin_count; n++) {
        const struct bench_bin *const bin = &result->bins[n];
        json_t *const object = json_pack("{s:i, s:f, s:f, s:f}", "samples", bin->samples,
                                         "read_gbps", bin->read * 1e-9, "gbps",
                                         bin->bytes * 1e-9, "of_roof", bin->of_roof);
        if (json_array_append_new(bins, object)) {
            json_decref(bins);
            return NULL;
        }
    }
    return bins;
}

int bench_print_result_json(const attend_context *ctx, const struct bench_case *shape,
                            attend_dtype dtype, const struct bench_result *result)
{
    json_t *const object =
        json_pack("{s:s, s:s, s:i, s:s, s:f, s:f, s:f, s:f, s:s, s:f}", "case",
                  shape->name, "dtype", attend_dtype_name(dtype), "threads",
                  attend_context_threads(ctx), "isa", attend_context_isa(ctx),
                  "median_ms", result->median * 1e3, "min_ms", result->min * 1e3,
                  "gflops", result->flops * 1e-9, "peak_gflops", result->peak * 1e-9,
                  "peak_by", result->peak_by, "of_peak", result->flops / result->peak);
    json_t *const rest =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "visited_gflops",
                  tool_json_real(result->visited * 1e-9), "visited_of_peak",
                  tool_json_real(result->visited / result->peak), "gbps",
                  tool_json_real(result->bytes * 1e-9), "read_gbps",
                  tool_json_real(result->read * 1e-9), "of_bandwidth",
                  tool_json_real(result->bytes / result->read), "of_roof",
                  tool_json_real(result->bytes / result->roof), "bins", bins_json(result),
                  "over_forward", tool_json_real(result->over_forward), "inspect_ms",
                  tool_json_real(result->inspection * 1e3), "peak_mb",
                  tool_json_real(result->memory * 1e-6));

    if (json_object_update(object, rest)) {
        json_decref(rest);
        json_decref(object);
        return tool_print_json("bench", NULL);
    }
    json_decref(rest);
    return tool_print_json("bench", object);
}

static const char *causal_name(attend_causal causal)
{
    return causal == ATTEND_CAUSAL_NONE ? "none" : "top-left";
}

void bench_print_case_head(void)
{
    printf(NAME_FORMAT "%-8s %5s %4s %4s %6s %6s %4s  %-8s %6s  %-6s  %s\n", "case",
           "kind", "batch", "hq", "hkv", "nq", "nk", "d", "causal", "window", "mask",
           "stats");
}

void bench_print_case(const struct bench_case *shape)
{
    printf(NAME_FORMAT "%-8s %5lld %4lld %4lld %6lld %6lld %4lld  %-8s", shape->name,
           bench_kind_name[shape->kind], (long long)shape->nb, (long long)shape->hq,
           (long long)shape->hkv, (long long)shape->nq, (long long)shape->nk,
           (long long)shape->d, causal_name(shape->causal));
    bench_print_number(6, 0, shape->window_left < 0 ? NAN : (double)shape->window_left);
    printf("  %-6s  %s\n", bench_mask_name[shape->mask], bench_wanted_name[shape->stats]);
}

int bench_print_case_json(const struct bench_case *shape)
{
    return tool_print_json(
        "bench",
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:s, s:s}",
                  "case", shape->name, "kind", bench_kind_name[shape->kind], "batch",
                  (json_int_t)shape->nb, "hq", (json_int_t)shape->hq, "hkv",
                  (json_int_t)shape->hkv, "nq", (json_int_t)shape->nq, "nk",
                  (json_int_t)shape->nk, "d", (json_int_t)shape->d, "dv",
                  (json_int_t)shape->d, "causal", causal_name(shape->causal),
                  "window_left", (json_int_t)shape->window_left, "mask",
                  bench_mask_name[shape->mask], "stats",
                  bench_wanted_name[shape->stats]));
}
