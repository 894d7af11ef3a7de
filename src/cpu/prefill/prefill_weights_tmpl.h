/* SPDX-License-Identifier: MIT */
/* Not a header: scores of a tile to weights, and their sums. */

/* Sums of statistics over weights w with x = s - m and key j. */
enum { SUM_XW, SUM_WW, SUM_JW, SUM_XXW, WEIGHT_SUMS };

/* Adds to the first `sums` of them; w replaces its mask if the product rounds weights. */
static ALWAYS_INLINE void add_sums(const struct state *s, int64_t j, int64_t r, vec x,
                                   vec w, vec *sum, const int sums)
{
    const vec finite = vec_max(vec_set1(-SPREAD_MAX), x);

    sum[SUM_XW] = vec_fma(finite, w, sum[SUM_XW]);
    sum[SUM_WW] = vec_fma(w, w, sum[SUM_WW]);
    if (sums > SUM_JW)
        sum[SUM_JW] = vec_fma(vec_set1(ramp(s)[j]), w, sum[SUM_JW]);
    if (sums > SUM_XXW)
        sum[SUM_XXW] = vec_fma(vec_mul(finite, w), finite, sum[SUM_XXW]);
    if (!KEEPS_WEIGHTS)
        vec_store(s->extra + j * BR + r, w);
}

static ALWAYS_INLINE vec prefill_weight(const struct state *s, int64_t j, int64_t r,
                                        vec base, const int edge, vec *sum,
                                        const int sums)
{
    const vec gap = vec_sub(vec_load(s->s + j * BR + r), base);
    vec w = vec_exp(gap);

    if (edge)
        w = vec_or(w, vec_load(s->extra + j * BR + r));
    if (sums > 0)
        add_sums(s, j, r, gap, w, sum, sums);
    return w;
}

/*
 * Scores to weights, two keys at a time; returns their sum in the order of keys.  `sums`:
 * number of additional sums for statistics, separate for even and odd keys.
 */
static ALWAYS_INLINE vec weigh_lanes(const struct state *s, int64_t a, int64_t e,
                                     int64_t r, vec base, const int edge, vec *sum,
                                     const int sums)
{
    vec whole = vec_set1(0), *const sum_odd = sums > 0 ? sum + WEIGHT_SUMS : NULL;
    int64_t x = a;

    for (; x + 2 <= e; x += 2) {
        const vec even = prefill_weight(s, x, r, base, edge, sum, sums);
        const vec odd = prefill_weight(s, x + 1, r, base, edge, sum_odd, sums);

        keep_weights(s, x, r, even, odd);
        whole = vec_add(vec_add(whole, even), odd);
    }
    if (x < e) {
        const vec even = prefill_weight(s, x, r, base, edge, sum, sums);

        keep_weights(s, x, r, even, vec_set1(0));
        whole = vec_add(whole, even);
    }
    return whole;
}
