/* SPDX-License-Identifier: MIT */
/* Not a header: the scores of a tile over a block, by score_block of its products. */

/*
 * Keys that the first vectors of rows no longer see, as above a diagonal, are scored for
 * the other vectors only; stale scores are hidden before use.
 */
static void scores(const struct state *s, const struct rows *g, int64_t j0, int64_t a,
                   int64_t e)
{
    int64_t x = a;

    for (int64_t r = 0; r < g->width && x < e; r += VLEN) {
        const int64_t end =
            r + VLEN < g->width ? min_i64(e, max_i64(x, g->last_end[r / VLEN] - j0)) : e;

        if (x < end)
            FOR_VECTORS((g->width - r) / VLEN, score_block, s, g, x, end, r);
        x = end;
    }
}
