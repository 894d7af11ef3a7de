/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of a tile by multiply-add in REAL.  K and V of that
 * type with a last stride of 1 are read in place; any other is widened, a block
 * at a time.  Parameters: forward_tmpl.h.
 */

/* Row x of a block stands at data + x * row. */
struct N(operand) {
    const REAL *data;
    int64_t row;
};

static bool N(in_place)(const attend_view *view)
{
    return view->dtype == REAL_DTYPE && (view->stride[3] == 1 || view->size[3] <= 1);
}

/* For K at least one row, which pack_q uses. */
static struct operand_sizes N(operand_sizes)(const struct problem *p)
{
    const size_t k_rows = N(in_place)(&p->k) ? 1 : BC,
                 v_rows = N(in_place)(&p->v) ? 0 : BC;

    return (struct operand_sizes){.qt = (size_t)p->d * BR * sizeof(REAL),
                                  .k = (size_t)p->d * k_rows * sizeof(REAL),
                                  .v = (size_t)p->dv * v_rows * sizeof(REAL)};
}

static void N(widen_row)(REAL *to, const void *from, attend_dtype dtype, int64_t n,
                         int64_t step)
{
    int64_t c = 0;

#ifdef WIDENS_HALVES
    if (step == 1 && dtype == ATTEND_F16)
        for (; c + VLEN <= n; c += VLEN)
            V(store)(to + c, V(load_f16)((const uint16_t *)from + c));
    else if (step == 1 && dtype == ATTEND_BF16)
        for (; c + VLEN <= n; c += VLEN)
            V(store)(to + c, V(load_bf16)((const uint16_t *)from + c));
#endif
    if (dtype == REAL_DTYPE)
        for (; c < n; c++)
            to[c] = ((const REAL *)from)[c * step];
    for (; c < n; c++)
        to[c] = (REAL)attendi_load(from, dtype, c * step);
}

/* Qt[c][r] = q[r][c] scale, rounded once; s->k serves as a row of it. */
static void N(pack_q)(STATE *s)
{
    const struct problem *p = s->p;

    for (int64_t r = 0; r < s->width; r++) {
        const int64_t row = min_i64(r, s->t->rows - 1);
        const void *q =
            attendi_view_row(&p->q, s->t->b, N(row_head)(s, row), N(row_query)(s, row));

        N(widen_row)(s->k, q, p->dtype, p->d, p->q.stride[3]);
        for (int64_t c = 0; c < p->d; c++)
            s->qt[c * BR + r] = (REAL)((double)s->k[c] * p->scale);
    }
}

/* Keys j0 + a .. j0 + e - 1 of K or V, `columns` wide; `buffer` holds a block. */
static OPERAND N(block_rows)(const STATE *s, const attend_view *view, int64_t j0,
                             int64_t a, int64_t e, REAL *buffer)
{
    const int64_t columns = view->size[3];

    if (N(in_place)(view))
        return (OPERAND){attendi_view_row(view, s->t->b, s->t->hk, j0), view->stride[2]};
    for (int64_t x = a; x < e; x++)
        N(widen_row)
    (buffer + x * columns, attendi_view_row(view, s->t->b, s->t->hk, j0 + x), view->dtype,
     columns, view->stride[3]);
    return (OPERAND){buffer, columns};
}

/*
 * Scores of up to KR keys against nv vectors of queries, over columns c0 .. c1 - 1.
 * Sums of many columns are cut into pieces so that rounding grows with the piece.
 */
static ALWAYS_INLINE void N(score_tile)(const STATE *s, const REAL *const key[KR],
                                        int64_t c0, int64_t c1, int keys, REAL *to,
                                        const int nv)
{
    VEC acc[KR][QV];

    for (int i = 0; i < KR; i++)
        for (int v = 0; v < nv; v++)
            acc[i][v] = V(set1)(0);
    for (int64_t c = c0; c < c1; c++) {
        VEC q[QV];

        for (int v = 0; v < nv; v++)
            q[v] = V(load)(s->qt + c * BR + v * VLEN);
        for (int i = 0; i < KR; i++) {
            const VEC k = V(set1)(key[i][c]);

            for (int v = 0; v < nv; v++)
                acc[i][v] = V(fma)(k, q[v], acc[i][v]);
        }
    }
    for (int i = 0; i < KR; i++)
        for (int v = 0; v < nv && i < keys; v++) {
            REAL *at = to + i * BR + v * VLEN;
            V(store)(at, c0 == 0 ? acc[i][v] : V(add)(V(load)(at), acc[i][v]));
        }
}

static ALWAYS_INLINE void N(score_block)(const STATE *s, OPERAND k, int64_t a, int64_t e,
                                         const int nv)
{
    for (int64_t x = a; x < e; x += KR) {
        const REAL *key[KR];

        for (int i = 0; i < KR; i++) /* past the end the last key stands in, unused */
            key[i] = k.data + min_i64(x + i, e - 1) * k.row;
        for (int64_t c = 0; c == 0 || c < s->p->d; c += SUM_COLUMNS)
            N(score_tile)
        (s, key, c, min_i64(c + SUM_COLUMNS, s->p->d), (int)min_i64(KR, e - x),
         s->s + x * BR, nv);
    }
}

static void N(scores)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const OPERAND k = N(block_rows)(s, &s->p->k, j0, a, e, s->k);

    FOR_VECTORS(s->width / VLEN, N(score_block), s, k, a, e);
}

/*
 * acc = acc fix + P V for KR columns from c on.  `tail`: fewer columns are left;
 * the last stands in for those past the end.  `select`: V holds Inf or NaN, and
 * 0 * NaN is NaN, so a hidden key's value is replaced by 0 lane by lane.
 */
static ALWAYS_INLINE void N(value_tile)(const STATE *s, OPERAND values, int64_t a,
                                        int64_t e, int64_t c, const int tail,
                                        const int select, const int nv)
{
    const int64_t columns = s->p->dv;
    VEC acc[KR][QV];

    for (int i = 0; i < KR; i++)
        for (int v = 0; v < nv; v++)
            acc[i][v] = V(set1)(0);
    for (int64_t x = a; x < e; x++) {
        const REAL *row = values.data + x * values.row;
        VEC w[QV];

        for (int v = 0; v < nv; v++)
            w[v] = V(load)(s->s + x * BR + v * VLEN);
        for (int i = 0; i < KR; i++) {
            const VEC value = V(set1)(row[tail ? min_i64(c + i, columns - 1) : c + i]);

            for (int v = 0; v < nv; v++)
                acc[i][v] = V(fma)(select ? V(pick)(w[v], V(set1)(0), value) : value,
                                   w[v], acc[i][v]);
        }
    }
    for (int i = 0; i < KR; i++)
        for (int v = 0; v < nv && c + i < columns; v++) {
            REAL *at = s->acc + (c + i) * BR + v * VLEN;
            V(store)(at, V(fma)(V(load)(at), V(load)(s->fix + v * VLEN), acc[i][v]));
        }
}

static ALWAYS_INLINE void N(value_block)(const STATE *s, OPERAND values, int64_t a,
                                         int64_t e, int select, const int nv)
{
    int64_t c = 0;

    if (select) {
        for (; c < s->p->dv; c += KR)
            N(value_tile)(s, values, a, e, c, 1, 1, nv);
        return;
    }
    for (; c + KR <= s->p->dv; c += KR)
        N(value_tile)(s, values, a, e, c, 0, 0, nv);
    if (c < s->p->dv)
        N(value_tile)(s, values, a, e, c, 1, 0, nv);
}

/* x * 0 is 0 for finite x and NaN otherwise. */
static int N(all_finite)(OPERAND values, int64_t a, int64_t e, int64_t columns)
{
    VEC sum = V(set1)(0);
    REAL lanes[VLEN], rest = 0;

    for (int64_t x = a; x < e; x++) {
        const REAL *row = values.data + x * values.row;
        int64_t c = 0;

        for (; c + VLEN <= columns; c += VLEN)
            sum = V(fma)(V(load)(row + c), V(set1)(0), sum);
        for (; c < columns; c++)
            rest += row[c] * 0;
    }
    V(store)(lanes, sum);
    for (int v = 0; v < VLEN; v++)
        rest += lanes[v];
    return rest == 0;
}

static void N(add_values)(STATE *s, int64_t j0, int64_t a, int64_t e, int edge)
{
    const OPERAND values = N(block_rows)(s, &s->p->v, j0, a, e, s->v);
    const int select = edge && !N(all_finite)(values, a, e, s->p->dv);

    FOR_VECTORS(s->width / VLEN, N(value_block), s, values, a, e, select);
}
