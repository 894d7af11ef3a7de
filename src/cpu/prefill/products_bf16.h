/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of a bf16 tile by vdpbf16ps, which adds two products of
 * neighbours to a float.  Scores pair neighbouring columns, so K is used in place; values
 * pair neighbouring keys, so V is interleaved a block at a time and weights are rounded
 * to bf16 in pairs.  The instruction treats denormals as 0.
 */
_Static_assert(BC % 2 == 0 && SUM_COLUMNS % 2 == 0, "pairs do not cross a block");

static struct operand_sizes operand_sizes(const struct problem *p)
{
    const size_t k_rows = p->k.stride[3] == 1 || p->d <= 1 ? 0 : BC;

    return (struct operand_sizes){.q = q_size(p),
                                  .k = (size_t)p->d * k_rows * sizeof(uint16_t),
                                  .v = (size_t)p->dv * (BC / 2) * sizeof(uint32_t)};
}

static void pack_q(const struct state *s, struct rows *g) { pack_q_pairs(s, g); }

static void open_keys(struct state *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *k = &s->p->k;
    const int64_t columns = s->p->d;
    uint16_t *const buffer = (uint16_t *)s->k;

    if (k->stride[3] == 1 || columns <= 1) {
        s->keys = (struct operand){attendi_view_row(k, s->item->b, s->item->hk, j0),
                                   k->stride[2]};
        return;
    }
    for (int64_t x = a; x < e; x++) {
        const uint16_t *row = attendi_view_row(k, s->item->b, s->item->hk, j0 + x);

        for (int64_t c = 0; c < columns; c++)
            buffer[x * columns + c] = row[c * k->stride[3]];
    }
    s->keys = (struct operand){buffer, columns};
}

static void pair_columns(uint32_t *to, const uint16_t *even, const uint16_t *odd,
                         int64_t n, int64_t step)
{
    int64_t c = 0;

    const __m512i lane =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i low = _mm512_or_si512(
        lane, _mm512_slli_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32(32)), 16));
    const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));

    for (; c + 2 * VLEN <= n && step == 1; c += 2 * VLEN) {
        const __m512i x = _mm512_loadu_si512(even + c);
        const __m512i y = odd ? _mm512_loadu_si512(odd + c) : _mm512_setzero_si512();

        _mm512_storeu_si512(to + c, _mm512_permutex2var_epi16(x, low, y));
        _mm512_storeu_si512(to + c + VLEN, _mm512_permutex2var_epi16(x, high, y));
    }
    for (; c < n; c++)
        to[c] = (odd ? (uint32_t)odd[c * step] << 16 : 0) | even[c * step];
}

/* V[x / 2][c] = column c of keys x and x + 1; the last key may have no partner. */
static struct operand pair_values(const struct state *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;
    const int64_t columns = s->p->dv;
    uint32_t *const pairs = (uint32_t *)s->v;

    for (int64_t x = a; x < e; x += 2) {
        const uint16_t *even = attendi_view_row(v, s->item->b, s->item->hk, j0 + x);
        const uint16_t *odd =
            x + 1 < e ? attendi_view_row(v, s->item->b, s->item->hk, j0 + x + 1) : NULL;

        pair_columns(pairs + x / 2 * columns, even, odd, columns, v->stride[3]);
    }
    return (struct operand){pairs, columns};
}

static void open_block(struct state *s, int64_t j0, int64_t a, int64_t e)
{
    open_keys(s, j0, a, e);
    s->values = pair_values(s, j0, a, e);
    s->finite = -1;
}

/* Whether all numbers are finite: adding 1 to an exponent of all ones carries. */
static bool pairs_finite(const uint32_t *pairs, int64_t count)
{
    const __m512i exponent = _mm512_set1_epi32(0x7f807f80);
    const __m512i one = _mm512_set1_epi32(0x00800080);
    __m512i carried = _mm512_setzero_si512();

    for (int64_t x = 0; x < count; x += VLEN) {
        const __mmask16 inside =
            count - x < VLEN ? (__mmask16)((1u << (count - x)) - 1) : (__mmask16)-1;
        const __m512i y = _mm512_maskz_loadu_epi32(inside, pairs + x);

        carried = _mm512_or_si512(carried,
                                  _mm512_add_epi32(_mm512_and_si512(y, exponent), one));
    }
    return _mm512_test_epi32_mask(carried, _mm512_set1_epi32((int)0x80008000u)) == 0;
}

static int values_finite(struct state *s, int64_t a, int64_t e)
{
    const int64_t from = a / 2 * s->p->dv, to = PAIRS(e) * s->p->dv;

    if (s->finite < 0)
        s->finite = pairs_finite((const uint32_t *)s->values.data + from, to - from);
    return s->finite;
}

/*
 * The microkernel of products_fma_tmpl.h for pairs: a pair at a + i row + t step, in
 * bytes, a vector of pairs at b + t BR.
 */
static ALWAYS_INLINE void microkernel(__m512 *acc, const void *a, int64_t row,
                                      int64_t step, const void *b, int64_t n,
                                      const int rows, const int nv)
{
    if (rows == KR && nv == 3) {
        microkernel_3(acc, a, row, step, b, n);
        return;
    }
    if (rows == KR && nv == 2) {
        microkernel_2(acc, a, row, step, b, n);
        return;
    }
    zero_sums(acc, rows, nv);
#pragma GCC unroll 4
    for (int64_t t = 0; t < n; t++) {
        __m512bh y[QV];

        for (int v = 0; v < nv; v++)
            y[v] = load_pairs((const uint32_t *)b + t * BR + v * VLEN);
        for (int i = 0; i < rows; i++) {
            const __m512bh x = broadcast_pair((const char *)a + i * row + t * step);

            for (int v = 0; v < nv; v++)
                mac_pairs(&acc[i * nv + v], x, y[v]);
        }
    }
}

/* Adds the last column if their number is odd: a pair with 0. */
static ALWAYS_INLINE void add_last_column(__m512 *acc, const uint16_t *a, int64_t row,
                                          const uint32_t *b, const int rows, const int nv)
{
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < nv; v++)
            mac_pairs(&acc[i * nv + v], set1_pair(a[i * row]), load_pairs(b + v * VLEN));
}

static ALWAYS_INLINE void score_tile(const struct state *s, const struct rows *g,
                                     int64_t x, int64_t r, const int keys, const int nv)
{
    const __m512 scale = _mm512_set1_ps(to_real(s->p->scale));
    const int64_t d = s->p->d, row = s->keys.row;
    const uint16_t *const key = (const uint16_t *)s->keys.data + x * row;
    const uint32_t *const q = (const uint32_t *)g->q + r;
    float *const to = s->s + x * BR + r, *const row_max = s->row_max + r;

    for (int64_t c = 0; c == 0 || c < d; c += SUM_COLUMNS) {
        const int64_t n = min_i64(SUM_COLUMNS, d - c);
        __m512 acc[KR * QV];

        microkernel(acc, key + c, row * 2, sizeof(uint32_t), q + c / 2 * BR, n / 2, keys,
                    nv);
        if (n % 2)
            add_last_column(acc, key + c + n - 1, row, q + (c + n - 1) / 2 * BR, keys,
                            nv);
        for (int v = 0; v < nv; v++) {
            __m512 max = _mm512_loadu_ps(row_max + v * VLEN);

            for (int i = 0; i < keys; i++) {
                float *at = to + i * BR + v * VLEN;
                const __m512 before = c == 0 ? _mm512_setzero_ps() : _mm512_loadu_ps(at);
                const __m512 sum = _mm512_fmadd_ps(acc[i * nv + v], scale, before);

                _mm512_storeu_ps(at, sum);
                max = _mm512_max_ps(sum, max);
            }
            if (c + n == d)
                _mm512_storeu_ps(row_max + v * VLEN, max);
        }
    }
}

/* value_tile of products_fma_tmpl.h, two keys at a time. */
static ALWAYS_INLINE void value_tile(const struct state *s, const struct rows *g,
                                     int64_t a, int64_t e, int64_t c, const int columns,
                                     const int select, const int nv)
{
    const int64_t n = PAIRS(e) - a / 2;
    const uint32_t *const values =
        (const uint32_t *)s->values.data + a / 2 * s->values.row + c;
    const REAL *const weights = s->s + a / 2 * BR;
    __m512 acc[KR * QV];

    if (!select)
        microkernel(acc, values, sizeof(uint32_t), s->values.row * 4, weights, n, columns,
                    nv);
    else
        zero_sums(acc, columns, nv);
    for (int64_t t = 0; t < n && select; t++)
        for (int i = 0; i < columns; i++)
            for (int v = 0; v < nv; v++) {
                const __m512bh w = load_pairs(weights + t * BR + v * VLEN);
                const __m512bh value = broadcast_pair(values + t * s->values.row + i);

                mac_pairs(&acc[i * nv + v], seen_pairs(value, w), w);
            }
    for (int i = 0; i < columns; i++)
        for (int v = 0; v < nv; v++) {
            float *at = g->acc + (c + i) * BR + v * VLEN;
            const __m512 rescale = _mm512_loadu_ps(s->rescale + v * VLEN);
            _mm512_storeu_ps(
                at, _mm512_fmadd_ps(_mm512_loadu_ps(at), rescale, acc[i * nv + v]));
        }
}
