/* SPDX-License-Identifier: MIT */
/* Not a header: combines the sums of a block with those of earlier blocks. */

/* Factors of the earlier sums and of the block's. */
static void block_factors(const struct state *s, const struct rows *g)
{
    for (int64_t r = 0; r < g->width; r += VLEN) {
        const vec before = vec_load(g->accum->m + r), next = vec_load(g->m + r);
        const vec base = finite_or_0(vec_max(next, before));

        vec_store(s->stat->f + r, weight_of(before, base));
        vec_store(s->stat->f_next + r, weight_of(next, base));
    }
}

static inline void add_rescaled(REAL *to, vec f, const REAL *from, vec f_next)
{
    vec_store(to, vec_fma(vec_load(to), f, vec_mul(vec_load(from), f_next)));
}

/* The sum of the weights below 1 of one vector of rows. */
static vec under_one(const struct state *s, int64_t a, int64_t e, int64_t r)
{
    const REAL *const w = plain_weights(s);
    vec sum = vec_set1(0);

    for (int64_t x = a; x < e; x++)
        sum = vec_add_lt(sum, vec_load(w + x * BR + r), vec_set1(1));
    return sum;
}

/*
 * l - 1.  If the block has the new maximum, some of its weights are exactly 1, and 1 is
 * subtracted from their number: subtracting it from a sum near 1 would leave only
 * rounding errors.
 */
static vec block_rest(const struct state *s, const struct rows *g, int64_t a, int64_t e,
                      int64_t r)
{
    const struct accum *const t = g->accum;
    const vec f = vec_load(s->stat->f + r), f_next = vec_load(s->stat->f_next + r);
    const vec rest = vec_load(t->rest + r), whole = vec_load(s->stat->whole + r);
    const vec grew = vec_mask_lt(vec_load(t->m + r), vec_load(g->m + r));
    const vec more = vec_sub(whole, vec_set1(1));
    const vec near = vec_blend(grew, vec_set1(1), vec_set1(-INFINITY));
    vec others = more;

    /* Selected per lane: a row must not depend on its neighbours. */
    if (vec_lanes_lt(more, near)) {
        const vec under = under_one(s, a, e, r);
        const vec ones = vec_nearest(vec_sub(whole, under));

        others =
            vec_blend_lt(more, near, vec_add(under, vec_sub(ones, vec_set1(1))), more);
    }
    return vec_blend(grew, vec_add(vec_fma(f, rest, f), others),
                     vec_fma(f_next, whole, rest));
}

/* Moves a spread and its square to a maximum that differs by `by`. */
static void move_spread(vec *u, vec *w, vec l, vec by)
{
    const vec moved = vec_fma(by, l, *u);

    *w = vec_fma(by, vec_add(*u, moved), *w);
    *u = moved;
}

static void combine_spread(const struct state *s, const struct rows *g, int64_t a,
                           int64_t e, int64_t r)
{
    struct accum *const t = g->accum;
    const vec f = vec_load(s->stat->f + r), f_next = vec_load(s->stat->f_next + r);
    const vec base = finite_or_0(vec_max(vec_load(g->m + r), vec_load(t->m + r)));
    const vec least = vec_set1(-SPREAD_MAX);
    REAL *const to = t->sum + SUM_SPREAD * BR + r, *const from = s->stat->sum + r;
    vec u = vec_load(to), w = vec_load(to + BR);
    vec u_next = vec_load(from + SUM_SPREAD * BR),
        w_next = vec_load(from + SUM_SPREAD2 * BR);

    move_spread(&u, &w, vec_add(vec_load(t->rest + r), vec_set1(1)),
                vec_max(least, vec_sub(vec_load(t->m + r), base)));
    move_spread(&u_next, &w_next, vec_load(s->stat->whole + r),
                vec_max(least, vec_sub(vec_load(g->m + r), base)));
    vec_store(to, vec_fma(u, f, vec_mul(u_next, f_next)));
    vec_store(to + BR, vec_fma(w, f, vec_mul(w_next, f_next)));
    vec_store(t->rest + r, block_rest(s, g, a, e, r));
}

static void combine_block(const struct state *s, const struct rows *g, int64_t a,
                          int64_t e)
{
    struct accum *const t = g->accum;
    struct block_stat *const stat = s->stat;
    const int squares = wants_noise(s->p) ? SQUARES : 1;

    for (int64_t r = 0; r < g->width; r += VLEN) {
        const vec f = vec_load(stat->f + r), f_next = vec_load(stat->f_next + r);

        combine_spread(s, g, a, e, r);
        for (int y = 0; y < stat->wanted_count; y++) {
            const int64_t at = stat->wanted[y] * BR + r;
            add_rescaled(t->sum + at, f, stat->sum + at, f_next);
        }
        for (int x = 0; x < squares; x++)
            add_rescaled(t->square[x] + r, vec_mul(f, f), stat->square[x] + r,
                         vec_mul(f_next, f_next));
        vec_store(t->m + r, vec_max(vec_load(g->m + r), vec_load(t->m + r)));
    }
}
