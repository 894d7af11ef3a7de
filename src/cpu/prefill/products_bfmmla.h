/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of a bf16 tile by BFMMLA, which multiplies two rows of four
 * numbers by two others.  K is packed in quads of two keys by four columns and V in quads
 * of two columns by four keys, a block at a time for all tiles of an item; Q and the
 * weights are quads of two rows of the tile.  Sums of 2 by 2 are reordered to lanes when
 * stored.
 */
_Static_assert(BC % 4 == 0 && SUM_COLUMNS % 4 == 0 && KR % 2 == 0,
               "quads do not cross a block");

#define QUADS(n) (((n) + 3) / 4)

/* Floats of a row of packed K (two keys) and of packed V (four keys). */
static int64_t packed_key_row(const struct problem *p) { return QUADS(p->d) * VLEN; }
static int64_t packed_value_row(const struct problem *p) { return PAIRS(p->dv) * VLEN; }

static struct operand_sizes operand_sizes(const struct problem *p)
{
    return (struct operand_sizes){
        .q = q_size(p),
        .k = (size_t)(packed_key_row(p) * (BC / 2)) * sizeof(float),
        .v = (size_t)(packed_value_row(p) * (BC / 4)) * sizeof(float)};
}

/*
 * Rows a .. e - 1 of pairs to quads, in place: rows 2 t and 2 t + 1 hold the quads of
 * both.
 */
static void pairs_to_quads(REAL *pairs, int64_t a, int64_t e, int64_t width)
{
    for (int64_t t = a / 2; t < PAIRS(e); t++)
        for (int64_t r = 0; r < width; r += VLEN) {
            REAL *const low = pairs + 2 * t * BR + r, *const high = low + BR;
            vec x, y;

            zip_pairs(&x, &y, 2 * t < a ? vec_set1(0) : vec_load(low),
                      2 * t + 1 < e ? vec_load(high) : vec_set1(0));
            vec_store(low, x);
            vec_store(high, y);
        }
}

static void pack_q(const struct state *s, struct rows *g)
{
    pack_q_pairs(s, g);
    pairs_to_quads(g->q, 0, PAIRS(s->p->d), g->width);
}

/* Row x of a view of K or V; NULL unless a <= x < e. */
static const uint16_t *row_if(const struct state *s, const attend_view *view, int64_t j0,
                              int64_t x, int64_t a, int64_t e)
{
    return x >= a && x < e ? attendi_view_row(view, s->item->b, s->item->hk, j0 + x)
                           : NULL;
}

static vec load_row_or_0(const uint16_t *row, int64_t step, int64_t c, int64_t n)
{
    return row ? load_row_pairs(row, step, c, n) : vec_set1(0);
}

/* K[x / 2][c / 4] = columns c .. c + 3 of keys x and x + 1; 0 past the last of each. */
static void open_keys(struct state *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *const k = &s->p->k;
    const int64_t d = s->p->d, step = k->stride[3], row = packed_key_row(s->p);

    for (int64_t x = a & ~(int64_t)1; x < e; x += 2) {
        const uint16_t *const even = row_if(s, k, j0, x, a, e);
        const uint16_t *const odd = row_if(s, k, j0, x + 1, a, e);

        for (int64_t c = 0; c < d; c += 2 * VLEN) {
            float *const to = s->k + x / 2 * row + c;
            const vec y = load_row_or_0(even, step, c, d);
            const vec z = load_row_or_0(odd, step, c, d);

            vec_store(to, join_low(y, z));
            if (c + VLEN < d)
                vec_store(to + VLEN, join_high(y, z));
        }
    }
    s->keys = (struct operand){s->k, row};
}

/* V[x / 4][c / 2] = keys x .. x + 3 of columns c and c + 1; 0 past the last of each. */
static void pack_values(struct state *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *const v = &s->p->v;
    const int64_t dv = s->p->dv, step = v->stride[3], row = packed_value_row(s->p);

    for (int64_t x = a & ~(int64_t)3; x < e; x += 4)
        for (int64_t c = 0; c < dv; c += 2 * VLEN) {
            float *const to = s->v + x / 4 * row + c * 2;
            vec z[4], y[4], quads[4];

            for (int i = 0; i < 4; i++)
                z[i] = load_row_or_0(row_if(s, v, j0, x + i, a, e), step, c, dv);
            interleave_rows(y, z[0], z[1]);
            interleave_rows(y + 2, z[2], z[3]);
            zip_pairs(&quads[0], &quads[1], y[0], y[2]);
            zip_pairs(&quads[2], &quads[3], y[1], y[3]);
            for (int i = 0; i < 4 && c + 2 * i < dv; i++)
                vec_store(to + i * VLEN, quads[i]);
        }
    s->values = (struct operand){s->v, row};
}

static void open_block(struct state *s, int64_t j0, int64_t a, int64_t e)
{
    open_keys(s, j0, a, e);
    pack_values(s, j0, a, e);
    s->finite = -1;
}

/* Whether the block's values are finite; determined once for all tiles. */
static int values_finite(struct state *s, int64_t a, int64_t e)
{
    const uint16x8_t exponent = vdupq_n_u16(0x7f80);
    uint16x8_t infinite = vdupq_n_u16(0);

    if (s->finite >= 0)
        return s->finite;
    for (int64_t x = a / 4 * s->values.row; x < QUADS(e) * s->values.row; x += VLEN) {
        const uint16x8_t y = vandq_u16(to_halves(vec_load(s->v + x)), exponent);

        infinite = vorrq_u16(infinite, vceqq_u16(y, exponent));
    }
    s->finite = vmaxvq_u16(infinite) == 0;
    return s->finite;
}

/*
 * The microkernel: sum (i, v, h) += over t < n the quads at a + i row + t step by those
 * of half h of vector v at b + (2 t + h) BR, in floats; `pairs` by nv by 2 sums.
 */
static ALWAYS_INLINE void microkernel(vec *acc, const float *a, int64_t row, int64_t step,
                                      const float *b, int64_t n, const int pairs,
                                      const int nv)
{
    for (int64_t t = 0; t < n; t++, a += step, b += 2 * BR) {
        vec x[KR / 2];

        UNROLL
        for (int i = 0; i < pairs; i++)
            x[i] = vec_load(a + i * row);
        UNROLL
        for (int v = 0; v < 2 * nv; v++) {
            const vec y = vec_load(b + v % 2 * BR + v / 2 * VLEN);

            UNROLL
            for (int i = 0; i < pairs; i++)
                mac_quads(&acc[i * 2 * nv + v], x[i], y);
        }
    }
}

/* Sums of row i in lane order, from its two halves. */
static inline vec quads_in_lanes(const vec *acc, int i, int v, const int nv)
{
    const vec *const two = acc + i / 2 * 2 * nv + 2 * v;

    return i % 2 ? join_high(two[0], two[1]) : join_low(two[0], two[1]);
}

/*
 * Scores of `pairs` pairs of keys from the even key x on, limited to a .. e - 1 for a
 * lone pair.
 */
static ALWAYS_INLINE void score_tile(const struct state *s, const struct rows *g,
                                     int64_t x, int64_t a, int64_t e, int64_t r,
                                     const int pairs, const int nv)
{
    const vec scale = vec_set1(to_real(s->p->scale));
    const int64_t d = s->p->d, row = s->keys.row;
    const float *const key = (const float *)s->keys.data + x / 2 * row;
    float *const to = s->s + x * BR + r, *const row_max = s->row_max + r;

    for (int64_t c = 0; c == 0 || c < d; c += SUM_COLUMNS) {
        const int64_t n = min_i64(SUM_COLUMNS, d - c);
        vec acc[KR * QV];

        zero_sums(acc, pairs, 2 * nv);
        microkernel(acc, key + c, row, VLEN, g->q + c / 2 * BR + r, QUADS(n), pairs, nv);
        UNROLL
        for (int v = 0; v < nv; v++) {
            vec max = vec_load(row_max + v * VLEN);

            UNROLL
            for (int i = 0; i < 2 * pairs; i++) {
                float *const at = to + i * BR + v * VLEN;

                if (pairs == 1 && (x + i < a || x + i >= e))
                    continue;
                const vec before = c == 0 ? vec_set1(0) : vec_load(at);
                const vec sum = vec_fma(quads_in_lanes(acc, i, v, nv), scale, before);

                vec_store(at, sum);
                max = vec_max(sum, max);
            }
            if (c + n == d)
                vec_store(row_max + v * VLEN, max);
        }
    }
}

static ALWAYS_INLINE void score_block(const struct state *s, const struct rows *g,
                                      int64_t a, int64_t e, int64_t r, const int nv)
{
    int64_t x = a;

    if (a % 2) {
        score_tile(s, g, a - 1, a, e, r, 1, nv);
        x = a + 1;
    }
    for (; x + KR <= e; x += KR)
        score_tile(s, g, x, a, e, r, KR / 2, nv);
    for (; x < e; x += 2)
        score_tile(s, g, x, a, e, r, 1, nv);
}

/* One step of the microkernel with only the first, or only the second, pairs of keys. */
static ALWAYS_INLINE void add_lone_pair(vec *acc, const float *a, const float *b,
                                        const int second, const int pairs, const int nv)
{
    UNROLL
    for (int i = 0; i < pairs; i++) {
        const vec x = keep_pairs(vec_load(a + i * VLEN), second);

        UNROLL
        for (int v = 0; v < 2 * nv; v++)
            mac_quads(&acc[i * 2 * nv + v], x, vec_load(b + v % 2 * BR + v / 2 * VLEN));
    }
}

/*
 * acc = acc * rescale + P V for `pairs` pairs of columns from c on, below dv.  If the
 * tile does not see one pair of keys of a quad, the product skips that pair: V may hold
 * Inf or NaN there.
 */
static ALWAYS_INLINE void value_tile(const struct state *s, const struct rows *g,
                                     int64_t a, int64_t e, int64_t c, const int pairs,
                                     const int nv)
{
    const int64_t row = s->values.row, first = PAIRS(a / 2), last = PAIRS(e) / 2;
    const float *const values = (const float *)s->values.data + c / 2 * VLEN;
    const REAL *const weights = s->s;
    vec acc[KR * QV];

    zero_sums(acc, pairs, 2 * nv);
    if (a / 2 % 2)
        add_lone_pair(acc, values + a / 4 * row, weights + a / 4 * 2 * BR, 1, pairs, nv);
    microkernel(acc, values + first * row, VLEN, row, weights + first * 2 * BR,
                last - first, pairs, nv);
    if (PAIRS(e) % 2)
        add_lone_pair(acc, values + last * row, weights + last * 2 * BR, 0, pairs, nv);
    UNROLL
    for (int i = 0; i < 2 * pairs; i++) {
        if (pairs == 1 && c + i >= s->p->dv)
            continue;
        UNROLL
        for (int v = 0; v < nv; v++) {
            float *const at = g->acc + (c + i) * BR + v * VLEN;

            vec_store(at, vec_fma(vec_load(at), vec_load(s->rescale + v * VLEN),
                                  quads_in_lanes(acc, i, v, nv)));
        }
    }
}

static ALWAYS_INLINE void value_block(const struct state *s, const struct rows *g,
                                      int64_t a, int64_t e, const int nv)
{
    int64_t c = 0;

    for (; c + KR <= s->p->dv; c += KR)
        value_tile(s, g, a, e, c, KR / 2, nv);
    for (; c < s->p->dv; c += 2)
        value_tile(s, g, a, e, c, 1, nv);
}

/*
 * The same if V holds Inf or NaN: values of hidden keys are replaced by 0 in each lane.
 */
static void add_seen_values(const struct state *s, const struct rows *g, int64_t a,
                            int64_t e)
{
    for (int64_t c = 0; c < s->p->dv; c++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            float *const at = g->acc + c * BR + r;
            vec sum = vec_set1(0);

            for (int64_t x = a / 2; x < PAIRS(e); x++) {
                const float *const pair =
                    s->v + x / 2 * s->values.row + c / 2 * VLEN + c % 2 * 2 + x % 2;

                sum = add_pairs(sum, vec_load(s->s + x * BR + r), vec_set1(*pair), 1);
            }
            vec_store(at, vec_fma(vec_load(at), vec_load(s->rescale + r), sum));
        }
}

static void add_values(const struct state *s, const struct rows *g, int64_t a, int64_t e,
                       int select)
{
    if (select) {
        add_seen_values(s, g, a, e);
        return;
    }
    pairs_to_quads(s->s, a / 2, PAIRS(e), g->width);
    FOR_VECTORS(g->width / VLEN, value_block, s, g, a, e);
}
