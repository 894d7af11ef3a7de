/* SPDX-License-Identifier: MIT */
/* Not a header: sums of values for statistics, by the product of products_tmpl.h. */

/*
 * product = sum of weights times v over keys a .. e - 1, weights in the layout of s->s.
 */
static void multiply_values(struct state *s, struct rows *g, int64_t j0, int64_t a,
                            int64_t e, int select, REAL *weights, REAL *product)
{
    REAL *const own = s->s, *const acc = g->acc, *const rescale = s->rescale;
    REAL zeros[BR] = {0};

    (void)j0;
    s->s = weights;
    s->rescale = zeros;
    g->acc = product;
    add_values(s, g, a, e, select);
    s->s = own;
    s->rescale = rescale;
    g->acc = acc;
}
