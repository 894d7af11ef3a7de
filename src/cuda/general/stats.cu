/* SPDX-License-Identifier: MIT */
/*
 * Row statistics in passes of their own, so that they change no bit of O.  The first pass
 * over the keys finds the largest scores, the second sums relative to the row max, in
 * double.  Eight threads per row.  A second kernel computes the statistics from these
 * sums, a third the summaries of heads.
 */
#include "core/row_stats_read.h"
#include "cuda/tile.cuh"

enum { ROW_THREADS = TILE_THREADS / TILE_ROWS };

template <class T> struct stats_memory {
    struct tile<T> tile;
    double weight[TILE_ROWS][TILE_KEYS]; /* e = exp(score - m); 0 for hidden keys */
    double norm[TILE_KEYS];              /* |v| */
    double m[TILE_ROWS], mean[TILE_ROWS], keys[TILE_ROWS];
    int64_t best[TILE_ROWS]; /* the first key of score m; -1: none */
    int not_number[TILE_ROWS];
    T top_score[TILE_ROWS][ROW_THREADS][ATTEND_TOP_MAX];
    int top_key[TILE_ROWS][ROW_THREADS][ATTEND_TOP_MAX];
};
static_assert(sizeof(struct stats_memory<double>) <= SHARED_F64 &&
                  sizeof(struct stats_memory<float>) <= SHARED_F32,
              "a CTA is given so much");

/* The largest scores of a thread's keys; of equal scores, the earlier key first. */
template <class T> struct top_list {
    T score[ATTEND_TOP_MAX];
    int key[ATTEND_TOP_MAX];
};

template <class T>
__device__ void top_insert(struct top_list<T> &top, int count, T score, int key)
{
    for (int x = 0; x < count; x++) {
        if (!(score > top.score[x] || (score == top.score[x] && key < top.key[x])))
            continue;
        const T other = top.score[x];
        const int other_key = top.key[x];
        top.score[x] = score;
        top.key[x] = key;
        score = other;
        key = other_key;
    }
}

__device__ inline double sum_of_row(double x)
{
    for (int o = 1; o < ROW_THREADS; o *= 2)
        x += __shfl_xor_sync(~0u, x, o);
    return x;
}

/* Row max, number and mean of the scores, and the top keys. */
template <class T, class E>
__device__ void find_largest(struct stats_memory<T> &s, const struct problem &p)
{
    const int r = (int)threadIdx.x / ROW_THREADS, lane = (int)threadIdx.x % ROW_THREADS;
    const int count = max(1, p.stats.top);
    struct top_list<T> top;
    double keys = 0, sum = 0;
    int bad = 0;

    for (int x = 0; x < ATTEND_TOP_MAX; x++) {
        top.score[x] = (T)-CUDART_INF;
        top.key[x] = INT32_MAX;
    }
    for (int64_t j = s.tile.first / TILE_KEYS * TILE_KEYS; j < s.tile.end;
         j += TILE_KEYS) {
        const int block = (int)min_i64(TILE_KEYS, p.nk - j);

        tile_scores<T, E>(s.tile, p, j, block);
        for (int x = lane; x < block; x += ROW_THREADS) {
            const T score = s.tile.score[r][x];

            if (score == (T)-CUDART_INF)
                continue;
            keys += 1;
            sum += (double)score;
            if (!(score < (T)CUDART_INF))
                bad = 1;
            else
                top_insert(top, count, score, (int)(j + x));
        }
    }
    keys = sum_of_row(keys);
    sum = sum_of_row(sum);
    for (int o = 1; o < ROW_THREADS; o *= 2)
        bad |= __shfl_xor_sync(~0u, bad, o);
    for (int x = 0; x < ATTEND_TOP_MAX; x++) {
        s.top_score[r][lane][x] = top.score[x];
        s.top_key[r][lane][x] = top.key[x];
    }
    __syncthreads();
    if (lane == 0) {
        for (int y = 1; y < ROW_THREADS; y++)
            for (int x = 0; x < count; x++)
                if (s.top_key[r][y][x] != INT32_MAX)
                    top_insert(top, count, s.top_score[r][y][x], s.top_key[r][y][x]);
        for (int x = 0; x < ATTEND_TOP_MAX; x++) {
            s.top_score[r][0][x] = top.score[x];
            s.top_key[r][0][x] = top.key[x];
        }
        s.m[r] = top.score[0];
        s.best[r] = top.key[0] == INT32_MAX ? -1 : top.key[0];
        s.mean[r] = keys > 0 ? sum / keys : 0;
        s.keys[r] = keys;
        s.not_number[r] = bad;
    }
    __syncthreads();
}

/* |v| of the block's keys. */
template <class T, class E>
__device__ void find_norms(struct stats_memory<T> &s, const struct problem &p, int64_t j,
                           int block)
{
    const int x = (int)threadIdx.x;
    double squares = 0;

    if (x < block) {
        const E *const v = (const E *)p.v.data +
                           view_offset(p.v.stride, s.tile.b, s.tile.h / p.group, j + x);
        for (int64_t c = 0; c < p.dv; c++) {
            const double value = load_number(v + c * p.v.stride[3]);
            squares += value * value;
        }
        s.norm[x] = sqrt(squares);
    }
}

/* Sums of e v, e^2 v and (e score)^2 v over the block, one column per thread. */
template <class T, class E>
__device__ void add_value_sums(struct stats_memory<T> &s, const struct launch &a,
                               int64_t j, int block)
{
    const struct problem &p = a.p;
    const struct sums_layout &layout = p.stats.sums;
    const bool noise[2] = {layout.key_noise != 0, layout.magnitude_noise != 0};

    for (int64_t c = threadIdx.x; c < p.dv; c += TILE_THREADS)
        for (int r = 0; r < s.tile.rows; r++) {
            double *const record =
                a.sums + ((s.tile.b * p.hq + s.tile.h) * p.nq + s.tile.i + r) *
                             p.stats.sums_length;
            const double shift = tile_shift(s.tile, p, r);
            double values = 0, squares[2] = {0, 0};

            for (int x = 0; x < block; x++) {
                const double e = s.weight[r][x], score = s.tile.score[r][x];

                if (score == -CUDART_INF)
                    continue;
                const double v = load_number(
                    (const E *)p.v.data +
                    view_offset(p.v.stride, s.tile.b, s.tile.h / p.group, j + x) +
                    c * p.v.stride[3]);
                const double es = e * (score + shift);

                values += e * v;
                squares[0] += e * e * v;
                squares[1] += es * es * v;
            }
            record[attendi_sums_values(&layout) + c] += values;
            for (int kind = 0; kind < 2; kind++)
                if (noise[kind])
                    record[attendi_sums_noise(&layout, kind) + 2 + c] += squares[kind];
        }
}

__device__ inline int distance_bin(int64_t far, int bins)
{
    const int bin = 63 - __clzll(1 + far);

    return bin < bins ? bin : bins - 1;
}

/* Sums of e by distance and by class, by one thread per row in the order of keys. */
template <class T>
__device__ void add_distances_and_classes(const struct stats_memory<T> &s,
                                          const struct launch &a, int r, int64_t j,
                                          int block, double *record)
{
    const struct problem &p = a.p;
    const struct stats &stats = p.stats;

    for (int x = 0; x < block; x++) {
        const double e = s.weight[r][x];
        const int64_t gap = s.tile.position[r] - (j + x);

        if (s.tile.score[r][x] == (T)-CUDART_INF)
            continue;
        if (stats.bins)
            record[attendi_sums_bins(&stats.sums) +
                   distance_bin(gap < 0 ? -gap : gap, stats.bins)] += e;
        if (stats.class_count) {
            const int cls = stats.classes[s.tile.b * p.nk + j + x];
            if (cls >= 0 && cls < stats.class_count)
                record[attendi_sums_classes(&stats.sums) + cls] += e;
        }
    }
}

/* Sums over a thread's keys that are entries of the record. */
struct own_sums {
    double of[ROW_FIXED];
    double noise[2][2]; /* sums of x^2 |v|^2 and x^2; x is e, or e score */
};

template <class T>
__device__ void add_keys(struct stats_memory<T> &s, const struct problem &p, int r,
                         int lane, int64_t j, int block, struct own_sums &own)
{
    const unsigned of_values = STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE;
    const double shift = tile_shift(s.tile, p, r);

    for (int x = lane; x < block; x += ROW_THREADS) {
        const double score = s.tile.score[r][x], away = score - s.m[r];
        const bool counts = score != -CUDART_INF;
        const double e = counts ? exp(away) : 0, raw = score - s.mean[r];
        const int64_t key = j + x, gap = s.tile.position[r] - key;
        const double far = (double)(gap < 0 ? -gap : gap);

        s.weight[r][x] = e;
        if (!counts)
            continue;
        own.of[ROW_REST] += key == s.best[r] ? 0 : e;
        own.of[ROW_SPREAD] += away * e;
        own.of[ROW_SPREAD2] += away * away * e;
        own.of[ROW_RAW_M2] += raw * raw;
        own.of[ROW_SINK1] += key == 0 ? e : 0;
        own.of[ROW_SINK4] += key < 4 ? e : 0;
        for (int y = 0; y < SUMS_NEAR_KEYS; y++)
            own.of[ROW_NEAR + y] += gap == y ? e : 0;
        own.of[ROW_DISTANCE] += far * e;
        if (p.stats.needs & STATS_LOG_DISTANCE)
            own.of[ROW_LOG_DISTANCE] += log1p(far) * e;
        own.of[ROW_SQUARES] += e * e;
        if (p.stats.needs & of_values) {
            const double norm = s.norm[x], es = e * (score + shift);

            own.of[ROW_NORM] += e * norm;
            own.noise[0][0] += e * e * norm * norm;
            own.noise[0][1] += e * e;
            own.noise[1][0] += es * es * norm * norm;
            own.noise[1][1] += es * es;
        }
    }
}

template <class E>
__device__ double query_squares(const struct problem &p, int64_t b, int64_t h, int64_t i)
{
    const E *const q = (const E *)p.q.data + view_offset(p.q.stride, b, h, i);
    double squares = 0;

    for (int64_t c = 0; c < p.d; c++) {
        const double x = load_number(q + c * p.q.stride[3]);
        squares += x * x;
    }
    return p.scale * p.scale * squares;
}

/* Writes the record of a row from the sums of its threads. */
template <class T, class E>
__device__ void write_record(struct stats_memory<T> &s, const struct problem &p, int r,
                             const struct own_sums &sums, double *record)
{
    const struct sums_layout &layout = p.stats.sums;
    const double shift = tile_shift(s.tile, p, r);
    double *const top = record + attendi_sums_top(&layout);

    record[ROW_KEYS] = s.keys[r];
    record[ROW_MAX] = s.not_number[r] ? CUDART_NAN : s.m[r] + shift;
    if (s.not_number[r] || s.best[r] < 0)
        return;
    for (int x = ROW_REST; x < ROW_FIXED; x++)
        if (x != ROW_KEYS)
            record[x] = sums.of[x];
    record[ROW_RAW_MEAN] = s.mean[r] + shift;
    if (layout.columns || p.stats.needs & (STATS_KEY_NOISE | STATS_NORM))
        record[ROW_QUERY2] = query_squares<E>(p, s.tile.b, s.tile.h, s.tile.i + r);
    for (int x = 0; x < layout.top; x++) {
        const int key = s.top_key[r][0][x];

        top[x] = key == INT32_MAX ? -CUDART_INF : (double)s.top_score[r][0][x] + shift;
        top[layout.top + x] = key == INT32_MAX ? -1 : key;
    }
    const int wanted[2] = {layout.key_noise, layout.magnitude_noise};
    for (int kind = 0; kind < 2; kind++)
        if (wanted[kind]) {
            double *const noise = record + attendi_sums_noise(&layout, kind);
            noise[0] = sums.noise[kind][0];
            noise[1] = sums.noise[kind][1];
        }
}

template <class E> __device__ void stats_item(const struct launch &a, int64_t item)
{
    typedef typename wide_of<E>::type T;
    extern __shared__ __align__(16) unsigned char memory[];
    struct stats_memory<T> &s = *(struct stats_memory<T> *)memory;
    const struct problem &p = a.p;
    const unsigned of_values = STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE;
    const int64_t tile = item % a.tiles, head = item / a.tiles;
    const int r = (int)threadIdx.x / ROW_THREADS, lane = (int)threadIdx.x % ROW_THREADS;
    const int length = p.stats.sums_length;
    struct own_sums own = {};

    tile_begin(s.tile, p, head / p.hq, head % p.hq, tile * TILE_ROWS, p.nq);
    double *const records = a.sums + (head * p.nq + s.tile.i) * length;
    for (int64_t x = threadIdx.x; x < (int64_t)s.tile.rows * length; x += TILE_THREADS)
        records[x] = 0;
    find_largest<T, E>(s, p);
    for (int64_t j = s.tile.first / TILE_KEYS * TILE_KEYS; j < s.tile.end;
         j += TILE_KEYS) {
        const int block = (int)min_i64(TILE_KEYS, p.nk - j);

        tile_scores<T, E>(s.tile, p, j, block);
        if (p.stats.needs & of_values)
            find_norms<T, E>(s, p, j, block);
        __syncthreads();
        add_keys(s, p, r, lane, j, block, own);
        __syncthreads();
        if (p.stats.needs & (STATS_BINS | STATS_CLASSES) && lane == 0 && r < s.tile.rows)
            add_distances_and_classes(s, a, r, j, block, records + r * length);
        if (p.stats.sums.columns)
            add_value_sums<T, E>(s, a, j, block);
    }
    for (int x = 0; x < ROW_FIXED; x++)
        own.of[x] = sum_of_row(own.of[x]);
    for (int x = 0; x < 4; x++)
        own.noise[x / 2][x % 2] = sum_of_row(own.noise[x / 2][x % 2]);
    __syncthreads();
    if (lane == 0 && r < s.tile.rows) {
        double *const record = records + r * length;

        if (s.not_number[r] || s.best[r] < 0)
            for (int x = 0; x < length; x++)
                record[x] = 0;
        write_record<T, E>(s, p, r, own, record);
    }
}

#define STATS(name, E)                                                                   \
    extern "C" __global__ void __launch_bounds__(TILE_THREADS, 1)                        \
        attend_stats_##name(const __grid_constant__ struct launch a)                     \
    {                                                                                    \
        for (int64_t item = blockIdx.x; item < a.items; item += gridDim.x)               \
            stats_item<E>(a, item);                                                      \
    }
STATS(f64, double)
STATS(f32, float)
STATS(f16, __half)
STATS(bf16, __nv_bfloat16)

/* ---- statistics from the sums of a row ------------------------------------- */

__device__ void store_numbers(const attend_tensor &to, int64_t b, int64_t h, int64_t i,
                              const double *numbers, int count)
{
    for (int x = 0; x < count; x++)
        store_any(to.data, to.dtype, view_offset(to.stride, b, h, i) + x * to.stride[3],
                  numbers[x]);
}

/* Stores the requested statistics of a row, as core/row_stats.c does on the host. */
__device__ void store_row(const struct problem &p, int64_t b, int64_t h, int64_t i,
                          const double *sums)
{
    const struct stats &s = p.stats;
    const int64_t index = (b * p.hq + h) * p.nq + i;
    struct row_stats row;

    if (s.raw.data)
        store_numbers(s.raw, b, h, i, sums, s.sums_length);
    if (sums[ROW_MAX] == -CUDART_INF)
        attendi_stats_no_keys(&row);
    else if (isnan(sums[ROW_MAX]))
        attendi_stats_not_numbers(&row, sums[ROW_KEYS]);
    else
        attendi_stats_read(&p, sums, &row);
    for (int c = 0; s.rows.data && c < s.columns; c++)
        store_any(s.rows.data, s.rows.dtype,
                  view_offset(s.rows.stride, b, h, i) + c * s.rows.stride[3],
                  row.value[s.column[c]]);
    if (s.top_weights.data)
        store_numbers(s.top_weights, b, h, i, row.top_weight, s.named);
    for (int x = 0; s.top_keys && x < s.named; x++)
        s.top_keys[index * s.named + x] = row.top_key[x];
    if (s.distances.data)
        store_numbers(s.distances, b, h, i, row.bin, s.bins);
    if (s.class_mass.data)
        store_numbers(s.class_mass, b, h, i, row.class_mass, s.class_count);
    if (s.digest)
        attendi_stats_digest(s.digest + index * ATTEND_SUMMARY_COUNT, row.value);
}

/* The longest record, in doubles, that is staged in shared memory. */
enum { STAGED_MOST = 24 };

/* One thread per row; the loads of short records are coalesced. */
extern "C" __global__ void __launch_bounds__(TILE_THREADS)
    attend_stats_rows(const __grid_constant__ struct launch a)
{
    __shared__ double staged[TILE_THREADS * STAGED_MOST];
    const int64_t rows = a.p.nb * a.p.hq * a.p.nq;
    const int length = a.p.stats.sums_length, own = (int)threadIdx.x;

    for (int64_t first = (int64_t)blockIdx.x * TILE_THREADS; first < rows;
         first += (int64_t)gridDim.x * TILE_THREADS) {
        const double *records = a.sums + first * length;
        const int count = (int)min_i64(TILE_THREADS, rows - first);
        const int64_t x = first + own;

        if (length <= STAGED_MOST) {
            __syncthreads();
            for (int y = own; y < count * length; y += TILE_THREADS)
                staged[y] = records[y];
            __syncthreads();
            records = staged;
        }
        if (own < count)
            store_row(a.p, x / a.p.nq / a.p.hq, x / a.p.nq % a.p.hq, x % a.p.nq,
                      records + own * length);
    }
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
