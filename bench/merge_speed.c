/* SPDX-License-Identifier: MIT */
/*
 * Speed of attend_merge() with parts of (1, 32, 2048, 128): bytes of parts and output,
 * with LSE, by the median time, beside the read bandwidth of one thread, since
 * attend_merge() runs on the calling thread.  Calls rotate over 256 MiB of parts.  The
 * output has the dtype of the parts.
 */
#include <attend/attend.h>

#include <stdio.h>
#include <stdlib.h>

#include "bench/read_bandwidth.h"
#include "bench/samples.h"
#include "shared/stopwatch.h"

enum { HEADS = 32, ROWS = 2048, D = 128, TURNS = 15, PARTS_MAX = 16 };
enum { ELEMENTS = HEADS * ROWS * D, LSES = HEADS * ROWS };
enum { STORE_BYTES = 256 << 20, READ_BYTES = 32 << 20, ALIGNMENT = 4096 };

static unsigned char *store, *result;
static float lse[PARTS_MAX][LSES], result_lse[LSES];
static struct bench_samples times, reads;

/* 1.0 in either dtype, as bits. */
static void fill(attend_dtype dtype)
{
    if (dtype == ATTEND_F32)
        for (int64_t n = 0; n < STORE_BYTES / 4; n++)
            ((uint32_t *)(void *)store)[n] = 0x3f800000u;
    else
        for (int64_t n = 0; n < STORE_BYTES / 2; n++)
            ((uint16_t *)(void *)store)[n] = 0x3f80u;
    for (int p = 0; p < PARTS_MAX; p++)
        for (int64_t n = 0; n < LSES; n++)
            lse[p][n] = 0.01f * (float)((n + p) % 100);
}

static attend_part part_at(attend_dtype dtype, size_t bytes, int64_t index)
{
    return (attend_part){
        .out = {store + (size_t)index * bytes,
                dtype,
                {1, HEADS, ROWS, D},
                {0, ROWS * D, D, 1}},
        .lse = {lse[index], ATTEND_F32, {1, HEADS, ROWS, 1}, {0, ROWS, 1, 1}},
    };
}

/* Seconds of one call with the parts from `first` on. */
static double merge(attend_dtype dtype, size_t bytes, int64_t first, int64_t count)
{
    const int64_t held = (int64_t)(STORE_BYTES / bytes);
    const attend_tensor out = {result, dtype, {1, HEADS, ROWS, D}, {0, ROWS * D, D, 1}};
    const attend_tensor out_lse = {
        result_lse, ATTEND_F32, {1, HEADS, ROWS, 1}, {0, ROWS, 1, 1}};
    attend_part parts[PARTS_MAX];
    attend_error err = {.status = ATTEND_OK, .message = ""};

    for (int64_t p = 0; p < count; p++)
        parts[p] = part_at(dtype, bytes, (first + p) % held);
    const double start = tool_seconds();
    if (attend_merge(parts, count, &out, &out_lse, &err) != ATTEND_OK) {
        fprintf(stderr, "merge_speed: %s\n", err.message);
        exit(1);
    }
    return tool_seconds() - start;
}

static void measure(attend_dtype dtype, int64_t count)
{
    const size_t bytes = ELEMENTS * attend_dtype_size(dtype);
    const double moved =
        (double)(count + 1) * ((double)bytes + LSES * (double)sizeof(float));

    times.count = reads.count = 0;
    merge(dtype, bytes, 0, count);
    for (int64_t n = 0; n < TURNS; n++) {
        const size_t next = (size_t)(n * count) * bytes % STORE_BYTES;
        const size_t away = (next + STORE_BYTES / 2) % STORE_BYTES;
        bench_samples_add(&reads, bench_read_sample(store + away, READ_BYTES, 1, 0));
        bench_samples_add(&times, merge(dtype, bytes, n * count, count));
    }
    const double seconds = bench_samples_median(&times);
    const double read = bench_samples_median(&reads);
    printf("%-5s %5lld %10.3f %6.2f %6.1f %6.3f\n", attend_dtype_name(dtype),
           (long long)count, 1e3 * seconds, 1e-9 * moved / seconds, 1e-9 * read,
           moved / seconds / read);
}

int main(void)
{
    static const attend_dtype dtypes[] = {ATTEND_F32, ATTEND_BF16};

    store = aligned_alloc(ALIGNMENT, STORE_BYTES);
    result = aligned_alloc(ALIGNMENT, ELEMENTS * sizeof(float));
    if (!store || !result) {
        fprintf(stderr, "merge_speed: out of memory\n");
        return 1;
    }
    printf("dtype parts  median ms   GB/s   read  share\n");
    for (size_t t = 0; t < sizeof dtypes / sizeof dtypes[0]; t++) {
        fill(dtypes[t]);
        measure(dtypes[t], 2);
        measure(dtypes[t], 8);
    }
    free(store);
    free(result);
    return 0;
}
