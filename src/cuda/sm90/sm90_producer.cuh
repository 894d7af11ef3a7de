/* SPDX-License-Identifier: MIT */
/* The producer warp: copies by TMA, and the order of tiles, replays included. */
#ifndef ATTEND_CUDA_SM90_PRODUCER_CUH
#define ATTEND_CUDA_SM90_PRODUCER_CUH

#include "cuda/sm90/sm90_tiles.cuh"

template <class C>
DEVICE void produce_tiles(const CUtensorMap &mq, const CUtensorMap &mk,
                          const CUtensorMap &mv, const sm90_launch &p, const layout<C> &s)
{
    int *const next_tile = p.control + (C::NONFINITE ? SM90_NONFINITE_NEXT : SM90_NEXT);
    int *const done = p.control + (C::NONFINITE ? SM90_NONFINITE_DONE : SM90_DONE);
    const int tiles = C::NONFINITE ? *(volatile int *)(p.control + SM90_LISTED) : p.tiles;
    uint32_t ks = 0, kp = 1, vs = 0, vp = 1, qs = 0, qp = 1, is = 0, ip = 1;
    uint32_t fp = 0;
    int tile = blockIdx.x;

    auto send = [&](int id) {
        barrier_wait(s.id_free + 8 * is, ip);
        store_shared(s.id + 4 * is, id);
        barrier_arrive(s.id_full + 8 * is);
        is ^= 1;
        if (!is)
            ip ^= 1;
    };
    auto feed = [&](int id) {
        const tile_of t = find_tile<C>(p, id);
        const int head = t.h / p.group;
        auto copy_k = [&](int j) {
            barrier_wait(s.k_free + 8 * ks, kp);
            barrier_expect(s.k_full + 8 * ks, C::KBYTES);
            for (int d = 0; d < C::D / 64; d++)
                copy_tile(s.k + ks * C::KBYTES + d * C::BN * 128, &mk, s.k_full + 8 * ks,
                          d * 64, j * C::BN, head, t.b);
            if (++ks == C::STAGES) {
                ks = 0;
                kp ^= 1;
            }
        };
        auto copy_v = [&](int j) {
            barrier_wait(s.v_free + 8 * vs, vp);
            barrier_expect(s.v_full + 8 * vs, C::VBYTES);
            for (int d = 0; d < C::DV / 64; d++)
                copy_tile(s.v + vs * C::VBYTES + d * C::BN * 128, &mv, s.v_full + 8 * vs,
                          d * 64, j * C::BN, head, t.b);
            if (++vs == C::STAGES) {
                vs = 0;
                vp ^= 1;
            }
        };
        auto block = [&](int n) { return index_of<C>(block_of<C>(p, t.list, n)); };
        copy_k(block(t.to - 1));
        barrier_wait(s.q_free + 8 * qs, qp);
        barrier_expect(s.q_full + 8 * qs, C::QBYTES);
        for (int d = 0; d < C::D / 64; d++)
            copy_tile(s.q + qs * C::QBYTES + d * C::BM * 128, &mq, s.q_full + 8 * qs,
                      d * 64, t.block * C::BM, t.h, t.b);
        if (++qs == C::QBUFFERS) {
            qs = 0;
            qp ^= 1;
        }
#pragma unroll 1
        for (int n = t.to - 2; n >= t.from; n--) {
            copy_k(block(n));
            copy_v(block(n + 1));
        }
        copy_v(block(t.from));
    };
    /* Waits until all tiles so far are done, then replays the queued ones, each once. */
    auto replay = [&]() {
        send(TILE_SYNC);
        barrier_wait(s.finished, fp);
        fp ^= 1;
        const int count = min(add_shared(s.replays, 0), C::REPLAYS);
#pragma unroll 1
        for (int x = 0; x < count; x++) {
            const int id = load_shared(s.replays + 4 + 4 * x);
            bool is_new = true;
            for (int y = 0; y < x; y++)
                is_new &= load_shared(s.replays + 4 + 4 * y) != id;
            if (is_new) {
                send(id | TILE_SAFE);
                feed(id);
            }
        }
        exchange_shared(s.replays, 0);
    };
#pragma unroll 1
    while (tile < tiles) {
        /* Tiles in flight may fill a third of the queue before replay() waits for them. */
        if (add_shared(s.replays, 0) > C::REPLAYS / 2)
            replay();
        const int id = C::NONFINITE ? p.list[tile] : tile;
        send(id);
        const int next = atomicAdd(next_tile, 1) + (int)gridDim.x;
        feed(id);
        tile = next;
    }
    replay();
    send(TILE_END);
    /* The last CTA resets all counters. */
    __threadfence();
    if (atomicAdd(done, 1) == (int)gridDim.x - 1) {
        if (C::NONFINITE) {
            for (int x = 0; x < tiles; x++)
                p.flags[p.list[x]] = 0;
            p.control[SM90_LISTED] = 0;
        }
        *next_tile = 0;
        *done = 0;
        __threadfence();
    }
}

#endif
