/* SPDX-License-Identifier: MIT */
/*
 * The inspection pass: recomputes P from Q, K and the LSE, and sums it over queries. Sums
 * are in double and in a fixed order.
 */
#include "cuda/tile.cuh"

/* P of row r and key x of a tile. */
template <class T>
__device__ double tile_weight(const struct launch &a, const struct tile<T> &t, int r,
                              int x)
{
    const attend_view &lse = a.inspection.lse;

    if (r >= t.rows || !t.seen[r][x])
        return 0;
    const double of_row =
        load_any(lse.data, lse.dtype, view_offset(lse.stride, t.b, t.h, t.i + r));
    if (of_row == -CUDART_INF)
        return 0;
    return exp((double)t.score[r][x] + (tile_shift(t, a.p, r) - of_row));
}

/* Columns: a CTA has the keys of one tile, and loops over the requested queries. */
template <class E> __device__ void columns_item(const struct launch &a, int64_t item)
{
    typedef typename wide_of<E>::type T;
    extern __shared__ __align__(16) unsigned char memory[];
    struct tile<T> &t = *(struct tile<T> *)memory;
    __shared__ double other[3][TILE_KEYS];
    const struct problem &p = a.p;
    const struct inspection &s = a.inspection;
    const int64_t blocks = ceil_div_i64(p.nk, TILE_KEYS);
    const int64_t head = item / blocks, j = item % blocks * TILE_KEYS;
    const int keys = (int)min_i64(TILE_KEYS, p.nk - j);
    const int key = (int)threadIdx.x % TILE_KEYS;
    const int half = (int)threadIdx.x / TILE_KEYS * (TILE_ROWS / 2);
    double mass = 0, most = 0, last = 0;

    for (int64_t i = s.queries / TILE_ROWS * TILE_ROWS; i < s.queries_end;
         i += TILE_ROWS) {
        tile_begin(t, p, head / p.hq, head % p.hq, i, p.nq);
        if (t.end <= j || t.first >= j + keys)
            continue;
        tile_scores<T, E>(t, p, j, keys);
        for (int r = half; r < half + TILE_ROWS / 2; r++) {
            const double weight = tile_weight(a, t, r, key);

            mass += weight;
            most = fmax(most, weight);
            last += i + r >= s.last_query ? weight : 0;
        }
    }
    __syncthreads();
    if (half > 0) {
        other[0][key] = mass;
        other[1][key] = most;
        other[2][key] = last;
    }
    __syncthreads();
    if (half > 0 || key >= keys)
        return;
    mass += other[0][key];
    most = fmax(most, other[1][key]);
    last += other[2][key];
    const attend_tensor *const to[3] = {&s.column_mass, &s.column_max, &s.column_last};
    const double numbers[3] = {mass, isnan(mass) ? CUDART_NAN : most, last};
    for (int x = 0; x < 3; x++)
        if (to[x]->data)
            store_any(to[x]->data, to[x]->dtype,
                      view_offset(to[x]->stride, head / p.hq, head % p.hq, 0) +
                          (j + key) * to[x]->stride[3],
                      numbers[x]);
}

/* One entry of the pooled map. */
template <class E> __device__ void pooled_item(const struct launch &a, int64_t item)
{
    typedef typename wide_of<E>::type T;
    extern __shared__ __align__(16) unsigned char memory[];
    struct tile<T> &t = *(struct tile<T> *)memory;
    __shared__ double sums[TILE_THREADS];
    const struct problem &p = a.p;
    const struct inspection &s = a.inspection;
    const int64_t columns = s.pooled.size[3], rows = s.pooled.size[2];
    const int64_t column = item % columns, row = item / columns % rows;
    const int64_t head = item / columns / rows;
    const int64_t i_end = min_i64(p.nq, (row + 1) * s.block);
    const int64_t j_end = min_i64(p.nk, (column + 1) * s.block);
    const int key = (int)threadIdx.x % TILE_KEYS;
    const int half = (int)threadIdx.x / TILE_KEYS * (TILE_ROWS / 2);
    double sum = 0;

    for (int64_t i = row * s.block; i < i_end; i += TILE_ROWS) {
        tile_begin(t, p, head / p.hq, head % p.hq, i, i_end);
        for (int64_t j = column * s.block; j < j_end; j += TILE_KEYS) {
            const int keys = (int)min_i64(TILE_KEYS, j_end - j);

            if (t.end <= j || t.first >= j + keys)
                continue;
            tile_scores<T, E>(t, p, j, keys);
            for (int r = half; key < keys && r < half + TILE_ROWS / 2; r++)
                sum += tile_weight(a, t, r, key);
        }
    }
    __syncthreads();
    sums[threadIdx.x] = sum;
    for (int o = TILE_THREADS / 2; o > 0; o /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < o)
            sums[threadIdx.x] += sums[threadIdx.x + o];
    }
    if (threadIdx.x == 0)
        store_any(s.pooled.data, s.pooled.dtype,
                  view_offset(s.pooled.stride, head / p.hq, head % p.hq, row) +
                      column * s.pooled.stride[3],
                  sums[0]);
    __syncthreads();
}

/* A tile of the zoom. */
template <class E> __device__ void zoom_item(const struct launch &a, int64_t item)
{
    typedef typename wide_of<E>::type T;
    extern __shared__ __align__(16) unsigned char memory[];
    struct tile<T> &t = *(struct tile<T> *)memory;
    const struct problem &p = a.p;
    const struct inspection &s = a.inspection;
    const int64_t blocks = ceil_div_i64(s.zoom.size[3], TILE_KEYS);
    const int64_t tiles = ceil_div_i64(s.zoom.size[2], TILE_ROWS);
    const int64_t y = item % blocks * TILE_KEYS, x = item / blocks % tiles * TILE_ROWS;
    const int64_t head = item / blocks / tiles;
    const int keys = (int)min_i64(TILE_KEYS, s.zoom.size[3] - y);

    tile_begin(t, p, head / p.hq, head % p.hq, s.zoom_query + x,
               s.zoom_query + s.zoom.size[2]);
    tile_scores<T, E>(t, p, s.zoom_key + y, keys);
    for (int n = (int)threadIdx.x; n < t.rows * TILE_KEYS; n += TILE_THREADS) {
        const int r = n / TILE_KEYS, key = n % TILE_KEYS;

        if (key < keys)
            store_any(s.zoom.data, s.zoom.dtype,
                      view_offset(s.zoom.stride, t.b, t.h, x + r) +
                          (y + key) * s.zoom.stride[3],
                      tile_weight(a, t, r, key));
    }
}

/* One probe; NaN if it is out of range. */
template <class E> __device__ void probe_item(const struct launch &a, int64_t item)
{
    typedef double T; /* for all inputs: a probe is a double */
    extern __shared__ __align__(16) unsigned char memory[];
    struct tile<T> &t = *(struct tile<T> *)memory;
    const struct problem &p = a.p;
    const attend_probe at = a.inspection.probes[item];

    if (at.b < 0 || at.b >= p.nb || at.h < 0 || at.h >= p.hq || at.i < 0 ||
        at.i >= p.nq || at.j < 0 || at.j >= p.nk) {
        if (threadIdx.x == 0)
            a.inspection.probe_weights[item] = CUDART_NAN;
        return;
    }
    tile_begin(t, p, at.b, at.h, at.i, at.i + 1);
    tile_scores<T, E>(t, p, at.j, 1);
    if (threadIdx.x == 0)
        a.inspection.probe_weights[item] = tile_weight(a, t, 0, 0);
}

#define INSPECT(kind, name, E)                                                           \
    extern "C" __global__ void __launch_bounds__(TILE_THREADS, 1)                        \
        attend_##kind##_##name(const __grid_constant__ struct launch a)                  \
    {                                                                                    \
        for (int64_t item = blockIdx.x; item < a.items; item += gridDim.x)               \
            kind##_item<E>(a, item);                                                     \
    }
#define INSPECT_ALL(kind)                                                                \
    INSPECT(kind, f64, double)                                                           \
    INSPECT(kind, f32, float)                                                            \
    INSPECT(kind, f16, __half)                                                           \
    INSPECT(kind, bf16, __nv_bfloat16)
INSPECT_ALL(columns)
INSPECT_ALL(pooled)
INSPECT_ALL(zoom)
INSPECT_ALL(probe)
