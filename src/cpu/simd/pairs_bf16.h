/* SPDX-License-Identifier: MIT */
/*
 * Not a header: pairs of neighbouring bf16 in the 32 bits of a lane, as all bf16
 * products want them.  Parameters: template_params.h.
 */
#define PAIRS(n) (((n) + 1) / 2)

static inline __m512bh set1_pair(uint32_t pair)
{
    return (__m512bh)_mm512_set1_epi32((int)pair);
}

static inline __m512bh load_pairs(const void *p)
{
    return (__m512bh)_mm512_loadu_si512(p);
}

/* Pairs c / 2 .. of columns c .. c + 31 of a row of d columns; 0 past the last. */
static inline __m512 load_row_pairs(const uint16_t *row, int64_t step, int64_t c,
                                    int64_t d)
{
    const int64_t n = min_i64(2 * VLEN, d - c);

    if (step == 1) {
        const __mmask32 have = n == 2 * VLEN ? ~0u : (1u << n) - 1;
        return _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(have, row + c));
    }
    uint16_t lanes[2 * VLEN] = {0};

    for (int64_t x = 0; x < n; x++)
        lanes[x] = row[(c + x) * step];
    return _mm512_castsi512_ps(_mm512_loadu_si512(lanes));
}

/* Bytes of Q as pack_q leaves it. */
static size_t q_size(const struct problem *p)
{
    return (size_t)ceil_div_i64(p->d, 2 * VLEN) * VLEN * BR * sizeof(uint32_t);
}

/* Q[c / 2][r] = columns c and c + 1 of row r; 0 past the last, to a whole vector. */
static void pack_q(const struct state *s, struct rows *g)
{
    const struct problem *p = s->p;

    for (int64_t r0 = 0; r0 < g->width; r0 += VLEN)
        for (int64_t c = 0; c < p->d; c += 2 * VLEN) {
            __m512 x[VLEN];

            for (int r = 0; r < VLEN; r++) {
                const int64_t row = min_i64(r0 + r, g->rows - 1);
                x[r] = load_row_pairs(
                    attendi_view_row(&p->q, s->item->b, g->head[row], g->query[row]),
                    p->q.stride[3], c, p->d);
            }
            vec_transpose(x);
            for (int64_t y = 0; y < VLEN; y++)
                vec_store(g->q + (c / 2 + y) * BR + r0, x[y]);
        }
}

/* The pair at p in every lane, and acc += x y, both in the order written. */
static inline __m512bh broadcast_pair(const void *p)
{
    __m512bh x;

    __asm__ volatile("vbroadcastss %1, %0" : "=v"(x) : "m"(*(const uint32_t *)p));
    return x;
}

static inline void mac_pairs(__m512 *acc, __m512bh x, __m512bh y)
{
    __asm__ volatile("vdpbf16ps %2, %1, %0" : "+v"(*acc) : "v"(x), "v"(y));
}

/* 0 in the place of values whose weight is masked. */
static inline __m512bh seen_pairs(__m512bh value, __m512bh weight)
{
    const __mmask32 seen = ~_mm512_movepi16_mask((__m512i)weight);

    return (__m512bh)_mm512_maskz_mov_epi16(seen, (__m512i)value);
}

/* Weights of two keys as pairs of bf16. */
static inline void store_pairs(REAL *to, vec even, vec odd)
{
    const __m512i lane =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i upper = _mm512_add_epi32(lane, _mm512_set1_epi32(16));
    const __m512i interleave = _mm512_or_si512(lane, _mm512_slli_epi32(upper, 16));
    const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(odd, even);

    _mm512_storeu_si512(to, _mm512_permutexvar_epi16(interleave, both));
}

/* The same for keys x and x + 1, in place: row x / 2 is written after row x is read. */
enum { KEEPS_WEIGHTS = 0 };

static inline void keep_weights(const struct state *s, int64_t x, int64_t r, vec even,
                                vec odd)
{
    store_pairs(s->s + x / 2 * BR + r, even, odd);
}
