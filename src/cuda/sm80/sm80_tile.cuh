/* SPDX-License-Identifier: MIT */
/* Configuration of a kernel, its tiles of rows, and copies to shared memory. */
#ifndef ATTEND_CUDA_SM80_TILE_CUH
#define ATTEND_CUDA_SM80_TILE_CUH

#include "cuda/sm80/sm80_rules.cuh"

/*
 * D: head dimension, padded.  A CTA has WARPS warps of 16 TILES rows each, and blocks of
 * BN keys.  RULES: supports masks, biases, ALiBi and softcap.  SPLIT: stores records.
 */
template <class E_, int D_, int WARPS_, int TILES_, int BN_, int SLOTS_, bool RULES_,
          bool SPLIT_>
struct sm80_config {
    typedef E_ E;
    static constexpr int D = D_, WARPS = WARPS_, TILES = TILES_, BN = BN_, SLOTS = SLOTS_;
    static constexpr bool RULES = RULES_, SPLIT = SPLIT_;
    static constexpr int THREADS = 32 * WARPS, BM = 16 * TILES * WARPS;
    static constexpr int PITCH = 2 * D;           /* bytes of a row */
    static constexpr int CHUNKS = D / 8;          /* of 16 bytes in a row */
    static constexpr int PASS = THREADS / CHUNKS; /* rows that all threads copy at once */
    static constexpr int SLOT = BN * PITCH;
    static constexpr int ACC_PITCH = D + 8; /* floats of a row, padded for banks */
    static_assert(4 * BM * (ACC_PITCH + 2) <= SM80_SHARED(D, BM, BN, SLOTS),
                  "acc, m and l fit");
    static_assert(SM80_SHARED(D, BM, BN, SLOTS) <= SM80_SHARED_MOST, "fits every GPU");
    static_assert(!RULES || (TILES == 1 && BN <= 64), "mask bits of a thread fit a word");
    static_assert(SLOTS >= 3, "two copies are in flight");
};

/* Swizzle: chunk c of row r is at c ^ r % 8, so that ldmatrix has no bank conflict. */
DEVICE uint32_t chunk_at(int row, int chunk, int pitch)
{
    return row * pitch + ((chunk ^ (row & 7)) << 4);
}

/* Starts the copy of ROWS rows; rows from `there` on, and columns from `columns`, are 0.
 */
template <class C, int ROWS>
DEVICE void copy_rows(uint32_t to, const void *from, int64_t step, int there, int columns)
{
    const int thread = thread_index(), chunk = thread % C::CHUNKS,
              row = thread / C::CHUNKS;
    const int bytes = min(max(2 * (columns - 8 * chunk), 0), 16);
    const char *const at = (const char *)from + 16 * chunk + 2 * row * step;

#pragma unroll
    for (int x = 0; x < ROWS; x += C::PASS)
        copy_16(to + chunk_at(row + x, chunk, C::PITCH), at + 2 * x * step,
                row + x < there ? bytes : 0);
}

/* Whether the chunks that this thread copied to a slot have Inf or NaN. */
template <class C> DEVICE bool has_nonfinite(uint32_t slot)
{
    const int thread = thread_index(), chunk = thread % C::CHUNKS,
              row = thread / C::CHUNKS;
    uint32_t bad = 0;

#pragma unroll 4
    for (int x = 0; x < C::BN; x += C::PASS) {
        const uint4 v = load_shared_4(slot + chunk_at(row + x, chunk, C::PITCH));
        bad |= nonfinite_signs<typename C::E>(v.x) | nonfinite_signs<typename C::E>(v.y) |
               nonfinite_signs<typename C::E>(v.z) | nonfinite_signs<typename C::E>(v.w);
    }
    return bad != 0;
}
/* Sets Inf and NaN of the thread's chunks to 0. */
template <class C> DEVICE void zero_nonfinite(uint32_t slot)
{
    const int thread = thread_index(), chunk = thread % C::CHUNKS,
              row = thread / C::CHUNKS;

#pragma unroll 1
    for (int x = 0; x < C::BN; x += C::PASS) {
        const uint32_t at = slot + chunk_at(row + x, chunk, C::PITCH);
        const uint4 v = load_shared_4(at);
        store_shared_4(at, make_uint4(nonfinite_to_zero<typename C::E>(v.x),
                                      nonfinite_to_zero<typename C::E>(v.y),
                                      nonfinite_to_zero<typename C::E>(v.z),
                                      nonfinite_to_zero<typename C::E>(v.w)));
    }
}

/* ---- tiles -------------------------------------------------------------------- */

template <class C> DEVICE struct tile_rows find_tile(const sm80_launch &a, int item)
{
    const int splits = C::SPLIT ? a.splits : 1;
    const int heads = (int)(a.pack_gqa ? a.p.hkv : a.p.hq);
    const int rest = item / splits, head = rest / a.row_blocks;
    struct tile_rows t;

    t.split = (int)(item % splits);
    t.first = (a.row_blocks - 1 - (int)(rest % a.row_blocks)) * C::BM; /* longest first */
    t.head = (int)(head % heads);
    t.b = (int)(head / heads);
    t.rows = (int)(a.pack_gqa ? a.p.group : a.p.nq);
    find_bounds(a.p, t);
    return t;
}

/* Keys of the split that any row of the tile may see: first and end. */
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

/* Row and key of this thread's first score, in the block that starts at `key`. */
template <class C> DEVICE int own_row(const struct tile_rows &t)
{
    const int thread = thread_index();

    return t.first + 16 * C::TILES * (thread / 32) + thread % 32 / 4;
}
DEVICE int own_key(int key) { return key + 2 * (thread_index() & 3); }

/* Whether rows of this warp may see keys of a block, by causal rule, window and length.
 */
template <class C>
DEVICE bool warp_sees(const sm80_launch &a, const struct tile_rows &t, int key)
{
    const int first = t.first + 16 * C::TILES * (thread_index() / 32);
    const int last = min(first + 16 * C::TILES, t.rows) - 1;

    return first <= last && key + C::BN > row_begin(a, t, first) &&
           key < row_end(a, t, last);
}

/* Full blocks, which hide no key from any row of the tile: first and end. */
template <class C> DEVICE int2 find_full(const sm80_launch &a, const struct tile_rows &t)
{
    const int last = min(t.first + C::BM, t.rows) - 1;

    if (C::RULES && a.p.mask.data)
        return make_int2(0, 0);
    return make_int2((row_begin(a, t, last) + C::BN - 1) / C::BN,
                     row_end(a, t, t.first) / C::BN);
}

#endif
