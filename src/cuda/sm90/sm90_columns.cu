/* SPDX-License-Identifier: MIT */
/*
 * Sums of P over queries on Hopper: the forward pass transposed.  A tile of 256 keys, 64
 * for each of four warpgroups, stays in shared memory; queries are loaded in blocks of
 * 128 with their LSE.  S = K Q^T, P = 2^(S c - lse), and the sum of each row of P is the
 * mass of a key.  The sum of a block is in float, the sum of all blocks in double, in the
 * order of queries.  The kernel is persistent: one CTA per SM computes several tiles, and
 * loads the next K while it computes.
 *
 *   copies   K  Q(first) Q(first+1) ...  K of the next tile  Q ...
 *   rows     wait Q(i) | issue S = K Q(i)^T | wait for S | sum | free Q(i)
 *
 * Warpgroups are not ordered: of four, some wait for a product while others sum.
 */
#include "cuda/sm90/sm90.cuh"

enum { COLUMN_GROUPS = 4, COLUMN_KEYS = 64 * COLUMN_GROUPS, COLUMN_QUERIES = 128 };
enum { COLUMN_STAGES = 3, COLUMN_THREADS = 128 * (COLUMN_GROUPS + 1), COLUMN_TILES = 2 };

/* lse in units of log 2, by query; +inf for -inf, so that 2^(x - lse) is 0. */
extern "C" __global__ void __launch_bounds__(256) attend_sm90_lse(const sm90_columns p)
{
    for (int64_t x = (int64_t)blockIdx.x * 256 + threadIdx.x; x < p.count;
         x += (int64_t)gridDim.x * 256) {
        const int64_t i = x % p.padded, head = x / p.padded;
        const int64_t at = head / p.heads * p.lse.stride[0] +
                           head % p.heads * p.lse.stride[1] + i * p.lse.stride[2];
        double lse = CUDART_INF;

        if (i < p.nq) {
            lse = p.lse_double ? ((const double *)p.lse.data)[at]
                               : ((const float *)p.lse.data)[at];
            lse = lse == -CUDART_INF ? CUDART_INF : lse * 1.44269504088896340736;
        }
        p.bits[x] = (float)lse;
    }
}

template <class E, int D> struct column_layout {
    static constexpr int KBYTES = COLUMN_KEYS * D * 2, QBYTES = COLUMN_QUERIES * D * 2;
    static constexpr int LSE = COLUMN_QUERIES * 4;
    static constexpr int BARRIERS = 8 * 2 * (COLUMN_STAGES + COLUMN_TILES);
    static constexpr int SHARED =
        COLUMN_TILES * KBYTES + COLUMN_STAGES * (QBYTES + LSE) + BARRIERS + 1024;
    static_assert(SHARED <= SM90_SHARED, "fits an SM");
};

/* Queries begin .. end - 1 see a key. */
struct column_range {
    int begin, end;
};

DEVICE column_range queries_of(const sm90_columns &p, const tile_of &t, int key)
{
    if (key >= t.keys)
        return {0, 0};
    return {p.bounded ? max(0, key - t.reach + 1) : 0,
            p.bounded ? min(p.nq, key + t.behind + 1) : p.nq};
}

/* The bounds of batch b, as in find_tile(). */
DEVICE tile_of column_bounds(const sm90_columns &p, int b)
{
    tile_of t = {};

    t.keys = p.nk;
    if (p.key_lengths) {
        const int64_t length = p.key_lengths[b];
        t.keys = (int)(length < 0 ? 0 : length > p.nk ? p.nk : length);
    }
    t.reach = t.behind = 1 << 30;
    if (p.bounded) {
        const int64_t most = (int64_t)1 << 60;
        int64_t at = p.causal_offset ? p.causal_offset[b] : p.offset;
        at = at < -most ? -most : at > most ? most : at;
        t.reach = p.reach < 0 ? 1 << 30 : clamp_int(at + p.reach);
        t.behind = p.behind < 0 ? 1 << 30 : clamp_int(p.behind - at);
    }
    return t;
}

/* A tile: its keys, and the blocks of queries that see some of them. */
struct column_tile {
    int top, h, b, from, end;
    tile_of bounds;
};

/* Longest tiles first. */
DEVICE column_tile find_column_tile(const sm90_columns &p, int tile)
{
    column_tile t;
    int head, block;

    if (p.bounded) {
        block = tile / (p.nb * p.heads);
        head = tile % (p.nb * p.heads);
    } else {
        block = tile % p.key_blocks;
        head = tile / p.key_blocks;
    }
    t.top = block * COLUMN_KEYS;
    t.b = head / p.heads;
    t.h = head - t.b * p.heads;
    t.bounds = column_bounds(p, t.b);
    const int keys = t.bounds.keys, last = min(t.top + COLUMN_KEYS, p.nk) - 1;
    t.from = queries_of(p, t.bounds, min(t.top, max(keys - 1, 0))).begin / COLUMN_QUERIES;
    t.end = (queries_of(p, t.bounds, min(last, keys - 1)).end + COLUMN_QUERIES - 1) /
            COLUMN_QUERIES;
    return t;
}

/*
 * The tile of a round.  CTAs take tiles in ascending order in even rounds and in
 * descending order in odd ones, which balances the load.  May be past the last tile.
 */
DEVICE int tile_of_round(int round)
{
    const int place = round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;

    return round * gridDim.x + place;
}

/* Layout of shared memory. */
template <class L> struct column_places {
    uint32_t k, q, lse, full, freed, k_full, k_freed;
    DEVICE column_places(uint32_t base)
    {
        k = base;
        q = k + COLUMN_TILES * L::KBYTES;
        lse = q + COLUMN_STAGES * L::QBYTES;
        full = lse + COLUMN_STAGES * L::LSE;
        freed = full + 8 * COLUMN_STAGES;
        k_full = freed + 8 * COLUMN_STAGES;
        k_freed = k_full + 8 * COLUMN_TILES;
    }
};

/* A slot of a ring of N, and the parity of the number of rounds. */
template <int N> struct ring {
    uint32_t at, phase;
    DEVICE void step()
    {
        if (++at == N) {
            at = 0;
            phase ^= 1;
        }
    }
};

template <class L, int D>
DEVICE void copy_columns(const CUtensorMap &mk, const CUtensorMap &mq,
                         const sm90_columns &p, const column_places<L> &s)
{
    ring<COLUMN_STAGES> q = {0, 1};
    ring<COLUMN_TILES> k = {0, 1};

    for (int round = 0; round * gridDim.x < p.tiles; round++) {
        if (tile_of_round(round) >= p.tiles)
            continue;
        const column_tile t = find_column_tile(p, tile_of_round(round));
        const float *const lse = p.bits + (int64_t)(t.b * p.heads + t.h) * p.padded;

        barrier_wait(s.k_freed + 8 * k.at, k.phase);
        barrier_expect(s.k_full + 8 * k.at, L::KBYTES);
        for (int d = 0; d < D / 64; d++)
            copy_tile(s.k + k.at * L::KBYTES + d * COLUMN_KEYS * 128, &mk,
                      s.k_full + 8 * k.at, d * 64, t.top, t.h / p.group, t.b);
        k.step();
        for (int i = t.from; i < t.end; i++) {
            const uint32_t full = s.full + 8 * q.at;
            barrier_wait(s.freed + 8 * q.at, q.phase);
            barrier_expect(full, L::QBYTES + L::LSE);
            copy_line(s.lse + q.at * L::LSE, lse + i * COLUMN_QUERIES, L::LSE, full);
            for (int d = 0; d < D / 64; d++)
                copy_tile(s.q + q.at * L::QBYTES + d * COLUMN_QUERIES * 128, &mq, full,
                          d * 64, i * COLUMN_QUERIES, t.h, t.b);
            q.step();
        }
    }
}

/*
 * Weights of a block from scores and lse, summed for two keys.  The exponentials of a
 * piece overlap with the sums of the previous one: ptxas moves nothing across
 * __syncwarp().
 */
DEVICE void weigh_columns(float (&S)[COLUMN_QUERIES / 2], float c, uint32_t lse,
                          float (&sum)[2][2])
{
    constexpr int PIECE = 16;
    auto add = [&](int x) {
#pragma unroll
        for (int i = x; i < x + PIECE; i++)
            sum[(i >> 1) & 1][i & 1] += S[i];
    };

#pragma unroll
    for (int x = 0; x < COLUMN_QUERIES / 2; x += PIECE) {
#pragma unroll
        for (int i = x; i < x + PIECE; i += 4) {
            float of[2];
            load_shared_2(lse + 8 * i, of[0], of[1]);
#pragma unroll
            for (int y = 0; y < 4; y++)
                S[i + y] = ex2(__fmaf_rn(S[i + y], c, -of[y & 1]));
        }
        if (x > 0)
            add(x - PIECE);
        __syncwarp();
    }
    add(COLUMN_QUERIES / 2 - PIECE);
}

/*
 * Hides scores of queries before an index, and from an index on, relative to the thread's
 * first query.
 */
DEVICE void hide_before(float (&S)[COLUMN_QUERIES / 2], int a, int b)
{
#pragma unroll
    for (int i = 0; i < COLUMN_QUERIES / 2; i++)
        if (8 * (i / 4) + (i & 1) < ((i >> 1) & 1 ? b : a))
            S[i] = -CUDART_INF_F;
}
DEVICE void hide_from(float (&S)[COLUMN_QUERIES / 2], int a, int b)
{
#pragma unroll
    for (int i = 0; i < COLUMN_QUERIES / 2; i++)
        if (8 * (i / 4) + (i & 1) >= ((i >> 1) & 1 ? b : a))
            S[i] = -CUDART_INF_F;
}

DEVICE void store_columns(const sm90_columns &p, const column_tile &t,
                          const int (&key)[2], double (&mass)[2], float (&most)[2],
                          int lane)
{
    largest_of_four(most);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        mass[r] += __shfl_xor_sync(~0u, mass[r], 1);
        mass[r] += __shfl_xor_sync(~0u, mass[r], 2);
        if ((lane & 3) != 0 || key[r] >= p.nk)
            continue;
        if (p.mass.data)
            ((float *)p.mass.data)[t.b * p.mass.stride[0] + t.h * p.mass.stride[1] +
                                   key[r] * p.mass.stride[3]] = (float)mass[r];
        if (p.most.data)
            ((float *)p.most.data)[t.b * p.most.stride[0] + t.h * p.most.stride[1] +
                                   key[r] * p.most.stride[3]] =
                mass[r] == mass[r] ? most[r] : CUDART_NAN_F;
    }
}

template <class E, class L, int D>
DEVICE void sum_columns(const sm90_columns &p, const column_places<L> &s, int warp)
{
    const int group = warp / 4 - 1, lane = threadIdx.x & 31;
    const uint64_t k_slab = slab_descriptor(s.k + group * 64 * 128, 16);
    const uint64_t q_slab = slab_descriptor(s.q, 16);
    const float c = p.c;
    ring<COLUMN_STAGES> q = {0, 0};
    ring<COLUMN_TILES> k = {0, 0};

#pragma unroll 1
    for (int round = 0; round * gridDim.x < p.tiles; round++) {
        if (tile_of_round(round) >= p.tiles)
            continue;
        const column_tile t = find_column_tile(p, tile_of_round(round));
        const int first = t.top + group * 64, own = first + (warp & 3) * 16 + (lane >> 2);
        const int key[2] = {own, own + 8};
        const column_range see[2] = {queries_of(p, t.bounds, key[0]),
                                     queries_of(p, t.bounds, key[1])};
        /* Queries that see any key of the warpgroup, and those that see all of them. */
        const int last = min(first + 63, t.bounds.keys - 1);
        const bool none = first >= t.bounds.keys;
        const column_range any = {queries_of(p, t.bounds, first).begin,
                                  none ? 0 : queries_of(p, t.bounds, last).end};
        const column_range all = {
            none ? 0 : queries_of(p, t.bounds, last).begin,
            first + 63 < t.bounds.keys ? queries_of(p, t.bounds, first).end : 0};
        double mass[2] = {0, 0};
        float most[2] = {0, 0}, S[COLUMN_QUERIES / 2];

        barrier_wait(s.k_full + 8 * k.at, k.phase);
#pragma unroll 1
        for (int i = t.from; i < t.end; i++) {
            barrier_wait(s.full + 8 * q.at, q.phase);
            if ((i + 1) * COLUMN_QUERIES > any.begin && i * COLUMN_QUERIES < any.end) {
                product_fence();
#pragma unroll
                for (int x = 0; x < D / 16; x++)
                    wgmma<E, COLUMN_QUERIES>::scores(
                        S,
                        k_slab + k.at * (L::KBYTES >> 4) +
                            (x / 4) * (COLUMN_KEYS * 128 >> 4) + (x % 4) * 2,
                        q_slab + q.at * (L::QBYTES >> 4) +
                            (x / 4) * (COLUMN_QUERIES * 128 >> 4) + (x % 4) * 2,
                        x > 0);
                product_commit();
                product_wait<0>();
                pin(S);
                const int at = i * COLUMN_QUERIES + 2 * (lane & 3);
                if (i * COLUMN_QUERIES < all.begin)
                    hide_before(S, see[0].begin - at, see[1].begin - at);
                if ((i + 1) * COLUMN_QUERIES > all.end)
                    hide_from(S, see[0].end - at, see[1].end - at);
                float sum[2][2] = {{0, 0}, {0, 0}};
                weigh_columns(S, c, s.lse + q.at * L::LSE + 8 * (lane & 3), sum);
                if (p.most.data) {
#pragma unroll
                    for (int x = 0; x < COLUMN_QUERIES / 2; x++)
                        most[(x >> 1) & 1] = fmaxf(most[(x >> 1) & 1], S[x]);
                }
                mass[0] += (double)(sum[0][0] + sum[0][1]);
                mass[1] += (double)(sum[1][0] + sum[1][1]);
            }
            __syncwarp();
            if (lane == 0)
                barrier_arrive(s.freed + 8 * q.at);
            q.step();
        }
        if (lane == 0)
            barrier_arrive(s.k_freed + 8 * k.at);
        k.step();
        store_columns(p, t, key, mass, most, lane);
    }
}

template <class E, int D>
DEVICE void columns(const CUtensorMap &mk, const CUtensorMap &mq, const sm90_columns &p)
{
    typedef column_layout<E, D> L;
    extern __shared__ uint8_t memory[];
    const column_places<L> s((shared_address(memory) + 1023) & ~1023u);
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);

    if (threadIdx.x == 0) {
        for (int x = 0; x < COLUMN_STAGES; x++) {
            barrier_init(s.full + 8 * x, 1);
            barrier_init(s.freed + 8 * x, 4 * COLUMN_GROUPS);
        }
        for (int x = 0; x < COLUMN_TILES; x++) {
            barrier_init(s.k_full + 8 * x, 1);
            barrier_init(s.k_freed + 8 * x, 4 * COLUMN_GROUPS);
        }
        barrier_init_fence();
    }
    __syncthreads();
    if (warp < 4) {
        registers_fewer<24>();
        if (threadIdx.x == 0)
            copy_columns<L, D>(mk, mq, p, s);
    } else {
        registers_more<112>();
        sum_columns<E, L, D>(p, s, warp);
    }
}

#define COLUMNS(name, E, D)                                                              \
    extern "C" __global__ void __launch_bounds__(COLUMN_THREADS, 1)                      \
        attend_sm90_columns_##name(const __grid_constant__ CUtensorMap mk,               \
                                   const __grid_constant__ CUtensorMap mq,               \
                                   const sm90_columns p)                                 \
    {                                                                                    \
        columns<E, D>(mk, mq, p);                                                        \
    }
COLUMNS(d64_f16, __half, 64)
COLUMNS(d64_bf16, __nv_bfloat16, 64)
COLUMNS(d128_f16, __half, 128)
COLUMNS(d128_bf16, __nv_bfloat16, 128)
