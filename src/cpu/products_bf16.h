/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of a bf16 tile by vdpbf16ps, which adds two
 * products of neighbours to a float.  Scores pair neighbouring columns, so K is
 * used where it lies; values pair neighbouring keys, so V is interleaved a block
 * at a time and weights are rounded to bf16 in pairs.  The instruction treats
 * denormals as 0.  Parameters: forward_tmpl.h.
 */
_Static_assert(BC % 2 == 0 && SUM_COLUMNS % 2 == 0, "pairs do not cross a block");

#define PAIRS(n) (((n) + 1) / 2)

static struct operand_sizes N(operand_sizes)(const struct problem *p)
{
    return (struct operand_sizes){.qt = (size_t)PAIRS(p->d) * BR * sizeof(uint32_t),
                                  .k = (size_t)p->d * BC * sizeof(uint16_t),
                                  .v = (size_t)p->dv * (BC / 2) * sizeof(uint32_t)};
}

/* Qt[c / 2][r] = columns c and c + 1 of row r; 0 past the last. */
static void N(pack_q)(STATE *s)
{
    const struct problem *p = s->p;
    const int64_t step = p->q.stride[3];
    uint32_t *const qt = (uint32_t *)s->qt;

    for (int64_t r = 0; r < s->width; r++) {
        const int64_t row = min_i64(r, s->t->rows - 1);
        const uint16_t *q =
            attendi_view_row(&p->q, s->t->b, N(row_head)(s, row), N(row_query)(s, row));

        for (int64_t c = 0; c < p->d; c += 2) {
            const uint32_t odd = c + 1 < p->d ? q[(c + 1) * step] : 0;
            qt[c / 2 * BR + r] = odd << 16 | q[c * step];
        }
    }
}

static inline __m512bh N(set1_pair)(uint32_t pair)
{
    return (__m512bh)_mm512_set1_epi32((int)pair);
}

static inline __m512bh N(load_pairs)(const void *p)
{
    return (__m512bh)_mm512_loadu_si512(p);
}

/* Columns c and c + 1 of a key; a key of odd length ends with a pair of one. */
static inline uint32_t N(key_pair)(const uint16_t *key, int64_t c, int alone)
{
    uint32_t pair;

    if (alone)
        return key[c];
    memcpy(&pair, key + c, sizeof pair);
    return pair;
}

static ALWAYS_INLINE void N(dot_pairs)(const STATE *s, const uint16_t *const key[KR],
                                       int64_t c, int alone, __m512 acc[KR][QV],
                                       const int nv)
{
    const uint32_t *const qt = (const uint32_t *)s->qt + c / 2 * BR;
    __m512bh q[QV];

    for (int v = 0; v < nv; v++)
        q[v] = N(load_pairs)(qt + v * VLEN);
    for (int i = 0; i < KR; i++) {
        const __m512bh k = N(set1_pair)(N(key_pair)(key[i], c, alone));

        for (int v = 0; v < nv; v++)
            acc[i][v] = _mm512_dpbf16_ps(acc[i][v], k, q[v]);
    }
}

static ALWAYS_INLINE void N(score_tile)(const STATE *s, const uint16_t *const key[KR],
                                        int64_t c0, int64_t c1, int keys, float *to,
                                        const int nv)
{
    const __m512 scale = _mm512_set1_ps(N(narrow)(s->p->scale));
    __m512 acc[KR][QV];
    int64_t c = c0;

    for (int i = 0; i < KR; i++)
        for (int v = 0; v < nv; v++)
            acc[i][v] = _mm512_setzero_ps();
    for (; c + 2 <= c1; c += 2)
        N(dot_pairs)(s, key, c, 0, acc, nv);
    if (c < c1)
        N(dot_pairs)(s, key, c, 1, acc, nv);
    for (int i = 0; i < KR; i++)
        for (int v = 0; v < nv && i < keys; v++) {
            float *at = to + i * BR + v * VLEN;
            const __m512 sum = c0 == 0 ? _mm512_setzero_ps() : _mm512_loadu_ps(at);
            _mm512_storeu_ps(at, _mm512_fmadd_ps(acc[i][v], scale, sum));
        }
}

struct N(operand) {
    const uint16_t *data;
    int64_t row;
};

static OPERAND N(block_keys)(const STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *k = &s->p->k;
    const int64_t columns = s->p->d;
    uint16_t *const buffer = (uint16_t *)s->k;

    if (k->stride[3] == 1 || columns <= 1)
        return (OPERAND){attendi_view_row(k, s->t->b, s->t->hk, j0), k->stride[2]};
    for (int64_t x = a; x < e; x++) {
        const uint16_t *row = attendi_view_row(k, s->t->b, s->t->hk, j0 + x);

        for (int64_t c = 0; c < columns; c++)
            buffer[x * columns + c] = row[c * k->stride[3]];
    }
    return (OPERAND){buffer, columns};
}

static ALWAYS_INLINE void N(score_block)(const STATE *s, OPERAND k, int64_t a, int64_t e,
                                         const int nv)
{
    for (int64_t x = a; x < e; x += KR) {
        const uint16_t *key[KR];

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
    const OPERAND k = N(block_keys)(s, j0, a, e);

    FOR_VECTORS(s->width / VLEN, N(score_block), s, k, a, e);
}

/* Weights of keys x and x + 1 as pairs, in place: row x / 2 is written after x is read.
 */
static void N(pair_weights)(STATE *s, int64_t a, int64_t e)
{
    const __m512i lane =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i upper = _mm512_add_epi32(lane, _mm512_set1_epi32(16));
    const __m512i interleave = _mm512_or_si512(lane, _mm512_slli_epi32(upper, 16));

    for (int64_t x = a; x < e; x += 2)
        for (int64_t r = 0; r < s->width; r += VLEN) {
            const __m512 even = _mm512_loadu_ps(s->s + x * BR + r);
            const __m512 odd = x + 1 < e ? _mm512_loadu_ps(s->s + (x + 1) * BR + r)
                                         : _mm512_setzero_ps();
            const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(odd, even);
            _mm512_storeu_si512(s->s + x / 2 * BR + r,
                                _mm512_permutexvar_epi16(interleave, both));
        }
}

static void N(pair_columns)(uint32_t *to, const uint16_t *even, const uint16_t *odd,
                            int64_t n, int64_t step)
{
    int64_t c = 0;

    for (; c + VLEN <= n && step == 1; c += VLEN) {
        const __m512i low =
            _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(even + c)));
        const __m512i high =
            odd ? _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(odd + c)))
                : _mm512_setzero_si512();
        _mm512_storeu_si512(to + c, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
    for (; c < n; c++)
        to[c] = (odd ? (uint32_t)odd[c * step] << 16 : 0) | even[c * step];
}

/* V[x / 2][c] = column c of keys x and x + 1; returns whether all are finite. */
static int N(pair_values)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;
    const int64_t columns = s->p->dv;
    uint32_t *const pairs = (uint32_t *)s->v;
    uint32_t infinite = 0;

    for (int64_t x = a; x < e; x += 2) {
        const uint16_t *even = attendi_view_row(v, s->t->b, s->t->hk, j0 + x);
        const uint16_t *odd =
            x + 1 < e ? attendi_view_row(v, s->t->b, s->t->hk, j0 + x + 1) : NULL;

        N(pair_columns)(pairs + x / 2 * columns, even, odd, columns, v->stride[3]);
    }
    /* Adding 1 to an exponent of all ones carries into the sign's place. */
    for (int64_t x = a / 2 * columns; x < PAIRS(e) * columns; x++)
        infinite |= ((pairs[x] & 0x7f807f80u) + 0x00800080u) & 0x80008000u;
    return infinite == 0;
}

/* As in products_fma_tmpl.h, two keys at a time. */
static ALWAYS_INLINE void N(value_tile)(const STATE *s, int64_t a, int64_t e, int64_t c,
                                        const int tail, const int select, const int nv)
{
    const int64_t columns = s->p->dv;
    __m512 acc[KR][QV];

    for (int i = 0; i < KR; i++)
        for (int v = 0; v < nv; v++)
            acc[i][v] = _mm512_setzero_ps();
    for (int64_t x = a / 2; x < PAIRS(e); x++) {
        const uint32_t *row = (const uint32_t *)s->v + x * columns;
        __m512bh w[QV];

        for (int v = 0; v < nv; v++)
            w[v] = N(load_pairs)(s->s + x * BR + v * VLEN);
        for (int i = 0; i < KR; i++) {
            const __m512bh value =
                N(set1_pair)(row[tail ? min_i64(c + i, columns - 1) : c + i]);

            for (int v = 0; v < nv; v++) {
                const __mmask32 seen = ~_mm512_movepi16_mask((__m512i)w[v]);
                const __m512bh some =
                    (__m512bh)_mm512_maskz_mov_epi16(seen, (__m512i)value);
                acc[i][v] = _mm512_dpbf16_ps(acc[i][v], select ? some : value, w[v]);
            }
        }
    }
    for (int i = 0; i < KR; i++)
        for (int v = 0; v < nv && c + i < columns; v++) {
            float *at = s->acc + (c + i) * BR + v * VLEN;
            const __m512 fix = _mm512_loadu_ps(s->fix + v * VLEN);
            _mm512_storeu_ps(at, _mm512_fmadd_ps(_mm512_loadu_ps(at), fix, acc[i][v]));
        }
}

static ALWAYS_INLINE void N(value_block)(const STATE *s, int64_t a, int64_t e, int select,
                                         const int nv)
{
    int64_t c = 0;

    if (select) {
        for (; c < s->p->dv; c += KR)
            N(value_tile)(s, a, e, c, 1, 1, nv);
        return;
    }
    for (; c + KR <= s->p->dv; c += KR)
        N(value_tile)(s, a, e, c, 0, 0, nv);
    if (c < s->p->dv)
        N(value_tile)(s, a, e, c, 1, 0, nv);
}

static void N(add_values)(STATE *s, int64_t j0, int64_t a, int64_t e, int edge)
{
    const int finite = N(pair_values)(s, j0, a, e);

    N(pair_weights)(s, a, e);
    FOR_VECTORS(s->width / VLEN, N(value_block), s, a, e, edge && !finite);
}

#undef PAIRS
