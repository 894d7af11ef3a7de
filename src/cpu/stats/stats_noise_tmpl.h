/* SPDX-License-Identifier: MIT */
/*
 * Not a header: squared weights times values, for the variance of the output under noise.
 */

/* Clamps a score so that its square is finite, as with finfo.min in a bias. */
static inline vec bounded(vec score)
{
    const vec most = vec_set1(sizeof(REAL) == 4 ? (REAL)0x1p50 : (REAL)0x1p120);
    const vec above = vec_max(vec_sub(vec_set1(0), most), score);

    return vec_blend_lt(most, above, most, above);
}

/* Fills stat->aside with squares of x = w or of x = w s; hidden keys keep their mask. */
static void square_aside(const struct state *s, const struct rows *g, int64_t a,
                         int64_t e, int kind)
{
    const REAL *const w = plain_weights(s);

    for (int64_t r = 0; r < g->width; r += VLEN) {
        const vec shift = vec_load(g->accum->shift + r);
        vec sum = vec_set1(0);

        for (int64_t x = a; x < e; x++) {
            REAL *const at = s->stat->aside + x * BR + r;
            const vec weight = vec_load(w + x * BR + r);
            vec y = weight;

            if (kind == NOISE_OF_NORMS)
                y = vec_mul(weight, bounded(vec_add(vec_load(at), shift)));
            y = vec_blend(weight, weight, vec_mul(y, y));
            vec_store(at, y);
            sum = vec_add(sum, y);
        }
        if (kind == NOISE_OF_NORMS) /* the other was summed with the weights */
            vec_store(s->stat->square[SQUARES_OF(kind)] + r, sum);
    }
}

/* Combines the block's sum x^2 v with that of earlier keys. */
static void combine_product(struct state *s, struct rows *g, int64_t j0, int64_t a,
                            int64_t e, int select, REAL *product)
{
    memset(s->stat->product, 0, (size_t)s->p->dv * BR * sizeof(REAL));
    multiply_values(s, g, j0, a, e, select, s->stat->aside, s->stat->product);
    for (int64_t c = 0; c < s->p->dv; c++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            const vec f = vec_load(s->stat->f + r),
                      f_next = vec_load(s->stat->f_next + r);

            add_rescaled(product + c * BR + r, vec_mul(f, f),
                         s->stat->product + c * BR + r, vec_mul(f_next, f_next));
        }
}

/* The noise of the keys comes last: its squares overwrite the scores in stat->aside. */
static void stat_noise(struct state *s, struct rows *g, int64_t j0, int64_t a, int64_t e,
                       int select)
{
    const unsigned needs[NOISE_KINDS] = {
        [NOISE_OF_NORMS] = STATS_MAGNITUDE_NOISE, [NOISE_OF_KEYS] = STATS_KEY_NOISE};

    for (int kind = NOISE_KINDS - 1; kind >= 0; kind--)
        if (wants(s, needs[kind])) {
            square_aside(s, g, a, e, kind);
            for (int64_t r = 0; r < g->width; r += VLEN)
                add_norms(s, s->stat->aside, a, e, r, 2,
                          s->stat->square[SQUARES_OF(kind) + 1]);
            combine_product(s, g, j0, a, e, select, g->accum->product[kind]);
        }
}
