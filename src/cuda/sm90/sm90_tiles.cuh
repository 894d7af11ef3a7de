/* SPDX-License-Identifier: MIT */
/* Configurations of the Hopper kernel, layout of shared memory, and tiles. */
#ifndef ATTEND_CUDA_SM90_TILES_CUH
#define ATTEND_CUDA_SM90_TILES_CUH

#include <math_constants.h>

#include "cuda/sm90/sm90.h"
#include "cuda/sm90/sm90_element.cuh"
#include "cuda/sm90/sm90_instructions.cuh"

/*
 * Columns of Q and K, keys of a block, consumer warpgroups, stages of K and of V, and
 * features.  RULES 1: masks; 2: also biases, ALiBi and softcap.  STATS: sums for
 * statistics.  DV: columns of V and O, no more than those of Q.
 */
template <class E_, int D_, int BN_, int GROUPS_, int STAGES_, bool SPLIT_,
          bool NONFINITE_, int RULES_ = 0, bool STATS_ = false, int DV_ = D_>
struct config {
    typedef E_ E;
    static constexpr int D = D_, DV = DV_, GROUPS = GROUPS_, STAGES = STAGES_, BN = BN_;
    static constexpr bool SPLIT = SPLIT_, NONFINITE = NONFINITE_;
    static constexpr bool MASKED = RULES_ > 0, SCORE_MOD = RULES_ > 1, STATS = STATS_;
    static constexpr bool PING_PONG = GROUPS == 2;
    /* If half of the first block is hidden, only the other half is computed. */
    static constexpr bool HALF_BLOCK = BN == 128 && PING_PONG && !NONFINITE && !STATS;
    /* Values that are cheap to recompute are not kept in registers. */
    static constexpr bool TILE_IN_SHARED =
        MASKED || NONFINITE || STATS || HALF_BLOCK || GROUPS == 3;
    static constexpr bool LOW_REGISTERS = SCORE_MOD || STATS || NONFINITE;
    static constexpr bool BOUNDS_IN_SHARED = LOW_REGISTERS || GROUPS == 3;
    /* A later block also decides whether a row is lazy. */
    static constexpr bool LEARNS = !SPLIT && !SCORE_MOD;
    static constexpr int BM = 64 * GROUPS, THREADS = 128 * (GROUPS + 1);
    static constexpr int QBUFFERS = D > 128 || (STATS && D == 128) ? 1 : 2;
    static constexpr int QBYTES = BM * D * 2, KBYTES = BN * D * 2, VBYTES = BN * DV * 2;
    static constexpr int REPLAYS = 128;
    static_assert(REPLAYS / 2 + 3 * 4 * GROUPS <= REPLAYS, "three tiles under way");
    /*
     * Shared memory of tiles per warp, of the largest scores per thread, and of biases.
     */
    static constexpr int OWN =
        TILE_IN_SHARED ? 80 * 4 * (GROUPS + 1) : 0; /* OWN_BYTES per warp */
    static constexpr int TOP = STATS ? SM90_TOP_BYTES * 128 * GROUPS : 0;
    static constexpr int STAGE = SCORE_MOD ? SM90_STAGE_BYTES * 4 * GROUPS : 0;
    static constexpr int CONTROL = 512 + 4 * REPLAYS + OWN + TOP + STAGE;
    static constexpr int SHARED =
        QBUFFERS * QBYTES + STAGES * (KBYTES + VBYTES) + CONTROL + 1024;
    static_assert(SHARED <= SM90_SHARED, "fits an SM");
    /* Registers of the producer warpgroup and of the consumers. */
    static constexpr int FEW = GROUPS == 3 ? 32 : 40, MANY = GROUPS == 3 ? 160 : 232;
};

/* Layout of shared memory. */
template <class C> struct layout {
    uint32_t q, k, v, k_full, k_free, v_full, v_free, q_full, q_free, id_full, id_free,
        id, finished, replays, own, top, stage;
    DEVICE layout(uint32_t base)
    {
        q = base;
        k = q + C::QBUFFERS * C::QBYTES;
        v = k + C::STAGES * C::KBYTES;
        k_full = v + C::STAGES * C::VBYTES;
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
        own = v + C::STAGES * C::VBYTES + 512 + 4 * C::REPLAYS;
        top = own + C::OWN;
        stage = top + C::TOP;
    }
};

/* The wgmma descriptor of slabs of 64 columns in rows of 128 bytes, swizzled by 128
 * bytes. */
DEVICE uint64_t slab_descriptor(uint32_t at, uint32_t slab_bytes)
{
    return (uint64_t)((at & 0x3FFFF) >> 4) | (uint64_t)(slab_bytes >> 4) << 16 |
           (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

/* ---- tiles ------------------------------------------------------------------------ */

struct tile_of {
    int block, h, b, split;
    int from, to; /* key blocks */
    int at;       /* the position of row i is i step + at */
    int reach, behind,
        keys;       /* row i sees keys i step - behind .. min(keys, i step + reach) */
    int bits, list; /* with a mask: tiles of struct sm90_rules */
};

/*
 * Parameters of a tile in shared memory, if registers are scarce: its words, the id, and
 * the state of the rings that the loop does not need.
 */
enum {
    OWN_BLOCK = 4 * 0,
    OWN_H = 4 * 1,
    OWN_B = 4 * 2,
    OWN_AT = 4 * 6,
    OWN_BITS = 4 * 10,
    OWN_LIST = 4 * 11,
    OWN_ID = 4 * 12,
    OWN_RINGS = 4 * 13,
    OWN_MASKED = 4 * 14,
    OWN_LEFT = 4 * 15,
    OWN_LEARN = 4 * 16,
    OWN_BYTES = 80
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
    for (int i = 0; i < 12; i += 4) {
        const uint4 y = load_shared_4(at + 4 * i);
        x[i] = (int)y.x;
        x[i + 1] = (int)y.y;
        x[i + 2] = (int)y.z;
        x[i + 3] = (int)y.w;
    }
    return {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11]};
}

DEVICE int clamp_int(int64_t x)
{
    const int64_t most = 1 << 30;
    return (int)(x < -most ? -most : x > most ? most : x);
}

/* The position of row 0 of a batch. */
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
    t.at = C::MASKED || C::STATS ? clamp_int(position_of(p, t.b)) : 0;
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
        first = max(first, t.split * p.split_keys);
        end = min(end, (t.split + 1) * p.split_keys);
    }
    t.from = first / C::BN;
    t.to = (end + C::BN - 1) / C::BN;
    if (end <= first) { /* no visible key: one block, fully hidden */
        t.from = C::SPLIT ? t.split * p.split_keys / C::BN : 0;
        t.to = t.from + 1;
    }
    t.bits = t.list = 0;
}

/*
 * The blocks of keys of a tile: from .. to - 1; with a list, entries from .. to - 1 of
 * the list.
 */
template <class C> DEVICE void find_list(const sm90_launch &p, tile_of &t)
{
    if (C::MASKED && p.rules.lists) {
        t.bits = (int)(t.b * p.rules.bits_step[0] + t.h * p.rules.bits_step[1]) + t.block;
        t.list = (int)(t.b * p.rules.list_step[0] + t.h * p.rules.list_step[1]) + t.block;
        t.from = 0;
        t.to = p.rules.lists[(int64_t)t.list * p.rules.list_length];
    }
}

/* Block n, with SM90_MIXED if a mask hides a part of it. */
template <class C> DEVICE int block_of(const sm90_launch &p, int list, int n)
{
    return C::MASKED && p.rules.lists
               ? __ldg(p.rules.lists + (int64_t)list * p.rules.list_length + 1 + n)
               : n;
}

template <class C> DEVICE int index_of(int entry)
{
    return C::MASKED ? entry & ~SM90_MIXED : entry;
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

/* Bounds of the keys that row i sees. */
DEVICE int row_end(const sm90_launch &p, const tile_of &t, int i)
{
    return max(0, min(t.keys, i * p.step + t.reach));
}
DEVICE int row_begin(const sm90_launch &p, const tile_of &t, int i)
{
    return max(0, i * p.step - t.behind);
}

enum { TILE_SYNC = 0x40000000, TILE_SAFE = 0x20000000, TILE_END = 0x7fffffff };

#endif
