/* SPDX-License-Identifier: MIT */
/*
 * Sums of row statistics in separate passes, so that the bits of O do not change.  The
 * first pass over the keys finds the largest scores, the second sums relative to the row
 * max, in double.  Eight threads per row.  stats_read.cu computes statistics from the
 * sums.
 */
#include "cuda/general/stats_tile.cuh"

/* Loads in flight per thread: in short calls load latency dominates. */
enum { AT_ONCE = 16 };

/* Row max, number and mean of the scores, and the top keys. */
template <class T, class E>
__device__ void find_largest(struct stats_memory<T> &s, const struct problem &p,
                             bool keeps)
{
    const int r = (int)threadIdx.x / ROW_THREADS, lane = (int)threadIdx.x % ROW_THREADS;
    const int count = max(1, p.stats.top);
    struct top_list<T> top;
    double keys = 0, sum = 0;
    int bad = 0;

    top.clear();
    for (int64_t j = s.tile.first / TILE_KEYS * TILE_KEYS; j < s.tile.end;
         j += TILE_KEYS) {
        const int block = (int)min_i64(TILE_KEYS, p.nk - j);

        tile_scores<T, E>(s.tile, p, j, block);
        if (keeps)
            keep_scores(s, j);
        for (int x = lane; x < block; x += ROW_THREADS) {
            const T score = s.tile.score[r][x];

            if (score == (T)-CUDART_INF)
                continue;
            keys += 1;
            sum += (double)score;
            if (!(score < (T)CUDART_INF))
                bad = 1;
            else
                top.insert(count, score, (int)(j + x));
        }
    }
    keys = sum_of_row(keys);
    sum = sum_of_row(sum);
    for (int o = 1; o < ROW_THREADS; o *= 2)
        bad |= __shfl_xor_sync(~0u, bad, o);
    top.merge();
    if (lane == 0) {
#pragma unroll
        for (int x = 0; x < ATTEND_TOP_MAX; x++) {
            s.top_score[r][x] = top.score[x];
            s.top_key[r][x] = top.key[x];
        }
        s.m[r] = top.score[0];
        s.best[r] = top.key[0] == INT32_MAX ? -1 : top.key[0];
        s.mean[r] = keys > 0 ? sum / keys : 0;
        s.keys[r] = keys;
        s.not_number[r] = bad;
    }
    __syncthreads();
}

/* |v| of the block's keys, by two threads each. */
template <class T, class E>
__device__ void find_norms(struct stats_memory<T> &s, const struct problem &p, int64_t j,
                           int block)
{
    const int x = (int)threadIdx.x / 2, half = (int)threadIdx.x % 2;
    double squares = 0;

    if (x < block) {
        const E *const v = (const E *)p.v.data +
                           view_offset(p.v.stride, s.tile.b, s.tile.h / p.group, j + x);
        for (int64_t c = half; c < p.dv; c += 2 * AT_ONCE) {
            T value[AT_ONCE];
#pragma unroll
            for (int y = 0; y < AT_ONCE; y++)
                value[y] =
                    c + 2 * y < p.dv ? load_number(v + (c + 2 * y) * p.v.stride[3]) : 0;
#pragma unroll
            for (int y = 0; y < AT_ONCE; y++)
                squares += (double)value[y] * (double)value[y];
        }
    }
    squares += __shfl_xor_sync(~0u, squares, 1);
    if (x < block && half == 0)
        s.norm[x] = sqrt(squares);
}
static_assert(TILE_THREADS == 2 * TILE_KEYS, "two threads per key");

/*
 * Sums of e v, e^2 v and (e score)^2 v over the block.  A thread computes one column of
 * several rows, ROWS at a time; if there are few columns, threads divide the rows of a
 * column.
 */
template <int ROWS, class T, class E>
__device__ void add_values_of(struct stats_memory<T> &s, const struct launch &a,
                              int64_t j, int block)
{
    enum { LOADS = ROWS > 1 ? AT_ONCE / 2 : AT_ONCE }; /* registers are few */
    const struct problem &p = a.p;
    const struct sums_layout &layout = p.stats.sums;
    const int columns = p.dv > TILE_THREADS / 2 ? TILE_THREADS : TILE_THREADS / 2;
    const int step = TILE_THREADS / columns * ROWS;
    const int64_t stride = p.v.stride[2];
    const E *const values =
        (const E *)p.v.data + view_offset(p.v.stride, s.tile.b, s.tile.h / p.group, j);

    for (int64_t c = (int)threadIdx.x % columns; c < p.dv; c += columns)
        for (int first = (int)threadIdx.x / columns * ROWS; first < s.tile.rows;
             first += step) {
            double sum[ROWS][3] = {};
            const E *const of_column = values + c * p.v.stride[3];
            T next[LOADS];
            auto load = [&](int x) {
#pragma unroll
                for (int z = 0; z < LOADS; z++)
                    next[z] =
                        x + z < block ? load_number(of_column + (x + z) * stride) : 0;
            };

            load(0);
#pragma unroll 1
            for (int x0 = 0; x0 < block; x0 += LOADS) {
                T now[LOADS];
#pragma unroll
                for (int z = 0; z < LOADS; z++)
                    now[z] = next[z];
                if (x0 + LOADS < block)
                    load(x0 + LOADS);
#pragma unroll
                for (int z = 0; z < LOADS; z++) {
                    const int x = x0 + z; /* past the block: weight 0, value 0 */
                    const double v = now[z];
                    const bool is_finite = isfinite(v);
#pragma unroll
                    for (int y = 0; y < ROWS; y++) {
                        const double e = s.weight[first + y][x];
                        /* Hidden keys: V is read as 0, since 0 * Inf is NaN. */
                        const double value =
                            is_finite || s.tile.score[first + y][x] != (T)-CUDART_INF ? v
                                                                                      : 0;

                        sum[y][0] += e * value;
                        sum[y][1] += e * e * value;
                        sum[y][2] += s.other[first + y][x] * value;
                    }
                }
            }
            for (int y = 0; y < ROWS && first + y < s.tile.rows; y++) {
                const int64_t head = s.tile.b * p.hq + s.tile.h;
                double *const record =
                    a.sums + (head * p.nq + s.tile.i + first + y) * p.stats.sums_length;

                record[attendi_sums_values(&layout) + c] += sum[y][0];
                if (layout.key_noise)
                    record[attendi_sums_noise(&layout, 0) + 2 + c] += sum[y][1];
                if (layout.magnitude_noise)
                    record[attendi_sums_noise(&layout, 1) + 2 + c] += sum[y][2];
            }
        }
}
static_assert(TILE_KEYS % AT_ONCE == 0, "no key past the tile");

template <class T, class E>
__device__ void add_value_sums(struct stats_memory<T> &s, const struct launch &a,
                               int64_t j, int block)
{
    if (s.tile.rows <= 2)
        add_values_of<1, T, E>(s, a, j, block);
    else
        add_values_of<4, T, E>(s, a, j, block);
}

/* Sums of e over keys from .. to of the block that begins at key j. */
template <class T>
__device__ double sum_of_keys(const struct stats_memory<T> &s, int r, int64_t j,
                              int block, int64_t from, int64_t to, double sum)
{
    const int64_t first = min_i64(max_i64(from - j, 0), block),
                  last = max_i64(min_i64(to - j, block - 1), -1);

#pragma unroll 8
    for (int x = (int)first; x <= (int)last; x++)
        sum += s.weight[r][x];
    return sum;
}

/*
 * Sums of e by distance and by class, each by one thread in the order of keys.  Bin b
 * holds distances from 2^b - 1 on: two ranges of keys.
 */
template <class T>
__device__ void add_distances_and_classes(const struct stats_memory<T> &s,
                                          const struct launch &a, int64_t j, int block,
                                          double *records)
{
    const struct stats &stats = a.p.stats;
    const int each = stats.bins + stats.class_count;
    const int64_t most = (int64_t)1 << 62;

    for (int y = (int)threadIdx.x; y < s.tile.rows * each; y += TILE_THREADS) {
        const int r = y / each, b = y % each, c = b - stats.bins;
        double *const record = records + r * stats.sums_length;

        if (b < stats.bins) {
            const int64_t at = s.tile.position[r];
            const int64_t near = b < 62 ? ((int64_t)1 << b) - 1 : most;
            const int64_t far = b < 61 && b < stats.bins - 1 ? 2 * near : most;
            double *const to = record + attendi_sums_bins(&stats.sums) + b;
            const double before = sum_of_keys(s, r, j, block, at - far, at - near, *to);

            *to = sum_of_keys(s, r, j, block, at + max_i64(near, 1), at + far, before);
        } else {
            double *const to = record + attendi_sums_classes(&stats.sums) + c;
            double sum = *to;

#pragma unroll 8
            for (int x = 0; x < block; x++)
                sum += s.class_of[x] == c ? s.weight[r][x] : 0;
            *to = sum;
        }
    }
}

/* Sums over a thread's keys that are entries of the record. */
struct own_sums {
    double of[ROW_FIXED];
    double noise[2][2]; /* sums of x^2 |v|^2 and x^2; x is e, or e score */
};

/* Weights and logarithms of the block's keys, and their classes, by all threads. */
template <class T>
__device__ void find_weights(struct stats_memory<T> &s, const struct problem &p,
                             int64_t j, int block)
{
    const bool wants_logs = (p.stats.needs & STATS_LOG_DISTANCE) != 0;

    for (int y = (int)threadIdx.x; y < TILE_ROWS * TILE_KEYS; y += TILE_THREADS) {
        const int r = y / TILE_KEYS, x = y % TILE_KEYS;
        if (r >= s.tile.rows)
            break;
        const bool counts = x < block && s.tile.score[r][x] != (T)-CUDART_INF;
        const int64_t gap = s.tile.position[r] - (j + x);

        s.weight[r][x] = counts ? exp((double)s.tile.score[r][x] - s.m[r]) : 0;
        s.other[r][x] = counts && wants_logs ? log1p((double)(gap < 0 ? -gap : gap)) : 0;
    }
    if (p.stats.class_count && (int)threadIdx.x < block)
        s.class_of[threadIdx.x] = p.stats.classes[s.tile.b * p.nk + j + threadIdx.x];
}

template <class T>
__device__ void add_keys(struct stats_memory<T> &s, const struct problem &p, int r,
                         int lane, int64_t j, int block, struct own_sums &own)
{
    const unsigned of_values = STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE;
    const double shift = tile_shift(s.tile, p, r);

    for (int x = lane; x < block && r < s.tile.rows; x += ROW_THREADS) {
        const double score = s.tile.score[r][x], away = score - s.m[r];
        const double e = s.weight[r][x], raw = score - s.mean[r];
        const int64_t key = j + x, gap = s.tile.position[r] - key;
        const double far = (double)(gap < 0 ? -gap : gap);

        if (score == -CUDART_INF)
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
        own.of[ROW_LOG_DISTANCE] += s.other[r][x] * e;
        own.of[ROW_SQUARES] += e * e;
        if (p.stats.needs & of_values) {
            const double norm = s.norm[x], es = e * (score + shift);

            own.of[ROW_NORM] += e * norm;
            own.noise[0][0] += e * e * norm * norm;
            own.noise[0][1] += e * e;
            own.noise[1][0] += es * es * norm * norm;
            own.noise[1][1] += es * es;
            s.other[r][x] = es * es;
        }
    }
}

/*
 * scale^2 |q|^2 of row r.  Threads of the row load adjacent columns, and each adds all
 * columns in order.  Called by all threads.
 */
template <class T, class E>
__device__ double query_squares(const struct tile<T> &t, const struct problem &p, int r,
                                int lane)
{
    enum { LOADS = 4 };
    const int first_thread = (int)threadIdx.x % 32 / ROW_THREADS * ROW_THREADS;
    const E *const q =
        (const E *)p.q.data + view_offset(p.q.stride, t.b, t.h, t.i + min(r, t.rows - 1));
    double squares = 0;

    for (int64_t c = 0; c < p.d; c += LOADS * ROW_THREADS) {
        T own[LOADS];
#pragma unroll
        for (int x = 0; x < LOADS; x++) {
            const int64_t at = c + x * ROW_THREADS + lane;
            own[x] = at < p.d ? load_number(q + at * p.q.stride[3]) : 0;
        }
#pragma unroll
        for (int x = 0; x < LOADS; x++)
            for (int y = 0; y < ROW_THREADS; y++) {
                const double value = __shfl_sync(~0u, own[x], first_thread + y);
                squares += value * value;
            }
    }
    return p.scale * p.scale * squares;
}

/* Writes the record of a row from the sums of its threads. */
template <class T>
__device__ void write_record(struct stats_memory<T> &s, const struct problem &p, int r,
                             const struct own_sums &sums, double query2, double *record)
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
    record[ROW_QUERY2] = query2;
    for (int x = 0; x < layout.top; x++) {
        const int key = s.top_key[r][x];

        top[x] = key == INT32_MAX ? -CUDART_INF : (double)s.top_score[r][x] + shift;
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
    const int64_t tiles = ceil_div_i64(p.nq, a.stats_rows);
    const int64_t first = item % tiles * a.stats_rows, head = item / tiles;
    const int r = (int)threadIdx.x / ROW_THREADS, lane = (int)threadIdx.x % ROW_THREADS;
    const int length = p.stats.sums_length;
    struct own_sums own = {};

    tile_begin(s.tile, p, head / p.hq, head % p.hq, first,
               min_i64(p.nq, first + a.stats_rows));
    double *const records = a.sums + (head * p.nq + s.tile.i) * length;
    for (int64_t x = threadIdx.x; x < (int64_t)s.tile.rows * length; x += TILE_THREADS)
        records[x] = 0;
    const bool keeps = keeps_scores(s.tile);
    find_largest<T, E>(s, p, keeps);
    for (int64_t j = s.tile.first / TILE_KEYS * TILE_KEYS; j < s.tile.end;
         j += TILE_KEYS) {
        const int block = (int)min_i64(TILE_KEYS, p.nk - j);

        if (keeps)
            take_scores(s, j);
        else
            tile_scores<T, E>(s.tile, p, j, block);
        if (p.stats.needs & of_values)
            find_norms<T, E>(s, p, j, block);
        find_weights(s, p, j, block);
        __syncthreads();
        add_keys(s, p, r, lane, j, block, own);
        __syncthreads();
        if (p.stats.needs & (STATS_BINS | STATS_CLASSES))
            add_distances_and_classes(s, a, j, block, records);
        if (p.stats.sums.columns)
            add_value_sums<T, E>(s, a, j, block);
    }
    const double query2 =
        p.stats.sums.columns || p.stats.needs & (STATS_KEY_NOISE | STATS_NORM)
            ? query_squares<T, E>(s.tile, p, r, lane)
            : 0;
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
        write_record(s, p, r, own, query2, record);
    }
}

/* CTAS: minimum CTAs per SM, for __launch_bounds__. */
#define STATS(name, E, CTAS)                                                             \
    extern "C" __global__ void __launch_bounds__(TILE_THREADS, CTAS)                     \
        attend_stats_##name(const __grid_constant__ struct launch a)                     \
    {                                                                                    \
        for (int64_t item = blockIdx.x; item < a.items; item += gridDim.x)               \
            stats_item<E>(a, item);                                                      \
    }
STATS(f64, double, 2)
STATS(f32, float, 3)
STATS(f16, __half, 3)
STATS(bf16, __nv_bfloat16, 3)
