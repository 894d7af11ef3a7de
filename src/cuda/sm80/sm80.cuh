/* SPDX-License-Identifier: MIT */
/*
 * Attention on any GPU from Ampere on, for bf16 and f16, with mma.sync and cp.async.  A
 * CTA computes a tile of rows of one head, a warp 16 or 32 of these rows.  Blocks of K
 * and V go through a ring of slots in shared memory, in order of use; with three slots:
 *
 *   copies   K0 V0 | K1 | V1 | K2 | V2 ...          in flight until they are used
 *   slot      0  1 |  2 |  0 |  1 |  2
 *
 *   warps    wait K(j) | barrier | start K(j+1) | S = Q K(j)^T | softmax: P, rescale O
 *            | wait V(j) | barrier | start V(j+1) | O += P V(j)
 *
 * After a barrier the copies of all threads have arrived, and no warp uses the slot
 * before it any more, so the next copy may overwrite that slot.
 *
 * Online softmax with the running max.  A warp rescales O if the running max of any of
 * its rows grew; the factor of its other rows is 1.  A block that hides all its keys from
 * a row changes no bit of it, so the bits of a row do not depend on other rows of the
 * tile.
 *
 * A hidden key has weight 0, and 0 times Inf or NaN of V is NaN.  So threads look for Inf
 * and NaN in blocks that may hide keys, and set them to 0 in shared memory.  At the end
 * of the tile they are added to the rows that do see them.
 */
#ifndef ATTEND_CUDA_SM80_CUH
#define ATTEND_CUDA_SM80_CUH

#include "cuda/sm80/sm80_rows.cuh"

/* ---- products ----------------------------------------------------------------- */

/* S = Q K^T. */
template <class C>
DEVICE void scores(float (&S)[C::TILES][C::BN / 8][4], uint32_t q, uint32_t k)
{
    const int thread = thread_index(), lane = thread & 31;
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

/* P in the element type, as the A operand of P V. */
template <class C>
DEVICE void convert_weights(uint32_t (&P)[C::TILES][C::BN / 16][4],
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
    const int lane = thread_index() & 31;
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

/* ---- softmax ------------------------------------------------------------------ */

DEVICE float quad_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
/* 2^((x - y) c) with RULES, else 2^(x c - y): y is then already multiplied by c. */
template <class C> DEVICE float weight_of(float x, float y, float c)
{
    return ex2(C::RULES ? (x - y) * c : __fmaf_rn(x, c, -y));
}

/*
 * Turns scores into weights.  m is the running max of S c, l the sum of this thread's
 * weights.  With RULES, m is the running max of S: a bias may be the lowest finite
 * number, and S c would overflow to -inf.  fmaxf ignores NaN, but the weight of a NaN
 * score is NaN, and so is the row.
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
            const float top = fmaxf(m[t][r], quad_max(most) * (C::RULES ? 1.f : c));
            const float base = top == -CUDART_INF_F ? 0.f : top;
            factor[t][r] =
                top == m[t][r] ? 1.f : ex2((m[t][r] - base) * (C::RULES ? c : 1.f));
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

/* ---- a tile ------------------------------------------------------------------- */

/*
 * Parameters of the current tile, in shared memory: registers are needed for O and S.
 */
struct shared_tile {
    struct tile_rows t;
    int from, to, full_from, full_to; /* blocks of keys */
    const void *q, *k, *v;            /* row `first` of the tile; key 0 */
    int64_t q_step;
    int item, nonfinite; /* nonfinite: Inf or NaN in V was set to 0 */
};

template <class C>
DEVICE void set_tile(const sm80_launch &a, int item, struct shared_tile &tile)
{
    typedef typename C::E E;
    const struct problem &p = a.p;
    const struct tile_rows t = find_tile<C>(a, item);
    const int2 keys = find_keys<C>(a, t), full = find_full<C>(a, t);
    const int kv = a.pack_gqa ? t.head : t.head / (int)p.group;
    const struct row_layout q = layout_of(a, t, p.q.stride);

    tile.t = t;
    tile.from = keys.x / C::BN;
    tile.to = (keys.y + C::BN - 1) / C::BN;
    tile.full_from = full.x;
    tile.full_to = full.y;
    tile.q = (const E *)p.q.data + q.first + t.first * q.step;
    tile.q_step = q.step;
    tile.item = item;
    tile.nonfinite = 0;
    tile.k = (const E *)p.k.data + view_offset(p.k.stride, t.b, kv, 0);
    tile.v = (const E *)p.v.data + view_offset(p.v.stride, t.b, kv, 0);
}

/* Starts the copy of block j of K or V; past the last block, commits an empty group. */
template <class C>
DEVICE void copy_block(uint32_t slot, const void *const &from, int64_t step, int64_t nk,
                       int64_t columns, int j, int to)
{
    if (j < to)
        copy_rows<C, C::BN>(slot, (const typename C::E *)from + j * C::BN * step, step,
                            (int)nk - j * C::BN, (int)columns);
    copy_commit();
}

template <class C>
DEVICE void clear_rows(float (&O)[C::TILES][C::D / 8][4], float (&m)[C::TILES][2],
                       float (&l)[C::TILES][2])
{
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
}

/* P of the block that starts at `key`: S = Q K^T, score_mod, mask, softmax. */
template <class C>
DEVICE void compute_weights(const sm80_launch &a, const struct tile_rows &t, int key,
                            bool full, uint32_t bits, uint32_t q, uint32_t k,
                            float (&O)[C::TILES][C::D / 8][4], float (&m)[C::TILES][2],
                            float (&l)[C::TILES][2],
                            uint32_t (&P)[C::TILES][C::BN / 16][4])
{
    float S[C::TILES][C::BN / 8][4];

    scores<C>(S, q, k);
    if (C::RULES) {
        if (a.score_mod)
            apply_score_mod(a, t, S[0], own_row<C>(t), own_key(key), bits);
        if (!full)
            mask_by_bits(S[0], bits);
    } else if (!full) {
#pragma unroll
        for (int x = 0; x < C::TILES; x++)
            mask_by_bounds(a, t, S[x], own_row<C>(t) + 16 * x, own_key(key));
    }
    softmax<C>(S, O, m, l, a.c);
    convert_weights<C>(P, S);
}

/* Computes tile `item` and returns it, so that no register holds it in the loop. */
template <class C> DEVICE int sm80_item(const sm80_launch &a, int item)
{
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ struct shared_tile tile;
    float *const acc = (float *)memory, *const rows_m = acc + C::BM * C::ACC_PITCH,
                 *const rows_l = rows_m + C::BM;
    const struct problem &p = a.p;
    const struct tile_rows &t = tile.t;
    const uint32_t q = shared_address(memory), ring = q + C::BM * C::PITCH;
    float O[C::TILES][C::D / 8][4], m[C::TILES][2], l[C::TILES][2];

    __syncthreads(); /* the previous tile is done */
    if (threadIdx.x == 0)
        set_tile<C>(a, item, tile);
    __syncthreads();
    auto copy_k = [&](int slot, int j) {
        copy_block<C>(ring + slot * C::SLOT, tile.k, p.k.stride[2], p.nk, p.d, j,
                      tile.to);
    };
    auto copy_v = [&](int slot, int j) {
        copy_block<C>(ring + slot * C::SLOT, tile.v, p.v.stride[2], p.nk, p.dv, j,
                      tile.to);
    };
    copy_rows<C, C::BM>(q, tile.q, tile.q_step, t.rows - t.first, (int)p.d);
    copy_k(0, tile.from); /* in one group with Q */
    copy_v(1, tile.from);
    if (C::SLOTS > 3)
        copy_k(2, tile.from + 1);
    clear_rows<C>(O, m, l);
    /* `slot` is in use; the slot before it is free. */
    int slot = 0;
    auto freed = [&]() { return slot == 0 ? C::SLOTS - 1 : slot - 1; };
    auto advance = [&]() { slot = slot + 1 == C::SLOTS ? 0 : slot + 1; };
    for (int j = tile.from; j < tile.to; j++) {
        const bool full = j >= tile.full_from && j < tile.full_to;
        bool wanted = full || warp_sees<C>(a, t, j * C::BN);
        uint32_t P[C::TILES][C::BN / 16][4], bits = ~0u;
        if (C::RULES && !full) {
            bits = bound_bits<C::BN / 8>(a, t, own_row<C>(t), own_key(j * C::BN));
            if (p.mask.data)
                bits = mask_bits<C::BN / 8>(a, t, own_row<C>(t), own_key(j * C::BN),
                                            (j + 1) * C::BN <= p.nk, bits);
            wanted &= __any_sync(~0u, bits != 0);
        }
        copy_wait<C::SLOTS - 2>();
        __syncthreads();
        if (C::SLOTS > 3)
            copy_v(freed(), j + 1);
        else
            copy_k(freed(), j + 1);
        if (wanted)
            compute_weights<C>(a, t, j * C::BN, full, bits, q, ring + slot * C::SLOT, O,
                               m, l, P);
        advance();
        copy_wait<C::SLOTS - 2>();
        if (full)
            __syncthreads();
        else if (__syncthreads_or(has_nonfinite<C>(ring + slot * C::SLOT))) {
            zero_nonfinite<C>(ring + slot * C::SLOT);
            __syncthreads();
            if (threadIdx.x == 0)
                tile.nonfinite = 1;
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
    stage_rows<C>(O, m, l, acc, rows_m, rows_l);
    __syncthreads();
    if (C::SPLIT)
        store_records<C>(a, t, acc, rows_m, rows_l);
    else
        store_rows<C>(a, t, acc, rows_m, rows_l);
    if (tile.nonfinite) {
        __syncthreads();
        add_nonfinite<C>(a, tile.item, rows_m);
    }
    return tile.item;
}

#define SM80_KERNEL(name, min_ctas, ...)                                                 \
    typedef sm80_config<__VA_ARGS__> sm80_##name;                                        \
    extern "C" __global__ void __launch_bounds__(sm80_##name::THREADS, min_ctas)         \
        attend_sm80_##name(const __grid_constant__ sm80_launch a)                        \
    {                                                                                    \
        for (int item = blockIdx.x; item < a.items;)                                     \
            item = sm80_item<sm80_##name>(a, item) + gridDim.x;                          \
    }

#endif
