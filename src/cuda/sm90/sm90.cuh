/* SPDX-License-Identifier: MIT */
/*
 * Attention on Hopper: bf16 and f16, with TMA and wgmma.  A warp-specialised persistent
 * kernel: one CTA per SM takes tiles from a counter.  Warp 0 is the producer; every
 * further warpgroup is a consumer and has 64 rows of the tile.
 *
 *   producer  K(n-1) Q  K(n-2) V(n-1)  K(n-3) V(n-2) ...                    V(0)
 *
 *   consumer  wait K(j) | ping-pong barrier | issue S = Q K(j)^T | wait V(j+1)
 *             | issue O += P(j+1) V(j+1) | arrive at the other's ping-pong barrier
 *             | wait for S | release K(j)
 *             | softmax of S, which overlaps with the products of the other warpgroup
 *             | wait for O | release V(j+1) | P(j) = S, rescale O
 *
 * Keys go from last to first, so that blocks with hidden keys come first.
 *
 * Weights of a row are relative to a reference, not to the running max.  The reference is
 * the largest score of the first block that the row sees.  Blocks that hide keys from a
 * row use lazy rescaling: they raise the reference where a score exceeds it by 2^8.  So
 * do all blocks of a row whose first block spans more than 2^160 (a lazy row).  The last
 * block of which all rows of a warpgroup see half or more decides that too, and raises
 * the reference: on the diagonal, the first block may show a row few keys.  In other
 * blocks only the sum of the weights is checked: above a limit the row is rescaled by a
 * power of two; where the sum overflows float the tile is queued, and computed again with
 * all rows lazy.  These decisions depend on the row and its place, but for the last one,
 * which depends on its tile.
 *
 * A hidden key has weight 0, and 0 times Inf or NaN of V is NaN.  So a tile whose sums
 * are not finite is listed, and the non-finite kernel computes it again.  In blocks that
 * hide keys it replaces Inf and NaN of V by 0, which changes no bit elsewhere; at the end
 * it adds them to the rows that do see them.
 */
#ifndef ATTEND_CUDA_SM90_CUH
#define ATTEND_CUDA_SM90_CUH

#include "cuda/sm90/sm90_producer.cuh"
#include "cuda/sm90/sm90_epilogue.cuh"
#include "cuda/sm90/sm90_nonfinite.cuh"
#include "cuda/sm90/sm90_stats.cuh"
#include "cuda/sm90/sm90_rules.cuh"
#include "cuda/sm90/sm90_softmax.cuh"
#include "cuda/sm90/sm90_tiles.cuh"

/* ---- consumer warpgroups -------------------------------------------------------- */

template <class C>
DEVICE void consume_tiles(const CUtensorMap &mo, const sm90_launch &p, const layout<C> &s,
                          int warp)
{
    typedef typename C::E E;
    constexpr int D = C::D, DV = C::DV, BN = C::BN;
    const int group = warp / 4 - 1, w = warp & 3, lane = threadIdx.x & 31;
    const int next_group = group + 1 == C::GROUPS ? 0 : group + 1;
    const bool first_lane = lane == 0;
    const uint64_t q_slab = slab_descriptor(s.q + group * 64 * 128, 16);
    const uint64_t k_slab = slab_descriptor(s.k, 16),
                   v_slab = slab_descriptor(s.v, BN * 128);
    const float c = p.c;
    uint32_t ks = 0, kp = 0, vs = 0, vp = 0, qs = 0, qp = 0, is = 0, ip = 0;
    int stored = -1; /* the query buffer that a store still reads */

    auto release_stored = [&]() {
        if (stored >= 0) {
            if (first_lane) {
                store_wait_read();
                barrier_arrive(s.q_free + 8 * stored);
            }
            stored = -1;
        }
    };
    if (C::PING_PONG && group == C::GROUPS - 1)
        named_arrive(1, 256);
    while (true) {
        barrier_wait(s.id_full + 8 * is, ip);
        int id = 0;
        if (first_lane) { /* the lane that reads it releases it */
            id = load_shared(s.id + 4 * is);
            barrier_arrive(s.id_free + 8 * is);
        }
        __syncwarp();
        is ^= 1;
        if (!is)
            ip ^= 1;
        id = __shfl_sync(~0u, id, 0);
        if (id == TILE_END || id == TILE_SYNC) {
            release_stored();
            if (id == TILE_END)
                break;
            __syncwarp();
            if (first_lane)
                barrier_arrive(s.finished);
            continue;
        }
        const bool safe = (id & TILE_SAFE) != 0 || C::SCORE_MOD;
        id &= ~TILE_SAFE;
        tile_of t = find_tile<C>(p, id);
        const uint32_t own = s.own + OWN_BYTES * warp;
        if constexpr (C::TILE_IN_SHARED) {
            if (first_lane)
                keep_tile(own, t);
            __syncwarp();
        }
        const int to = t.to, from = t.from;
        int top = t.block * C::BM + group * 64;
        if constexpr (C::TILE_IN_SHARED) { /* values that the main loop does not use */
            if (first_lane) {
                store_shared(own + OWN_ID, id);
                store_shared(own + OWN_RINGS, (int)(qp | is << 1 | ip << 2));
            }
            __syncwarp();
        }
        bool lost = false;
        float O[DV / 2], S[BN / 2], scale[2];
        uint32_t P[BN / 4];
        softmax st;

        /* Non-finite kernel: makes V finite before the product reads it. */
        auto mend_v = [&](int n) {
            if constexpr (C::NONFINITE) {
                const tile_of u = kept_tile(own);
                const int all = min(u.block * C::BM + C::BM, p.rows) - 1;
                if (!hides<C>(p, u, u.block * C::BM, all, block_of<C>(p, u.list, n)))
                    return;
                barrier_wait(s.v_full + 8 * vs, vp);
                named_sync(8, 128 * C::GROUPS);
                make_finite<C>(s.v + vs * C::VBYTES, threadIdx.x - 128);
                named_sync(8, 128 * C::GROUPS);
            }
        };
        auto scores = [&]() {
            const uint64_t q = q_slab + qs * (C::QBYTES >> 4),
                           k = k_slab + ks * (C::KBYTES >> 4);
#pragma unroll
            for (int x = 0; x < D / 16; x++)
                wgmma<E, BN>::scores(S, q + (x / 4) * (C::BM * 128 >> 4) + (x % 4) * 2,
                                     k + (x / 4) * (BN * 128 >> 4) + (x % 4) * 2, x > 0);
            product_commit();
        };
        /* Scores of the first half of the keys; the others are hidden. */
        auto half_scores = [&]() {
            if constexpr (C::HALF_BLOCK) {
                const uint64_t q = q_slab + qs * (C::QBYTES >> 4),
                               k = k_slab + ks * (C::KBYTES >> 4);
                float(&half)[BN / 4] = *(float(*)[BN / 4]) & S;
#pragma unroll
                for (int x = 0; x < D / 16; x++)
                    wgmma<E, BN / 2>::scores(
                        half, q + (x / 4) * (C::BM * 128 >> 4) + (x % 4) * 2,
                        k + (x / 4) * (BN * 128 >> 4) + (x % 4) * 2, x > 0);
                product_commit();
                product_wait<0>();
#pragma unroll
                for (int i = BN / 4; i < BN / 2; i++)
                    S[i] = -CUDART_INF_F;
            }
        };
        auto values = [&](int add) {
            const uint64_t v = v_slab + vs * (C::VBYTES >> 4);
#pragma unroll
            for (int x = 0; x < BN / 16; x++)
                wgmma<E, DV>::values(O, P + 4 * x, v + x * 128, x > 0 ? 1 : add);
            product_commit();
        };
        auto free_k = [&]() {
            if (first_lane)
                barrier_arrive(s.k_free + 8 * ks);
            if (++ks == C::STAGES) {
                ks = 0;
                kp ^= 1;
            }
        };
        auto free_v = [&]() {
            if (first_lane)
                barrier_arrive(s.v_free + 8 * vs);
            if (++vs == C::STAGES) {
                vs = 0;
                vp ^= 1;
            }
        };
        auto top_row = [&]() {
            return C::BOUNDS_IN_SHARED ? load_shared(own + OWN_BLOCK) * C::BM + group * 64
                                       : top;
        };
        auto first_row = [&]() { return top_row() + w * 16 + (lane >> 2); };
        const uint32_t tops = s.top + SM90_TOP_BYTES * (threadIdx.x - 128);
        const uint32_t stage = s.stage + SM90_STAGE_BYTES * (warp - 4);
        row_stats<C> ms;
        uint2 bits = {0, 0};
        float most[2];
        auto known = [&]() {
            if constexpr (C::TILE_IN_SHARED)
                return kept_tile(own);
            else
                return t;
        };
        /*
         * Blocks from `masked` on may hide keys at their end, blocks before `left` at
         * their beginning; the first visible block of a row is never before `masked`.
         */
        auto masked_from = [&](const tile_of &u) {
            return max(row_end(p, u, top_row()) - 1, 0) / BN;
        };
        auto left_to = [&](const tile_of &u) {
            return (row_begin(p, u, top_row() + 63) + BN - 1) / BN;
        };
        /* The last block of which every row of the warpgroup sees at least half. */
        auto learn_at = [&](const tile_of &u) {
            return (row_end(p, u, top_row()) + BN / 2) / BN - 1;
        };
        const int kept_masked = C::NONFINITE ? 0 : masked_from(t),
                  kept_left = C::NONFINITE ? 0 : left_to(t),
                  kept_learn = C::NONFINITE || !C::LEARNS ? -1 : learn_at(t);
        if constexpr (C::BOUNDS_IN_SHARED && !C::NONFINITE) {
            if (first_lane) {
                store_shared(own + OWN_MASKED, kept_masked);
                store_shared(own + OWN_LEFT, kept_left);
                store_shared(own + OWN_LEARN, kept_learn);
            }
            __syncwarp();
        }
        /*
         * Hides keys by causal rule, window and lengths; true if the block may have
         * hidden keys.
         */
        auto hide_block = [&](int j) {
            const int at = 2 * (lane & 3) + j * BN;
            const int masked = C::NONFINITE          ? masked_from(known())
                               : C::BOUNDS_IN_SHARED ? load_shared(own + OWN_MASKED)
                                                     : kept_masked;
            const int left = C::NONFINITE          ? left_to(known())
                             : C::BOUNDS_IN_SHARED ? load_shared(own + OWN_LEFT)
                                                   : kept_left;
            if (j < masked && j >= left)
                return false;
            const tile_of u = known();
            const int first = first_row();
            const int b[2] = {row_begin(p, u, first) - at,
                              row_begin(p, u, first + 8) - at};
            const int e[2] = {row_end(p, u, first) - at, row_end(p, u, first + 8) - at};
            hide(S, b, e, j < left);
            return true;
        };
        auto learns_at = [&](int j) {
            return C::LEARNS && j == (C::NONFINITE          ? learn_at(known())
                                      : C::BOUNDS_IN_SHARED ? load_shared(own + OWN_LEARN)
                                                            : kept_learn);
        };
        auto entry_of = [&](int n) {
            return block_of<C>(p, C::MASKED ? load_shared(own + OWN_LIST) : 0, n);
        };
        const uint2 *const bits_at =
            C::MASKED && !C::LOW_REGISTERS ? mask_bits(p, t.bits) : NULL;
        auto load_bits = [&](int entry) {
            if (C::MASKED && entry & SM90_MIXED)
                bits = __ldg((C::LOW_REGISTERS ? mask_bits(p, load_shared(own + OWN_BITS))
                                               : bits_at) +
                             index_of<C>(entry) * BN / SM90_UNIT * SM90_TILE_THREADS);
        };
        /* Applies the rule to a block; true if it may hide keys by position. */
        auto apply_rule = [&](int entry) {
            const int j = index_of<C>(entry);
            if (C::SCORE_MOD && p.rules.score_mod)
                finish_scores(p, own, S, first_row(), j * BN, stage);
            if (C::MASKED && entry != j)
                hide_bits(S, bits, BN == 64 && (j & 1));
            const bool hides_keys = hide_block(j);
            if constexpr (C::STATS && C::MASKED)
                if (p.rules.on)
                    count_keys(S, tops);
            if constexpr (C::STATS)
                ms.take_largest(S, tops, j * BN + 2 * (lane & 3));
            return hides_keys;
        };
        auto weigh = [&](int entry) {
            if constexpr (C::STATS)
                return softmax_block_stats<C>(p, load_shared(own + OWN_AT), S, st, ms, c,
                                              scale, lost, first_row(),
                                              index_of<C>(entry) * BN, lane);
            else
                return softmax_block<C>(S, st, c, scale, lost);
        };

        if constexpr (C::STATS)
            ms.clear(tops);
        int entry = entry_of(to - 1), next = entry;
        load_bits(entry);
        if (C::QBUFFERS == 1) /* buffer of the queries */
            release_stored();
        barrier_wait(s.q_full + 8 * qs, qp);
        barrier_wait(s.k_full + 8 * ks, kp);
        if (C::HALF_BLOCK &&
            row_end(p, t, top + 63) <= index_of<C>(entry) * BN + BN / 2) {
            product_fence();
            half_scores();
        } else {
            product_fence();
            scores();
            product_wait<0>();
        }
        pin(S);
        free_k();
        release_stored();
        apply_rule(entry);
        largest_of_block(S, most);
        start_rows<C>(S, most, st, c, safe);
        scale[0] = scale[1] = 1.f;
        weigh(entry);
        if constexpr (C::STATS)
            ms.share(tops);
        pack_weights<C>(S, P);
        next = entry_of(max(to - 2, from));
        bool any_lazy = __any_sync(~0u, st.lazy[0] || st.lazy[1]);
        /* Rows without a visible key so far have no reference. */
        bool unseen = C::MASKED && p.rules.on &&
                      __any_sync(~0u, fminf(st.m[0], st.m[1]) == -CUDART_INF_F);
        int begun = 0; /* whether O has products */
#pragma unroll 1
        for (int n = to - 2; n >= from; n--) {
            mend_v(n + 1);
            entry = C::MASKED ? next : n;
            if (!C::LOW_REGISTERS)
                load_bits(entry);
            barrier_wait(s.k_full + 8 * ks, kp);
            if (C::PING_PONG)
                named_sync(1 + group, 256);
            pin(O);
            product_fence();
            scores();
            barrier_wait(s.v_full + 8 * vs, vp);
            product_fence();
            values(C::LOW_REGISTERS ? begun : n < to - 2);
            begun = 1;
            if (C::PING_PONG)
                named_arrive(1 + next_group, 256);
            if (C::LOW_REGISTERS)
                load_bits(entry);
            if (C::MASKED)
                next = entry_of(max(n - 1, from));
            product_wait<1>();
            pin(S);
            free_k();
            bool rescale = false;
            scale[0] = scale[1] = 1.f;
            auto raise = [&](bool all, bool learns) {
                const softmax before = st;
                largest_of_block(S, most);
                if (learns) {
                    bool wide[2];
                    largest_of_four(most);
                    find_wide(S, most, c, wide);
                    st.lazy[0] |= wide[0];
                    st.lazy[1] |= wide[1];
                    any_lazy = __any_sync(~0u, st.lazy[0] || st.lazy[1]);
                }
                rescale = raise_reference<C>(most, st, c, all, scale);
                if constexpr (C::STATS)
                    if (rescale)
                        ms.raise(before, st, scale);
                if (C::MASKED)
                    unseen = unseen &&
                             __any_sync(~0u, fminf(st.m[0], st.m[1]) == -CUDART_INF_F);
            };
            const bool hides_keys = apply_rule(entry);
            if constexpr (C::LEARNS) {
                const bool learns = learns_at(index_of<C>(entry));
                if (hides_keys || learns || any_lazy || unseen)
                    raise(hides_keys || learns, learns);
            } else if (hides_keys)
                raise(true, false);
            else if (any_lazy || unseen)
                raise(false, false);
            rescale |= weigh(entry);
            if constexpr (C::STATS)
                if ((n & 3) == 0)
                    ms.share(tops);
            product_wait<0>();
            pin(O);
            free_v();
            pack_weights<C>(S, P);
            if (rescale) {
#pragma unroll
                for (int i = 0; i < DV / 2; i++)
                    O[i] *= scale[(i >> 1) & 1];
            }
        }
        mend_v(from);
        barrier_wait(s.v_full + 8 * vs, vp);
        pin(O);
        product_fence();
        values(C::LOW_REGISTERS ? begun : to - from > 1);
        product_wait<0>();
        pin(O);
        free_v();

        if constexpr (C::TILE_IN_SHARED) {
            const int kept = load_shared(own + OWN_RINGS);
            t = kept_tile(own);
            id = load_shared(own + OWN_ID);
            qp = kept & 1;
            is = kept >> 1 & 1;
            ip = kept >> 2 & 1;
            stored = -1;
            top = t.block * C::BM + group * 64;
        }
        const int row[2] = {top + w * 16 + (lane >> 2), top + w * 16 + (lane >> 2) + 8};
        const bool again = __any_sync(~0u, lost) && !safe;
        if (again && first_lane)
            store_shared(s.replays + 4 + 4 * add_shared(s.replays, 1), id);
#pragma unroll
        for (int r = 0; r < 2; r++) {
            st.l[r] += __shfl_xor_sync(~0u, st.l[r], 1);
            st.l[r] += __shfl_xor_sync(~0u, st.l[r], 2);
        }
        if constexpr (C::STATS) {
            if (index_of<C>(entry) == 0)
                ms.take_sinks(S, lane);
            store_stats<C>(p, t, st, ms, tops, row, lane);
        }
        if constexpr (C::NONFINITE)
            add_not_finite<C>(p, t, O, st, row, lane);
        else if (p.may_hide && !again) {
            float none = 0;
#pragma unroll
            for (int i = 0; i < DV / 2; i++)
                none = __fmaf_rn(O[i], 0.f, none);
            if (__any_sync(~0u, none != none) && first_lane &&
                atomicExch(p.flags + id, 1) == 0)
                p.list[atomicAdd(p.control + SM90_LISTED, 1)] = id;
        }
        const uint32_t q_rows = s.q + qs * C::QBYTES + (group * 64 + w * 16) * 128;
        const int buffer = qs;
        if (++qs == C::QBUFFERS) {
            qs = 0;
            qp ^= 1;
        }
        if (C::SPLIT && p.splits > 1) {
            store_partial<C>(p, t, O, st, row, lane);
            if (first_lane)
                barrier_arrive(s.q_free + 8 * buffer);
        } else {
#pragma unroll
            for (int r = 0; r < 2; r++) {
                float *const lse = p.lse && (lane & 3) == 0 && row[r] < p.rows
                                       ? p.lse + t.b * p.lse_stride[0] +
                                             t.h * p.lse_stride[1] +
                                             row[r] * p.lse_stride[2]
                                       : NULL;
                const double shift = C::SCORE_MOD ? row_shift(p, t, row[r]) : 0;
                const int h = C::SPLIT ? t.h * p.rows + min(row[r], p.rows - 1) : t.h;
                const float factor =
                    row_factor<C::SCORE_MOD>(p, h, shift, st.m[r], st.l[r], lse);
#pragma unroll
                for (int i = 0; i < DV / 2; i++)
                    if (((i >> 1) & 1) == r)
                        O[i] = __fmaf_rn(O[i], factor, 0.f);
                if (st.l[r] == 0) { /* for any V */
#pragma unroll
                    for (int i = 0; i < DV / 2; i++)
                        if (((i >> 1) & 1) == r)
                            O[i] = 0.f;
                }
            }
            if (!C::SPLIT && p.out_tma) {
                store_by_copy<C>(p, t, O, q_rows, top + w * 16, lane, mo);
                stored = buffer;
            } else {
                store_rows<C>(p, t, O, row, lane);
                if (first_lane)
                    barrier_arrive(s.q_free + 8 * buffer);
            }
        }
    }
}

template <class C>
DEVICE void sm90_forward(const CUtensorMap &mq, const CUtensorMap &mk,
                         const CUtensorMap &mv, const CUtensorMap &mo,
                         const sm90_launch &p)
{
    extern __shared__ uint8_t memory[];
    const layout<C> s((shared_address(memory) + 1023) & ~1023u);
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);

    if (C::NONFINITE && *(volatile int *)(p.control + SM90_LISTED) == 0)
        return;
    if (threadIdx.x == 0) {
        for (int x = 0; x < C::STAGES; x++) {
            barrier_init(s.k_full + 8 * x, 1);
            barrier_init(s.k_free + 8 * x, 4 * C::GROUPS);
            barrier_init(s.v_full + 8 * x, 1);
            barrier_init(s.v_free + 8 * x, 4 * C::GROUPS);
        }
        for (int x = 0; x < 2; x++) {
            barrier_init(s.q_full + 8 * x, 1);
            barrier_init(s.q_free + 8 * x, 4 * C::GROUPS);
            barrier_init(s.id_full + 8 * x, 1);
            barrier_init(s.id_free + 8 * x, 4 * C::GROUPS);
        }
        barrier_init(s.finished, 4 * C::GROUPS);
        store_shared(s.replays, 0);
        barrier_init_fence();
    }
    __syncthreads();
    if (warp < 4) {
        if constexpr (C::GROUPS > 1)
            registers_fewer<C::FEW>();
        if (threadIdx.x == 0)
            produce_tiles<C>(mq, mk, mv, p, s);
    } else {
        if constexpr (C::GROUPS > 1)
            registers_more<C::MANY>();
        consume_tiles<C>(mo, p, s, warp);
    }
}

#define SM90_KERNEL(name, ...)                                                           \
    typedef config<__VA_ARGS__> config_##name;                                           \
    extern "C" __global__ void __launch_bounds__(config_##name::THREADS, 1)              \
        attend_sm90_##name(const __grid_constant__ CUtensorMap mq,                       \
                           const __grid_constant__ CUtensorMap mk,                       \
                           const __grid_constant__ CUtensorMap mv,                       \
                           const __grid_constant__ CUtensorMap mo, const sm90_launch p)  \
    {                                                                                    \
        sm90_forward<config_##name>(mq, mk, mv, mo, p);                                  \
    }

#endif
