/* SPDX-License-Identifier: MIT */
/*
 * Not a header: squares of weights times values, for the variance that noise makes.
 * Part of stats_tmpl.h.
 */

/* A score whose square is a number: finfo.min in a bias must not make it inf or NaN. */
static inline VEC N(bounded)(VEC score)
{
    const VEC most = V(set1)(sizeof(REAL) == 4 ? (REAL)0x1p50 : (REAL)0x1p120);
    const VEC above = V(max)(V(sub)(V(set1)(0), most), score);

    return V(pick_lt)(most, above, most, above);
}

/* In note->aside: squares of x = w, or of x = w s; hidden keys keep their mark. */
static void N(square_aside)(const STATE *s, const ROWS *g, int64_t a, int64_t e, int kind)
{
    const REAL *const w = N(plain_weights)(s);

    for (int64_t r = 0; r < g->width; r += VLEN) {
        const VEC shift = V(load)(g->tally->shift + r);
        VEC sum = V(set1)(0);

        for (int64_t x = a; x < e; x++) {
            REAL *const at = s->note->aside + x * BR + r;
            const VEC weight = V(load)(w + x * BR + r);
            VEC y = weight;

            if (kind == NOISE_OF_NORMS)
                y = V(mul)(weight, N(bounded)(V(add)(V(load)(at), shift)));
            y = V(pick)(weight, weight, V(mul)(y, y));
            V(store)(at, y);
            sum = V(add)(sum, y);
        }
        if (kind == NOISE_OF_NORMS) /* the other was summed as the weights arose */
            V(store)(s->note->square[SQUARES_OF(kind)] + r, sum);
    }
}

/* The block's sum x^2 v to that of the keys before. */
static void N(join_product)(STATE *s, ROWS *g, int64_t j0, int64_t a, int64_t e,
                            int select, REAL *product)
{
    memset(s->note->product, 0, (size_t)s->p->dv * BR * sizeof(REAL));
    N(multiply_values)(s, g, j0, a, e, select, s->note->aside, s->note->product);
    for (int64_t c = 0; c < s->p->dv; c++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            const VEC f = V(load)(s->note->f + r), f_next = V(load)(s->note->f_next + r);

            N(join_lanes)
            (product + c * BR + r, V(mul)(f, f), s->note->product + c * BR + r,
             V(mul)(f_next, f_next));
        }
}

/* Noise of the keys last: its squares overwrite the scores that were put aside. */
static void N(note_noise)(STATE *s, ROWS *g, int64_t j0, int64_t a, int64_t e, int select)
{
    const unsigned needs[NOISE_KINDS] = {
        [NOISE_OF_NORMS] = STATS_MAGNITUDE_NOISE, [NOISE_OF_KEYS] = STATS_KEY_NOISE};

    for (int kind = NOISE_KINDS - 1; kind >= 0; kind--)
        if (N(wants)(s, needs[kind])) {
            N(square_aside)(s, g, a, e, kind);
            for (int64_t r = 0; r < g->width; r += VLEN)
                N(add_norms)
            (s, s->note->aside, a, e, r, 2, s->note->square[SQUARES_OF(kind) + 1]);
            N(join_product)(s, g, j0, a, e, select, g->tally->product[kind]);
        }
}
