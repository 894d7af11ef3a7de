/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the steps of the decode path's products by multiply-add in REAL; 16-bit
 * K and V are widened in registers.
 */

/* The dtypes of K and V that are read in place. */
enum { OWN_DTYPE = REAL_DTYPE, WIDENS = sizeof(REAL) == 4 };

/* Columns of K per lane of Q, and keys of V per weight. */
enum { LANE_COLUMNS = 1, WEIGHT_KEYS = 1 };

/*
 * Columns c .. c + VLEN - 1 of a row of Q, times the scale with one rounding; 0 past the
 * last.
 */
static inline vec decode_query(const struct problem *p, const void *row, int64_t c)
{
    return vec_times(
        load_lanes(row, p->q.dtype, p->q.stride[3], c, min_i64(VLEN, p->d - c)),
        p->scale);
}

/* y[i] = column i from `key` on of VLEN keys, row_bytes apart, a key in each lane. */
static ALWAYS_INLINE void transpose_keys(vec y[TRANSPOSED], const char *key,
                                         int64_t row_bytes, const attend_dtype dtype)
{
#ifdef WIDENS_HALVES
    if (dtype == ATTEND_F16) {
        vec_load_transposed_f16(y, key, row_bytes);
        return;
    }
    if (dtype == ATTEND_BF16) {
        vec_load_transposed_bf16(y, key, row_bytes);
        return;
    }
#endif
    (void)dtype;
    vec_load_transposed(y, key, row_bytes);
}

static ALWAYS_INLINE void decode_dot(vec *sum, const REAL *query, vec key)
{
    vec_mac_at(sum, query, key);
}

/* Adds the sum of one piece of columns to the scores `before`; Q is scaled. */
static inline vec decode_add_piece(int64_t c, const REAL *before, vec sum, vec scale)
{
    (void)scale;
    return c == 0 ? sum : vec_add(vec_load(before), sum);
}

/* The products use unrounded weights. */
static void decode_pack_weights(const struct state *s, const struct rows *g, int64_t a,
                                int64_t e)
{
    (void)s, (void)g, (void)a, (void)e;
}

/* Loads nv consecutive vectors of columns from `value`. */
static ALWAYS_INLINE void decode_load_values(vec *y, const char *value, int64_t row_bytes,
                                             int64_t keys, const attend_dtype dtype,
                                             const int nv)
{
    (void)row_bytes, (void)keys;
    for (int u = 0; u < nv; u++)
        y[u] = load_lanes(value, dtype, 1, u * VLEN, VLEN);
}

/* Loads columns c .. of any stride into one vector, 0 past the last. */
static ALWAYS_INLINE void decode_load_some(vec *y, const struct problem *p,
                                           const char *row, int64_t row_bytes,
                                           int64_t keys, int64_t c)
{
    (void)row_bytes, (void)keys;
    *y = load_lanes(row, p->v.dtype, p->v.stride[3], c, min_i64(VLEN, p->dv - c));
}

static ALWAYS_INLINE vec decode_add_value(vec sum, vec weight, vec value,
                                          const int select)
{
    return vec_fma(select ? vec_blend(weight, vec_set1(0), value) : value, weight, sum);
}

/* The sums of columns c .. c + VLEN - 1 of a row over the block. */
static inline vec decode_block_sum(const REAL *sums, int64_t c)
{
    return vec_load(sums + c);
}

/* x * 0 is 0 for finite x and NaN otherwise. */
static int decode_finite(const struct state *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;
    vec sum = vec_set1(0);
    REAL lanes[VLEN], all = 0;

    for (int64_t x = a; x < e; x++) {
        const void *const row = attendi_view_row(v, s->item->b, s->item->hk, j0 + x);

        for (int64_t c = 0; c < s->p->dv; c += VLEN) {
            const int64_t n = min_i64(VLEN, s->p->dv - c);
            const vec y = load_lanes(row, v->dtype, v->stride[3], c, n);

            sum = vec_fma(y, vec_set1(0), sum);
        }
    }
    vec_store(lanes, sum);
    for (int x = 0; x < VLEN; x++)
        all += lanes[x];
    return all == 0;
}
