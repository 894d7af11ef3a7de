/* SPDX-License-Identifier: MIT */
/* Row statistics from the sums of rows, and the summaries of heads. */
#include "core/row_stats_read.h"
#include "cuda/tile.cuh"

/* A group of `step` threads that share a row; `first` is this thread's index. */
struct sharing {
    int first, step;
};

__device__ void store_numbers(const attend_tensor &to, int64_t b, int64_t h, int64_t i,
                              const double *numbers, int count, struct sharing by)
{
    for (int x = by.first; x < count; x += by.step)
        store_any(to.data, to.dtype, view_offset(to.stride, b, h, i) + x * to.stride[3],
                  numbers[x]);
}

/* Stores the requested statistics of a row, as core/row_stats.c does on the host. */
__device__ void store_row(const struct problem &p, int64_t index, const double *sums,
                          const struct stats_products &products, struct sharing by)
{
    const struct stats &s = p.stats;
    const int64_t b = index / p.nq / p.hq, h = index / p.nq % p.hq, i = index % p.nq;
    struct row_stats row;

    if (s.raw.data)
        store_numbers(s.raw, b, h, i, sums, s.sums_length, by);
    if (sums[ROW_MAX] == -CUDART_INF)
        attendi_stats_no_keys(&row);
    else if (isnan(sums[ROW_MAX]))
        attendi_stats_not_numbers(&row, sums[ROW_KEYS]);
    else
        attendi_stats_read(&p, sums, &products, by.first, by.step, &row);
    for (int c = by.first; s.rows.data && c < s.columns; c += by.step)
        store_any(s.rows.data, s.rows.dtype,
                  view_offset(s.rows.stride, b, h, i) + c * s.rows.stride[3],
                  row.value[s.column[c]]);
    if (s.top_weights.data)
        store_numbers(s.top_weights, b, h, i, row.top_weight, s.named, by);
    for (int x = by.first; s.top_keys && x < s.named; x += by.step)
        s.top_keys[index * s.named + x] = row.top_key[x];
    if (s.distances.data)
        store_numbers(s.distances, b, h, i, row.bin, s.bins, by);
    if (s.class_mass.data)
        store_numbers(s.class_mass, b, h, i, row.class_mass, s.class_count, by);
    if (s.digest && by.first == 0)
        attendi_stats_digest(s.digest + index * ATTEND_SUMMARY_COUNT, row.value);
}

/* Rows first .. first + count - 1, one thread each; the loads are coalesced. */
__device__ void read_short_records(const struct launch &a, double *staged, int64_t first,
                                   int count)
{
    const int length = a.p.stats.sums_length, own = (int)threadIdx.x;
    const double *const records = a.sums + first * length;

    __syncthreads();
#pragma unroll 8
    for (int y = own; y < count * length; y += TILE_THREADS)
        staged[y] = records[y];
    __syncthreads();
    if (own < count) {
        const double *const sums = staged + own * length;
        store_row(a.p, first + own, sums, attendi_stats_products(&a.p.stats, sums, 0, 1),
                  {0, 1});
    }
}

/* One row, by the threads of a warp. */
__device__ void read_record(const struct launch &a, double *staged, int64_t x)
{
    const int length = a.p.stats.sums_length, lane = (int)threadIdx.x % 32;
    const double *const record = a.sums + x * length;
    const double *sums = record;

    if (length <= STATS_STAGED) {
        double *const own = staged + (int)threadIdx.x / 32 * STATS_STAGED;

        __syncwarp();
#pragma unroll 8
        for (int y = lane; y < length; y += 32)
            own[y] = record[y];
        __syncwarp();
        sums = own;
    }
    /* Every lane sums a short record in order: the bits of one thread per row. */
    const bool is_short = length <= STATS_SHORT;
    struct stats_products products =
        attendi_stats_products(&a.p.stats, sums, is_short ? 0 : lane, is_short ? 1 : 32);

    for (int o = 1; o < 32 && !is_short; o *= 2) {
        products.output2 += __shfl_xor_sync(~0u, products.output2, o);
        for (int kind = 0; kind < 2; kind++)
            products.inner[kind] += __shfl_xor_sync(~0u, products.inner[kind], o);
    }
    store_row(a.p, x, sums, products, {lane, 32});
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    attend_stats_rows(const __grid_constant__ struct launch a)
{
    __shared__ double staged[TILE_THREADS * STATS_SHORT];
    const int64_t rows = a.p.nb * a.p.hq * a.p.nq;
    const int64_t grid = (int64_t)gridDim.x * TILE_THREADS;
    static_assert(TILE_THREADS / 32 * STATS_STAGED <= TILE_THREADS * STATS_SHORT,
                  "records of the warps");

    if (stats_rows_by_threads(a.p.stats.sums_length, rows))
        for (int64_t x = (int64_t)blockIdx.x * TILE_THREADS; x < rows; x += grid)
            read_short_records(a, staged, x, (int)min_i64(TILE_THREADS, rows - x));
    else
        for (int64_t x = ((int64_t)blockIdx.x * TILE_THREADS + threadIdx.x) / 32;
             x < rows; x += grid / 32)
            read_record(a, staged, x);
}

/* ---- summaries ------------------------------------------------------------ */

struct part {
    double sum, squares, least, most;
    long long rows;
};

__device__ inline int summary_bin(int what, double x)
{
    const double width = what == ATTEND_SUMMARY_MARGIN ? ATTEND_SUMMARY_MARGIN_BIN
                                                       : 1.0 / ATTEND_SUMMARY_BINS;
    const double bin = floor(x / width);

    return bin < 0 ? 0 : bin < ATTEND_SUMMARY_BINS ? (int)bin : ATTEND_SUMMARY_BINS - 1;
}

/* Sum over the threads of a CTA, by a tree; all threads get it. */
__device__ double sum_of_block(double x, double *memory)
{
    __syncthreads();
    memory[threadIdx.x] = x;
    for (int o = TILE_THREADS / 2; o > 0; o /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < o)
            memory[threadIdx.x] += memory[threadIdx.x + o];
    }
    __syncthreads();
    return memory[0];
}

/* Rows first .. end - 1 of a head, in two passes: the sd has no cancellation. */
__device__ void summarise(const double *digest, int what, int64_t first, int64_t end,
                          attend_summary *to)
{
    __shared__ double memory[TILE_THREADS], least[TILE_THREADS], most[TILE_THREADS];
    __shared__ unsigned long long bins[ATTEND_SUMMARY_BINS];
    double sum = 0, squares = 0, rows = 0, low = CUDART_INF, high = -CUDART_INF;

    __syncthreads();
    if (threadIdx.x < ATTEND_SUMMARY_BINS)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = first + threadIdx.x; i < end; i += TILE_THREADS) {
        const double x = digest[i * ATTEND_SUMMARY_COUNT + what];

        if (isnan(x))
            continue;
        atomicAdd(&bins[summary_bin(what, x)], 1ull);
        rows += 1;
        low = fmin(low, x);
        high = fmax(high, x);
        sum += x;
    }
    least[threadIdx.x] = low;
    most[threadIdx.x] = high;
    rows = sum_of_block(rows, memory);
    const double mean = sum_of_block(sum, memory) / rows;
    for (int64_t i = first + threadIdx.x; i < end; i += TILE_THREADS) {
        const double x = digest[i * ATTEND_SUMMARY_COUNT + what];

        if (!isnan(x))
            squares += (x - mean) * (x - mean);
    }
    squares = sum_of_block(squares, memory);
    if (threadIdx.x < ATTEND_SUMMARY_BINS)
        to->histogram[threadIdx.x] = (int64_t)bins[threadIdx.x];
    if (threadIdx.x != 0)
        return;
    for (int x = 0; x < TILE_THREADS; x++) {
        low = fmin(low, least[x]);
        high = fmax(high, most[x]);
    }
    to->rows = (int64_t)rows;
    to->mean = rows > 0 ? mean : CUDART_NAN;
    to->sd = rows > 0 ? sqrt(squares / rows) : CUDART_NAN;
    to->min = rows > 0 ? low : CUDART_NAN;
    to->max = rows > 0 ? high : CUDART_NAN;
}

/* One summary per CTA. */
extern "C" __global__ void __launch_bounds__(TILE_THREADS, 1)
    attend_summaries(const __grid_constant__ struct launch a)
{
    const struct problem &p = a.p;
    const int64_t tenths = ATTEND_SUMMARY_GROUPS - 1;

    for (int64_t item = blockIdx.x; item < a.items; item += gridDim.x) {
        const int64_t group = item % ATTEND_SUMMARY_GROUPS;
        const int64_t rest = item / ATTEND_SUMMARY_GROUPS;
        const int what = (int)(rest % p.stats.summary_kinds);
        const int64_t head = rest / p.stats.summary_kinds, x = group - 1;
        char *const to = (char *)p.stats.summaries + item * p.stats.summary_stride;

        __syncthreads();
        for (int64_t y = threadIdx.x; y < p.stats.summary_stride / 8; y += TILE_THREADS)
            ((int64_t *)to)[y] = 0;
        __syncthreads();
        if (what < ATTEND_SUMMARY_COUNT)
            summarise(p.stats.digest + head * p.nq * ATTEND_SUMMARY_COUNT, what,
                      group == 0 ? 0 : ceil_div_i64(p.nq * x, tenths),
                      group == 0 ? p.nq : ceil_div_i64(p.nq * (x + 1), tenths),
                      (attend_summary *)to);
    }
}
