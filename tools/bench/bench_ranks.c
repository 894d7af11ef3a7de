/* SPDX-License-Identifier: MIT */
/*
 * Every element of a problem is a function of its place, so that each rank makes its own
 * slice, and the sum over the bits of all outputs is the same for any number of ranks.
 */
#define _POSIX_C_SOURCE 200809L
#include "bench_ranks.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/resident.h"
#include "check/numbers.h"
#include "shared/json_line.h"
#include "shared/ranks.h"

enum { REPEATS = 3 };

static const struct ranks_case {
    const char *name;
    attend_dtype dtype;
    int64_t hq, hkv, nq, nk, d;
    attend_causal causal;
    int is_zigzag;
    attend_mpi_strategy strategy;
} cases[] = {
    {"bits-3k-f32", ATTEND_F32, 4, 2, 3000, 3000, 32, ATTEND_CAUSAL_BOTTOM_RIGHT, 1,
     ATTEND_MPI_RING},
    {"bits-8k-f32", ATTEND_F32, 8, 2, 8192, 8192, 64, ATTEND_CAUSAL_BOTTOM_RIGHT, 1,
     ATTEND_MPI_RING},
    {"bits-8k-bf16", ATTEND_BF16, 8, 2, 8192, 8192, 64, ATTEND_CAUSAL_BOTTOM_RIGHT, 1,
     ATTEND_MPI_RING},
    {"causal-32k-zigzag", ATTEND_F32, 8, 8, 32768, 32768, 128, ATTEND_CAUSAL_BOTTOM_RIGHT,
     1, ATTEND_MPI_AUTO},
    {"causal-32k-contiguous", ATTEND_F32, 8, 8, 32768, 32768, 128,
     ATTEND_CAUSAL_BOTTOM_RIGHT, 0, ATTEND_MPI_AUTO},
    {"causal-32k-ring", ATTEND_F32, 8, 8, 32768, 32768, 128, ATTEND_CAUSAL_BOTTOM_RIGHT,
     1, ATTEND_MPI_RING},
    {"causal-32k-ring-contiguous", ATTEND_F32, 8, 8, 32768, 32768, 128,
     ATTEND_CAUSAL_BOTTOM_RIGHT, 0, ATTEND_MPI_RING},
    {"causal-32k-gather", ATTEND_F32, 8, 8, 32768, 32768, 128, ATTEND_CAUSAL_BOTTOM_RIGHT,
     1, ATTEND_MPI_GATHER},
    {"long-1m", ATTEND_F32, 2, 1, 4096, 1 << 20, 64, ATTEND_CAUSAL_NONE, 0,
     ATTEND_MPI_RING},
    {"long-1m-small", ATTEND_F32, 1, 1, 4096, 1 << 20, 32, ATTEND_CAUSAL_NONE, 0,
     ATTEND_MPI_RING},
    {"decode-64k", ATTEND_BF16, 32, 8, 1, 1 << 16, 128, ATTEND_CAUSAL_NONE, 0,
     ATTEND_MPI_QUERY},
    {"decode-128k", ATTEND_BF16, 32, 8, 1, 1 << 17, 128, ATTEND_CAUSAL_NONE, 0,
     ATTEND_MPI_QUERY},
    {"decode-256k", ATTEND_BF16, 32, 8, 1, 1 << 18, 128, ATTEND_CAUSAL_NONE, 0,
     ATTEND_MPI_QUERY},
    {"decode-512k", ATTEND_BF16, 32, 8, 1, 1 << 19, 128, ATTEND_CAUSAL_NONE, 0,
     ATTEND_MPI_QUERY},
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* This rank's part of a case. */
struct own {
    const struct ranks_case *of;
    attend_dtype dtype;
    attend_mpi_range queries[2], keys;
    int64_t query_ranges, rows;
    attend_rule rule;
    attend_io io;
    attend_mpi_dist dist;
    attend_mpi_cost cost;
    void *memory[4];
    int64_t slice_bytes;
    double memory_before; /* of this process, without its slices */
    FILE *trace;
    double began;
};

/* ---- inputs ------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9fb21c651e98df25u;
    x = (x ^ (x >> 29)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

/* Of variance 1. */
static double element(uint64_t which, int64_t h, int64_t l, int64_t d)
{
    const uint64_t bits =
        mix((which << 60) + ((uint64_t)h << 48) + ((uint64_t)l << 12) + (uint64_t)d);

    return ((double)(bits >> 40) * 0x1p-24 - 0.5) * 3.4641016;
}

static void *fill(uint64_t which, attend_dtype dtype, int64_t heads,
                  const attend_mpi_range *range, int64_t ranges, int64_t rows,
                  int64_t width)
{
    char *const data = tool_zeros(heads * rows * width, attend_dtype_size(dtype));
    int64_t at = 0;

    for (int64_t h = 0; data && h < heads; h++)
        for (int64_t r = 0; r < ranges; r++)
            for (int64_t l = 0; l < range[r].count; l++)
                for (int64_t d = 0; d < width; d++)
                    check_store(data, dtype, at++,
                                element(which, h, range[r].first + l, d));
    return data;
}

static void cut(struct own *own)
{
    const struct ranks_case *const c = own->of;

    own->query_ranges = c->is_zigzag && ranks.mpi ? 2 : 1;
    own->queries[0] = (attend_mpi_range){0, c->nq};
    own->keys = (attend_mpi_range){0, c->nk};
    if (ranks.mpi && own->query_ranges == 2)
        ranks.mpi->zigzag(c->nq, ranks.rank, ranks.count, own->queries);
    else if (ranks.mpi)
        own->queries[0] = ranks.mpi->slice(c->nq, ranks.rank, ranks.count);
    if (ranks.mpi)
        own->keys = ranks.mpi->slice(c->nk, ranks.rank, ranks.count);
    for (int x = 0; x < own->query_ranges; x++)
        own->rows += own->queries[x].count;
}

static int prepare(struct own *own)
{
    const struct ranks_case *const c = own->of;
    const int64_t keys = own->keys.count, size = (int64_t)attend_dtype_size(own->dtype);

    own->memory[0] =
        fill(1, own->dtype, c->hq, own->queries, own->query_ranges, own->rows, c->d);
    own->memory[1] = fill(2, own->dtype, c->hkv, &own->keys, 1, keys, c->d);
    own->memory[2] = fill(3, own->dtype, c->hkv, &own->keys, 1, keys, c->d);
    own->memory[3] = tool_zeros(c->hq * own->rows * c->d, attend_dtype_size(own->dtype));
    own->slice_bytes = size * c->d * 2 * (c->hq * own->rows + c->hkv * keys);
    own->rule = attend_rule_default();
    own->rule.causal = c->causal;
    own->io = attend_io_default();
    own->io.q = attend_view_dense(own->memory[0], own->dtype, 1, c->hq, own->rows, c->d);
    own->io.k = attend_view_dense(own->memory[1], own->dtype, 1, c->hkv, keys, c->d);
    own->io.v = attend_view_dense(own->memory[2], own->dtype, 1, c->hkv, keys, c->d);
    own->io.out =
        attend_tensor_dense(own->memory[3], own->dtype, 1, c->hq, own->rows, c->d);
    own->dist = attend_mpi_dist_default();
    own->dist.queries = own->queries;
    own->dist.query_ranges = own->query_ranges;
    own->dist.keys = &own->keys;
    own->dist.key_ranges = 1;
    own->dist.strategy = c->strategy;
    own->dist.cost = &own->cost;
    for (int x = 0; x < 4; x++)
        if (!own->memory[x])
            return tool_fail("bench", TOOL_FAILED, "out of memory for %s", c->name);
    return TOOL_OK;
}

/* ---- times --------------------------------------------------------------------- */

static void on_time(void *user, char what, int peer, int64_t first_key, double start,
                    double end)
{
    const struct own *const own = user;

    fprintf(own->trace,
            "{\"what\": \"%c\", \"peer\": %d, \"key\": %lld, \"start\": %.6f, "
            "\"end\": %.6f}\n",
            what, peer, (long long)first_key, start - own->began, end - own->began);
}

/* Seconds of one call, from when all have come to when all have ended. */
static int call(struct own *own, attend_context *ctx, double *seconds)
{
    attend_error err;
    attend_status status;

    own->began = ranks.mpi ? ranks.mpi->barrier() : tool_seconds();
    if (ranks.mpi)
        status = ranks.mpi->forward(ctx, &own->rule, &own->io, &own->dist, &err);
    else
        status = attend_forward(ctx, &own->rule, &own->io, &err);
    *seconds = (ranks.mpi ? ranks.mpi->barrier() : tool_seconds()) - own->began;
    return ranks_status("bench", status, &err);
}

/* The bits of the outputs, each mixed with its place: any order gives the same sum. */
static uint64_t checksum(const struct own *own)
{
    const size_t size = attend_dtype_size(own->dtype);
    const char *data = own->memory[3];
    uint64_t sum = 0;

    for (int64_t h = 0; h < own->of->hq; h++)
        for (int x = 0; x < own->query_ranges; x++)
            for (int64_t l = 0; l < own->queries[x].count; l++)
                for (int64_t d = 0; d < own->of->d; d++, data += size) {
                    const int64_t row = own->queries[x].first + l;
                    uint64_t bits = 0;

                    memcpy(&bits, data, size);
                    sum += mix(bits ^ mix(((uint64_t)h << 48) ^ ((uint64_t)row << 12) ^
                                          (uint64_t)d));
                }
    return sum;
}

/* Results of one rank, or of all ranks together. */
struct line {
    uint64_t checksum;
    attend_mpi_cost cost;
    int64_t slice_bytes;
    double peak; /* largest growth of the process's memory, in bytes */
};

static int order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int report(const struct own *own, const attend_context *ctx,
                  const struct bench_ranks_request *request, const struct line *lines,
                  double seconds[REPEATS])
{
    const struct ranks_case *const c = own->of;
    const double pairs = c->causal ? 0.5 * (double)c->nq * (double)(c->nq + 1) +
                                         (double)c->nq * (double)(c->nk - c->nq)
                                   : (double)c->nq * (double)c->nk;
    const double flop = 4.0 * pairs * (double)(c->hq * c->d);
    struct line all = {.checksum = 0};
    double memory = 0, peak = 0, waiting = 0, computing = 0;

    qsort(seconds, REPEATS, sizeof *seconds, order);
    for (int r = 0; r < ranks.count; r++) {
        const double share = (double)lines[r].cost.memory / (double)lines[r].slice_bytes;

        all.checksum += lines[r].checksum;
        all.cost.sent += lines[r].cost.sent;
        all.cost.messages += lines[r].cost.messages;
        memory = share > memory ? share : memory;
        peak = fmax(peak, lines[r].peak / (double)lines[r].slice_bytes);
        waiting = lines[r].cost.waiting > waiting ? lines[r].cost.waiting : waiting;
        computing += lines[r].cost.computing / ranks.count;
    }
    char text[20];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)all.checksum);
    const double middle = seconds[REPEATS / 2];
    if (request->as_json) {
        struct lab_json json;

        tool_open_json(&json);
        lab_json_put(&json,
                     "case:s dtype:s ranks:i threads:i isa:s seconds:r min_seconds:r "
                     "gflops:r sent_bytes:l messages:l computing:r waiting:r "
                     "memory_over_slices:r resident_over_slices:r checksum:s",
                     c->name, attend_dtype_name(own->dtype), ranks.count,
                     attend_context_threads(ctx), attend_context_isa(ctx), middle,
                     seconds[0], flop / middle * 1e-9, (int64_t)all.cost.sent,
                     (int64_t)all.cost.messages, computing, waiting, 1 + memory, peak,
                     text);
        return tool_print_json("bench", &json);
    }
    printf("%-22s %-5s %3d x %-3d %9.3f s %9.1f GFLOP/s %10.3f MB sent  memory %.2f x "
           "slices, resident %.2f x  %s\n",
           c->name, attend_dtype_name(own->dtype), ranks.count,
           attend_context_threads(ctx), middle, flop / middle * 1e-9,
           (double)all.cost.sent * 1e-6, 1 + memory, peak, text);
    return tool_finish_output("bench", TOOL_OK);
}

static int time_case(struct own *own, attend_context *ctx,
                     const struct bench_ranks_request *request)
{
    struct line *const lines = tool_zeros(ranks.count, sizeof *lines);
    double seconds[REPEATS], warm;
    attend_error err;

    own->memory_before = bench_resident_begin();
    int status = ranks_agree(lines ? prepare(own) : TOOL_FAILED);
    if (!status)
        status = call(own, ctx, &warm);
    for (int x = 0; x < REPEATS && !status; x++) {
        own->dist.trace = own->trace && x == REPEATS - 1 ? on_time : NULL;
        own->dist.trace_user = own;
        status = call(own, ctx, &seconds[x]);
    }
    if (!status) {
        lines[ranks.rank] = (struct line){checksum(own), own->cost, own->slice_bytes,
                                          bench_resident_peak() - own->memory_before};
        if (ranks.mpi)
            status = ranks_status(
                "bench", ranks.mpi->allgather(lines, sizeof *lines, ranks.count, &err),
                &err);
    }
    if (!status && ranks.rank == 0)
        status = report(own, ctx, request, lines, seconds);
    free(lines);
    return ranks_agree(status);
}

int bench_ranks(attend_context *ctx, const struct bench_ranks_request *request)
{
    int status = TOOL_OK, count = 0;
    char path[4096];
    FILE *trace = NULL;

    if (request->trace) {
        snprintf(path, sizeof path, "%.4000s.%d", request->trace, ranks.rank);
        trace = fopen(path, "w");
        if (!trace)
            status =
                tool_fail("bench", TOOL_USAGE, "--trace: %s cannot be written", path);
    }
    status = ranks_agree(status);
    for (int c = 0; c < CASES && !status; c++) {
        struct own own = {.of = &cases[c],
                          .dtype = request->dtype ? request->dtype : cases[c].dtype,
                          .trace = trace};

        if (fnmatch(request->pattern, cases[c].name, 0) != 0)
            continue;
        count++;
        cut(&own);
        status = time_case(&own, ctx, request);
        for (int x = 0; x < 4; x++)
            free(own.memory[x]);
    }
    if (trace)
        fclose(trace);
    if (!status && count == 0)
        status = tool_fail("bench", TOOL_USAGE, "--case: no case of --mpi matches '%s'",
                           request->pattern);
    return status;
}
