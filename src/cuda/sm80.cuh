/* SPDX-License-Identifier: MIT */
/*
 * Attention on any GPU from Ampere on: bf16 and f16, matrix products of warps (mma.sync)
 * and copies that threads do not wait for (cp.async).  A CTA has a tile of
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

#include "cuda/sm80_rows.cuh"

/* ---- products ----------------------------------------------------------------- */

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

/* ---- softmax ------------------------------------------------------------------ */

DEVICE float quad_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
/* 2 to (x - y) c, where y is that times c already unless a rule may have changed x. */
template <class C> DEVICE float weight_of(float x, float y, float c)
{
    return ex2(C::RULES ? (x - y) * c : __fmaf_rn(x, c, -y));
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
    const int kv = a.folds ? t.head : t.head / (int)p.group;
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

/* A block of keys from `key` on: scores, what rules make of them, weights. */
template <class C>
DEVICE void weigh_block(const sm80_launch &a, const struct tile_rows &t, int key,
                        bool whole, uint32_t bits, uint32_t q, uint32_t k,
                        float (&O)[C::TILES][C::D / 8][4], float (&m)[C::TILES][2],
                        float (&l)[C::TILES][2], uint32_t (&P)[C::TILES][C::BN / 16][4])
{
    float S[C::TILES][C::BN / 8][4];

    scores<C>(S, q, k);
    if (C::RULES) {
        if (a.score_mod)
            finish_scores(a, t, S[0], own_row<C>(t), own_key(key), bits);
        if (!whole)
            hide_bits(S[0], bits);
    } else if (!whole) {
#pragma unroll
        for (int x = 0; x < C::TILES; x++)
            hide_scores(a, t, S[x], own_row<C>(t) + 16 * x, own_key(key));
    }
    softmax<C>(S, O, m, l, a.c);
    narrow_weights<C>(P, S);
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
    clear_rows<C>(O, m, l);
    /* `slot` is the one in use; the one before it is the one that became free. */
    int slot = 0;
    auto freed = [&]() { return slot == 0 ? C::SLOTS - 1 : slot - 1; };
    auto advance = [&]() { slot = slot + 1 == C::SLOTS ? 0 : slot + 1; };
    for (int j = kept.from; j < kept.to; j++) {
        const bool whole = j >= kept.whole_from && j < kept.whole_to;
        bool wanted = whole || warp_sees<C>(a, t, j * C::BN);
        uint32_t P[C::TILES][C::BN / 16][4], bits = ~0u;
        if (C::RULES && !whole) {
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
            weigh_block<C>(a, t, j * C::BN, whole, bits, q, ring + slot * C::SLOT, O, m,
                           l, P);
        advance();
        copy_wait<C::SLOTS - 2>();
        if (whole)
            __syncthreads();
        else if (__syncthreads_or(has_not_finite<C>(ring + slot * C::SLOT))) {
            make_finite<C>(ring + slot * C::SLOT);
            __syncthreads();
            if (threadIdx.x == 0)
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
