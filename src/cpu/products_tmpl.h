/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of a wide tile over a block, in register tiles of KR
 * keys, or columns of V, by nv vectors of queries.  Parameters: forward_tmpl.h, and
 * N(score_tile), N(value_tile), N(keep_weights) of a file of products.
 */

static ALWAYS_INLINE void N(score_block)(const STATE *s, const ROWS *g, int64_t a,
                                         int64_t e, const int nv)
{
    int64_t x = a;

    for (; x + KR <= e; x += KR)
        N(score_tile)(s, g, x, KR, nv);
    if (x < e && e - KR >= a) /* some keys once more, to the same bits */
        N(score_tile)(s, g, e - KR, KR, nv);
    else
        for (; x < e; x++)
            N(score_tile)(s, g, x, 1, nv);
}

static void N(scores)(const STATE *s, const ROWS *g, int64_t a, int64_t e)
{
    FOR_VECTORS(g->width / VLEN, N(score_block), s, g, a, e);
}

static ALWAYS_INLINE void N(value_block)(const STATE *s, const ROWS *g, int64_t a,
                                         int64_t e, int select, const int nv)
{
    int64_t c = 0;

    for (; !select && c + KR <= s->p->dv; c += KR)
        N(value_tile)(s, g, a, e, c, KR, 0, nv);
    for (; c < s->p->dv; c++)
        if (select)
            N(value_tile)(s, g, a, e, c, 1, 1, nv);
        else
            N(value_tile)(s, g, a, e, c, 1, 0, nv);
}

static void N(add_values)(const STATE *s, const ROWS *g, int64_t a, int64_t e, int select)
{
    FOR_VECTORS(g->width / VLEN, N(value_block), s, g, a, e, select);
}
