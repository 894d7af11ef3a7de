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

int bench_print_result_json(const attend_context *ctx, const struct bench_case *shape,
                            attend_dtype dtype, const struct bench_result *result)
{
    struct lab_json json;

    tool_open_json(&json);
    lab_json_put(&json,
                 "case:s dtype:s threads:i isa:s median_ms:r min_ms:r gflops:r "
                 "peak_gflops:r peak_by:s of_peak:r visited_gflops:r visited_of_peak:r "
                 "gbps:r read_gbps:r of_bandwidth:r of_roof:r bins:[",
                 shape->name, attend_dtype_name(dtype), attend_context_threads(ctx),
                 attend_context_isa(ctx), result->median * 1e3, result->min * 1e3,
                 result->flops * 1e-9, result->peak * 1e-9, result->peak_by,
                 result->flops / result->peak, result->visited * 1e-9,
                 result->visited / result->peak, result->bytes * 1e-9,
                 result->read * 1e-9, result->bytes / result->read,
                 result->bytes / result->roof);
    for (int n = 0; n < result->bin_count; n++) {
        const struct bench_bin *const bin = &result->bins[n];
        lab_json_put(&json, "{ samples:i read_gbps:r gbps:r of_roof:r }", bin->samples,
                     bin->read * 1e-9, bin->bytes * 1e-9, bin->of_roof);
    }
    lab_json_put(&json, "] over_forward:r inspect_ms:r peak_mb:r", result->over_forward,
                 result->inspection * 1e3, result->memory * 1e-6);
    return tool_print_json("bench", &json);
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
    struct lab_json json;

    tool_open_json(&json);
    lab_json_put(&json,
                 "case:s kind:s batch:l hq:l hkv:l nq:l nk:l d:l dv:l causal:s "
                 "window_left:l mask:s stats:s",
                 shape->name, bench_kind_name[shape->kind], (int64_t)shape->nb,
                 (int64_t)shape->hq, (int64_t)shape->hkv, (int64_t)shape->nq,
                 (int64_t)shape->nk, (int64_t)shape->d, (int64_t)shape->d,
                 causal_name(shape->causal), (int64_t)shape->window_left,
                 bench_mask_name[shape->mask], bench_wanted_name[shape->stats]);
    return tool_print_json("bench", &json);
}
