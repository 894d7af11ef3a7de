/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the products by multiply-add in REAL.  K and V of that type with a
 * last stride of 1 are read in place; any other is widened, a block at a time.
 */

static bool in_place(const attend_view *view)
{
    return view->dtype == REAL_DTYPE && (view->stride[3] == 1 || view->size[3] <= 1);
}

static struct operand_sizes operand_sizes(const struct problem *p)
{
    const size_t k_rows = in_place(&p->k) ? 0 : BC, v_rows = in_place(&p->v) ? 0 : BC;

    return (struct operand_sizes){.q = (size_t)p->d * BR * sizeof(REAL),
                                  .k = (size_t)p->d * k_rows * sizeof(REAL),
                                  .v = (size_t)p->dv * v_rows * sizeof(REAL)};
}

/*
 * The microkernel: acc[i][v] = sum over t < n of a(i, t) b(t, v), rows by nv of them.
 * a(i, t) is a number at a + i row + t step, b(t, v) a vector at b + t BR.  Every sum
 * runs over t in order, so prefill and decode agree in every bit.
 */
static ALWAYS_INLINE void microkernel(vec *acc, const REAL *a, int64_t row, int64_t step,
                                      const REAL *b, int64_t n, const int rows,
                                      const int nv)
{
#ifdef MICROKERNEL_BY_HAND
    const int64_t size = sizeof(REAL);

    if (rows == KR && nv == 3) {
        microkernel_3(acc, a, row * size, step * size, b, n);
        return;
    }
    if (rows == KR && nv == 2) {
        microkernel_2(acc, a, row * size, step * size, b, n);
        return;
    }
#endif
    zero_sums(acc, rows, nv);
    STEPS_UNROLLED
    for (int64_t t = 0; t < n; t++) {
        vec y[NV_MAX];

        for (int v = 0; v < nv; v++)
            y[v] = vec_load(b + t * BR + v * VLEN);
        for (int i = 0; i < rows; i++) {
            const vec x = vec_broadcast(a + i * row + t * step);

            for (int v = 0; v < nv; v++)
                vec_mac(&acc[i * nv + v], x, y[v]);
        }
    }
}

static ALWAYS_INLINE void widen_rows(const struct state *s, const attend_view *view,
                                     int64_t j0, int64_t a, int64_t e, REAL *to,
                                     const attend_dtype dtype)
{
    const int64_t columns = view->size[3], step = view->stride[3];

    for (int64_t x = a; x < e; x++) {
        const void *const from = attendi_view_row(view, s->item->b, s->item->hk, j0 + x);
        int64_t c = 0;

        for (; step == 1 && c + VLEN <= columns; c += VLEN)
            vec_store(to + x * columns + c, load_lanes(from, dtype, 1, c, VLEN));
        for (; c < columns; c++)
            to[x * columns + c] = (REAL)attendi_load(from, dtype, c * step);
    }
}

/* Keys a .. e - 1 of the block from j0 on, of K or V; `buffer` holds a block. */
static struct operand block_rows(const struct state *s, const attend_view *view,
                                 int64_t j0, int64_t a, int64_t e, REAL *buffer)
{
    if (in_place(view))
        return (struct operand){attendi_view_row(view, s->item->b, s->item->hk, j0),
                                view->stride[2]};
    FOR_DTYPES(view->dtype, widen_rows, s, view, j0, a, e, buffer);
    return (struct operand){buffer, view->size[3]};
}

/* Prepares keys a .. e - 1 of a block for all tiles of the item: K, or K and V. */
static void open_keys(struct state *s, int64_t j0, int64_t a, int64_t e)
{
    s->keys = block_rows(s, &s->p->k, j0, a, e, s->k);
}

static void open_block(struct state *s, int64_t j0, int64_t a, int64_t e)
{
    open_keys(s, j0, a, e);
    s->values = block_rows(s, &s->p->v, j0, a, e, s->v);
    s->finite = -1;
}

/* x * 0 is 0 for finite x and NaN otherwise. */
static int all_finite(struct operand values, int64_t a, int64_t e, int64_t columns)
{
    vec sum = vec_set1(0);
    REAL lanes[VLEN], rest = 0;

    for (int64_t x = a; x < e; x++) {
        const REAL *row = (const REAL *)values.data + x * values.row;
        int64_t c = 0;

        for (; c + VLEN <= columns; c += VLEN)
            sum = vec_fma(vec_load(row + c), vec_set1(0), sum);
        for (; c < columns; c++)
            rest += row[c] * 0;
    }
    vec_store(lanes, sum);
    for (int v = 0; v < VLEN; v++)
        rest += lanes[v];
    return rest == 0;
}

/* Whether the block's values are finite; determined once for all tiles. */
static int values_finite(struct state *s, int64_t a, int64_t e)
{
    if (s->finite < 0)
        s->finite = all_finite(s->values, a, e, s->p->dv);
    return s->finite;
}

/* ---- prefill: queries in the lanes ---- */

/* x times the scale, rounded once. */
static inline vec scaled(const struct state *s, vec x)
{
    const REAL scale = (REAL)s->p->scale;

    return (double)scale == s->p->scale ? vec_mul(x, vec_set1(scale))
                                        : vec_times(x, s->p->scale);
}

/* Q[c][r] = q[r][c] scale, for rows r0 .. r0 + VLEN - 1. */
static ALWAYS_INLINE void pack_q_rows(const struct state *s, struct rows *g, int64_t r0,
                                      const attend_dtype dtype)
{
    const struct problem *p = s->p;
    const int64_t step = p->q.stride[3];
    const void *q[VLEN];

    for (int r = 0; r < VLEN; r++) {
        const int64_t row = min_i64(r0 + r, g->rows - 1);
        q[r] = attendi_view_row(&p->q, s->item->b, g->head[row], g->query[row]);
    }
    for (int64_t c = 0; c < p->d; c += VLEN) {
        const int64_t n = min_i64(VLEN, p->d - c);
        vec x[VLEN];

        if (n == VLEN && step == 1)
            for (int r = 0; r < VLEN; r++)
                x[r] = load_lanes(q[r], dtype, 1, c, VLEN);
        else
            for (int r = 0; r < VLEN; r++)
                x[r] = load_lanes(q[r], dtype, step, c, n);
        vec_transpose(x);
        for (int64_t y = 0; y < n; y++)
            vec_store(g->q + (c + y) * BR + r0, scaled(s, x[y]));
    }
}

static void pack_q(const struct state *s, struct rows *g)
{
    for (int64_t r0 = 0; r0 < g->width; r0 += VLEN)
        FOR_DTYPES(s->p->q.dtype, pack_q_rows, s, g, r0);
}

/*
 * Long sums are divided into pieces of columns, which limits the growth of rounding
 * errors.
 */
static ALWAYS_INLINE void score_tile(const struct state *s, const struct rows *g,
                                     int64_t x, int64_t r, const int keys, const int nv)
{
    const struct operand k = s->keys;

    const int64_t d = s->p->d;
    const REAL *const key = (const REAL *)k.data + x * k.row, *const q = g->q + r;
    REAL *const to = s->s + x * BR + r, *const row_max = s->row_max + r;
    vec acc[KR * QV];

    microkernel(acc, key, k.row, 1, q, min_i64(SUM_COLUMNS, d), keys, nv);
    for (int v = 0; v < nv; v++) {
        vec max = vec_load(row_max + v * VLEN);

        for (int i = 0; i < keys; i++) {
            vec_store(to + i * BR + v * VLEN, acc[i * nv + v]);
            max = vec_max(acc[i * nv + v], max);
        }
        if (d <= SUM_COLUMNS)
            vec_store(row_max + v * VLEN, max);
    }
    for (int64_t c = SUM_COLUMNS; c < d; c += SUM_COLUMNS) {
        microkernel(acc, key + c, k.row, 1, q + c * BR, min_i64(SUM_COLUMNS, d - c), keys,
                    nv);
        for (int i = 0; i < keys; i++)
            for (int v = 0; v < nv; v++) {
                REAL *at = to + i * BR + v * VLEN, *to_max = row_max + v * VLEN;
                const vec sum = vec_add(vec_load(at), acc[i * nv + v]);

                vec_store(at, sum);
                if (c + SUM_COLUMNS >= d)
                    vec_store(to_max, vec_max(sum, vec_load(to_max)));
            }
    }
}

/*
 * acc = acc * rescale + P V for columns c .. c + columns - 1.  `select`: V holds Inf or
 * NaN, so values of hidden keys are replaced by 0 in each lane: 0 * NaN is NaN.
 */
static ALWAYS_INLINE void value_tile(const struct state *s, const struct rows *g,
                                     int64_t a, int64_t e, int64_t c, const int columns,
                                     const int select, const int nv)
{
    const struct operand values = s->values;
    const REAL *const v0 = (const REAL *)values.data + a * values.row + c;
    const REAL *const w = s->s + a * BR;
    vec acc[KR * QV];

    if (select)
        zero_sums(acc, columns, nv);
    else
        microkernel(acc, v0, 1, values.row, w, e - a, columns, nv);
    for (int64_t x = 0; x < e - a && select; x++)
        for (int i = 0; i < columns; i++)
            for (int v = 0; v < nv; v++) {
                const vec weight = vec_load(w + x * BR + v * VLEN);
                const vec value = vec_set1(v0[x * values.row + i]);
                acc[i * nv + v] = vec_fma(vec_blend(weight, vec_set1(0), value), weight,
                                          acc[i * nv + v]);
            }
    for (int i = 0; i < columns; i++)
        for (int v = 0; v < nv; v++) {
            REAL *at = g->acc + (c + i) * BR + v * VLEN;
            vec_store(at, vec_fma(vec_load(at), vec_load(s->rescale + v * VLEN),
                                  acc[i * nv + v]));
        }
}

/* Weights are not rounded. */
enum { KEEPS_WEIGHTS = 1 };

/* Stores the weights of keys x and x + 1 of the block for the product. */
static inline void keep_weights(const struct state *s, int64_t x, int64_t r, vec even,
                                vec odd)
{
    vec_store(s->s + x * BR + r, even);
    vec_store(s->s + (x + 1) * BR + r, odd);
}
