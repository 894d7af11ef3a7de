/* SPDX-License-Identifier: MIT */
/*
 * A tile of row statistics in shared memory: its weights, the largest scores of its rows,
 * and, where rows are few, the scores of all keys.
 */
#ifndef ATTEND_CUDA_STATS_TILE_CUH
#define ATTEND_CUDA_STATS_TILE_CUH

#include "cuda/tile.cuh"

enum { ROW_THREADS = TILE_THREADS / TILE_ROWS };

template <class T> struct stats_memory {
    struct tile<T> tile;
    double weight[TILE_ROWS][TILE_KEYS]; /* e = exp(score - m); 0 for hidden keys */
    /* ln(1 + distance); after the key is counted, (e score)^2, 0 for hidden keys. */
    double other[TILE_ROWS][TILE_KEYS];
    double norm[TILE_KEYS]; /* |v| */
    int class_of[TILE_KEYS];
    double m[TILE_ROWS], mean[TILE_ROWS], keys[TILE_ROWS];
    int64_t best[TILE_ROWS]; /* the first key with score m; -1: none */
    int not_number[TILE_ROWS];
    T top_score[TILE_ROWS][ATTEND_TOP_MAX];
    int top_key[TILE_ROWS][ATTEND_TOP_MAX];
};
static_assert(sizeof(struct stats_memory<double>) <= SHARED_F64 &&
                  sizeof(struct stats_memory<float>) <= SHARED_F32,
              "a CTA is given so much");

/*
 * The largest scores of a set of keys, largest first; of equal scores, the earlier key
 * first.  All indices are compile-time constants, so the list is in registers.
 */
template <class T> struct top_list {
    T score[ATTEND_TOP_MAX];
    int key[ATTEND_TOP_MAX]; /* INT32_MAX: none */
    T least;                 /* the last of the requested ones */

    __device__ void clear()
    {
#pragma unroll
        for (int x = 0; x < ATTEND_TOP_MAX; x++) {
            score[x] = (T)-CUDART_INF;
            key[x] = INT32_MAX;
        }
        least = (T)-CUDART_INF;
    }
    static __device__ bool precedes(T a, int i, T b, int j)
    {
        return a > b || (a == b && i < j);
    }
    __device__ void exchange(int x, int y)
    {
        if (precedes(score[y], key[y], score[x], key[x])) {
            const T s = score[x];
            const int k = key[x];
            score[x] = score[y];
            key[x] = key[y];
            score[y] = s;
            key[y] = k;
        }
    }
    template <int HALF> __device__ void sort_halves()
    {
#pragma unroll
        for (int x = 0; x < ATTEND_TOP_MAX; x++)
            if ((x & HALF) == 0)
                exchange(x, x + HALF);
        if constexpr (HALF > 1)
            sort_halves<HALF / 2>();
    }
    /* Inserts a key that is later than all keys in the list. */
    __device__ void insert(int count, T s, int k)
    {
        if (!(s > least))
            return;
#pragma unroll
        for (int x = 0; x < ATTEND_TOP_MAX; x++)
            if (s > score[x]) {
                const T other = score[x];
                const int other_key = key[x];
                score[x] = s;
                key[x] = k;
                s = other;
                k = other_key;
            }
        least = score[0];
#pragma unroll
        for (int x = 1; x < ATTEND_TOP_MAX; x++)
            least = x < count ? score[x] : least;
    }
    /*
     * Merges the lists of the threads of a row.  Of two lists, one of them backwards, the
     * larger of each pair are the largest of both.  These rise, then fall; exchanges
     * at half of the length, a quarter and so on sort them.
     */
    __device__ void merge()
    {
#pragma unroll
        for (int o = 1; o < ROW_THREADS; o *= 2) {
            T s[ATTEND_TOP_MAX];
            int k[ATTEND_TOP_MAX];
#pragma unroll
            for (int x = 0; x < ATTEND_TOP_MAX; x++) {
                s[x] = __shfl_xor_sync(~0u, score[ATTEND_TOP_MAX - 1 - x], o);
                k[x] = __shfl_xor_sync(~0u, key[ATTEND_TOP_MAX - 1 - x], o);
            }
#pragma unroll
            for (int x = 0; x < ATTEND_TOP_MAX; x++)
                if (precedes(s[x], k[x], score[x], key[x])) {
                    score[x] = s[x];
                    key[x] = k[x];
                }
            sort_halves<ATTEND_TOP_MAX / 2>();
        }
    }
};
static_assert((ATTEND_TOP_MAX & (ATTEND_TOP_MAX - 1)) == 0, "halves of halves");

__device__ inline double sum_of_row(double x)
{
    for (int o = 1; o < ROW_THREADS; o *= 2)
        x += __shfl_xor_sync(~0u, x, o);
    return x;
}

/*
 * A tile of few rows keeps its scores for the second pass, where they fit: block x in
 * rows (x + 1) rows .. of the weights, of which the second pass uses the first.
 */
template <class T> __device__ bool keeps_scores(const struct tile<T> &t)
{
    const int64_t blocks = ceil_div_i64(t.end, TILE_KEYS) - t.first / TILE_KEYS;

    return blocks > 0 && (blocks + 1) * t.rows <= TILE_ROWS;
}

template <class T> __device__ int kept_row(const struct tile<T> &t, int64_t j)
{
    return (int)(j / TILE_KEYS - t.first / TILE_KEYS + 1) * t.rows;
}

template <class T> __device__ void keep_scores(struct stats_memory<T> &s, int64_t j)
{
    const int at = kept_row(s.tile, j);

    for (int y = (int)threadIdx.x; y < s.tile.rows * TILE_KEYS; y += TILE_THREADS)
        s.weight[at + y / TILE_KEYS][y % TILE_KEYS] =
            s.tile.score[y / TILE_KEYS][y % TILE_KEYS];
}

/* Begins and ends with a barrier, as tile_scores() does. */
template <class T> __device__ void take_scores(struct stats_memory<T> &s, int64_t j)
{
    const int at = kept_row(s.tile, j);

    __syncthreads();
    for (int y = (int)threadIdx.x; y < s.tile.rows * TILE_KEYS; y += TILE_THREADS)
        s.tile.score[y / TILE_KEYS][y % TILE_KEYS] =
            (T)s.weight[at + y / TILE_KEYS][y % TILE_KEYS];
    __syncthreads();
}

#endif
