/* SPDX-License-Identifier: MIT */
/* Not a header: sums of bf16 values for statistics. */

/*
 * product = sum of weights times v over keys a .. e - 1, in float: rounding squared
 * weights to bf16 would lose too much.  Weights of hidden keys have the sign bit set.
 */
static ALWAYS_INLINE void multiply_columns(const struct state *s, const struct rows *g,
                                           int64_t j0, int64_t a, int64_t e,
                                           const REAL *weights, int64_t c,
                                           const int columns, REAL *product)
{
    const attend_view *v = &s->p->v;

    for (int64_t r = 0; r < g->width; r += VLEN) {
        vec acc[4];

        for (int i = 0; i < columns; i++)
            acc[i] = vec_set1(0);
        for (int64_t x = a; x < e; x++) {
            const uint16_t *const value =
                (const uint16_t *)attendi_view_row(v, s->item->b, s->item->hk, j0 + x) +
                c * v->stride[3];
            const vec w = vec_load(weights + x * BR + r);

            for (int i = 0; i < columns; i++) {
                const vec y = vec_set1(attendi_bf16_to_f32(value[i * v->stride[3]]));
                acc[i] = vec_fma(vec_blend(w, vec_set1(0), y), w, acc[i]);
            }
        }
        for (int i = 0; i < columns; i++)
            vec_store(product + (c + i) * BR + r, acc[i]);
    }
}

static void multiply_values(struct state *s, struct rows *g, int64_t j0, int64_t a,
                            int64_t e, int select, REAL *weights, REAL *product)
{
    int64_t c = 0;

    (void)select;
    for (; c + 4 <= s->p->dv; c += 4)
        multiply_columns(s, g, j0, a, e, weights, c, 4, product);
    for (; c < s->p->dv; c++)
        multiply_columns(s, g, j0, a, e, weights, c, 1, product);
}
