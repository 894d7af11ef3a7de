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
                                       int64_t c0, int64_t columns, int64_t value,
                                       const attend_dtype dtype)
{
    const attend_view *k = &s->p->k;
    struct N(stream) ahead = N(stream_from)(s, k, j + 2 * NARROW_KEYS);
    struct N(stream) values = N(stream_from)(s, &s->p->v, value);

    for (int64_t x0 = 0; x0 < NARROW_KEYS; x0 += VLEN) {
        const void *key[VLEN];

        for (int x = 0; x < VLEN; x++)
            key[x] = attendi_view_row(k, s->t->b, s->t->hk, j + min_i64(x0 + x, keys - 1));
        for (int64_t c = 0; c < columns; c += VLEN) {
            const int64_t n = min_i64(VLEN, columns - c);
            REAL *const to = s->k + c * NARROW_KEYS + x0;
            VEC y[VLEN];

            if (n == VLEN && k->stride[3] == 1) {
                for (int x = 0; x < VLEN / (dtype == REAL_DTYPE ? 1 : 2); x += 2) {
                    N(stream_line)(&ahead);
                    N(stream_line)(&ahead);
                    N(stream_line)(&values);
                }
                for (int x = 0; x < VLEN; x++)
                    y[x] = N(load_lanes)(key[x], dtype, 1, c0 + c, VLEN);
                V(transpose)(y);
                for (int i = 0; i < VLEN; i++)
                    V(store)(to + i * NARROW_KEYS, y[i]);
            } else {
                for (int x = 0; x < VLEN; x++)
                    y[x] = N(load_lanes)(key[x], dtype, k->stride[3], c0 + c, n);
                V(transpose)(y);
                for (int64_t i = 0; i < n; i++)
                    V(store)(to + i * NARROW_KEYS, y[i]);
            }
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

            N(turn_keys)(s, j0 + x, e - x, c, columns, j0 + a + (x - a) / 2, dtype);
            FOR_ROWS(g->rows, N(narrow_score), s, g, x, c, columns);
        }
}

static void N(narrow_scores)(STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e)
{
    FOR_DTYPES(s->p->k.dtype, N(narrow_scores_of), s, g, j0, a, e);
}

/* acc = acc fix + sums for nv vectors of columns from c on, the last with n of them. */
static ALWAYS_INLINE void N(narrow_join)(const STATE *s, const ROWS *g, const VEC *sums,
                                         int64_t c, int64_t n, const int nv, int64_t r,
                                         const int rows)
{
    for (int i = 0; i < rows; i++)
        for (int u = 0; u < nv; u++) {
            REAL *const at = g->acc + (r + i) * s->p->dv;
            const int64_t from = c + u * VLEN, m = u + 1 < nv ? VLEN : n;
            const VEC before = N(load_lanes)(at, REAL_DTYPE, 1, from, m);

            N(store_lanes)
            (at, REAL_DTYPE, 1, from, m,
             V(fma)(before, V(set1)(s->fix[r + i]), sums[i * nv + u]));
        }
}

/*
 * P V for whole vectors of columns.  The second half of the block's values is asked for
 * while the first is used; the first was, while the scores were computed.
 */
static ALWAYS_INLINE void N(narrow_value)(const STATE *s, const ROWS *g, int64_t j0,
                                          int64_t a, int64_t e, int64_t c,
                                          const attend_dtype dtype, const int nv,
                                          int64_t r, const int rows)
{
    const attend_view *v = &s->p->v;
    const int shift = attendi_dtype_shift(dtype);
    const char *value = attendi_view_row(v, s->t->b, s->t->hk, j0 + a);
    const int64_t row_bytes = v->stride[2] * ((int64_t)1 << shift);
    const int64_t half = r == 0 && c == 0 ? (e - a) / 2 : 0;
    const int64_t lines = ceil_div_i64(s->p->dv << shift, ATTENDI_ALIGN);
    struct N(stream) ahead = N(stream_from)(s, v, j0 + a + half);
    const REAL *const w = s->s + r * S_ROW;
    VEC acc[4 * NARROW_VECTORS];

    N(zero)(acc, rows, nv);
#pragma GCC unroll 2
    for (int64_t x = a; x < e; x++, value += row_bytes) {
        VEC y[NARROW_VECTORS];

        for (int64_t line = 0; x < a + half && line < lines; line++)
            N(stream_line)(&ahead);
        for (int u = 0; u < nv; u++)
            y[u] = N(load_lanes)(value, dtype, 1, c + u * VLEN, VLEN);
        for (int i = 0; i < rows; i++) {
            const VEC weight = V(spread)(w + i * S_ROW + x);

            for (int u = 0; u < nv; u++)
                V(mac)(&acc[i * nv + u], y[u], weight);
        }
    }
    N(narrow_join)(s, g, acc, c, VLEN, nv, r, rows);
}

/* The same for any n <= VLEN columns of any stride; a hidden key's value is left out. */
static void N(narrow_value_any)(const STATE *s, const ROWS *g, int64_t j0, int64_t a,
                                int64_t e, int64_t c, int64_t n, int64_t r)
{
    const attend_view *v = &s->p->v;
    VEC acc = V(set1)(0);

    for (int64_t x = a; x < e; x++) {
        const void *const value = attendi_view_row(v, s->t->b, s->t->hk, j0 + x);
        const VEC y = N(load_lanes)(value, v->dtype, v->stride[3], c, n);
        const VEC weight = V(set1)(s->s[r * S_ROW + x]);

        acc = V(fma)(V(pick)(weight, V(set1)(0), y), weight, acc);
    }
    N(narrow_join)(s, g, &acc, c, n, 1, r, 1);
}

static ALWAYS_INLINE void N(narrow_values_of)(const STATE *s, const ROWS *g, int64_t j0,
                                              int64_t a, int64_t e, int select,
                                              const attend_dtype dtype)
{
    const bool plain = !select && s->p->v.stride[3] == 1;
    int64_t c = 0;

    for (; plain && c + NARROW_VECTORS * VLEN <= s->p->dv; c += NARROW_VECTORS * VLEN)
        FOR_ROWS(g->rows, N(narrow_value), s, g, j0, a, e, c, dtype, NARROW_VECTORS);
    for (; plain && c + VLEN <= s->p->dv; c += VLEN)
        FOR_ROWS(g->rows, N(narrow_value), s, g, j0, a, e, c, dtype, 1);
    for (; c < s->p->dv; c += VLEN)
        for (int64_t r = 0; r < g->rows; r++)
            N(narrow_value_any)(s, g, j0, a, e, c, min_i64(VLEN, s->p->dv - c), r);
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
    const int select = edge && !N(narrow_finite)(s, j0, a, e);

    FOR_DTYPES(s->p->v.dtype, N(narrow_values_of), s, g, j0, a, e, select);
}
