/* SPDX-License-Identifier: MIT */
/*
 * Not a header: a block of a wide item, tile after tile: scores, weights, values.
 * Parameters: forward_tmpl.h.
 */

/* As weigh_lanes, with the first `sums` of its sums to the block's. */
static ALWAYS_INLINE VEC N(weigh_sums)(const STATE *s, int64_t a, int64_t e, int64_t r,
                                       VEC base, const int edge, const int sums)
{
    VEC sum[2 * N(sums)];

    for (int x = 0; x < 2 * N(sums); x++)
        sum[x] = V(set1)(0);
    const VEC whole = N(weigh_lanes)(s, a, e, r, base, edge, sum, sums);
    for (int x = 0; x < N(sums); x++)
        sum[x] = V(add)(sum[x], sum[N(sums) + x]);
    V(store)(s->note->whole + r, whole);
    V(store)(s->note->sum + SUM_SPREAD * BR + r, sum[N(sum_xw)]);
    V(store)(s->note->sum + SUM_SPREAD2 * BR + r, sum[N(sum_xxw)]);
    V(store)(s->note->reach + r, sum[N(sum_jw)]);
    V(store)(s->note->square[SQUARE_WEIGHT] + r, sum[N(sum_ww)]);
    return whole;
}

static ALWAYS_INLINE VEC N(weigh_vector)(const STATE *s, const ROWS *g, int64_t a,
                                         int64_t e, int64_t r, VEC base, const int edge)
{
    if (!g->tally)
        return N(weigh_lanes)(s, a, e, r, base, edge, NULL, 0);
    if (N(wants)(s, STATS_SPREAD2))
        return N(weigh_sums)(s, a, e, r, base, edge, N(sums));
    if (N(wants)(s, STATS_DISTANCE))
        return N(weigh_sums)(s, a, e, r, base, edge, N(sum_xxw));
    return N(weigh_sums)(s, a, e, r, base, edge, N(sum_jw));
}

/* Scores to weights; m, l and fix of every row. */
static void N(wide_weigh)(const STATE *s, ROWS *g, int64_t j0, int64_t a, int64_t e,
                          int edge)
{
    for (int64_t r = 0; r < g->width; r += VLEN) {
        if (g->tally)
            N(note_scores)(s, g, j0, a, e, r);
        const VEC before = V(load)(g->m + r), m = V(max)(V(load)(s->top + r), before);
        const VEC base = N(finite_or_0)(m), fix = N(weight)(before, base);
        const VEC sum = edge ? N(weigh_vector)(s, g, a, e, r, base, 1)
                             : N(weigh_vector)(s, g, a, e, r, base, 0);

        if (g->tally)
            N(note_weights)(s, g, j0, a, e, r);
        V(store)(s->fix + r, fix);
        V(store)(g->m + r, m);
        V(store)(g->l + r, V(fma)(V(load)(g->l + r), fix, sum));
    }
}

static void N(wide_block)(STATE *s, int64_t j0, struct key_range all)
{
    bool open = false;

    for (int64_t x = 0; x < s->count; x++) {
        ROWS *const g = &s->rows[x];
        int edge;
        const struct key_range at = N(keys_left)(
            s, g, g->width, j0, N(block_range)(s, g->lo, g->hi, j0, BC), &edge);

        if (at.lo >= at.hi)
            continue;
        if (!open) {
            N(open_block)(s, j0, all.lo, all.hi);
            if (s->note)
                N(begin_note)(s, j0, all.lo, all.hi);
            open = true;
        }
        const int select = edge && !N(values_finite)(s, all.lo, all.hi);

        N(wide_scores)(s, g, j0, at.lo, at.hi, edge);
        if (g->tally)
            N(open_note)(s, g, j0, at.lo, at.hi);
        N(wide_weigh)(s, g, j0, at.lo, at.hi, edge);
        N(add_values)(s, g, at.lo, at.hi, select);
        if (g->tally)
            N(close_note)(s, g, j0, at.lo, at.hi, select);
    }
}

static void N(wide_blocks)(STATE *s, struct key_range all, struct key_range keys)
{
    for (int64_t j0 = keys.lo / BC * BC; j0 < keys.hi; j0 += BC)
        N(wide_block)(s, j0, N(block_range)(s, all.lo, all.hi, j0, BC));
}

static void N(begin_blocks)(void) {}

static void N(end_blocks)(void) {}
