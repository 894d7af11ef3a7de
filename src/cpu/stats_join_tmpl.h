/* SPDX-License-Identifier: MIT */
/*
 * Not a header: sums of a block joined to those before it.  Part of stats_tmpl.h.
 */

/* What the sums before and the block's are multiplied by. */
static void N(join_factors)(const STATE *s, const ROWS *g)
{
    for (int64_t r = 0; r < g->width; r += VLEN) {
        const VEC before = V(load)(g->tally->m + r), next = V(load)(g->m + r);
        const VEC base = N(finite_or_0)(V(max)(next, before));

        V(store)(s->note->f + r, N(weight)(before, base));
        V(store)(s->note->f_next + r, N(weight)(next, base));
    }
}

static inline void N(join_lanes)(REAL *to, VEC f, const REAL *from, VEC f_next)
{
    V(store)(to, V(fma)(V(load)(to), f, V(mul)(V(load)(from), f_next)));
}

/* The sum of the weights below 1 of one vector of rows. */
static VEC N(under_one)(const STATE *s, int64_t a, int64_t e, int64_t r)
{
    const REAL *const w = N(plain_weights)(s);
    VEC sum = V(set1)(0);

    for (int64_t x = a; x < e; x++)
        sum = V(add_lt)(sum, V(load)(w + x * BR + r), V(set1)(1));
    return sum;
}

/*
 * l - 1.  Where the block has the new maximum, some of its weights are exactly 1, and 1
 * is taken from their number: from a sum near 1 it would leave nothing but rounding.
 */
static VEC N(block_rest)(const STATE *s, const ROWS *g, int64_t a, int64_t e, int64_t r)
{
    const struct N(tally) *const t = g->tally;
    const VEC f = V(load)(s->note->f + r), f_next = V(load)(s->note->f_next + r);
    const VEC rest = V(load)(t->rest + r), whole = V(load)(s->note->whole + r);
    const VEC grew = V(mark_lt)(V(load)(t->m + r), V(load)(g->m + r));
    const VEC more = V(sub)(whole, V(set1)(1));
    const VEC near = V(pick)(grew, V(set1)(1), V(set1)(-INFINITY));
    VEC others = more;

    /* Each lane by itself: what a row gets must not depend on its neighbours. */
    if (V(lanes_lt)(more, near)) {
        const VEC under = N(under_one)(s, a, e, r);
        const VEC ones = V(nearest)(V(sub)(whole, under));

        others = V(pick_lt)(more, near, V(add)(under, V(sub)(ones, V(set1)(1))), more);
    }
    return V(pick)(grew, V(add)(V(fma)(f, rest, f), others), V(fma)(f_next, whole, rest));
}

/* One side's spread and its square, moved by `by` to another maximum. */
static void N(move_spread)(VEC *u, VEC *w, VEC l, VEC by)
{
    const VEC moved = V(fma)(by, l, *u);

    *w = V(fma)(by, V(add)(*u, moved), *w);
    *u = moved;
}

static void N(join_spread)(const STATE *s, const ROWS *g, int64_t a, int64_t e, int64_t r)
{
    struct N(tally) *const t = g->tally;
    const VEC f = V(load)(s->note->f + r), f_next = V(load)(s->note->f_next + r);
    const VEC base = N(finite_or_0)(V(max)(V(load)(g->m + r), V(load)(t->m + r)));
    const VEC least = V(set1)(-SPREAD_MAX);
    REAL *const to = t->sum + SUM_SPREAD * BR + r, *const from = s->note->sum + r;
    VEC u = V(load)(to), w = V(load)(to + BR);
    VEC u_next = V(load)(from + SUM_SPREAD * BR),
        w_next = V(load)(from + SUM_SPREAD2 * BR);

    N(move_spread)
    (&u, &w, V(add)(V(load)(t->rest + r), V(set1)(1)),
     V(max)(least, V(sub)(V(load)(t->m + r), base)));
    N(move_spread)
    (&u_next, &w_next, V(load)(s->note->whole + r),
     V(max)(least, V(sub)(V(load)(g->m + r), base)));
    V(store)(to, V(fma)(u, f, V(mul)(u_next, f_next)));
    V(store)(to + BR, V(fma)(w, f, V(mul)(w_next, f_next)));
    V(store)(t->rest + r, N(block_rest)(s, g, a, e, r));
}

static void N(join_sums)(const STATE *s, const ROWS *g, int64_t a, int64_t e)
{
    struct N(tally) *const t = g->tally;
    struct N(note) *const note = s->note;
    const int squares = N(wants_noise)(s->p) ? SQUARES : 1;

    for (int64_t r = 0; r < g->width; r += VLEN) {
        const VEC f = V(load)(note->f + r), f_next = V(load)(note->f_next + r);

        N(join_spread)(s, g, a, e, r);
        for (int y = 0; y < note->wanted_count; y++) {
            const int64_t at = note->wanted[y] * BR + r;
            N(join_lanes)(t->sum + at, f, note->sum + at, f_next);
        }
        for (int x = 0; x < squares; x++)
            N(join_lanes)
        (t->square[x] + r, V(mul)(f, f), note->square[x] + r, V(mul)(f_next, f_next));
        V(store)(t->m + r, V(max)(V(load)(g->m + r), V(load)(t->m + r)));
    }
}
