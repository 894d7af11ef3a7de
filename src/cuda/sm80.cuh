/* SPDX-License-Identifier: MIT */
/*
 * Attention on any GPU from Ampere on: bf16 and f16, matrix products of warps (mma.sync)
 * and copies that threads do not wait for (cp.async).  A block of threads has a tile of
 * rows of a head, a warp 16 or 32 of them.  K and V of the blocks of keys come through a
 * ring of slots in shared memory, in the order in which they are used; with three slots:
 *
 *   copies   K0 V0 | K1 | V1 | K2 | V2 ...          under way while they are not used
 *   slot      0  1 |  2 |  0 |  1 |  2
 *
 *   warps    wait K(j) | barrier | begin K(j+1) | S = Q K(j)^T | softmax: P, rescale O
 *            | wait V(j) | barrier | begin V(j+1) | O += P V(j)
 *
 * A barrier says two things: the copies of all threads are there, and all warps are done
 * with what was used before it, whose slot the next copy takes.
 *
 * The softmax counts from the running maximum.  O is rescaled where the maximum of one of
 * the warp's rows rose; the factor of the others is 1.  A block that hides all its keys
 * from a row changes no bit of it, so bits of a row do not depend on the tile's others.
 *
 * A hidden key has weight 0, and 0 times Inf or NaN of V is NaN.  So the threads look for
 * such numbers in blocks that may hide keys and make them 0 in shared memory.  Once the
 * tile is done, they are added to the rows that do see them.
 */
#ifndef ATTEND_CUDA_SM80_CUH
#define ATTEND_CUDA_SM80_CUH

#include "cuda/sm80_rules.cuh"

/*
 * D: columns, padded.  A block of threads has WARPS warps of 16 TILES rows and takes BN
 * keys at a time.  RULED: masks, biases, ALiBi, softcap.  SPLIT: leaves records.
 */
template <class E_, int D_, int WARPS_, int TILES_, int BN_, int SLOTS_, bool RULED_,
          bool SPLIT_>
struct sm80_config {
    typedef E_ E;
    static constexpr int D = D_, WARPS = WARPS_, TILES = TILES_, BN = BN_, SLOTS = SLOTS_;
    static constexpr bool RULED = RULED_, SPLIT = SPLIT_;
    static constexpr int THREADS = 32 * WARPS, BM = 16 * TILES * WARPS;
    static constexpr int PITCH = 2 * D;           /* bytes of a row */
    static constexpr int CHUNKS = D / 8;          /* of 16 bytes, of a row */
    static constexpr int PASS = THREADS / CHUNKS; /* rows that all threads copy at once */
    static constexpr int SLOT = BN * PITCH;
    static constexpr int ACC_PITCH = D + 8; /* floats of a row, so that banks differ */
    static_assert(4 * BM * (ACC_PITCH + 2) <= SM80_SHARED(D, BM, BN, SLOTS), "rows fit");
    static_assert(SM80_SHARED(D, BM, BN, SLOTS) <= SM80_SHARED_MOST, "every GPU has it");
    static_assert(!RULED || (TILES == 1 && BN <= 64), "bits of scores are a word");
    static_assert(SLOTS >= 3, "two copies are under way");
};

/* Chunk c of row r lies at c ^ r % 8: eight rows of a chunk are in different banks. */
DEVICE uint32_t chunk_at(int row, int chunk, int pitch)
{
    return row * pitch + ((chunk ^ (row & 7)) << 4);
}

/* Begins the copy of ROWS rows, `there` of which are; the rest, and columns, are 0. */
template <class C, int ROWS>
DEVICE void copy_rows(uint32_t to, const void *from, int64_t step, int there, int columns)
{
    const int thread = thread_again(), chunk = thread % C::CHUNKS,
              row = thread / C::CHUNKS;
    const int bytes = min(max(2 * (columns - 8 * chunk), 0), 16);
    const char *const at = (const char *)from + 16 * chunk + 2 * row * step;

#pragma unroll
    for (int x = 0; x < ROWS; x += C::PASS)
        copy_16(to + chunk_at(row + x, chunk, C::PITCH), at + 2 * x * step,
                row + x < there ? bytes : 0);
}

/* Whether this thread copied Inf or NaN into a slot. */
template <class C> DEVICE bool has_not_finite(uint32_t slot)
{
    const int thread = thread_again(), chunk = thread % C::CHUNKS,
              row = thread / C::CHUNKS;
    uint32_t bad = 0;

#pragma unroll 4
    for (int x = 0; x < C::BN; x += C::PASS) {
        const uint4 v = load_16(slot + chunk_at(row + x, chunk, C::PITCH));
        bad |= not_finite<typename C::E>(v.x) | not_finite<typename C::E>(v.y) |
               not_finite<typename C::E>(v.z) | not_finite<typename C::E>(v.w);
    }
    return bad != 0;
}
template <class C> DEVICE void make_finite(uint32_t slot)
{
    const int thread = thread_again(), chunk = thread % C::CHUNKS,
              row = thread / C::CHUNKS;

#pragma unroll 1
    for (int x = 0; x < C::BN; x += C::PASS) {
        const uint32_t at = slot + chunk_at(row + x, chunk, C::PITCH);
        const uint4 v = load_16(at);
        store_16(at, make_uint4(made_finite<typename C::E>(v.x),
                                made_finite<typename C::E>(v.y),
                                made_finite<typename C::E>(v.z),
                                made_finite<typename C::E>(v.w)));
    }
}

/* ---- tiles ------------------------------------------------------------------------- */

template <class C> DEVICE struct tile_rows find_tile(const sm80_launch &a, int item)
{
    const int splits = C::SPLIT ? a.splits : 1;
    const int heads = (int)(a.folds ? a.p.hkv : a.p.hq);
    const int rest = item / splits, head = rest / a.row_blocks;
    struct tile_rows t;

    t.split = (int)(item % splits);
    t.first = (a.row_blocks - 1 - (int)(rest % a.row_blocks)) * C::BM; /* longest first */
    t.head = (int)(head % heads);
    t.b = (int)(head / heads);
    t.rows = (int)(a.folds ? a.p.group : a.p.nq);
    find_bounds(a.p, t);
    return t;
}

/* Keys that a row of the tile may see, of those of its split: first and end. */
template <class C> DEVICE int2 find_keys(const sm80_launch &a, const struct tile_rows &t)
{
    const int last = min(t.first + C::BM, t.rows) - 1;
    int begin = row_begin(a, t, t.first), end = row_end(a, t, last);

    if (C::SPLIT) {
        begin = max(begin, t.split * SM80_SPLIT);
        end = min(end, (t.split + 1) * SM80_SPLIT);
    }
    return make_int2(begin, end > begin ? end : begin / C::BN * C::BN);
}

/* The row of this thread's first score, and its key in the block that begins with `key`.
 */
template <class C> DEVICE int own_row(const struct tile_rows &t)
{
    const int thread = thread_again();

    return t.first + 16 * C::TILES * (thread / 32) + thread % 32 / 4;
}
DEVICE int own_key(int key) { return key + 2 * (thread_again() & 3); }

/* Whether causal rule, window and length leave any key of a block to this warp's rows. */
template <class C>
DEVICE bool warp_sees(const sm80_launch &a, const struct tile_rows &t, int key)
{
    const int first = t.first + 16 * C::TILES * (thread_again() / 32);
    const int last = min(first + 16 * C::TILES, t.rows) - 1;

    return first <= last && key + C::BN > row_begin(a, t, first) &&
           key < row_end(a, t, last);
}

/* Blocks that hide no key from any row of the tile: first and end. */
template <class C> DEVICE int2 find_whole(const sm80_launch &a, const struct tile_rows &t)
{
    const int last = min(t.first + C::BM, t.rows) - 1;

    if (C::RULED && a.p.mask.data)
        return make_int2(0, 0);
    return make_int2((row_begin(a, t, last) + C::BN - 1) / C::BN,
                     row_end(a, t, t.first) / C::BN);
}

/* ---- products -----------------------------------------------------------------------
 */

/* S = Q K^T. */
template <class C>
DEVICE void scores(float (&S)[C::TILES][C::BN / 8][4], uint32_t q, uint32_t k)
{
    const int thread = thread_again(), lane = thread & 31;
    const uint32_t q_row = q + (thread / 32 * 16 * C::TILES + (lane & 15)) * C::PITCH,
                   q_at = ((lane >> 4) ^ (lane & 7)) << 4;
    const uint32_t k_row = k + ((lane >> 4) * 8 + (lane & 7)) * C::PITCH,
                   k_at = ((lane >> 3 & 1) ^ (lane & 7)) << 4;
#pragma unroll
    for (int m = 0; m < C::TILES; m++)
#pragma unroll
        for (int n = 0; n < C::BN / 8; n++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                S[m][n][e] = 0;
#pragma unroll
    for (int x = 0; x < C::D / 16; x++) {
        uint32_t a[C::TILES][4];
#pragma unroll
        for (int m = 0; m < C::TILES; m++)
            load_matrices(a[m], q_row + 16 * m * C::PITCH + (q_at ^ (32 * x)));
#pragma unroll
        for (int n = 0; n < C::BN / 8; n += 2) {
            uint32_t b[4];
            load_matrices(b, k_row + 8 * n * C::PITCH + (k_at ^ (32 * x)));
#pragma unroll
            for (int m = 0; m < C::TILES; m++) {
                element<typename C::E>::product(S[m][n], a[m], b[0], b[1]);
                element<typename C::E>::product(S[m][n + 1], a[m], b[2], b[3]);
            }
        }
    }
}

/* Weights as the left factor of their product with V. */
template <class C>
DEVICE void narrow_weights(uint32_t (&P)[C::TILES][C::BN / 16][4],
                           const float (&S)[C::TILES][C::BN / 8][4])
{
#pragma unroll
    for (int m = 0; m < C::TILES; m++)
#pragma unroll
        for (int x = 0; x < C::BN / 16; x++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float *const pair = S[m][2 * x + i / 2] + 2 * (i % 2);
                P[m][x][i] = element<typename C::E>::pair(pair[0], pair[1]);
            }
}

/* O += P V. */
template <class C>
DEVICE void values(float (&O)[C::TILES][C::D / 8][4],
                   const uint32_t (&P)[C::TILES][C::BN / 16][4], uint32_t v)
{
    const int lane = thread_again() & 31;
    const uint32_t v_row = v + (lane & 15) * C::PITCH, v_at = ((lane >> 4) ^ (lane & 7))
                                                              << 4;
#pragma unroll
    for (int x = 0; x < C::BN / 16; x++)
#pragma unroll
        for (int n = 0; n < C::D / 8; n += 2) {
            uint32_t b[4];
            load_transposed(b, v_row + 16 * x * C::PITCH + (v_at ^ (16 * n)));
#pragma unroll
            for (int m = 0; m < C::TILES; m++) {
                element<typename C::E>::product(O[m][n], P[m][x], b[0], b[1]);
                element<typename C::E>::product(O[m][n + 1], P[m][x], b[2], b[3]);
            }
        }
}

/* ---- softmax ------------------------------------------------------------------------
 */

DEVICE float quad_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
DEVICE float quad_sum(float x)
{
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

/* 2 to (x - y) c, where y is that times c already unless a rule may have changed x. */
template <class C> DEVICE float weight_of(float x, float y, float c)
{
    return ex2(C::RULED ? (x - y) * c : __fmaf_rn(x, c, -y));
}

/*
 * Scores become weights.  m is the running maximum of S c, l the sum of a thread's own
 * weights.  Where a rule may change scores m is that of S: S c would take the lowest
 * number, which a bias may be, for -inf.  fmaxf leaves NaN out: its weight is NaN, and so
 * is the row.
 */
template <class C>
DEVICE void softmax(float (&S)[C::TILES][C::BN / 8][4], float (&O)[C::TILES][C::D / 8][4],
                    float (&m)[C::TILES][2], float (&l)[C::TILES][2], float c)
{
    float factor[C::TILES][2];
    bool rose = false;

#pragma unroll
    for (int t = 0; t < C::TILES; t++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float most = S[t][0][2 * r], sum = 0;
#pragma unroll
            for (int n = 0; n < C::BN / 8; n++)
                most = fmaxf(most, fmaxf(S[t][n][2 * r], S[t][n][2 * r + 1]));
            const float top = fmaxf(m[t][r], quad_max(most) * (C::RULED ? 1.f : c));
            const float base = top == -CUDART_INF_F ? 0.f : top;
            factor[t][r] =
                top == m[t][r] ? 1.f : ex2((m[t][r] - base) * (C::RULED ? c : 1.f));
            rose |= top != m[t][r];
            m[t][r] = top;
#pragma unroll
            for (int n = 0; n < C::BN / 8; n++)
#pragma unroll
                for (int e = 2 * r; e < 2 * r + 2; e++) {
                    S[t][n][e] = weight_of<C>(S[t][n][e], base, c);
                    sum += S[t][n][e];
                }
            l[t][r] = __fmaf_rn(l[t][r], factor[t][r], sum);
        }
    if (!__any_sync(~0u, rose))
        return;
#pragma unroll
    for (int t = 0; t < C::TILES; t++)
#pragma unroll
        for (int n = 0; n < C::D / 8; n++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                O[t][n][e] *= factor[t][e / 2];
}

/* ---- the end of rows ----------------------------------------------------------------
 */

/* What the sums of a row are multiplied by; its LSE goes to *to, unless that is NULL. */
DEVICE float end_row(const sm80_launch &a, const struct tile_rows &t, int row, float m,
                     float l, float *to)
{
    if (a.plain && !a.p.sinks) { /* ln 2 in two parts */
        if (to)
            *to = l == 0 ? -CUDART_INF_F
                         : __fmaf_rn(m, 0.693147182464599609375f,
                                     __fmaf_rn(m, -1.904654299957767879e-9f, logf(l)));
        return l == 0 ? 0.f : 1.f / l;
    }
    const double sink = a.p.sinks ? a.p.sinks[head_of(a, t, row)] : -CUDART_INF;
    const double own = m * a.unit + row_shift(a, t, row), top = sink > own ? sink : own;
    const double raise = own == top ? 1 : exp(own - top);
    const double sum = sink == -CUDART_INF ? l : l * raise + exp(sink - top);
    if (to)
        *to = (float)(l == 0 ? sink : top + log(sum));
    return l == 0 ? 0.f : (float)(raise / sum);
}

/* Where the record of a row begins: m, l, acc. */
DEVICE float *record_of(const sm80_launch &a, const struct tile_rows &t, int row)
{
    return a.records +
           ((t.b * a.p.hq + head_of(a, t, row)) * a.splits + t.split) * (a.p.dv + 2);
}

/* m, l and acc of all rows go to shared memory, in the place of Q, K and V. */
template <class C>
DEVICE void leave_rows(const float (&O)[C::TILES][C::D / 8][4],
                       const float (&m)[C::TILES][2], const float (&l)[C::TILES][2],
                       float *acc, float *rows_m, float *rows_l)
{
    const int thread = thread_again(), lane = thread & 31;

#pragma unroll
    for (int x = 0; x < C::TILES; x++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int row = 16 * (C::TILES * (thread / 32) + x) + 8 * r + lane / 4;
            const float sum = quad_sum(l[x][r]);
            float *const to = acc + row * C::ACC_PITCH + 2 * (lane & 3);
#pragma unroll
            for (int n = 0; n < C::D / 8; n++)
                *(float2 *)(to + 8 * n) = make_float2(O[x][n][2 * r], O[x][n][2 * r + 1]);
            rows_m[row] = m[x][r]; /* four threads have the same */
            rows_l[row] = sum;
        }
}

/* Eight columns of a row of O: 16 bytes at once where they may be. */
template <class C>
DEVICE void store_chunk(const sm80_launch &a, int64_t at, const float *from, int column,
                        float factor, bool empty)
{
    typedef typename C::E E;
    float x[8];

#pragma unroll
    for (int e = 0; e < 8; e++)
        x[e] = empty ? 0.f : __fmaf_rn(from[e], factor, 0.f);
    if (a.chunks) {
        *(uint4 *)((E *)a.p.out.data + at + column) =
            make_uint4(element<E>::pair(x[0], x[1]), element<E>::pair(x[2], x[3]),
                       element<E>::pair(x[4], x[5]), element<E>::pair(x[6], x[7]));
        return;
    }
#pragma unroll
    for (int e = 0; e < 8; e++)
        if (column + e >= a.p.dv)
            return;
        else if (a.p.out.dtype == ATTEND_F32)
            ((float *)a.p.out.data)[at + (column + e) * a.p.out.stride[3]] = x[e];
        else
            ((E *)a.p.out.data)[at + (column + e) * a.p.out.stride[3]] =
                element<E>::narrow(x[e]);
}

/* Rows that leave_rows() left.  Factors take the place of l; of m, 0 for empty rows. */
template <class C>
DEVICE void end_rows(const sm80_launch &a, const struct tile_rows &t, const float *acc,
                     float *rows_m, float *rows_l)
{
    const struct lines out = lines_of(a, t, a.p.out.stride),
                       lse = lines_of(a, t, a.p.lse.stride);
    const int own = t.first + (int)threadIdx.x, chunks = ((int)a.p.dv + 7) / 8;

    if (threadIdx.x < C::BM && own < t.rows) {
        const float l = rows_l[threadIdx.x];

        rows_l[threadIdx.x] = end_row(
            a, t, own, rows_m[threadIdx.x], l,
            a.p.lse.data ? (float *)a.p.lse.data + lse.first + own * lse.step : NULL);
        rows_m[threadIdx.x] = l == 0 ? 0.f : 1.f;
    }
    __syncthreads();
    const int rows = min(C::BM, t.rows - t.first);
#pragma unroll 1
    for (int x = (int)threadIdx.x; x < rows * chunks; x += C::THREADS) {
        const int row = x / chunks, column = 8 * (x % chunks);
        store_chunk<C>(a, out.first + (t.first + row) * out.step,
                       acc + row * C::ACC_PITCH + column, column, rows_l[row],
                       rows_m[row] == 0);
    }
}

template <class C>
DEVICE void leave_records(const sm80_launch &a, const struct tile_rows &t,
                          const float *acc, const float *rows_m, const float *rows_l)
{
    for (int row = 0; row < min(C::BM, t.rows - t.first); row++) {
        float *const to = record_of(a, t, t.first + row);

        if (threadIdx.x == 0) {
            to[0] = rows_m[row];
            to[1] = rows_l[row];
        }
        for (int c = (int)threadIdx.x; c < a.p.dv; c += C::THREADS)
            to[2 + c] = acc[row * C::ACC_PITCH + c];
    }
}

/*
 * Inf and NaN of V to the rows that see them, after a block that may hide keys was made
 * finite; a thread has a column.  `seen` is 0 for empty rows.
 */
template <class C>
__device__ __noinline__ void mark_rows(const sm80_launch &a, int item, const float *seen)
{
    typedef typename C::E E;
    const struct problem &p = a.p;
    const struct tile_rows t = find_tile<C>(a, item);
    const int2 keys = find_keys<C>(a, t);
    const E *const v =
        (const E *)p.v.data +
        view_offset(p.v.stride, t.b, a.folds ? t.head : t.head / p.group, 0);
    const struct lines out = lines_of(a, t, p.out.stride);
    const int last = min(t.first + C::BM, t.rows);

    for (int c = (int)threadIdx.x; c < p.dv; c += C::THREADS)
        for (int j = keys.x; j < keys.y; j++) {
            const float x = load_number(v + j * p.v.stride[2] + c);

            for (int row = t.first; row < last && !isfinite(x); row++) {
                if (j < row_begin(a, t, row) || j >= row_end(a, t, row) ||
                    !mask_shows(p, t.b, head_of(a, t, row), query_of(a, row), j))
                    continue;
                const int64_t at = out.first + row * out.step + c * p.out.stride[3];
                if (C::SPLIT)
                    record_of(a, t, row)[2 + c] += x;
                else if (seen[row - t.first] != 0)
                    store_any(p.out.data, p.out.dtype, at,
                              load_any(p.out.data, p.out.dtype, at) + x);
            }
        }
}

/* ---- a tile -------------------------------------------------------------------------
 */

/*
 * A tile as all threads read it, from shared memory where they need it: registers are for
 * O and S.
 */
struct kept_tile {
    struct tile_rows t;
    int from, to, whole_from, whole_to; /* blocks of keys */
    const void *q, *k, *v;              /* row `first` of the tile, key 0 */
    int64_t q_step;
    int item, spoilt; /* spoilt: a block of V was made finite */
};

template <class C>
DEVICE void keep_tile(const sm80_launch &a, int item, struct kept_tile &kept)
{
    typedef typename C::E E;
    const struct problem &p = a.p;
    const struct tile_rows t = find_tile<C>(a, item);
    const int2 keys = find_keys<C>(a, t), whole = find_whole<C>(a, t);
    const int64_t kv = a.folds ? t.head : t.head / p.group;
    const struct lines q = lines_of(a, t, p.q.stride);

    kept.t = t;
    kept.from = keys.x / C::BN;
    kept.to = (keys.y + C::BN - 1) / C::BN;
    kept.whole_from = whole.x;
    kept.whole_to = whole.y;
    kept.q = (const E *)p.q.data + q.first + t.first * q.step;
    kept.q_step = q.step;
    kept.item = item;
    kept.spoilt = 0;
    kept.k = (const E *)p.k.data + view_offset(p.k.stride, t.b, kv, 0);
    kept.v = (const E *)p.v.data + view_offset(p.v.stride, t.b, kv, 0);
}

/* Begins the copy of block j of K or V; an empty group where there is none. */
template <class C>
DEVICE void copy_block(uint32_t slot, const void *const &from, int64_t step, int64_t nk,
                       int64_t columns, int j, int to)
{
    if (j < to)
        copy_rows<C, C::BN>(slot, (const typename C::E *)from + j * C::BN * step, step,
                            (int)nk - j * C::BN, (int)columns);
    copy_commit();
}

/* Returns the tile that it was given. */
template <class C> DEVICE int sm80_item(const sm80_launch &a, int item)
{
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ struct kept_tile kept;
    float *const acc = (float *)memory, *const rows_m = acc + C::BM * C::ACC_PITCH,
                 *const rows_l = rows_m + C::BM;
    const struct problem &p = a.p;
    const struct tile_rows &t = kept.t;
    const uint32_t q = shared_address(memory), ring = q + C::BM * C::PITCH;
    float O[C::TILES][C::D / 8][4], m[C::TILES][2], l[C::TILES][2];

    __syncthreads(); /* the tile before is done */
    if (threadIdx.x == 0)
        keep_tile<C>(a, item, kept);
    __syncthreads();
    auto copy_k = [&](int slot, int j) {
        copy_block<C>(ring + slot * C::SLOT, kept.k, p.k.stride[2], p.nk, p.d, j,
                      kept.to);
    };
    auto copy_v = [&](int slot, int j) {
        copy_block<C>(ring + slot * C::SLOT, kept.v, p.v.stride[2], p.nk, p.dv, j,
                      kept.to);
    };
    copy_rows<C, C::BM>(q, kept.q, kept.q_step, t.rows - t.first, (int)p.d);
    copy_k(0, kept.from); /* in one group with Q */
    copy_v(1, kept.from);
    if (C::SLOTS > 3)
        copy_k(2, kept.from + 1);
#pragma unroll
    for (int x = 0; x < C::TILES; x++) {
#pragma unroll
        for (int n = 0; n < C::D / 8; n++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                O[x][n][e] = 0;
        m[x][0] = m[x][1] = -CUDART_INF_F;
        l[x][0] = l[x][1] = 0;
    }
    /* `slot` is the one in use; the one before it is the one that became free. */
    int slot = 0;
    auto freed = [&]() { return slot == 0 ? C::SLOTS - 1 : slot - 1; };
    auto advance = [&]() { slot = slot + 1 == C::SLOTS ? 0 : slot + 1; };
    for (int j = kept.from; j < kept.to; j++) {
        const bool whole = j >= kept.whole_from && j < kept.whole_to;
        bool wanted = whole || warp_sees<C>(a, t, j * C::BN);
        uint32_t P[C::TILES][C::BN / 16][4], bits = ~0u;
        if (C::RULED && !whole) {
            bits = seen_bits<C::BN / 8>(a, t, own_row<C>(t), own_key(j * C::BN));
            wanted &= __any_sync(~0u, bits != 0);
        }
        copy_wait<C::SLOTS - 2>();
        __syncthreads();
        if (C::SLOTS > 3)
            copy_v(freed(), j + 1);
        else
            copy_k(freed(), j + 1);
        if (wanted) {
            float S[C::TILES][C::BN / 8][4];
            scores<C>(S, q, ring + slot * C::SLOT);
            if (C::RULED) {
                if (a.changes)
                    finish_scores(a, t, S[0], own_row<C>(t), own_key(j * C::BN), bits);
                if (!whole)
                    hide_bits(S[0], bits);
            } else if (!whole) {
#pragma unroll
                for (int x = 0; x < C::TILES; x++)
                    hide_scores(a, t, S[x], own_row<C>(t) + 16 * x, own_key(j * C::BN));
            }
            softmax<C>(S, O, m, l, a.c);
            narrow_weights<C>(P, S);
        }
        advance();
        copy_wait<C::SLOTS - 2>();
        if (whole)
            __syncthreads();
        else if (__syncthreads_or(has_not_finite<C>(ring + slot * C::SLOT))) {
            make_finite<C>(ring + slot * C::SLOT);
            __syncthreads();
            kept.spoilt = 1;
        }
        if (C::SLOTS > 3)
            copy_k(freed(), j + 2);
        else
            copy_v(freed(), j + 1);
        if (wanted)
            values<C>(O, P, ring + slot * C::SLOT);
        advance();
    }
    copy_wait<0>();
    __syncthreads();
    leave_rows<C>(O, m, l, acc, rows_m, rows_l);
    __syncthreads();
    if (C::SPLIT)
        leave_records<C>(a, t, acc, rows_m, rows_l);
    else
        end_rows<C>(a, t, acc, rows_m, rows_l);
    if (kept.spoilt) {
        __syncthreads();
        mark_rows<C>(a, kept.item, rows_m);
    }
    return kept.item;
}

#define SM80_KERNEL(name, least, ...)                                                    \
    typedef sm80_config<__VA_ARGS__> sm80_##name;                                        \
    extern "C" __global__ void __launch_bounds__(sm80_##name::THREADS, least)            \
        attend_sm80_##name(const __grid_constant__ sm80_launch a)                        \
    {                                                                                    \
        for (int item = blockIdx.x; item < a.items;)                                     \
            item = sm80_item<sm80_##name>(a, item) + gridDim.x;                          \
    }

#endif
