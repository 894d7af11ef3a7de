/* SPDX-License-Identifier: MIT */
/*
 * Not a header: sums of values for statistics, by tile products.  Rounding squared
 * weights to bf16 would lose too much, so each is the exact sum of three bf16 of eight
 * bits, and V is multiplied by all three, the smallest part first.
 */
enum { PARTS = 3 };
_Static_assert(PARTS_BYTES == PARTS * (BC / 2) * BR * sizeof(uint32_t),
               "parts of a block: [PARTS][BC / 2][BR] pairs");

/* The upper halves, which are bf16, and the remainders. */
static inline __m512i upper_half(vec x)
{
    return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(~0xffff));
}

/*
 * Splits weights of keys a .. e - 1 to parts, in pairs of keys, padded with 0 to whole
 * tiles.
 */
static void part_weights(const REAL *weights, int64_t a, int64_t e, uint32_t *to)
{
    enum { part = BC / 2 * BR };

    for (int64_t x = tile_floor(a); x < tile_ceil(e); x += 2)
        for (int64_t r = 0; r < BR; r += VLEN) {
            const REAL *const at = weights + x * BR + r;
            vec even = x >= a && x < e ? vec_load(at) : vec_set1(0);
            vec odd = x + 1 >= a && x + 1 < e ? vec_load(at + BR) : vec_set1(0);

            for (int n = 0; n < PARTS; n++) {
                const __m512i low = upper_half(even), high = upper_half(odd);

                _mm512_storeu_si512(to + n * part + x / 2 * BR + r,
                                    _mm512_or_si512(_mm512_srli_epi32(low, 16), high));
                even = vec_sub(even, _mm512_castsi512_ps(low));
                odd = vec_sub(odd, _mm512_castsi512_ps(high));
            }
        }
}

/* Adds the terms of non-finite V of keys a .. e - 1 to the rows that see them. */
static void add_infinite_values(const struct state *s, const REAL *weights, int64_t j0,
                                int64_t a, int64_t e, REAL *product)
{
    const attend_view *v = &s->p->v;

    for (int64_t x = a; x < e; x++) {
        const uint16_t *const value =
            attendi_view_row(v, s->item->b, s->item->hk, j0 + x);

        for (int64_t c = 0; c < s->p->dv; c++) {
            const uint16_t bits = value[c * v->stride[3]];

            for (int64_t r = 0; (bits & 0x7f80) == 0x7f80 && r < BR; r += VLEN) {
                const vec w = vec_load(weights + x * BR + r);
                const vec y =
                    vec_blend(w, vec_set1(0), vec_set1(attendi_bf16_to_f32(bits)));

                vec_store(product + c * BR + r,
                          vec_fma(y, w, vec_load(product + c * BR + r)));
            }
        }
    }
}

/*
 * product = sum of weights times v over keys a .. e - 1, of the packed block in
 * s->values; weights of hidden keys have the sign bit set.
 */
static void multiply_values(struct state *s, struct rows *g, int64_t j0, int64_t a,
                            int64_t e, int select, REAL *weights, REAL *product)
{
    uint32_t *const parts = s->stat->parts;
    float sums[TILE * BR];

    (void)g;
    (void)select;
    part_weights(weights, a, e, parts);
    for (int64_t c = 0; c < s->p->dv; c += TILE) {
        begin_product();
        for (int n = PARTS - 1; n >= 0; n--) {
            const struct product product_n =
                value_product((const uint16_t *)s->values.data,
                              (const float *)(parts + n * (BC / 2 * BR)), a, e, c, sums);

            for (int64_t u = 0; u < product_n.units; u++)
                add_unit(&product_n, u);
        }
        end_product(&(struct product){.to = sums});
        memcpy(product + c * BR, sums,
               (size_t)(min_i64(TILE, s->p->dv - c) * BR) * sizeof *sums);
    }
    if (!s->finite)
        add_infinite_values(s, weights, j0, a, e, product);
}
