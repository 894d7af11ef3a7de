/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the products of a narrow bf16 item by vdpbf16ps, in pairs and in the
 * order of products_bf16.h.  Parameters: forward_tmpl.h.
 */

/* Room for a tile of keys turned. */
static size_t N(narrow_k_size)(void)
{
    return (size_t)NARROW_KEYS * SUM_COLUMNS / 2 * sizeof(uint32_t);
}

/* Q[r][c / 2] = columns c and c + 1 of row r; a row is q_row words long. */
static int64_t N(q_row)(const struct problem *p) { return PAIRS(p->d); }

static void N(narrow_pack_q)(const STATE *s, ROWS *g)
{
    const struct problem *p = s->p;
    uint32_t *const pairs = (uint32_t *)g->q;

    for (int64_t r = 0; r < g->rows; r++) {
        const uint16_t *q = attendi_view_row(&p->q, s->t->b, g->head[r],
                                             g->query[r]);

        for (int64_t c = 0; c < p->d; c += 2) {
            const uint32_t odd = c + 1 < p->d ? q[(c + 1) * p->q.stride[3]] : 0;
            pairs[r * N(q_row)(p) + c / 2] = odd << 16 | q[c * p->q.stride[3]];
        }
    }
}

/* Kt[c / 2][x] = columns c0 + c and c0 + c + 1 of key j + x; the last stands in. */
static void N(turn_keys)(const STATE *s, int64_t j, int64_t keys, int64_t c0, int64_t c1,
                         int64_t value)
{
    const attend_view *k = &s->p->k;
    struct N(stream) ahead = N(stream_from)(s, k, j + 2 * NARROW_KEYS);
    struct N(stream) values = N(stream_from)(s, &s->p->v, value);

    for (int64_t x0 = 0; x0 < NARROW_KEYS; x0 += VLEN) {
        const uint16_t *key[VLEN];

        for (int x = 0; x < VLEN; x++)
            key[x] = attendi_view_row(k, s->t->b, s->t->hk, j + min_i64(x0 + x, keys - 1));
        for (int64_t c = c0; c < c1; c += 2 * VLEN) {
            float *const to = s->k + (c - c0) / 2 * NARROW_KEYS + x0;
            __m512 y[VLEN];

            if (k->stride[3] == 1 && c + 2 * VLEN <= c1) {
                for (int x = 0; x < VLEN; x += 2) {
                    N(stream_line)(&ahead);
                    N(stream_line)(&ahead);
                    N(stream_line)(&values);
                }
                for (int x = 0; x < VLEN; x++)
                    y[x] = _mm512_castsi512_ps(_mm512_loadu_si512(key[x] + c));
                V(transpose)(y);
                for (int i = 0; i < VLEN; i++)
                    V(store)(to + i * NARROW_KEYS, y[i]);
            } else {
                for (int x = 0; x < VLEN; x++)
                    y[x] = N(load_row_pairs)(key[x], k->stride[3], c, c1);
                V(transpose)(y);
                for (int64_t i = 0; i < min_i64(VLEN, PAIRS(c1 - c)); i++)
                    V(store)(to + i * NARROW_KEYS, y[i]);
            }
        }
    }
}

static ALWAYS_INLINE void N(narrow_score)(const STATE *s, const ROWS *g, int64_t x,
                                          int64_t c0, int64_t c1, int64_t r,
                                          const int rows)
{
    enum { NV = NARROW_KEYS / VLEN };
    const __m512 scale = _mm512_set1_ps(N(narrow)(s->p->scale));
    const int64_t q_row = N(q_row)(s->p);
    const uint32_t *const q = (const uint32_t *)g->q + r * q_row + c0 / 2;
    __m512 acc[4 * NV];

    N(zero)(acc, rows, NV);
#pragma GCC unroll 4
    for (int64_t c = 0; c < PAIRS(c1 - c0); c++) {
        __m512bh y[NV];

        for (int v = 0; v < NV; v++)
            y[v] = N(load_pairs)(s->k + c * NARROW_KEYS + v * VLEN);
        for (int i = 0; i < rows; i++) {
            const __m512bh pair = N(spread_pair)(q + i * q_row + c);

            for (int v = 0; v < NV; v++)
                N(mac_pairs)(&acc[i * NV + v], pair, y[v]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < NV; v++) {
            float *const at = s->s + (r + i) * S_ROW + x + v * VLEN;
            const __m512 sum = c0 == 0 ? _mm512_setzero_ps() : _mm512_loadu_ps(at);
            _mm512_storeu_ps(at, _mm512_fmadd_ps(acc[i * NV + v], scale, sum));
        }
}

static void N(narrow_scores)(STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e)
{
    for (int64_t x = a; x < e; x += NARROW_KEYS)
        for (int64_t c = 0; c == 0 || c < s->p->d; c += SUM_COLUMNS) {
            const int64_t c1 = min_i64(c + SUM_COLUMNS, s->p->d);

            N(turn_keys)(s, j0 + x, e - x, c, c1, j0 + a + (x - a) / 2);
            FOR_ROWS(g->rows, N(narrow_score), s, g, x, c, c1);
        }
}

/* The row's weights as bf16, in place, and 0 after a lone last key. */
static void N(narrow_pack_weights)(const STATE *s, int64_t r, int64_t a, int64_t e)
{
    float *const w = s->s + r * S_ROW;
    uint16_t *const to = (uint16_t *)w;

    for (int64_t x = a; x < e; x += VLEN)
        _mm256_storeu_si256((void *)(to + x), (__m256i)_mm512_cvtneps_pbh(V(load)(w + x)));
}

/* acc = acc fix + sums, two vectors of columns at a time put into order. */
static ALWAYS_INLINE void N(narrow_join)(const STATE *s, const ROWS *g,
                                         const __m512 *sums, int64_t c, const int nv,
                                         int64_t r, const int rows)
{
    const int64_t dv = s->p->dv;
    const __m512i low =
        _mm512_set_epi32(23, 22, 21, 20, 7, 6, 5, 4, 19, 18, 17, 16, 3, 2, 1, 0);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));

    for (int i = 0; i < rows; i++)
        for (int u = 0; u < nv; u++) {
            const __m512 *const two = &sums[i * nv + (u & ~1)];
            const __m512 sum =
                _mm512_permutex2var_ps(two[0], u % 2 ? high : low, two[1]);
            const int64_t from = c + u * VLEN, n = min_i64(VLEN, dv - from);
            float *const at = g->acc + (r + i) * dv;

            if (n <= 0)
                continue;
            const __m512 before = N(load_lanes)(at, ATTEND_F32, 1, from, n);
            N(store_lanes)
            (at, ATTEND_F32, 1, from, n,
             _mm512_fmadd_ps(before, _mm512_set1_ps(s->fix[r + i]), sum));
        }
}

/*
 * P V for nv vectors of columns, nv even, and an even number of keys.  Rows of two keys
 * are interleaved 4 columns at a time.  The second half of the block's values is asked
 * for while the first is used; the first was, while the scores were computed.
 */
static ALWAYS_INLINE void N(narrow_value)(const STATE *s, const ROWS *g, int64_t j0,
                                          int64_t a, int64_t e, int64_t c, const int nv,
                                          int64_t r, const int rows)
{
    const attend_view *v = &s->p->v;
    const int64_t row = v->stride[2];
    const uint16_t *value = attendi_view_row(v, s->t->b, s->t->hk, j0 + a);
    const int64_t half = r == 0 && c == 0 ? (e - a) / 2 : 0;
    const int64_t lines = ceil_div_i64(4 * s->p->dv, ATTENDI_ALIGN); /* of two keys */
    struct N(stream) ahead = N(stream_from)(s, v, j0 + a + half);
    const uint16_t *const w = (const uint16_t *)(s->s + r * S_ROW);
    __m512 acc[4 * NARROW_VECTORS];

    N(zero)(acc, rows, nv);
#pragma GCC unroll 2
    for (int64_t x = a; x < e; x += 2, value += 2 * row) {
        __m512i y[NARROW_VECTORS];

        for (int64_t line = 0; x < a + half && line < lines; line++)
            N(stream_line)(&ahead);
        for (int u = 0; u < nv; u += 2) {
            const __m512i even = _mm512_loadu_si512(value + c + u * VLEN);
            const __m512i odd = _mm512_loadu_si512(value + row + c + u * VLEN);

            y[u] = _mm512_unpacklo_epi16(even, odd);
            y[u + 1] = _mm512_unpackhi_epi16(even, odd);
        }
        for (int i = 0; i < rows; i++) {
            const __m512bh weight = N(spread_pair)(w + 2 * i * S_ROW + x);

            for (int u = 0; u < nv; u++)
                N(mac_pairs)(&acc[i * nv + u], (__m512bh)y[u], weight);
        }
    }
    N(narrow_join)(s, g, acc, c, nv, r, rows);
}

/* The same for up to two vectors of columns, any stride, any keys; hidden ones left out. */
static void N(narrow_value_any)(const STATE *s, const ROWS *g, int64_t j0, int64_t a,
                                int64_t e, int64_t c, int64_t r)
{
    const attend_view *v = &s->p->v;
    const uint16_t *const w = (const uint16_t *)(s->s + r * S_ROW);
    __m512 acc[2];

    N(zero)(acc, 1, 2);
    for (int64_t x = a; x < e; x += 2) {
        const uint16_t *value = attendi_view_row(v, s->t->b, s->t->hk, j0 + x);
        const __m512i even = _mm512_castps_si512(
            N(load_row_pairs)(value, v->stride[3], c, s->p->dv));
        const __m512i odd =
            x + 1 < e ? _mm512_castps_si512(N(load_row_pairs)(value + v->stride[2],
                                                              v->stride[3], c, s->p->dv))
                      : _mm512_setzero_si512();
        const __m512bh weight = N(spread_pair)(w + x);

        N(mac_pairs)
        (&acc[0], N(seen_pairs)((__m512bh)_mm512_unpacklo_epi16(even, odd), weight),
         weight);
        N(mac_pairs)
        (&acc[1], N(seen_pairs)((__m512bh)_mm512_unpackhi_epi16(even, odd), weight),
         weight);
    }
    N(narrow_join)(s, g, acc, c, 2, r, 1);
}

static bool N(narrow_finite)(const STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;
    uint32_t infinite = 0;

    for (int64_t x = a; x < e; x++) {
        const uint16_t *row = attendi_view_row(v, s->t->b, s->t->hk, j0 + x);

        for (int64_t c = 0; c < s->p->dv; c++)
            infinite |= ((row[c * v->stride[3]] & 0x7f80u) + 0x80u) & 0x8000u;
    }
    return infinite == 0;
}

static void N(narrow_values)(STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e,
                             int edge)
{
    const bool plain = s->p->v.stride[3] == 1 && (e - a) % 2 == 0 &&
                       !(edge && !N(narrow_finite)(s, j0, a, e));
    int64_t c = 0;

    for (int64_t r = 0; r < g->rows; r++)
        N(narrow_pack_weights)(s, r, a, e);
    for (; plain && c + NARROW_VECTORS * VLEN <= s->p->dv; c += NARROW_VECTORS * VLEN)
        FOR_ROWS(g->rows, N(narrow_value), s, g, j0, a, e, c, NARROW_VECTORS);
    for (; plain && c + 2 * VLEN <= s->p->dv; c += 2 * VLEN)
        FOR_ROWS(g->rows, N(narrow_value), s, g, j0, a, e, c, 2);
    for (; c < s->p->dv; c += 2 * VLEN)
        for (int64_t r = 0; r < g->rows; r++)
            N(narrow_value_any)(s, g, j0, a, e, c, r);
}
