/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the steps of the decode path's products by vdpbf16ps, in pairs and
 * in the order of products_bf16.h.  Parameters: template_params.h.
 */

enum { OWN_DTYPE = ATTEND_BF16, WIDENS = 0 };
enum { LANE_COLUMNS = 2, WEIGHT_KEYS = 2 };

static inline __m512 decode_query(const struct problem *p, const void *row, int64_t c)
{
    return load_row_pairs(row, p->q.stride[3], c, p->d);
}

static ALWAYS_INLINE void transpose_keys(__m512 y[TRANSPOSED], const char *key,
                                         int64_t row_bytes, const attend_dtype dtype)
{
    (void)dtype;
    vec_load_transposed(y, key, row_bytes);
}

static ALWAYS_INLINE void decode_dot(__m512 *sum, const float *query, __m512 key)
{
    __asm__ volatile("vdpbf16ps %1%{1to16%}, %2, %0"
                     : "+v"(*sum)
                     : "m"(*query), "v"(key));
}

static inline __m512 decode_add_piece(int64_t c, const float *before, __m512 sum,
                                      __m512 scale)
{
    return _mm512_fmadd_ps(sum, scale,
                           c == 0 ? _mm512_setzero_ps() : _mm512_loadu_ps(before));
}

/* The weights as pairs of bf16, in place, and 0 after a lone last key. */
static void decode_pack_weights(const struct state *s, const struct rows *g, int64_t a,
                                int64_t e)
{
    for (int64_t r = 0; r < g->rows; r++) {
        float *const w = s->s + r * S_ROW;

        for (int64_t x = a; x < e; x += VLEN)
            _mm256_storeu_si256((void *)((uint16_t *)w + x),
                                (__m256i)_mm512_cvtneps_pbh(vec_load(w + x)));
    }
}

/* Rows of two keys, interleaved 4 columns at a time: y[0] and y[1] share 32. */
static ALWAYS_INLINE void interleave(__m512 *y, __m512i even, __m512i odd)
{
    y[0] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(even, odd));
    y[1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(even, odd));
}

static ALWAYS_INLINE void decode_load_values(__m512 *y, const char *value,
                                             int64_t row_bytes, int64_t keys,
                                             const attend_dtype dtype, const int nv)
{
    const __mmask16 both = keys > 1 ? 0xffff : 0;

    (void)dtype;
    for (int u = 0; u < nv; u += 2)
        interleave(y + u, _mm512_loadu_si512(value + u * 32),
                   _mm512_maskz_loadu_epi32(both, value + row_bytes + u * 32));
}

static ALWAYS_INLINE void decode_load_some(__m512 *y, const struct problem *p,
                                           const char *row, int64_t row_bytes,
                                           int64_t keys, int64_t c)
{
    const int64_t step = p->v.stride[3];
    const void *const even = row, *const odd = row + row_bytes;
    const __m512 none = _mm512_setzero_ps();

    interleave(
        y, _mm512_castps_si512(load_row_pairs(even, step, c, p->dv)),
        _mm512_castps_si512(keys > 1 ? load_row_pairs(odd, step, c, p->dv) : none));
}

static ALWAYS_INLINE __m512 decode_add_value(__m512 sum, __m512 weight, __m512 value,
                                             const int select)
{
    const __mmask32 seen = ~_mm512_movepi16_mask(_mm512_castps_si512(weight));
    const __m512i some = _mm512_maskz_mov_epi16(seen, _mm512_castps_si512(value));

    return _mm512_dpbf16_ps(sum, select ? (__m512bh)some : (__m512bh)value,
                            (__m512bh)weight);
}

static inline __m512 decode_block_sum(const float *sums, int64_t c)
{
    const __m512i low =
        _mm512_set_epi32(23, 22, 21, 20, 7, 6, 5, 4, 19, 18, 17, 16, 3, 2, 1, 0);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    const float *const two = sums + c / (2 * VLEN) * (2 * VLEN);

    return _mm512_permutex2var_ps(_mm512_loadu_ps(two), c % (2 * VLEN) ? high : low,
                                  _mm512_loadu_ps(two + VLEN));
}

static int decode_finite(const struct state *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;
    uint32_t infinite = 0;

    for (int64_t x = a; x < e; x++) {
        const uint16_t *row = attendi_view_row(v, s->item->b, s->item->hk, j0 + x);

        for (int64_t c = 0; c < s->p->dv; c++)
            infinite |= ((row[c * v->stride[3]] & 0x7f80u) + 0x80u) & 0x8000u;
    }
    return infinite == 0;
}
