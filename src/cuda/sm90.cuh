/* SPDX-License-Identifier: MIT */
/*
 * Attention on Hopper: bf16 and f16, the copy engine (TMA) and matrix products of
 * warpgroups (wgmma).  One block of threads for each multiprocessor, which takes tiles
 * until none is left.  Warp 0 copies; every further warpgroup has 64 rows of the tile.
 *
 *   copies   K(n-1) Q  K(n-2) V(n-1)  K(n-3) V(n-2) ...                    V(0)
 *
 *   rows     wait K(j) | ticket | issue S = Q K(j)^T | wait V(j+1)
 *            | issue O += P(j+1) V(j+1) | pass the ticket | wait for S | free K(j)
 *            | softmax of S, beside the product of the other warpgroup
 *            | wait for O | free V(j+1) | P(j) = S, rescale O
 *
 * Keys go from last to first, so that blocks with hidden keys come first.
 *
 * The softmax of a row counts from a reference, not from its maximum.  The reference is
 * the largest score of the first block that the row sees.  A block that hides keys from
 * a row raises it where a score exceeds it by 2^8; so does every block for a row whose
 * first block spans more than 2^160 (lazy rows).  In other blocks the sum of the weights
 * is watched: above a limit the row is scaled by a power of two; where the sum leaves the
 * range of floats the tile is queued, and computed again with all rows lazy.  All that
 * follows from the numbers of the row, but for the last, which follows from the tile's.
 *
 * A hidden key has weight 0, and 0 times Inf or NaN of V is NaN.  So a tile whose sums
 * are not finite is listed, and the careful kernel computes it again: blocks that hide
 * keys with V without such numbers, which changes no bit elsewhere, then what they are to
 * rows that do see them.
 */
#ifndef ATTEND_CUDA_SM90_CUH
#define ATTEND_CUDA_SM90_CUH

#include <cuda.h>
#include <math_constants.h>

#include "cuda/sm90.h"
#include "cuda/wgmma.cuh"

#define DEVICE __device__ __forceinline__

/* ---- instructions ------------------------------------------------------------- */

DEVICE uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
DEVICE void barrier_init(uint32_t bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
}
DEVICE void barrier_expect(uint32_t bar, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                 "r"(bytes)
                 : "memory");
}
DEVICE void barrier_arrive(uint32_t bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
DEVICE void barrier_wait(uint32_t bar, uint32_t phase)
{
    asm volatile("{\n.reg .pred p;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra done;\nbra again;\ndone:\n}" ::"r"(bar),
                 "r"(phase)
                 : "memory");
}
DEVICE void copy_tile(uint32_t to, const CUtensorMap *map, uint32_t bar, int c0, int c1,
                      int c2, int c3)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_"
                 "tx::bytes [%0], [%1, {%3,%4,%5,%6}], [%2];" ::"r"(to),
                 "l"(map), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
                 : "memory");
}
DEVICE void store_tile(const CUtensorMap *map, uint32_t from, int c0, int c1, int c2,
                       int c3)
{
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, "
                 "{%2,%3,%4,%5}], [%1];" ::"l"(map),
                 "r"(from), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
                 : "memory");
}
DEVICE void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void product_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> DEVICE void product_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
/* Nothing of x moves across. */
template <int N> DEVICE void pin(float (&x)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(x[i])::"memory");
}
DEVICE void named_sync(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
DEVICE void named_arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
DEVICE void copy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEVICE float ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE int load_shared(uint32_t at)
{
    int x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
    return x;
}
DEVICE void store_shared(uint32_t at, int x)
{
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(x) : "memory");
}

/* Counters that others change at the same time. */
DEVICE int exchange_shared(uint32_t at, int x)
{
    int old;
    asm volatile("atom.shared.exch.b32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(at), "r"(x)
                 : "memory");
    return old;
}
DEVICE int add_shared(uint32_t at, int x)
{
    int old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(at), "r"(x)
                 : "memory");
    return old;
}

/* Of slabs of 64 columns in rows of 128 bytes, swizzled by 128 bytes. */
DEVICE uint64_t slab_descriptor(uint32_t at, uint32_t slab_bytes)
{
    return (uint64_t)((at & 0x3FFFF) >> 4) | (uint64_t)(slab_bytes >> 4) << 16 |
           (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

template <class E> struct element;
template <> struct element<__nv_bfloat16> {
    /* Bits by which weights of the first block exceed 1, and the limit of a sum. */
    static constexpr float raised = 0.f, limit = 65536.f;
    static constexpr uint32_t inf = 0x7f80;
    static DEVICE uint32_t pack(float lo, float hi)
    {
        uint32_t r;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
        return r;
    }
    static DEVICE float wide(__nv_bfloat16 x) { return __bfloat162float(x); }
    static DEVICE __nv_bfloat16 narrow(float x) { return __float2bfloat16(x); }
};
template <> struct element<__half> {
    /* A weight below 2^-24 is lost in f16, one above 2^16 infinite. */
    static constexpr float raised = 4.f, limit = 32768.f;
    static constexpr uint32_t inf = 0x7c00;
    static DEVICE uint32_t pack(float lo, float hi)
    {
        uint32_t r;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
        return r;
    }
    static DEVICE float wide(__half x) { return __half2float(x); }
    static DEVICE __half narrow(float x) { return __float2half(x); }
};

/* ---- a configuration ------------------------------------------------------------- */

/*
 * Columns, warpgroups of rows, stages of K and of V, and what the kernel is for.  RULES
 * 1: it knows masks; 2: biases, ALiBi and softcap too.  MEASURED: it leaves sums for
 * statistics.
 */
template <class E_, int D_, int BN_, int GROUPS_, int STAGES_, bool SPLIT_, bool CAREFUL_,
          int RULES_ = 0, bool MEASURED_ = false>
struct config {
    typedef E_ E;
    static constexpr int D = D_, GROUPS = GROUPS_, STAGES = STAGES_, BN = BN_;
    static constexpr bool SPLIT = SPLIT_, CAREFUL = CAREFUL_;
    static constexpr bool RULED = RULES_ > 0, CHANGED = RULES_ > 1, MEASURED = MEASURED_;
    /* What can be found again is not kept in registers. */
    static constexpr bool KEPT = RULED || CAREFUL;
    static constexpr bool SCARCE = CHANGED || MEASURED || CAREFUL;
    static constexpr bool TICKET = GROUPS == 2;
    static constexpr int BM = 64 * GROUPS, THREADS = 128 * (GROUPS + 1);
    static constexpr int QBUFFERS = SPLIT || D > 128 ? 1 : 2;
    static constexpr int QBYTES = BM * D * 2, KBYTES = BN * D * 2;
    static constexpr int REPLAYS = 128;
    static_assert(REPLAYS / 2 + 3 * 4 * GROUPS <= REPLAYS, "three tiles under way");
    /* Of tiles for each warp, of the largest scores for each thread, of biases. */
    static constexpr int OWN = KEPT ? 64 * 4 * (GROUPS + 1) : 0; /* OWN_BYTES a warp */
    static constexpr int TOP = MEASURED ? 5 * 2 * 4 * 128 * GROUPS : 0;
    static constexpr int STAGE = CHANGED ? SM90_STAGE_BYTES * 4 * GROUPS : 0;
    static constexpr int CONTROL = 512 + 4 * REPLAYS + OWN + TOP + STAGE;
    static constexpr int SHARED =
        QBUFFERS * QBYTES + 2 * STAGES * KBYTES + CONTROL + 1024;
    static_assert(SHARED <= SM90_SHARED, "fits a multiprocessor");
    /* Registers of the copying warpgroup and of the others. */
    static constexpr int FEW = GROUPS == 3 ? 32 : 40, MANY = GROUPS == 3 ? 160 : 232;
};

/* Where things lie in shared memory. */
template <class C> struct layout {
    uint32_t q, k, v, k_full, k_free, v_full, v_free, q_full, q_free, id_full, id_free,
        id, finished, replays, own, top, stage;
    DEVICE layout(uint32_t base)
    {
        q = base;
        k = q + C::QBUFFERS * C::QBYTES;
        v = k + C::STAGES * C::KBYTES;
        k_full = v + C::STAGES * C::KBYTES;
        k_free = k_full + 8 * C::STAGES;
        v_full = k_free + 8 * C::STAGES;
        v_free = v_full + 8 * C::STAGES;
        q_full = v_free + 8 * C::STAGES;
        q_free = q_full + 16;
        id_full = q_free + 16;
        id_free = id_full + 16;
        id = id_free + 16;
        finished = id + 8;
        replays = finished + 8; /* their count, then their ids */
        own = v + C::STAGES * C::KBYTES + 512 + 4 * C::REPLAYS;
        top = own + C::OWN;
        stage = top + C::TOP;
    }
};

/* ---- tiles ------------------------------------------------------------------------ */

struct tile_of {
    int block, h, b, split;
    int from, to; /* key blocks */
    int at;       /* the position of row i is i step + at */
    int reach, behind,
        keys;       /* row i sees keys i step - behind .. min(keys, i step + reach) */
    int bits, list; /* of a mask: tiles of struct sm90_rules */
};

/*
 * What is known of a tile waits in shared memory where registers are few: its words, then
 * the id and what the loop does not need of the rings.
 */
enum {
    OWN_BLOCK = 4 * 0,
    OWN_H = 4 * 1,
    OWN_B = 4 * 2,
    OWN_TO = 4 * 5,
    OWN_AT = 4 * 6,
    OWN_BITS = 4 * 10,
    OWN_LIST = 4 * 11,
    OWN_ID = 4 * 12,
    OWN_RINGS = 4 * 13,
    OWN_BYTES = 64
};
DEVICE void keep_tile(uint32_t at, const tile_of &t)
{
    const int x[12] = {t.block, t.h,     t.b,      t.split, t.from, t.to,
                       t.at,    t.reach, t.behind, t.keys,  t.bits, t.list};
#pragma unroll
    for (int i = 0; i < 12; i++)
        store_shared(at + 4 * i, x[i]);
}
DEVICE tile_of kept_tile(uint32_t at)
{
    int x[12];
#pragma unroll
    for (int i = 0; i < 12; i += 4)
        asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(x[i]), "=r"(x[i + 1]), "=r"(x[i + 2]), "=r"(x[i + 3])
                     : "r"(at + 4 * i)
                     : "memory");
    return {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11]};
}

DEVICE int clamp_int(int64_t x)
{
    const int64_t most = 1 << 30;
    return (int)(x < -most ? -most : x > most ? most : x);
}

/* Where row 0 of a batch stands. */
DEVICE int64_t position_of(const sm90_launch &p, int b)
{
    const int64_t most = (int64_t)1 << 60;
    const int64_t at = p.causal_offset ? p.causal_offset[b] : p.offset;

    return at < -most ? -most : at > most ? most : at;
}

/* The keys that a tile sees, by its rows and its batch. */
template <class C> DEVICE void find_keys(const sm90_launch &p, tile_of &t)
{
    t.keys = p.nk;
    if (p.key_lengths) {
        const int64_t length = p.key_lengths[t.b];
        t.keys = (int)(length < 0 ? 0 : length > p.nk ? p.nk : length);
    }
    t.reach = 1 << 30;
    t.behind = 1 << 30;
    t.at = C::RULED ? clamp_int(position_of(p, t.b)) : 0;
    int first = 0, end = t.keys;
    if (p.bounded) {
        const int64_t at = position_of(p, t.b);
        t.reach = p.reach < 0 ? 1 << 30 : clamp_int(at + p.reach);
        t.behind = p.behind < 0 ? 1 << 30 : clamp_int(p.behind - at);
        const int top = t.block * C::BM, last = min(top + C::BM, p.rows) - 1;
        end = min(end, last * p.step + t.reach);
        first = max(0, top * p.step - t.behind);
    }
    if (C::SPLIT) {
        first = max(first, t.split * SM90_SPLIT);
        end = min(end, (t.split + 1) * SM90_SPLIT);
    }
    t.from = first / C::BN;
    t.to = (end + C::BN - 1) / C::BN;
    if (end <= first) { /* nothing to see: one block, all of it hidden */
        t.from = C::SPLIT ? t.split * SM90_SPLIT / C::BN : 0;
        t.to = t.from + 1;
    }
    t.bits = t.list = 0;
}

/*
 * The blocks of keys of a tile are from .. to - 1, or those of a list, which from and to
 * then count.
 */
template <class C> DEVICE void find_list(const sm90_launch &p, tile_of &t)
{
    if (C::RULED && p.rules.lists) {
        t.bits = (int)(t.b * p.rules.bits_step[0] + t.h * p.rules.bits_step[1]) + t.block;
        t.list = (int)(t.b * p.rules.list_step[0] + t.h * p.rules.list_step[1]) + t.block;
        t.from = 0;
        t.to = p.rules.lists[(int64_t)t.list * p.rules.list_length];
    }
}

/* Block n, with SM90_MIXED where a mask hides some of it. */
template <class C> DEVICE int block_of(const sm90_launch &p, int list, int n)
{
    return C::RULED && p.rules.lists
               ? __ldg(p.rules.lists + (int64_t)list * p.rules.list_length + 1 + n)
               : n;
}

template <class C> DEVICE int index_of(int entry)
{
    return C::RULED ? entry & ~SM90_MIXED : entry;
}

template <class C> DEVICE tile_of find_tile(const sm90_launch &p, int tile)
{
    tile_of t;
    int head;

    t.split = 0;
    if (C::SPLIT) {
        head = tile / p.splits;
        t.split = tile - head * p.splits;
        t.block = 0;
    } else if (p.bounded) { /* the longest first, in sections that fit the cache */
        const int per = p.section * p.row_blocks, s = tile / per, r = tile - s * per;
        const int heads = min(p.section, p.nb * p.heads - s * p.section);
        t.block = p.row_blocks - 1 - r / heads;
        head = s * p.section + r % heads;
    } else {
        t.block = tile % p.row_blocks;
        head = tile / p.row_blocks;
    }
    t.b = head / p.heads;
    t.h = head - t.b * p.heads;
    find_keys<C>(p, t);
    find_list<C>(p, t);
    return t;
}

/* Ends of the stretch of keys that row i sees. */
DEVICE int row_end(const sm90_launch &p, const tile_of &t, int i)
{
    return max(0, min(t.keys, i * p.step + t.reach));
}
DEVICE int row_begin(const sm90_launch &p, const tile_of &t, int i)
{
    return max(0, i * p.step - t.behind);
}

enum { TILE_SYNC = 0x40000000, TILE_SAFE = 0x20000000, TILE_END = 0x7fffffff };

/* ---- the copying warp ---------------------------------------------------------------
 */

template <class C>
DEVICE void copy_tiles(const CUtensorMap &mq, const CUtensorMap &mk,
                       const CUtensorMap &mv, const sm90_launch &p, const layout<C> &s)
{
    int *const next_tile = p.control + (C::CAREFUL ? SM90_CAREFUL_NEXT : SM90_NEXT);
    int *const done = p.control + (C::CAREFUL ? SM90_CAREFUL_DONE : SM90_DONE);
    const int tiles = C::CAREFUL ? *(volatile int *)(p.control + SM90_LISTED) : p.tiles;
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
            barrier_expect(s.v_full + 8 * vs, C::KBYTES);
            for (int d = 0; d < C::D / 64; d++)
                copy_tile(s.v + vs * C::KBYTES + d * C::BN * 128, &mv, s.v_full + 8 * vs,
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
    /* When all tiles so far are done, those that are to come again; each once. */
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
        /* Tiles under way may add a third of the list before they are waited for. */
        if (add_shared(s.replays, 0) > C::REPLAYS / 2)
            replay();
        const int id = C::CAREFUL ? p.list[tile] : tile;
        send(id);
        const int next = atomicAdd(next_tile, 1) + (int)gridDim.x;
        feed(id);
        tile = next;
    }
    replay();
    send(TILE_END);
    /* The last block of threads leaves everything as it was found. */
    __threadfence();
    if (atomicAdd(done, 1) == (int)gridDim.x - 1) {
        if (C::CAREFUL) {
            for (int x = 0; x < tiles; x++)
                p.flags[p.list[x]] = 0;
            p.control[SM90_LISTED] = 0;
        }
        *next_tile = 0;
        *done = 0;
        __threadfence();
    }
}

/* ---- softmax -------------------------------------------------------------------- */

/* Two rows of a thread; a row is shared by four. */
struct softmax {
    float m[2], l[2]; /* the reference in bits, and the sum of this thread's weights */
    bool lazy[2];
};

DEVICE void largest_of_four(float (&x)[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        x[r] = fmaxf(x[r], __shfl_xor_sync(~0u, x[r], 1));
        x[r] = fmaxf(x[r], __shfl_xor_sync(~0u, x[r], 2));
    }
}

template <int N> DEVICE void largest_of_block(const float (&S)[N], float (&x)[2])
{
    float a[2][2] = {{S[0], S[1]}, {S[2], S[3]}};
#pragma unroll
    for (int i = 4; i < N; i++)
        a[(i >> 1) & 1][i & 1] = fmaxf(a[(i >> 1) & 1][i & 1], S[i]);
    x[0] = fmaxf(a[0][0], a[0][1]);
    x[1] = fmaxf(a[1][0], a[1][1]);
}

/*
 * The first block: the reference, and whether the row is lazy, by the smallest of a
 * quarter of its scores.
 */
template <class C, int N>
DEVICE void begin_rows(const float (&S)[N], float (&most)[2], softmax &st, float c,
                       bool safe)
{
    float least[2] = {-CUDART_INF_F, -CUDART_INF_F};

    largest_of_four(most);
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i % 16 < 4)
            least[(i >> 1) & 1] =
                fmaxf(least[(i >> 1) & 1], S[i] > -CUDART_INF_F ? -S[i] : -CUDART_INF_F);
    largest_of_four(least);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        st.m[r] = most[r] * c - element<typename C::E>::raised;
        st.l[r] = 0;
        st.lazy[r] = safe || (most[r] + least[r]) * c > 160.f;
    }
}

/*
 * Raises references where a score is 2^8 above; says whether any of the warp was.
 * `most`: the largest of the thread's scores.
 */
template <class C>
DEVICE bool raise_rows(float (&most)[2], softmax &st, float c, bool all,
                       float (&scale)[2])
{
    constexpr float raised = element<typename C::E>::raised;

    scale[0] = scale[1] = 1.f;
    if (!__any_sync(~0u, most[0] * c - raised > st.m[0] + 8.f ||
                             most[1] * c - raised > st.m[1] + 8.f))
        return false;
    largest_of_four(most);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float m = most[r] * c - raised;
        const bool none = C::RULED && st.m[r] == -CUDART_INF_F;
        if ((all || none || st.lazy[r]) && m > st.m[r] + 8.f) {
            scale[r] = ex2(st.m[r] - m);
            st.m[r] = m;
            st.l[r] *= scale[r];
        }
    }
    return true;
}

/* S becomes weights; true if rows were scaled.  `lost`: a sum left the range. */
template <class C, int N>
DEVICE bool weigh(float (&S)[N], softmax &st, float c, float (&scale)[2], bool &lost)
{
    constexpr float limit = element<typename C::E>::limit;
    float m[2], sum[2][2] = {{0, 0}, {0, 0}};

#pragma unroll
    for (int r = 0; r < 2; r++)
        m[r] = st.m[r] == -CUDART_INF_F ? 0.f : st.m[r];
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int r = (i >> 1) & 1;
        S[i] = ex2(__fmaf_rn(S[i], c, -m[r]));
        sum[r][i & 1] += S[i];
    }
    sum[0][0] += sum[0][1];
    sum[1][0] += sum[1][1];
    const bool over = __any_sync(~0u, !(sum[0][0] < limit && sum[1][0] < limit));
    if (over) {
        float most[2] = {sum[0][0], sum[1][0]};
        float by[2] = {1.f, 1.f};
        /* NaN counts as lost; fmaxf would drop it. */
        if (!(sum[0][0] < 1e38f && sum[1][0] < 1e38f))
            lost = true;
        largest_of_four(most);
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (most[r] >= limit && most[r] < 1e38f) {
                const int e = (__float_as_int(most[r]) >> 23 & 255) - 127;
                by[r] = __int_as_float((127 - e) << 23);
                st.m[r] += (float)e;
                st.l[r] *= by[r];
                sum[r][0] *= by[r];
                scale[r] *= by[r];
            }
#pragma unroll
        for (int i = 0; i < N; i++)
            S[i] *= by[(i >> 1) & 1];
    }
    st.l[0] += sum[0][0];
    st.l[1] += sum[1][0];
    return over;
}

template <class C, int N>
DEVICE void pack_weights(const float (&S)[N], uint32_t (&P)[N / 2])
{
#pragma unroll
    for (int i = 0; i < N / 2; i++)
        P[i] = element<typename C::E>::pack(S[2 * i], S[2 * i + 1]);
}

/* Scores of keys outside begin .. end - 1, counted from the thread's first column. */
template <int N>
DEVICE void hide(float (&S)[N], const int (&begin)[2], const int (&end)[2], bool left)
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int column = 8 * (i / 4) + (i & 1), r = (i >> 1) & 1;
        if (column >= end[r])
            S[i] = -CUDART_INF_F;
    }
    if (left) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int column = 8 * (i / 4) + (i & 1), r = (i >> 1) & 1;
            if (column < begin[r])
                S[i] = -CUDART_INF_F;
        }
    }
}

#include "cuda/sm90_measure.cuh"
#include "cuda/sm90_rules.cuh"

/* ---- values that are not finite ---------------------------------------------------- */

/* Inf and NaN of a block of V become 0; thread x of all that have rows. */
template <class C> DEVICE void make_finite(uint32_t v, int thread)
{
    for (int x = thread; x < C::KBYTES / 4; x += 128 * C::GROUPS) {
        uint32_t a;
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(a) : "r"(v + 4 * x) : "memory");
        if ((a & 0x7fff) >= element<typename C::E>::inf)
            a &= 0xffff0000;
        if ((a >> 16 & 0x7fff) >= element<typename C::E>::inf)
            a &= 0x0000ffff;
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(v + 4 * x), "r"(a) : "memory");
    }
    copy_fence();
}

/* Whether rows first .. last have a key of block j hidden from one of them. */
template <class C>
DEVICE bool hides(const sm90_launch &p, const tile_of &t, int first, int last, int entry)
{
    const int j = index_of<C>(entry), keys = C::BN;
    return entry != j || (j + 1) * keys > row_end(p, t, first) ||
           j * keys < row_begin(p, t, last);
}

template <class C>
DEVICE float score_of(const sm90_launch &p, const tile_of &t, int row, int key)
{
    typedef typename C::E E;
    const E *q = (const E *)p.q.data + t.b * p.q.stride[0] + t.h * p.q.stride[1] +
                 row * p.q.stride[2];
    const E *k = (const E *)p.k.data + t.b * p.k.stride[0] +
                 t.h / p.group * p.k.stride[1] + key * p.k.stride[2];
    float s = 0;

    for (int c = 0; c < p.d; c++)
        s = __fmaf_rn(element<E>::wide(q[c * p.q.stride[3]]),
                      element<E>::wide(k[c * p.k.stride[3]]), s);
    if (C::CHANGED && p.rules.changes)
        s = finish_score(p, t, row, key, s);
    return s;
}

/* What Inf and NaN of blocks that hide keys are to the rows that see them. */
template <class C, int N>
DEVICE void add_not_finite(const sm90_launch &p, const tile_of &t, float (&O)[N],
                           const softmax &st, const int (&row)[2], int lane)
{
    typedef typename C::E E;
    const int top = t.block * C::BM, last = min(top + C::BM, p.rows) - 1;

#pragma unroll 1
    for (int n = t.from; n < t.to; n++) {
        const int entry = block_of<C>(p, t.list, n), j = index_of<C>(entry);
        if (!hides<C>(p, t, top, last, entry))
            continue;
#pragma unroll 1
        for (int key = j * C::BN; key < min((j + 1) * C::BN, p.nk); key++) {
            const E *v = (const E *)p.v.data + t.b * p.v.stride[0] +
                         t.h / p.group * p.v.stride[1] + key * p.v.stride[2] +
                         2 * (lane & 3) * p.v.stride[3];
            /* Columns 8 x + 0 and 1, counted from the thread's first. */
            auto value = [&](int x, int y) {
                return 8 * x + 2 * (lane & 3) + y < p.dv
                           ? element<E>::wide(v[(8 * x + y) * p.v.stride[3]])
                           : 0.f;
            };
            float none = 0;
#pragma unroll 4
            for (int x = 0; x < C::D / 8; x++)
                none += value(x, 0) * 0.f + value(x, 1) * 0.f;
            if (none == none)
                continue;
            float weight[2] = {0, 0};
            bool sees[2];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const int i = row[r];
                const float m = st.m[r];
                sees[r] = i < p.rows && key >= row_begin(p, t, i) &&
                          key < row_end(p, t, i) &&
                          (!C::RULED || mask_shows(p, t, i, key));
                if (sees[r])
                    weight[r] = ex2(score_of<C>(p, t, i, key) * p.c -
                                    (m == -CUDART_INF_F ? 0.f : m));
            }
#pragma unroll
            for (int i = 0; i < N; i++) {
                const float x = value(i / 4, i & 1);
                if (sees[(i >> 1) & 1] && !(fabsf(x) < CUDART_INF_F))
                    O[i] += x * weight[(i >> 1) & 1];
            }
        }
    }
}

/* ---- the end of a tile ----------------------------------------------------------------
 */

/* The same with a sink. */
DEVICE float sink_factor(double sink, double shift, float m, float l, float *to)
{
    const double nats = (double)m * 0.693147180559945309417 + shift;

    if (l == 0) {
        *to = (float)sink;
        return 0;
    }
    const double top = sink > nats ? sink : nats, raise = exp(nats - top);
    const double sum = l * raise + exp(sink - top);
    *to = (float)(top + log(sum));
    return (float)(raise / sum);
}

/*
 * What the sums of a row are multiplied by; its LSE goes to *to, unless that is NULL.
 * `shift` is what scores are more than those that were compared.
 */
DEVICE float row_factor(const sm90_launch &p, int h, double shift, float m, float l,
                        float *to)
{
    if (p.sinks) {
        float lse;
        const float factor = sink_factor(p.sinks[h], shift, m, l, &lse);
        if (to)
            *to = lse;
        return factor;
    }
    if (to) { /* ln 2 in two parts: the first times m is exact enough */
        *to = l == 0 ? -CUDART_INF_F
                     : __fmaf_rn(m, 0.693147182464599609375f,
                                 __fmaf_rn(m, -1.904654299957767879e-9f, logf(l)));
        if (shift != 0)
            *to = (float)(*to + shift);
    }
    return l == 0 ? 0.f : 1.f / l;
}

template <class C, int N>
DEVICE void leave_record(const sm90_launch &p, const tile_of &t, const float (&O)[N],
                         const softmax &st, const int (&row)[2], int lane)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        if (row[r] >= p.rows)
            continue;
        float *const to =
            p.records +
            (((int64_t)(t.b * p.heads + t.h) * p.rows + row[r]) * p.splits + t.split) *
                (p.dv + 2);
        if ((lane & 3) == 0) {
            to[0] = st.m[r];
            to[1] = st.l[r];
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            if (((i >> 1) & 1) == r) {
                const int column = 8 * (i / 4) + 2 * (lane & 3) + (i & 1);
                if (column < p.dv)
                    to[2 + column] = O[i];
            }
    }
}

/* Element by element: f32, strides that the copy engine does not take. */
template <class C, int N>
DEVICE void store_rows(const sm90_launch &p, const tile_of &t, const float (&O)[N],
                       const int (&row)[2], int lane)
{
    typedef typename C::E E;

#pragma unroll
    for (int i = 0; i < N; i++) {
        const int r = (i >> 1) & 1, column = 8 * (i / 4) + 2 * (lane & 3) + (i & 1);
        const int64_t at = t.b * p.out.stride[0] + t.h * p.out.stride[1] +
                           row[r] * p.out.stride[2] + column * p.out.stride[3];
        if (row[r] >= p.rows || column >= p.dv)
            continue;
        if (p.out_float)
            ((float *)p.out.data)[at] = O[i];
        else
            ((E *)p.out.data)[at] = element<E>::narrow(O[i]);
    }
}

/* By way of the warp's own rows of the query buffer, which are no longer needed. */
template <class C, int N>
DEVICE void store_by_copy(const sm90_launch &p, const tile_of &t, const float (&O)[N],
                          uint32_t rows, int first_row, int lane, const CUtensorMap &mo)
{
    const uint32_t at = rows + ((lane >> 3) & 1) * 1024 + (lane & 7) * 128;

#pragma unroll
    for (int d = 0; d < C::D / 64; d++)
#pragma unroll
        for (int i = 0; i < 8; i += 2) {
            const int e = 4 * (8 * d + i);
            const uint32_t to =
                at + d * C::BM * 128 + ((((uint32_t)i + (lane >> 4)) ^ (lane & 7)) << 4);
            typedef element<typename C::E> X;
            asm volatile(
                "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(to),
                "r"(X::pack(O[e], O[e + 1])), "r"(X::pack(O[e + 2], O[e + 3])),
                "r"(X::pack(O[e + 4], O[e + 5])), "r"(X::pack(O[e + 6], O[e + 7]))
                : "memory");
        }
    copy_fence();
    __syncwarp();
    if (lane == 0 && first_row < p.rows) {
#pragma unroll
        for (int d = 0; d < C::D / 64; d++)
            if (d * 64 < p.dv)
                store_tile(&mo, rows + d * C::BM * 128, d * 64, first_row, t.h, t.b);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
}

/* ---- the warpgroups that have rows
 * ------------------------------------------------------ */

template <class C>
DEVICE void compute_tiles(const CUtensorMap &mo, const sm90_launch &p, const layout<C> &s,
                          int warp)
{
    typedef typename C::E E;
    constexpr int D = C::D, BN = C::BN;
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
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
                barrier_arrive(s.q_free + 8 * stored);
            }
            stored = -1;
        }
    };
    if (C::TICKET && group == C::GROUPS - 1)
        named_arrive(1, 256);
    while (true) {
        barrier_wait(s.id_full + 8 * is, ip);
        int id = 0;
        if (first_lane) { /* who reads it also says so */
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
        const bool safe = (id & TILE_SAFE) != 0 || C::CHANGED;
        id &= ~TILE_SAFE;
        tile_of t = find_tile<C>(p, id);
        const uint32_t own = s.own + OWN_BYTES * warp;
        if constexpr (C::KEPT) {
            if (first_lane)
                keep_tile(own, t);
            __syncwarp();
        }
        const int to = t.to, from = t.from;
        int top = t.block * C::BM + group * 64;
        if constexpr (C::KEPT) { /* what the loop does not need */
            if (first_lane) {
                store_shared(own + OWN_ID, id);
                store_shared(own + OWN_RINGS, (int)(qp | is << 1 | ip << 2));
            }
            __syncwarp();
        }
        bool lost = false;
        float O[D / 2], S[BN / 2], scale[2];
        uint32_t P[BN / 4];
        softmax st;

        /* The careful kernel: before the product. */
        auto mend_v = [&](int n) {
            if constexpr (C::CAREFUL) {
                const tile_of u = kept_tile(own);
                const int all = min(u.block * C::BM + C::BM, p.rows) - 1;
                if (!hides<C>(p, u, u.block * C::BM, all, block_of<C>(p, u.list, n)))
                    return;
                barrier_wait(s.v_full + 8 * vs, vp);
                named_sync(8, 128 * C::GROUPS);
                make_finite<C>(s.v + vs * C::KBYTES, threadIdx.x - 128);
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
        auto values = [&](int add) {
            const uint64_t v = v_slab + vs * (C::KBYTES >> 4);
#pragma unroll
            for (int x = 0; x < BN / 16; x++)
                wgmma<E, D>::values(O, P + 4 * x, v + x * 128, x > 0 ? 1 : add);
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
            return C::SCARCE ? load_shared(own + OWN_BLOCK) * C::BM + group * 64 : top;
        };
        auto first_row = [&]() { return top_row() + w * 16 + (lane >> 2); };
        const uint32_t tops = s.top + 4 * (threadIdx.x - 128);
        const uint32_t stage = s.stage + SM90_STAGE_BYTES * (warp - 4);
        measures<C> ms;
        uint2 bits = {0, 0};
        float most[2];
        auto known = [&]() {
            if constexpr (C::KEPT)
                return kept_tile(own);
            else
                return t;
        };
        /*
         * Blocks from `masked` on may hide keys at their end, those before `left` at
         * their beginning; the first that a row sees is never before `masked`.
         */
        auto masked_from = [&](const tile_of &u) {
            return max(row_end(p, u, top_row()) - 1, 0) / BN;
        };
        auto left_to = [&](const tile_of &u) {
            return (row_begin(p, u, top_row() + 63) + BN - 1) / BN;
        };
        const int kept_masked = C::SCARCE ? 0 : masked_from(t),
                  kept_left = C::SCARCE ? 0 : left_to(t);
        /* Hides what causal rule, window and lengths do; says whether they may. */
        auto hide_block = [&](int j) {
            const int at = 2 * (lane & 3) + j * BN;
            const int masked = C::SCARCE ? masked_from(known()) : kept_masked;
            const int left = C::SCARCE ? left_to(known()) : kept_left;
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
        auto entry_of = [&](int n) {
            return block_of<C>(p, C::RULED ? load_shared(own + OWN_LIST) : 0, n);
        };
        const uint2 *const bits_at = C::RULED && !C::SCARCE ? mask_bits(p, t.bits) : NULL;
        auto load_bits = [&](int entry) {
            if (C::RULED && entry & SM90_MIXED)
                bits = __ldg(
                    (C::SCARCE ? mask_bits(p, load_shared(own + OWN_BITS)) : bits_at) +
                    index_of<C>(entry) * BN / SM90_UNIT * SM90_TILE_THREADS);
        };
        /* The rule on a block; says whether it may hide keys by their place. */
        auto apply_rule = [&](int entry) {
            const int j = index_of<C>(entry);
            if (C::CHANGED && p.rules.changes)
                finish_scores(p, own, S, first_row(), j * BN, stage);
            if (C::RULED && entry != j)
                hide_bits(S, bits, BN == 64 && (j & 1));
            const bool hides_keys = hide_block(j);
            if constexpr (C::MEASURED)
                if (p.rules.on)
                    count_keys<C>(S, tops);
            if constexpr (C::MEASURED)
                ms.take_largest(S, tops, j * BN + 2 * (lane & 3), most);
            return hides_keys;
        };
        auto weigh_block = [&](int entry) {
            if constexpr (C::MEASURED)
                return weigh_measured<C>(p, load_shared(own + OWN_AT), S, st, ms, c,
                                         scale, lost, first_row(),
                                         index_of<C>(entry) * BN, lane);
            else
                return weigh<C>(S, st, c, scale, lost);
        };

        if constexpr (C::MEASURED)
            ms.clear(tops);
        int entry = entry_of(to - 1), next = entry;
        load_bits(entry);
        barrier_wait(s.q_full + 8 * qs, qp);
        barrier_wait(s.k_full + 8 * ks, kp);
        product_fence();
        scores();
        product_wait<0>();
        pin(S);
        free_k();
        release_stored();
        apply_rule(entry);
        if constexpr (!C::MEASURED)
            largest_of_block(S, most);
        begin_rows<C>(S, most, st, c, safe);
        scale[0] = scale[1] = 1.f;
        weigh_block(entry);
        pack_weights<C>(S, P);
        next = entry_of(max(to - 2, from));
        const bool any_lazy = __any_sync(~0u, st.lazy[0] || st.lazy[1]);
        /* Rows that a mask has shown no key yet have no reference. */
        bool unseen = C::RULED && p.rules.on &&
                      __any_sync(~0u, fminf(st.m[0], st.m[1]) == -CUDART_INF_F);
#pragma unroll 1
        for (int n = to - 2; n >= from; n--) {
            mend_v(n + 1);
            entry = C::RULED ? next : n;
            if (!C::SCARCE)
                load_bits(entry);
            barrier_wait(s.k_full + 8 * ks, kp);
            if (C::TICKET)
                named_sync(1 + group, 256);
            pin(O);
            product_fence();
            scores();
            barrier_wait(s.v_full + 8 * vs, vp);
            product_fence();
            values(n < (C::SCARCE ? load_shared(own + OWN_TO) : to) - 2);
            if (C::TICKET)
                named_arrive(1 + next_group, 256);
            if (C::SCARCE)
                load_bits(entry);
            if (C::RULED)
                next = entry_of(max(n - 1, from));
            product_wait<1>();
            pin(S);
            free_k();
            bool rescale = false;
            scale[0] = scale[1] = 1.f;
            auto raise = [&](bool all) {
                const softmax before = st;
                if constexpr (!C::MEASURED)
                    largest_of_block(S, most);
                rescale = raise_rows<C>(most, st, c, all, scale);
                if constexpr (C::MEASURED)
                    if (rescale)
                        ms.raise(before, st, scale);
                if (C::RULED)
                    unseen = unseen &&
                             __any_sync(~0u, fminf(st.m[0], st.m[1]) == -CUDART_INF_F);
            };
            if (apply_rule(entry))
                raise(true);
            else if (any_lazy || unseen)
                raise(false);
            rescale |= weigh_block(entry);
            product_wait<0>();
            pin(O);
            free_v();
            pack_weights<C>(S, P);
            if (rescale) {
#pragma unroll
                for (int i = 0; i < D / 2; i++)
                    O[i] *= scale[(i >> 1) & 1];
            }
        }
        mend_v(from);
        barrier_wait(s.v_full + 8 * vs, vp);
        pin(O);
        product_fence();
        values((C::SCARCE ? load_shared(own + OWN_TO) : to) - from > 1);
        product_wait<0>();
        pin(O);
        free_v();

        if constexpr (C::GROUPS == 3 &&
                      !C::KEPT) { /* not kept in registers through the loop */
            asm volatile("" : "+r"(id));
            t = find_tile<C>(p, id);
            top = t.block * C::BM + group * 64;
        }
        if constexpr (C::KEPT) {
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
        if constexpr (C::MEASURED) {
            if (index_of<C>(entry) == 0)
                ms.take_sinks(S, lane);
            leave_measures<C>(p, t, st, ms, tops, row, lane);
        }
        if constexpr (C::CAREFUL)
            add_not_finite<C>(p, t, O, st, row, lane);
        else if (p.may_hide && !again) {
            float none = 0;
#pragma unroll
            for (int i = 0; i < D / 2; i++)
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
        if constexpr (C::SPLIT) {
            leave_record<C>(p, t, O, st, row, lane);
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
                const double shift = C::CHANGED ? row_shift(p, t, row[r]) : 0;
                const float factor = row_factor(p, t.h, shift, st.m[r], st.l[r], lse);
#pragma unroll
                for (int i = 0; i < D / 2; i++)
                    if (((i >> 1) & 1) == r)
                        O[i] = __fmaf_rn(O[i], factor, 0.f);
                if (st.l[r] == 0) { /* whatever V holds */
#pragma unroll
                    for (int i = 0; i < D / 2; i++)
                        if (((i >> 1) & 1) == r)
                            O[i] = 0.f;
                }
            }
            if (p.out_tma) {
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

    if (C::CAREFUL && *(volatile int *)(p.control + SM90_LISTED) == 0)
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
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warp < 4) {
        if constexpr (C::GROUPS > 1)
            asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(C::FEW));
        if (threadIdx.x == 0)
            copy_tiles<C>(mq, mk, mv, p, s);
    } else {
        if constexpr (C::GROUPS > 1)
            asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(C::MANY));
        compute_tiles<C>(mo, p, s, warp);
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
