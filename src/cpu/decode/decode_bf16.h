/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the steps of the decode path's products of bf16 in pairs, in the order of
 * the prefill path.
 */

enum { OWN_DTYPE = ATTEND_BF16, WIDENS = 0 };
enum { LANE_COLUMNS = 2, WEIGHT_KEYS = 2 };

static inline vec decode_query(const struct problem *p, const void *row, int64_t c)
{
    return load_row_pairs(row, p->q.stride[3], c, p->d);
}

static ALWAYS_INLINE void transpose_keys(vec y[TRANSPOSED], const char *key,
                                         int64_t row_bytes, const attend_dtype dtype)
{
    (void)dtype;
    vec_load_transposed(y, key, row_bytes);
}

static ALWAYS_INLINE void decode_dot(vec *sum, const float *query, vec key)
{
    mac_pair_at(sum, query, key);
}

static inline vec decode_add_piece(int64_t c, const float *before, vec sum, vec scale)
{
    return vec_fma(sum, scale, c == 0 ? vec_set1(0) : vec_load(before));
}

/* Rounds the weights to pairs of bf16, in place, with 0 after an odd last key. */
static void decode_pack_weights(const struct state *s, const struct rows *g, int64_t a,
                                int64_t e)
{
    for (int64_t r = 0; r < g->rows; r++) {
        float *const w = s->s + r * S_ROW;

        for (int64_t x = a; x < e; x += VLEN)
            store_rounded((uint16_t *)w + x, vec_load(w + x));
    }
}

static ALWAYS_INLINE void decode_load_values(vec *y, const char *value, int64_t row_bytes,
                                             int64_t keys, const attend_dtype dtype,
                                             const int nv)
{
    (void)dtype;
    for (int u = 0; u < nv; u += 2) {
        const char *const even = value + u * VLEN * 2;

        interleave_rows(y + u, vec_load((const void *)even),
                        load_row_if(even + row_bytes, keys > 1));
    }
}

static ALWAYS_INLINE void decode_load_some(vec *y, const struct problem *p,
                                           const char *row, int64_t row_bytes,
                                           int64_t keys, int64_t c)
{
    const int64_t step = p->v.stride[3];
    const void *const even = row, *const odd = row + row_bytes;

    interleave_rows(y, load_row_pairs(even, step, c, p->dv),
                    keys > 1 ? load_row_pairs(odd, step, c, p->dv) : vec_set1(0));
}

static ALWAYS_INLINE vec decode_add_value(vec sum, vec weight, vec value,
                                          const int select)
{
    return add_pairs(sum, weight, value, select);
}

static inline vec decode_block_sum(const float *sums, int64_t c)
{
    return in_order(sums, c);
}

static int decode_finite(const struct state *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;
    uint32_t infinite = 0;

    for (int64_t x = a; x < e; x++) {
        const uint16_t *row = attendi_view_row(v, s->item->b, s->item->hk, j0 + x);

        for (int64_t c = 0; c < s->p->dv; c++)
            infinite |= ((row[c * v->stride[3]] & 0x7f80u) + 0x80u) & 0x8000u;
    }
    return infinite == 0;
}
