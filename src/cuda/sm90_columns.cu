/* SPDX-License-Identifier: MIT */
/*
 * Sums of P over queries on Hopper: the forward pass on its side.  A tile is 256 keys,
 * which stay, 64 for each of four warpgroups; queries come by in blocks of 128 with their
 * lse.  S = K Q^T, P = 2^(S c - lse), and the sum of each row of P is the mass of a key.
 * A block's sum is in float, all blocks' in double, in the order of queries.
 *
 *   copies   K  Q(first) Q(first+1) ...
 *   rows     wait Q(i) | issue S = K Q(i)^T | wait for S | sum | free Q(i)
 *
 * Warpgroups are not ordered: of four, some have a product under way while others sum.
 */
#include "cuda/sm90.cuh"

enum { COLUMN_GROUPS = 4, COLUMN_KEYS = 64 * COLUMN_GROUPS, COLUMN_QUERIES = 128 };
enum { COLUMN_STAGES = 3, COLUMN_THREADS = 128 * (COLUMN_GROUPS + 1) };

/* lse in bits, by query: 2^(x - lse) is 0 where it was -inf. */
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
    static constexpr int SHARED = KBYTES + COLUMN_STAGES * (QBYTES + LSE) + 2048;
    static_assert(SHARED <= SM90_SHARED, "fits a multiprocessor");
};

/* `bytes` that lie side by side, a multiple of 16. */
DEVICE void copy_line(uint32_t to, const void *from, int bytes, uint32_t bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(bar)
                 : "memory");
}

/* Queries that key j is seen by: begin .. end - 1. */
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

/* The bounds of batch b, as find_tile() has them. */
DEVICE tile_of column_tile(const sm90_columns &p, int b)
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

template <class E, int D>
DEVICE void sum_columns(const CUtensorMap &mk, const CUtensorMap &mq,
                        const sm90_columns &p)
{
    typedef column_layout<E, D> L;
    extern __shared__ uint8_t memory[];
    const uint32_t base = (shared_address(memory) + 1023) & ~1023u;
    const uint32_t sk = base, sq = sk + L::KBYTES, sl = sq + COLUMN_STAGES * L::QBYTES;
    const uint32_t full = sl + COLUMN_STAGES * L::LSE;
    const uint32_t freed = full + 8 * COLUMN_STAGES, k_full = freed + 8 * COLUMN_STAGES;
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x & 31;
    const int block = blockIdx.x % p.key_blocks, head = blockIdx.x / p.key_blocks;
    const int h = head % p.heads, b = head / p.heads, top = block * COLUMN_KEYS;
    const tile_of t = column_tile(p, b);
    const int last_key = min(top + COLUMN_KEYS, p.nk) - 1;
    const int from =
        queries_of(p, t, min(top, max(t.keys - 1, 0))).begin / COLUMN_QUERIES;
    const int end =
        (queries_of(p, t, min(last_key, t.keys - 1)).end + COLUMN_QUERIES - 1) /
        COLUMN_QUERIES;

    if (threadIdx.x == 0) {
        for (int x = 0; x < COLUMN_STAGES; x++) {
            barrier_init(full + 8 * x, 1);
            barrier_init(freed + 8 * x, 4 * COLUMN_GROUPS);
        }
        barrier_init(k_full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warp < 4) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x != 0)
            return;
        uint32_t stage = 0, phase = 1;
        barrier_expect(k_full, L::KBYTES);
        for (int d = 0; d < D / 64; d++)
            copy_tile(sk + d * COLUMN_KEYS * 128, &mk, k_full, d * 64, top, h / p.group,
                      b);
        const float *const lse = p.bits + (int64_t)head * p.padded;
        for (int i = from; i < end; i++) {
            barrier_wait(freed + 8 * stage, phase);
            barrier_expect(full + 8 * stage, L::QBYTES + L::LSE);
            copy_line(sl + stage * L::LSE, lse + i * COLUMN_QUERIES, L::LSE,
                      full + 8 * stage);
            for (int d = 0; d < D / 64; d++)
                copy_tile(sq + stage * L::QBYTES + d * COLUMN_QUERIES * 128, &mq,
                          full + 8 * stage, d * 64, i * COLUMN_QUERIES, h, b);
            if (++stage == COLUMN_STAGES) {
                stage = 0;
                phase ^= 1;
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 112;");
    const int group = warp / 4 - 1, w = warp & 3;
    const int key[2] = {top + group * 64 + w * 16 + (lane >> 2),
                        top + group * 64 + w * 16 + (lane >> 2) + 8};
    const column_range see[2] = {queries_of(p, t, key[0]), queries_of(p, t, key[1])};
    /* Queries that every key of the warpgroup is seen by. */
    const int sure = queries_of(p, t, min(top + group * 64 + 63, p.nk)).begin;
    const int sure_end =
        top + group * 64 + 63 < t.keys ? queries_of(p, t, top + group * 64).end : 0;
    const uint64_t k_slab = slab_descriptor(sk + group * 64 * 128, 16);
    const uint64_t q_slab = slab_descriptor(sq, 16);
    const float c = p.c;
    double mass[2] = {0, 0};
    float most[2] = {0, 0}, S[COLUMN_QUERIES / 2];
    uint32_t stage = 0, phase = 0;

    barrier_wait(k_full, 0);
#pragma unroll 1
    for (int i = from; i < end; i++) {
        barrier_wait(full + 8 * stage, phase);
        product_fence();
#pragma unroll
        for (int x = 0; x < D / 16; x++)
            wgmma<E, COLUMN_QUERIES>::scores(
                S, k_slab + (x / 4) * (COLUMN_KEYS * 128 >> 4) + (x % 4) * 2,
                q_slab + stage * (L::QBYTES >> 4) +
                    (x / 4) * (COLUMN_QUERIES * 128 >> 4) + (x % 4) * 2,
                x > 0);
        product_commit();
        product_wait<0>();
        pin(S);
        if (i * COLUMN_QUERIES < sure || (i + 1) * COLUMN_QUERIES > sure_end) {
            const int at = i * COLUMN_QUERIES + 2 * (lane & 3);
            const int begin[2] = {see[0].begin - at, see[1].begin - at};
            const int stop[2] = {see[0].end - at, see[1].end - at};
            hide(S, begin, stop, true);
        }
        float sum[2][2] = {{0, 0}, {0, 0}};
        const uint32_t lse = sl + stage * L::LSE + 8 * (lane & 3);
#pragma unroll
        for (int x = 0; x < COLUMN_QUERIES / 8; x++) {
            float of[2];
            asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];"
                         : "=f"(of[0]), "=f"(of[1])
                         : "r"(lse + 32 * x)
                         : "memory");
#pragma unroll
            for (int y = 0; y < 4; y++)
                S[4 * x + y] = ex2(__fmaf_rn(S[4 * x + y], c, -of[y & 1]));
        }
#pragma unroll
        for (int x = 0; x < COLUMN_QUERIES / 2; x++)
            sum[(x >> 1) & 1][x & 1] += S[x];
        if (p.most.data) {
#pragma unroll
            for (int x = 0; x < COLUMN_QUERIES / 2; x++)
                most[(x >> 1) & 1] = fmaxf(most[(x >> 1) & 1], S[x]);
        }
        __syncwarp();
        if (lane == 0)
            barrier_arrive(freed + 8 * stage);
        if (++stage == COLUMN_STAGES) {
            stage = 0;
            phase ^= 1;
        }
        mass[0] += (double)(sum[0][0] + sum[0][1]);
        mass[1] += (double)(sum[1][0] + sum[1][1]);
    }
    largest_of_four(most);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        mass[r] += __shfl_xor_sync(~0u, mass[r], 1);
        mass[r] += __shfl_xor_sync(~0u, mass[r], 2);
        if ((lane & 3) != 0 || key[r] >= p.nk)
            continue;
        if (p.mass.data)
            ((float *)p.mass.data)[b * p.mass.stride[0] + h * p.mass.stride[1] +
                                   key[r] * p.mass.stride[3]] = (float)mass[r];
        if (p.most.data)
            ((float *)p.most.data)[b * p.most.stride[0] + h * p.most.stride[1] +
                                   key[r] * p.most.stride[3]] =
                mass[r] == mass[r] ? most[r] : CUDART_NAN_F;
    }
}

#define COLUMNS(name, E, D)                                                              \
    extern "C" __global__ void __launch_bounds__(COLUMN_THREADS, 1)                      \
        attend_sm90_columns_##name(const __grid_constant__ CUtensorMap mk,               \
                                   const __grid_constant__ CUtensorMap mq,               \
                                   const sm90_columns p)                                 \
    {                                                                                    \
        sum_columns<E, D>(mk, mq, p);                                                    \
    }
COLUMNS(d64_f16, __half, 64)
COLUMNS(d64_bf16, __nv_bfloat16, 64)
COLUMNS(d128_f16, __half, 128)
COLUMNS(d128_bf16, __nv_bfloat16, 128)
