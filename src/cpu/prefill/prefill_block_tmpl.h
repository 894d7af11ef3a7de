/* SPDX-License-Identifier: MIT */
/* Not a header: a block of a prefill item, tile by tile: scores, weights, values. */

static void stat_top(const struct state *s, struct rows *g, int64_t j0, int64_t a,
                     int64_t e, int64_t r)
{
    if (s->p->stats.top == 2)
        stat_top_of(s, g, j0, a, e, r, 2, vec_set1(1));
    else
        stat_top_of(s, g, j0, a, e, r, s->p->stats.top, vec_set1(1));
}

/* Statistics of the scores of a vector of rows, before they become weights. */
static void stat_scores(const struct state *s, struct rows *g, int64_t j0, int64_t a,
                        int64_t e, int64_t r)
{
    if (wants(s, STATS_TOP))
        stat_top(s, g, j0, a, e, r);
    if (wants(s, STATS_RAW))
        stat_raw(s, g, a, e, r);
}

/* weigh_lanes, which adds its first `sums` sums to those of the block. */
static ALWAYS_INLINE vec weigh_sums(const struct state *s, int64_t a, int64_t e,
                                    int64_t r, vec base, const int edge, const int sums)
{
    vec sum[2 * WEIGHT_SUMS];

    for (int x = 0; x < 2 * WEIGHT_SUMS; x++)
        sum[x] = vec_set1(0);
    const vec whole = weigh_lanes(s, a, e, r, base, edge, sum, sums);
    for (int x = 0; x < WEIGHT_SUMS; x++)
        sum[x] = vec_add(sum[x], sum[WEIGHT_SUMS + x]);
    vec_store(s->stat->whole + r, whole);
    vec_store(s->stat->sum + SUM_SPREAD * BR + r, sum[SUM_XW]);
    vec_store(s->stat->sum + SUM_SPREAD2 * BR + r, sum[SUM_XXW]);
    vec_store(s->stat->reach + r, sum[SUM_JW]);
    vec_store(s->stat->square[SQUARE_WEIGHT] + r, sum[SUM_WW]);
    return whole;
}

static ALWAYS_INLINE vec weigh_vector(const struct state *s, const struct rows *g,
                                      int64_t a, int64_t e, int64_t r, vec base,
                                      const int edge)
{
    if (!g->accum)
        return weigh_lanes(s, a, e, r, base, edge, NULL, 0);
    if (wants(s, STATS_SPREAD2))
        return weigh_sums(s, a, e, r, base, edge, WEIGHT_SUMS);
    if (wants(s, STATS_DISTANCE))
        return weigh_sums(s, a, e, r, base, edge, SUM_XXW);
    return weigh_sums(s, a, e, r, base, edge, SUM_JW);
}

/* Scores to weights; m, l and rescale of every row. */
static void prefill_weigh(const struct state *s, struct rows *g, int64_t j0, int64_t a,
                          int64_t e, int edge)
{
    for (int64_t r = 0; r < g->width; r += VLEN) {
        if (g->accum)
            stat_scores(s, g, j0, a, e, r);
        const vec before = vec_load(g->m + r),
                  m = vec_max(vec_load(s->row_max + r), before);
        const vec base = finite_or_0(m), rescale = weight_of(before, base);
        const vec sum = edge ? weigh_vector(s, g, a, e, r, base, 1)
                             : weigh_vector(s, g, a, e, r, base, 0);

        if (g->accum)
            stat_weights(s, g, j0, a, e, r);
        vec_store(s->rescale + r, rescale);
        vec_store(g->m + r, m);
        vec_store(g->l + r, vec_fma(vec_load(g->l + r), rescale, sum));
    }
}

static void prefill_block(struct state *s, int64_t j0, struct key_range all)
{
    bool open = false;

    for (int64_t x = 0; x < s->count; x++) {
        struct rows *const g = &s->rows[x];
        int edge;
        const struct key_range at =
            keys_left(s, g, g->width, j0, block_range(s, g->lo, g->hi, j0, BC), &edge);

        if (at.lo >= at.hi)
            continue;
        if (!open) {
            open_block(s, j0, all.lo, all.hi);
            if (s->stat)
                begin_stat(s, j0, all.lo, all.hi);
            open = true;
        }
        const int select = edge && !values_finite(s, all.lo, all.hi);

        prefill_scores(s, g, j0, at.lo, at.hi, edge);
        if (g->accum)
            open_stat(s, g, j0, at.lo, at.hi);
        prefill_weigh(s, g, j0, at.lo, at.hi, edge);
        add_values(s, g, at.lo, at.hi, select);
        if (g->accum)
            close_stat(s, g, j0, at.lo, at.hi, select);
    }
}

/*
 * Computes the blocks of keys.lo .. keys.hi - 1 in order, each for every tile that sees a
 * part of it; the item sees keys all.lo .. all.hi - 1.  Runs between begin_blocks and
 * end_blocks of the item.
 */
static void prefill_blocks(struct state *s, struct key_range all, struct key_range keys)
{
    for (int64_t j0 = keys.lo / BC * BC; j0 < keys.hi; j0 += BC)
        prefill_block(s, j0, block_range(s, all.lo, all.hi, j0, BC));
}

static void begin_blocks(void) {}

static void end_blocks(void) {}
