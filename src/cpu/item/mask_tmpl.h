/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the visible part of a block of keys under a boolean mask, determined
 * before the block is computed.  A block hidden from all rows of a tile is skipped: it
 * would multiply their sums by 1 and add nothing.
 */
_Static_assert(BC % 32 == 0 && DECODE_BC <= BC, "a block is whole words of mask bits");

/* Bit y: the mask hides key j + y from a row; 0 past the last key. */
static inline uint32_t mask_word(const struct state *s, const unsigned char *row,
                                 int64_t j)
{
    const int64_t step = s->p->mask.stride[3];
    unsigned char bytes[32];

    if (step == 1 && j + 32 <= s->p->nk)
        return zero_bytes(row + j);
    for (int64_t y = 0; y < 32; y++)
        bytes[y] = j + y < s->p->nk ? row[(j + y) * step] : 1;
    return zero_bytes(bytes);
}

/* The bits of keys at.lo .. at.hi - 1 in the word of keys x .. x + 31; at least one. */
static inline uint32_t word_keys(struct key_range at, int64_t x)
{
    const int64_t skip = max_i64(at.lo - x, 0), left = max_i64(x + 32 - at.hi, 0);

    return UINT32_MAX << skip & UINT32_MAX >> left;
}

/*
 * Fills s->words for the first `rows` lanes and the keys `at` of the block from j0 on.
 * Returns `at` trimmed at both ends by keys that the mask hides from all rows, in
 * multiples of MASK_STEP; lo == hi: none left.  Sets EDGE_MASK in *edge if the mask hides
 * a remaining key from some row.
 */
static struct key_range mask_range(const struct state *s, const struct rows *g,
                                   int64_t rows, int64_t j0, struct key_range at,
                                   int *edge)
{
    struct key_range left = {at.hi, at.hi};
    uint32_t some[BC / 32]; /* hidden from some row */

    for (int64_t x = at.lo & ~(int64_t)31; x < at.hi; x += 32) {
        uint32_t word = mask_word(s, g->mask_row[0], j0 + x), any = word, all = word;

        s->words[x / 32][0] = word;
        for (int64_t r = 1; r < rows; r++) {
            if (g->mask_row[r] != g->mask_row[r - 1])
                word = mask_word(s, g->mask_row[r], j0 + x);
            s->words[x / 32][r] = word;
            any |= word;
            all &= word;
        }
        const uint32_t seen = word_keys(at, x) & ~all;

        some[x / 32] = any;
        if (seen) {
            const int skip = __builtin_ctz(seen) & -MASK_STEP;
            const int drop = __builtin_clz(seen) & -MASK_STEP;

            left.lo = min_i64(left.lo, max_i64(at.lo, x + skip));
            left.hi = min_i64(at.hi, x + 32 - drop);
        }
    }
    for (int64_t x = left.lo & ~(int64_t)31; left.lo < left.hi && x < left.hi; x += 32)
        *edge |= some[x / 32] & word_keys(left, x) ? EDGE_MASK : 0;
    return left;
}

/*
 * Trims the keys `at` of the block from j0 on to those that the first `rows` lanes
 * compute; lo >= hi: none.  *edge: why a key of them is hidden from some row, or 0.
 */
static struct key_range keys_left(const struct state *s, const struct rows *g,
                                  int64_t rows, int64_t j0, struct key_range at,
                                  int *edge)
{
    *edge = 0;
    if (s->p->mask.data && at.lo < at.hi)
        at = mask_range(s, g, rows, j0, at, edge);
    if (j0 + at.lo < g->all_lo || j0 + at.hi > g->all_hi)
        *edge |= EDGE_RANGE;
    return at;
}
