/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of a tile over a block, in register tiles of KR keys, or
 * columns of V, by nv vectors of queries.  The preceding file of products defines
 * score_tile, value_tile and keep_weights.
 */

static ALWAYS_INLINE void score_block(const struct state *s, const struct rows *g,
                                      int64_t a, int64_t e, int64_t r, const int nv)
{
    if (e - a >= KR) /* the last tile overlaps the one before; bits are the same */
        for (int64_t x = a; x < e; x += KR)
            score_tile(s, g, min_i64(x, e - KR), r, KR, nv);
    else
        for (int64_t x = a; x < e; x++)
            score_tile(s, g, x, r, 1, nv);
}

static ALWAYS_INLINE void value_block(const struct state *s, const struct rows *g,
                                      int64_t a, int64_t e, int select, const int nv)
{
    int64_t c = 0;

    for (; !select && c + KR <= s->p->dv; c += KR)
        value_tile(s, g, a, e, c, KR, 0, nv);
    for (; c < s->p->dv; c++)
        if (select)
            value_tile(s, g, a, e, c, 1, 1, nv);
        else
            value_tile(s, g, a, e, c, 1, 0, nv);
}

static void add_values(const struct state *s, const struct rows *g, int64_t a, int64_t e,
                       int select)
{
    FOR_VECTORS(g->width / VLEN, value_block, s, g, a, e, select);
}
