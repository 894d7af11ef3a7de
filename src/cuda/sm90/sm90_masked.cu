/* SPDX-License-Identifier: MIT */
/*
 * Prefill on Hopper with boolean masks, and preparation of masks: bits in the order of
 * threads, and for each tile of rows the list of blocks of keys that are not fully
 * hidden.
 */
#include "cuda/sm90/sm90.cuh"

SM90_KERNEL(masked_d64_f16, __half, 64, 128, 2, 3, false, false, 1)
SM90_KERNEL(masked_d64_bf16, __nv_bfloat16, 64, 128, 2, 3, false, false, 1)
SM90_KERNEL(masked_d128_f16, __half, 128, 128, 2, 2, false, false, 1)
SM90_KERNEL(masked_d128_bf16, __nv_bfloat16, 128, 128, 2, 2, false, false, 1)
SM90_KERNEL(masked_d256_f16, __half, 256, 64, 2, 2, false, false, 1)
SM90_KERNEL(masked_d256_bf16, __nv_bfloat16, 256, 64, 2, 2, false, false, 1)

/* 16 bytes of a mask, each 0 or not, as 16 bits. */
DEVICE uint32_t bits_of_bytes(uint4 x)
{
    const uint32_t word[4] = {x.x, x.y, x.z, x.w};
    uint32_t bits = 0;
#pragma unroll
    for (int w = 0; w < 4; w++) {
        const uint32_t one = __vsetne4(word[w], 0);
        bits |= ((one | one >> 7 | one >> 14 | one >> 21) & 15u) << (4 * w);
    }
    return bits;
}

/* 16 keys of a row from `key` on; keys past the end are hidden. */
DEVICE uint32_t bits_of_row(const sm90_launch &p, const uint8_t *row, int key)
{
    const int64_t step = p.rules.mask.stride[3];
    const uint8_t *const at = row + key * step;

    if (key + 16 <= p.nk && step == 1 && (uintptr_t)at % 16 == 0)
        return bits_of_bytes(__ldg((const uint4 *)at));
    uint32_t bits = 0;
    for (int x = 0; x < 16 && key + x < p.nk; x++)
        bits |= (uint32_t)(at[x * step] != 0) << x;
    return bits;
}

/* Whether a unit from `at` on is complete and aligned for loads of 16 bytes. */
DEVICE bool is_whole(const sm90_launch &p, const uint8_t *at, int top, int key)
{
    const sm90_tensor &m = p.rules.mask;

    return m.stride[3] == 1 && ((uintptr_t)at | (uintptr_t)m.stride[2]) % 16 == 0 &&
           key + SM90_UNIT <= p.nk && top + SM90_TILE_ROWS <= p.rows;
}

/*
 * Packs a tile of rows and a unit of keys: bits by rows, then by threads; and whether
 * some or all of its existing elements are visible.
 */
extern "C" __global__ void __launch_bounds__(SM90_TILE_THREADS)
    attend_sm90_mask(const __grid_constant__ sm90_launch p)
{
    extern __shared__ uint32_t words[];
    uint32_t(*const rows)[SM90_UNIT / 16] = (uint32_t(*)[SM90_UNIT / 16]) words;
    const sm90_tensor &m = p.rules.mask;

    for (int64_t item = blockIdx.x; item < (int64_t)p.rules.bits_tiles * p.rules.units;
         item += gridDim.x) {
        const int unit = (int)(item % p.rules.units);
        const int64_t tile = item / p.rules.units, head = tile / p.row_blocks;
        const int block = (int)(tile % p.row_blocks), key = unit * SM90_UNIT;
        /* Broadcast axes have one head, or one batch. */
        const int64_t heads = p.rules.bits_step[1] ? p.heads : 1;
        const uint8_t *const base = (const uint8_t *)m.data + head / heads * m.stride[0] +
                                    head % heads * m.stride[1];
        bool any = false, all = true;

        constexpr int PIECES = SM90_UNIT / 16; /* of 16 keys, of a row */
        constexpr int OWN = SM90_TILE_ROWS * PIECES / SM90_TILE_THREADS;
        const int top = block * SM90_TILE_ROWS;
        if (is_whole(p, base + key, top,
                     key)) { /* all loads before their use */
            uint4 piece[OWN];
#pragma unroll
            for (int y = 0; y < OWN; y++) {
                const int x = threadIdx.x + y * SM90_TILE_THREADS;
                piece[y] = __ldg((const uint4 *)(base + (top + x / PIECES) * m.stride[2] +
                                                 key + 16 * (x % PIECES)));
            }
#pragma unroll
            for (int y = 0; y < OWN; y++) {
                const int x = threadIdx.x + y * SM90_TILE_THREADS;
                const uint32_t bits = bits_of_bytes(piece[y]);
                any |= bits != 0;
                all &= bits == 0xffff;
                rows[x / PIECES][x % PIECES] = bits;
            }
        } else {
            for (int x = threadIdx.x; x < SM90_TILE_ROWS * PIECES;
                 x += SM90_TILE_THREADS) {
                const int r = x / PIECES, c = x % PIECES;
                const int there = min(16, p.nk - key - 16 * c);
                uint32_t bits = 0;
                if (top + r < p.rows && there > 0) {
                    bits = bits_of_row(p, base + (top + r) * m.stride[2], key + 16 * c);
                    any |= bits != 0;
                    all &= bits == (1u << there) - 1;
                }
                rows[r][c] = bits;
            }
        }
        any = __syncthreads_or(any);
        all = __syncthreads_and(all);
        if (threadIdx.x == 0)
            p.rules.states[item] = all   ? SM90_ALL_SEEN
                                   : any ? SM90_SOME_SEEN
                                         : SM90_ALL_HIDDEN;
        const int own = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
        uint32_t word[2] = {0, 0};
#pragma unroll
        for (int r = 0; r < 2; r++)
#pragma unroll
            for (int c = 0; c < SM90_UNIT / 16; c++) {
                const uint32_t pair = rows[own + 8 * r][c] >> 2 * (threadIdx.x & 3);
                word[r] |= ((pair & 3) | (pair >> 6 & 12)) << (4 * c);
            }
        ((uint2 *)p.rules.bits)[item * SM90_TILE_THREADS + threadIdx.x] =
            make_uint2(word[0], word[1]);
        __syncthreads();
    }
}

/* One warp per list. */
template <class C> DEVICE void list_blocks(const sm90_launch &p)
{
    const int lane = threadIdx.x & 31;

    for (int64_t tile = blockIdx.x; tile < p.rules.list_tiles; tile += gridDim.x) {
        const int64_t head = tile / p.row_blocks;
        const int64_t heads = p.rules.list_step[1] ? p.heads : 1;
        tile_of t;
        t.block = (int)(tile % p.row_blocks);
        t.split = 0;
        t.b = (int)(head / heads);
        t.h = (int)(head % heads);
        find_keys<C>(p, t);
        const uint8_t *const states =
            p.rules.states +
            (t.b * p.rules.bits_step[0] + t.h * p.rules.bits_step[1] + t.block) *
                p.rules.units;
        int *const list = p.rules.lists + tile * p.rules.list_length;
        int count = 0;
        for (int j0 = t.from; j0 < t.to; j0 += 32) {
            const int j = j0 + lane;
            const int state =
                j < t.to ? states[j * C::BN / SM90_UNIT] : (int)SM90_ALL_HIDDEN;
            const unsigned kept = __ballot_sync(~0u, state != SM90_ALL_HIDDEN);
            if (state != SM90_ALL_HIDDEN)
                list[1 + count + __popc(kept & ((1u << lane) - 1))] =
                    j | (state == SM90_ALL_SEEN ? 0 : SM90_MIXED);
            count += __popc(kept);
        }
        /* No visible key: one block, fully hidden. */
        if (lane == 0) {
            if (count == 0)
                list[1] = t.from | SM90_MIXED;
            list[0] = count == 0 ? 1 : count;
        }
    }
}

extern "C" __global__ void __launch_bounds__(32)
    attend_sm90_lists(const __grid_constant__ sm90_launch p)
{
    if (p.rules.block_keys == 64)
        list_blocks<config_masked_d256_bf16>(p);
    else
        list_blocks<config_masked_d128_bf16>(p);
}
