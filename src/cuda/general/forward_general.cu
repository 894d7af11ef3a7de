/* SPDX-License-Identifier: MIT */
/*
 * Attention for any problem: online softmax over blocks of keys, splits in a binary tree.
 *
 *     for each split:  m = -inf, l = 0, acc = 0
 *         for each block of TILE_KEYS keys:  scores -> weights -> l, acc
 *         push (m, l, acc) on a stack with one entry per level of the tree; combine two
 *         entries of a level as a binary counter carries
 *
 * A CTA computes TILE_ROWS rows of one head and TILE_THREADS columns of V, a thread one
 * column.  No number of a row depends on another row.
 */
#include "cuda/tile.cuh"

/* m and l of rows by level of the tree; each thread has its column of acc. */
template <class T> struct tree {
    T m[TREE_LEVELS][TILE_ROWS], l[TREE_LEVELS][TILE_ROWS];
};

template <class T> struct forward_memory {
    struct tile<T> tile;
    T weight[TILE_KEYS][TILE_ROWS]; /* -0: hidden */
    T m[TILE_ROWS], l[TILE_ROWS], rescale[TILE_ROWS], other[TILE_ROWS];
    struct tree<T> tree;
};
static_assert(sizeof(struct forward_memory<double>) <= SHARED_F64 &&
                  sizeof(struct forward_memory<float>) <= SHARED_F32,
              "a CTA is given so much");

/* Computes weights, m and l; eight threads per row.  Returns whether a key is hidden. */
template <class T> __device__ bool update_rows(struct forward_memory<T> &s)
{
    const int r = (int)threadIdx.x / 8, lane = (int)threadIdx.x % 8;
    const T m_old = s.m[r];
    T m = m_old, sum = 0;
    bool hidden = false;

    for (int x = lane; x < TILE_KEYS; x += 8)
        m = fmax(m, s.tile.score[r][x]);
    for (int o = 1; o < 8; o *= 2)
        m = fmax(m, __shfl_xor_sync(~0u, m, o));
    const T base = m == (T)-CUDART_INF ? (T)0 : m;
    for (int x = lane; x < TILE_KEYS; x += 8) {
        const bool seen = s.tile.seen[r][x];
        const T w = seen ? exp_of(s.tile.score[r][x] - base) : (T)-0.0;

        s.weight[x][r] = w;
        sum += seen ? w : (T)0;
        hidden |= !seen;
    }
    for (int o = 1; o < 8; o *= 2)
        sum += __shfl_xor_sync(~0u, sum, o);
    const T rescale = m == m_old ? (T)1 : exp_of(m_old - base);
    __syncwarp();
    if (lane == 0) {
        s.m[r] = m;
        s.l[r] = fma(s.l[r], rescale, sum);
        s.rescale[r] = rescale;
    }
    return hidden;
}

/* acc = acc rescale + sum w v for one column; `v` points to the block's first key. */
template <class T, class E>
__device__ void add_values(const struct forward_memory<T> &s, bool hidden, const E *v,
                           int64_t stride, int keys, T (&acc)[TILE_ROWS])
{
    T part[TILE_ROWS];

#pragma unroll
    for (int r = 0; r < TILE_ROWS; r++)
        part[r] = 0;
    if (hidden) {
        for (int x = 0; x < keys; x++) {
            const T value = (T)load_number(v + x * stride);
#pragma unroll
            for (int r = 0; r < TILE_ROWS; r++) {
                const T w = s.weight[x][r];
                part[r] = fma(w, signbit(w) ? (T)0 : value, part[r]);
            }
        }
    } else {
#pragma unroll 4
        for (int x = 0; x < keys; x++) {
            const T value = (T)load_number(v + x * stride);
#pragma unroll
            for (int r = 0; r < TILE_ROWS; r++)
                part[r] = fma(s.weight[x][r], value, part[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < TILE_ROWS; r++)
        acc[r] = fma(acc[r], s.rescale[r], part[r]);
}

template <class T> __device__ inline T tree_factor(T m, T top)
{
    return m == top ? (T)1 : exp_of(m - top);
}

/* Combines a level of the tree, whose keys come first, with the current m, l, acc. */
template <class T>
__device__ void combine_level(struct forward_memory<T> &s, int level,
                              const T (&before)[TILE_ROWS], T (&acc)[TILE_ROWS])
{
    __syncthreads();
    if (threadIdx.x < TILE_ROWS) {
        const int r = (int)threadIdx.x;
        const T a = s.tree.m[level][r], b = s.m[r], top = fmax(a, b);
        const T f = tree_factor(a, top), g = tree_factor(b, top);

        s.other[r] = f;
        s.rescale[r] = g;
        s.l[r] = s.tree.l[level][r] * f + s.l[r] * g;
        s.m[r] = top;
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < TILE_ROWS; r++)
        acc[r] = before[r] * s.other[r] + acc[r] * s.rescale[r];
    __syncthreads();
}

template <class T> __device__ void push_level(struct forward_memory<T> &s, int level)
{
    __syncthreads();
    if (threadIdx.x < TILE_ROWS) {
        s.tree.m[level][threadIdx.x] = s.m[threadIdx.x];
        s.tree.l[level][threadIdx.x] = s.l[threadIdx.x];
    }
    __syncthreads();
}

template <class T> __device__ void clear_rows(struct forward_memory<T> &s)
{
    __syncthreads();
    if (threadIdx.x < TILE_ROWS) {
        s.m[threadIdx.x] = (T)-CUDART_INF;
        s.l[threadIdx.x] = 0;
    }
    __syncthreads();
}

/* One split: keys lo .. hi - 1; its blocks are aligned to `start`. */
template <class T, class E>
__device__ void forward_split(struct forward_memory<T> &s, const struct problem &p,
                              int64_t start, int64_t lo, int64_t hi, int64_t column,
                              T (&acc)[TILE_ROWS])
{
    const int64_t skip = (lo - start) / TILE_KEYS * TILE_KEYS;

    clear_rows(s);
#pragma unroll
    for (int r = 0; r < TILE_ROWS; r++)
        acc[r] = 0;
    for (int64_t j = start + skip; j < hi; j += TILE_KEYS) {
        const int keys = (int)min_i64(TILE_KEYS, hi - j);

        tile_scores<T, E>(s.tile, p, j, keys);
        const bool hidden = __syncthreads_or(update_rows(s));
        if (column < p.dv)
            add_values<T, E>(
                s, hidden,
                (const E *)p.v.data +
                    view_offset(p.v.stride, s.tile.b, s.tile.h / p.group, j) +
                    column * p.v.stride[3],
                p.v.stride[2], keys, acc);
    }
    __syncthreads();
}

/* Adds the sink logit, normalises, and stores O and LSE. */
template <class T>
__device__ void store_rows(struct forward_memory<T> &s, const struct launch &a,
                           int64_t column, const T (&acc)[TILE_ROWS])
{
    const struct problem &p = a.p;
    const struct tile<T> &t = s.tile;
    const double sink = p.sinks ? p.sinks[t.h] : -CUDART_INF;

    __syncthreads();
    for (int r = 0; r < t.rows; r++) {
        const double l = s.l[r], shift = tile_shift(t, p, r), m = s.m[r] + shift;
        const bool empty = l == 0;
        const double top = sink > m ? sink : m;
        const double raise = m == top ? 1 : exp(m - top);
        const double sum = sink == -CUDART_INF ? l : l * raise + exp(sink - top);
        const double factor = empty ? 0 : raise / sum;

        if (column < p.dv)
            store_any(p.out.data, p.out.dtype,
                      view_offset(p.out.stride, t.b, t.h, t.i + r) +
                          column * p.out.stride[3],
                      empty ? 0.0 : (double)acc[r] * factor + 0.0);
        if (threadIdx.x != 0 || column != 0)
            continue;
        if (p.lse.data)
            store_any(p.lse.data, p.lse.dtype,
                      view_offset(p.lse.stride, t.b, t.h, t.i + r),
                      empty ? sink : top + log(sum));
        if (a.norms)
            a.norms[(t.b * p.hq + t.h) * p.nq + t.i + r] = {(double)s.m[r], factor};
    }
}

/* Stores (m, l, acc) of each row as record `record` of `records`. */
template <class T>
__device__ void store_records(struct forward_memory<T> &s, const attend_tensor &records,
                              int64_t dv, int64_t record, int64_t column,
                              const T (&acc)[TILE_ROWS])
{
    const struct tile<T> &t = s.tile;

    __syncthreads();
    for (int r = 0; r < t.rows; r++) {
        T *const to = (T *)records.data + view_offset(records.stride, t.b, t.h, t.i + r) +
                      record * (dv + 2);

        if (column < dv)
            to[2 + column] = acc[r];
        if (threadIdx.x == 0 && column == 0) {
            to[0] = s.l[r] == s.l[r] ? s.m[r] : (T)CUDART_INF;
            to[1] = s.l[r];
        }
    }
}

/* Keys lo .. hi - 1 in splits that start at lo, combined in the tree. */
template <class T, class E>
__device__ void forward_tree(struct forward_memory<T> &s, const struct launch &a,
                             int64_t lo, int64_t hi, int64_t column, T (&acc)[TILE_ROWS])
{
    const struct problem &p = a.p;
    const int64_t split = p.split_keys;
    const int64_t from = max_i64(lo, s.tile.first), end = min_i64(hi, s.tile.end);
    T stack[TREE_LEVELS][TILE_ROWS];
    unsigned full = 0;

    clear_rows(s);
#pragma unroll
    for (int r = 0; r < TILE_ROWS; r++)
        acc[r] = 0;
    if (from >= end)
        return;
    for (int64_t n = (from - lo) / split; lo + n * split < end; n++) {
        const int64_t start = lo + n * split;
        int level = 0;

        forward_split<T, E>(s, p, start, max_i64(start, from),
                            min_i64(start + split, end), column, acc);
        for (; n >> level & 1; level++)
            if (full >> level & 1) {
                combine_level(s, level, stack[level], acc);
                full &= ~(1u << level);
            }
        if (lo + (n + 1) * split >= end && full == 0)
            return;
        push_level(s, level);
        for (int r = 0; r < TILE_ROWS; r++)
            stack[level][r] = acc[r];
        full |= 1u << level;
    }
    /* The remaining levels of an incomplete tree, latest keys first. */
    int level = __ffs((int)full) - 1;
    if (threadIdx.x < TILE_ROWS) {
        s.m[threadIdx.x] = s.tree.m[level][threadIdx.x];
        s.l[threadIdx.x] = s.tree.l[level][threadIdx.x];
    }
    for (int r = 0; r < TILE_ROWS; r++)
        acc[r] = stack[level][r];
    for (level++; level < TREE_LEVELS; level++)
        if (full >> level & 1)
            combine_level(s, level, stack[level], acc);
}

/* Keys of record `index` of a shard, as core/shard.c computes them on the host. */
__device__ struct key_range shard_record_keys(const struct shard &shard, int64_t index)
{
    const int64_t splits = ceil_div_i64(shard.keys, ATTEND_SPLIT_KEYS);
    const int64_t first = shard.first_key / ATTEND_SPLIT_KEYS;
    int64_t at = shard.reduce ? 0 : index, size = 1;

    for (int64_t x = 0; shard.reduce; x++) {
        size = 1;
        while ((first + at) % (2 * size) == 0 && at + 2 * size <= splits)
            size *= 2;
        if (x == index)
            break;
        at += size;
    }
    return {at * ATTEND_SPLIT_KEYS, min_i64((at + size) * ATTEND_SPLIT_KEYS, shard.keys)};
}

template <class E> __device__ void forward_item(const struct launch &a, int64_t item)
{
    typedef typename wide_of<E>::type T;
    extern __shared__ __align__(16) unsigned char memory[];
    struct forward_memory<T> &s = *(struct forward_memory<T> *)memory;
    const struct problem &p = a.p;
    const int64_t chunk = item % a.chunks, group = item / a.chunks % a.groups;
    const int64_t rest = item / a.chunks / a.groups;
    const int64_t tile = rest % a.tiles, head = rest / a.tiles;
    const int64_t column = chunk * TILE_THREADS + threadIdx.x;
    T acc[TILE_ROWS];
    struct key_range keys = {0, p.nk};

    if (a.p.shard)
        keys = shard_record_keys(a.shard, group);
    else if (a.groups > 1) {
        keys.lo = group * a.group_splits * p.split_keys;
        keys.hi = min_i64(p.nk, keys.lo + a.group_splits * p.split_keys);
    }
    tile_begin(s.tile, p, head / p.hq, head % p.hq, tile * TILE_ROWS, p.nq);
    forward_tree<T, E>(s, a, keys.lo, keys.hi, column, acc);
    if (a.p.shard || a.groups > 1)
        store_records(s, a.records, p.dv, group, column, acc);
    else
        store_rows(s, a, column, acc);
}

#define FORWARD(name, E)                                                                 \
    extern "C" __global__ void __launch_bounds__(TILE_THREADS, 1)                        \
        attend_forward_##name(const __grid_constant__ struct launch a)                   \
    {                                                                                    \
        for (int64_t item = blockIdx.x; item < a.items; item += gridDim.x)               \
            forward_item<E>(a, item);                                                    \
    }
FORWARD(f64, double)
FORWARD(f32, float)
FORWARD(f16, __half)
FORWARD(bf16, __nv_bfloat16)

/* The level of the lowest common ancestor of splits a and b. */
__device__ inline int ancestor_level(int64_t a, int64_t b) { return 63 - __clzll(a ^ b); }

template <class T>
__device__ void load_records(struct forward_memory<T> &s, const struct launch &a,
                             int64_t record, int64_t column, T (&acc)[TILE_ROWS])
{
    const struct tile<T> &t = s.tile;

    __syncthreads();
    for (int r = 0; r < TILE_ROWS; r++) {
        const T *const from = (const T *)a.records.data +
                              view_offset(a.records.stride, t.b, t.h, t.i + r) +
                              record * (a.p.dv + 2);

        acc[r] = r < t.rows && column < a.p.dv ? from[2 + column] : (T)0;
        if (threadIdx.x == 0) {
            s.m[r] = r < t.rows ? from[0] : (T)-CUDART_INF;
            s.l[r] = r < t.rows ? from[1] : (T)0;
        }
    }
    __syncthreads();
}

/*
 * Combines the records of each row in the tree, and stores O and LSE, or one record of a
 * shard.  Record x starts at split start[x], or x.  m, l and acc are those of the latest
 * node; the top of the stack is combined with it once the next record is in another
 * subtree.
 */
template <class T> __device__ void combine_item(const struct launch &a, int64_t item)
{
    extern __shared__ __align__(16) unsigned char memory[];
    struct forward_memory<T> &s = *(struct forward_memory<T> *)memory;
    const struct problem &p = a.p;
    const int64_t chunk = item % a.chunks, rest = item / a.chunks;
    const int64_t tile = rest % a.tiles, head = rest / a.tiles;
    const int64_t column = chunk * TILE_THREADS + threadIdx.x;
    T acc[TILE_ROWS], stack[TREE_LEVELS][TILE_ROWS];
    int64_t split_of_level[TREE_LEVELS], split = a.start ? a.start[0] : 0;
    int depth = 0;

    tile_begin(s.tile, p, head / p.hq, head % p.hq, tile * TILE_ROWS, p.nq);
    load_records(s, a, 0, column, acc);
    for (int64_t x = 1; x <= a.groups; x++) {
        const int64_t next = x == a.groups ? -1 : a.start ? a.start[x] : x;

        while (depth > 0 &&
               (next < 0 || ancestor_level(split_of_level[depth - 1], split) <
                                ancestor_level(split, next))) {
            depth--;
            combine_level(s, depth, stack[depth], acc);
            split = split_of_level[depth];
        }
        if (next < 0)
            break;
        push_level(s, depth);
        for (int r = 0; r < TILE_ROWS; r++)
            stack[depth][r] = acc[r];
        split_of_level[depth++] = split;
        split = next;
        load_records(s, a, x, column, acc);
    }
    if (p.shard)
        store_records(s, p.records, p.dv, a.record, column, acc);
    else
        store_rows(s, a, column, acc);
}

#define COMBINE(name, T)                                                                 \
    extern "C" __global__ void __launch_bounds__(TILE_THREADS, 1)                        \
        attend_combine_##name(const __grid_constant__ struct launch a)                   \
    {                                                                                    \
        for (int64_t item = blockIdx.x; item < a.items; item += gridDim.x)               \
            combine_item<T>(a, item);                                                    \
    }
COMBINE(f64, double)
COMBINE(f32, float)

/* P of a tile of rows and keys, relative to the row_norm of each row. */
template <class E> __device__ void weights_item(const struct launch &a, int64_t item)
{
    typedef typename wide_of<E>::type T;
    extern __shared__ __align__(16) unsigned char memory[];
    struct tile<T> &t = *(struct tile<T> *)memory;
    const struct problem &p = a.p;
    const int64_t blocks = ceil_div_i64(p.nk, TILE_KEYS), block = item % blocks;
    const int64_t tile = item / blocks % a.tiles, head = item / blocks / a.tiles;
    const int64_t j = block * TILE_KEYS;
    const int keys = (int)min_i64(TILE_KEYS, p.nk - j);

    tile_begin(t, p, head / p.hq, head % p.hq, tile * TILE_ROWS, p.nq);
    tile_scores<T, E>(t, p, j, keys);
    for (int x = (int)threadIdx.x; x < t.rows * TILE_KEYS; x += TILE_THREADS) {
        const int r = x / TILE_KEYS, key = x % TILE_KEYS;

        if (key >= keys)
            continue;
        const struct row_norm norm = a.norms[head * p.nq + t.i + r];
        const T m = norm.m == -CUDART_INF ? (T)0 : (T)norm.m;
        const double weight =
            t.seen[r][key] ? (double)exp_of(t.score[r][key] - m) * norm.factor : 0.0;

        store_any(p.weights.data, p.weights.dtype,
                  view_offset(p.weights.stride, t.b, t.h, t.i + r) +
                      (j + key) * p.weights.stride[3],
                  weight);
    }
}

#define WEIGHTS(name, E)                                                                 \
    extern "C" __global__ void __launch_bounds__(TILE_THREADS, 1)                        \
        attend_weights_##name(const __grid_constant__ struct launch a)                   \
    {                                                                                    \
        for (int64_t item = blockIdx.x; item < a.items; item += gridDim.x)               \
            weights_item<E>(a, item);                                                    \
    }
WEIGHTS(f64, double)
WEIGHTS(f32, float)
WEIGHTS(f16, __half)
WEIGHTS(bf16, __nv_bfloat16)
