/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the products of a narrow item by multiply-add in REAL; 16-bit K and V
 * are widened in registers.  Parameters: forward_tmpl.h.
 */

static size_t N(narrow_k_size)(void)
{
    return (size_t)NARROW_KEYS * SUM_COLUMNS * sizeof(REAL);
}

/* Q[r][c] = q[r][c] scale, rounded once. */
static void N(narrow_pack_q)(const STATE *s, ROWS *g)
{
    const struct problem *p = s->p;

    for (int64_t r = 0; r < g->rows; r++) {
        const void *const q = attendi_view_row(&p->q, s->t->b, g->head[r],
                                               g->query[r]);

        for (int64_t c = 0; c < p->d; c += VLEN) {
            const int64_t n = min_i64(VLEN, p->d - c);
            const VEC x = N(load_lanes)(q, p->dtype, p->q.stride[3], c, n);

            N(store_lanes)(g->q + r * p->d, REAL_DTYPE, 1, c, n, N(scaled)(s, x));
        }
    }
}

/*
 * Kt[c][x] = column c0 + c of key j + x.  Past the last key it stands in, so that a
 * whole tile of keys can be turned; their scores are never used.
 */
static ALWAYS_INLINE void N(turn_keys)(const STATE *s, int64_t j, int64_t keys,
                                       int64_t c0, int64_t columns,
                                       const attend_dtype dtype)
{
    const attend_view *k = &s->p->k;
    struct N(stream) ahead = N(stream_from)(s, k, j + 2 * NARROW_KEYS);

    for (int64_t x0 = 0; x0 < NARROW_KEYS; x0 += VLEN) {
        const void *key[VLEN];

        for (int x = 0; x < VLEN; x++)
            key[x] = attendi_view_row(k, s->t->b, s->t->hk, j + min_i64(x0 + x, keys - 1));
        for (int64_t c = 0; c < columns; c += VLEN) {
            const int64_t n = min_i64(VLEN, columns - c);
            VEC y[VLEN];

            if (n == VLEN && k->stride[3] == 1)
                for (int x = 0; x < VLEN; x++) {
                    y[x] = N(load_lanes)(key[x], dtype, 1, c0 + c, VLEN);
                    if (dtype == REAL_DTYPE || x % 2 == 0)
                        N(stream_line)(&ahead);
                }
            else
                for (int x = 0; x < VLEN; x++)
                    y[x] = N(load_lanes)(key[x], dtype, k->stride[3], c0 + c, n);
            V(transpose)(y);
            for (int64_t i = 0; i < n; i++)
                V(store)(s->k + (c + i) * NARROW_KEYS + x0, y[i]);
        }
    }
}

static ALWAYS_INLINE void N(narrow_score)(const STATE *s, const ROWS *g, int64_t x,
                                          int64_t c0, int64_t columns, int64_t r,
                                          const int rows)
{
    enum { NV = NARROW_KEYS / VLEN };
    VEC acc[4 * NV];

    N(outer)
    (acc, g->q + r * s->p->d + c0, s->p->d, 1, s->k, NARROW_KEYS, columns, rows, NV);
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < NV; v++) {
            REAL *const at = s->s + (r + i) * S_ROW + x + v * VLEN;
            const VEC sum = acc[i * NV + v];
            V(store)(at, c0 == 0 ? sum : V(add)(V(load)(at), sum));
        }
}

static ALWAYS_INLINE void N(narrow_scores_of)(const STATE *s, const ROWS *g, int64_t j0,
                                              int64_t a, int64_t e,
                                              const attend_dtype dtype)
{
    for (int64_t x = a; x < e; x += NARROW_KEYS)
        for (int64_t c = 0; c == 0 || c < s->p->d; c += SUM_COLUMNS) {
            const int64_t columns = min_i64(SUM_COLUMNS, s->p->d - c);

            N(turn_keys)(s, j0 + x, e - x, c, columns, dtype);
            FOR_ROWS(g->rows, N(narrow_score), s, g, x, c, columns);
        }
}

static void N(narrow_scores)(STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e)
{
    FOR_DTYPES(s->p->k.dtype, N(narrow_scores_of), s, g, j0, a, e);
}

/* acc = acc fix + P V for nv vectors of columns from c on, the last with n of them. */
static ALWAYS_INLINE void N(narrow_value)(const STATE *s, const ROWS *g, int64_t j0,
                                          int64_t a, int64_t e, int64_t c, int64_t n,
                                          const int select, const attend_dtype dtype,
                                          const int nv, int64_t r, const int rows)
{
    const attend_view *v = &s->p->v;
    const char *value = attendi_view_row(v, s->t->b, s->t->hk, j0 + a);
    const int64_t row_size = (int64_t)1 << attendi_dtype_shift(dtype);
    const int64_t row_bytes = v->stride[2] * row_size;
    const REAL *const w = s->s + r * S_ROW;
    const int64_t lines =
        r == 0 && c == 0 ? ceil_div_i64(s->p->dv * row_size, ATTENDI_ALIGN) : 0;
    struct N(stream) ahead = N(stream_from)(s, v, j0 + a + NARROW_KEYS);
    VEC acc[4 * NARROW_VECTORS];

    N(zero)(acc, rows, nv);
    for (int64_t x = a; x < e; x++, value += row_bytes) {
        VEC y[NARROW_VECTORS];

        for (int64_t line = 0; line < lines; line++)
            N(stream_line)(&ahead);

        if (n == VLEN && v->stride[3] == 1)
            for (int u = 0; u < nv; u++)
                y[u] = N(load_lanes)(value, dtype, 1, c + u * VLEN, VLEN);
        else
            for (int u = 0; u < nv; u++)
                y[u] = N(load_lanes)(value, dtype, v->stride[3], c + u * VLEN,
                                     u + 1 < nv ? VLEN : n);
        for (int i = 0; i < rows; i++) {
            const VEC weight = V(set1)(w[i * S_ROW + x]);

            for (int u = 0; u < nv; u++)
                acc[i * nv + u] = V(fma)(
                    select ? V(pick)(weight, V(set1)(0), y[u]) : y[u], weight,
                    acc[i * nv + u]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int u = 0; u < nv; u++) {
            REAL *const at = g->acc + (r + i) * s->p->dv;
            const int64_t m = u + 1 < nv ? VLEN : n;
            const VEC before = N(load_lanes)(at, REAL_DTYPE, 1, c + u * VLEN, m);

            N(store_lanes)
            (at, REAL_DTYPE, 1, c + u * VLEN, m,
             V(fma)(before, V(set1)(s->fix[r + i]), acc[i * nv + u]));
        }
}

static ALWAYS_INLINE void N(narrow_values_of)(const STATE *s, const ROWS *g, int64_t j0,
                                              int64_t a, int64_t e, const int select,
                                              const attend_dtype dtype)
{
    int64_t c = 0;

    for (; c + NARROW_VECTORS * VLEN <= s->p->dv; c += NARROW_VECTORS * VLEN)
        FOR_ROWS(g->rows, N(narrow_value), s, g, j0, a, e, c, VLEN, select, dtype,
                 NARROW_VECTORS);
    for (; c < s->p->dv; c += VLEN)
        FOR_ROWS(g->rows, N(narrow_value), s, g, j0, a, e, c,
                 min_i64(VLEN, s->p->dv - c), select, dtype, 1);
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

static void N(narrow_values)(STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e,
                             int edge)
{
    if (edge && !N(narrow_finite)(s, j0, a, e))
        FOR_DTYPES(s->p->v.dtype, N(narrow_values_of), s, g, j0, a, e, 1);
    else
        FOR_DTYPES(s->p->v.dtype, N(narrow_values_of), s, g, j0, a, e, 0);
}
