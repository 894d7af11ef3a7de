/* SPDX-License-Identifier: MIT */
/*
 * Not a header: squares of weights times values, for the variance that noise makes.
 * Part of stats_tmpl.h.
 */

/* A score whose square is a number: finfo.min in a bias must not make it inf or NaN. */
static inline vec bounded(vec score)
{
    const vec most = vec_set1(sizeof(REAL) == 4 ? (REAL)0x1p50 : (REAL)0x1p120);
    const vec above = vec_max(vec_sub(vec_set1(0), most), score);

    return vec_blend_lt(most, above, most, above);
}

/* In note->aside: squares of x = w, or of x = w s; hidden keys keep their mask. */
static void square_aside(const struct state *s, const struct rows *g, int64_t a,
                         int64_t e, int kind)
{
    const REAL *const w = plain_weights(s);

    for (int64_t r = 0; r < g->width; r += VLEN) {
        const vec shift = vec_load(g->tally->shift + r);
        vec sum = vec_set1(0);

        for (int64_t x = a; x < e; x++) {
            REAL *const at = s->note->aside + x * BR + r;
            const vec weight = vec_load(w + x * BR + r);
            vec y = weight;

            if (kind == NOISE_OF_NORMS)
                y = vec_mul(weight, bounded(vec_add(vec_load(at), shift)));
            y = vec_blend(weight, weight, vec_mul(y, y));
            vec_store(at, y);
            sum = vec_add(sum, y);
        }
        if (kind == NOISE_OF_NORMS) /* the other was summed as the weights arose */
            vec_store(s->note->square[SQUARES_OF(kind)] + r, sum);
    }
}

/* The block's sum x^2 v to that of the keys before. */
static void combine_product(struct state *s, struct rows *g, int64_t j0, int64_t a,
                            int64_t e, int select, REAL *product)
{
    memset(s->note->product, 0, (size_t)s->p->dv * BR * sizeof(REAL));
    multiply_values(s, g, j0, a, e, select, s->note->aside, s->note->product);
    for (int64_t c = 0; c < s->p->dv; c++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            const vec f = vec_load(s->note->f + r),
                      f_next = vec_load(s->note->f_next + r);

            add_rescaled(product + c * BR + r, vec_mul(f, f),
                         s->note->product + c * BR + r, vec_mul(f_next, f_next));
        }
}

/* Noise of the keys last: its squares overwrite the scores that were put aside. */
static void note_noise(struct state *s, struct rows *g, int64_t j0, int64_t a, int64_t e,
                       int select)
{
    const unsigned needs[NOISE_KINDS] = {
        [NOISE_OF_NORMS] = STATS_MAGNITUDE_NOISE, [NOISE_OF_KEYS] = STATS_KEY_NOISE};

    for (int kind = NOISE_KINDS - 1; kind >= 0; kind--)
        if (wants(s, needs[kind])) {
            square_aside(s, g, a, e, kind);
            for (int64_t r = 0; r < g->width; r += VLEN)
                add_norms(s, s->note->aside, a, e, r, 2,
                          s->note->square[SQUARES_OF(kind) + 1]);
            combine_product(s, g, j0, a, e, select, g->tally->product[kind]);
        }
}
