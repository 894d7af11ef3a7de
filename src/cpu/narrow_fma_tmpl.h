/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the steps of a narrow item's products by multiply-add in REAL; 16-bit
 * K and V are widened in registers.  Parameters: forward_tmpl.h.
 */

/* The dtypes of K and V that the steps know. */
enum { N(own_dtype) = REAL_DTYPE, N(widens) = sizeof(REAL) == 4 };

/* Columns of K in a lane of Q, and keys of V in a weight. */
enum { N(lane_columns) = 1, N(weight_keys) = 1 };

/* Columns c .. c + VLEN - 1 of a row of Q times scale, rounded once; 0 past the last. */
static inline VEC N(narrow_query)(const struct problem *p, const void *row, int64_t c)
{
    return V(times)(
        N(load_lanes)(row, p->dtype, p->q.stride[3], c, min_i64(VLEN, p->d - c)),
        p->scale);
}

/* y[i] = column i from `key` on of VLEN keys, row_bytes apart, a key in each lane. */
static ALWAYS_INLINE void N(turn_keys)(VEC y[TURN], const char *key, int64_t row_bytes,
                                       const attend_dtype dtype)
{
#ifdef WIDENS_HALVES
    if (dtype == ATTEND_F16) {
        V(turn_f16)(y, key, row_bytes);
        return;
    }
    if (dtype == ATTEND_BF16) {
        V(turn_bf16)(y, key, row_bytes);
        return;
    }
#endif
    (void)dtype;
    V(turn)(y, key, row_bytes);
}

static ALWAYS_INLINE void N(narrow_dot)(VEC *sum, const REAL *query, VEC key)
{
    V(mac_at)(sum, query, key);
}

/* Scores of the columns before c and the sum of the next; Q has the scale. */
static inline VEC N(narrow_add_piece)(int64_t c, const REAL *before, VEC sum, VEC scale)
{
    (void)scale;
    return c == 0 ? sum : V(add)(V(load)(before), sum);
}

/* Weights are used as they are. */
static void N(narrow_pack_weights)(const STATE *s, const ROWS *g, int64_t a, int64_t e)
{
    (void)s, (void)g, (void)a, (void)e;
}

/* nv vectors of columns, one after another, from `value` on. */
static ALWAYS_INLINE void N(narrow_load_values)(VEC *y, const char *value,
                                                int64_t row_bytes, int64_t keys,
                                                const attend_dtype dtype, const int nv)
{
    (void)row_bytes, (void)keys;
    for (int u = 0; u < nv; u++)
        y[u] = N(load_lanes)(value, dtype, 1, u * VLEN, VLEN);
}

/* Columns c .. of one vector of any value, 0 past the last. */
static ALWAYS_INLINE void N(narrow_load_some)(VEC *y, const struct problem *p,
                                              const char *row, int64_t row_bytes,
                                              int64_t keys, int64_t c)
{
    (void)row_bytes, (void)keys;
    *y = N(load_lanes)(row, p->v.dtype, p->v.stride[3], c, min_i64(VLEN, p->dv - c));
}

static ALWAYS_INLINE VEC N(narrow_add_value)(VEC sum, VEC weight, VEC value,
                                             const int select)
{
    return V(fma)(select ? V(pick)(weight, V(set1)(0), value) : value, weight, sum);
}

/* Sums of columns c .. c + VLEN - 1 of a row's block. */
static inline VEC N(narrow_block_sum)(const REAL *sums, int64_t c)
{
    return V(load)(sums + c);
}

/* x * 0 is 0 for finite x and NaN otherwise. */
static int N(narrow_finite)(const STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;
    VEC sum = V(set1)(0);
    REAL lanes[VLEN], all = 0;

    for (int64_t x = a; x < e; x++) {
        const void *const row = attendi_view_row(v, s->t->b, s->t->hk, j0 + x);

        for (int64_t c = 0; c < s->p->dv; c += VLEN) {
            const int64_t n = min_i64(VLEN, s->p->dv - c);
            const VEC y = N(load_lanes)(row, v->dtype, v->stride[3], c, n);

            sum = V(fma)(y, V(set1)(0), sum);
        }
    }
    V(store)(lanes, sum);
    for (int x = 0; x < VLEN; x++)
        all += lanes[x];
    return all == 0;
}
