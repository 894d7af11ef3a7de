/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of the decode path in the set with tile registers, by
 * multiply-adds in float, to the bits of the tile instruction.  That sums 16 pairs from
 * zero, the first and the second elements of the pairs separately, adds both sums, and
 * adds the result to the accumulator; products of bf16 are exact in float, and denormals
 * are 0. vdpbf16ps is slower on these machines: 4.6 times an FMA.
 */

/* Pairs that are summed from zero: a square of TILE columns of K, or keys of V. */
#define UNIT_PAIRS (TILE / 2)

/* Makes denormals 0, as in the tile instructions; returns the control word to restore. */
static inline unsigned flush_denormals(void)
{
    const unsigned mode = _mm_getcsr();

    _mm_setcsr(mode | _MM_FLUSH_ZERO_ON | 0x40 /* denormals are zeros */);
    return mode;
}

/* The first and the second elements of pairs, as floats. */
static inline __m512 first_of_pairs(__m512 pairs)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(pairs), 16));
}

static inline __m512 second_of_pairs(__m512 pairs)
{
    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_castps_si512(pairs), _mm512_set1_epi32(~0xffff)));
}

/*
 * Elements of Q as floats per group of DECODE_ROWS rows: [pair][row][first, second], in
 * whole squares.
 */
static int64_t decode_q_group(const struct problem *p)
{
    return tile_ceil(p->d) * DECODE_ROWS;
}

static size_t decode_q_size(const struct problem *p)
{
    return (size_t)(ceil_div_i64(VLEN, DECODE_ROWS) * decode_q_group(p)) * sizeof(float);
}

static void decode_pack_q(const struct state *s, struct rows *g)
{
    const struct problem *p = s->p;
    const int64_t rows = ceil_div_i64(g->rows, DECODE_ROWS) * DECODE_ROWS;

    for (int64_t r = 0; r < rows; r++) {
        const int64_t row = min_i64(r, g->rows - 1);
        const uint16_t *const from =
            attendi_view_row(&p->q, s->item->b, g->head[row], g->query[row]);
        float *to = g->q + r / DECODE_ROWS * decode_q_group(p) + r % DECODE_ROWS * 2;

        for (int64_t c = 0; c < p->d; c += TILE) {
            const __m512 pairs = load_row_pairs(from, p->q.stride[3], c, p->d);
            float first[VLEN], second[VLEN];

            vec_store(first, first_of_pairs(pairs));
            vec_store(second, second_of_pairs(pairs));
            for (int x = 0; x < VLEN; x++, to += 2 * DECODE_ROWS) {
                to[0] = first[x];
                to[1] = second[x];
            }
        }
    }
}

/* Elements of a row of the block's sums of V, in whole vectors. */
static int64_t decode_v_row(const struct problem *p)
{
    return ceil_div_i64(p->dv, VLEN) * VLEN;
}

static size_t decode_v_size(const struct problem *p)
{
    return (size_t)(VLEN * decode_v_row(p)) * sizeof(float);
}

/* Bytes of a copied tile of VLEN keys, in whole squares. */
static size_t decode_k_size(const struct problem *p)
{
    return (size_t)(VLEN * tile_ceil(p->d)) * sizeof(uint16_t);
}

static void copy_tile_keys(const struct state *s, int64_t j, int64_t n)
{
    const attend_view *k = &s->p->k;
    const int64_t d = s->p->d, row = tile_ceil(d);

    memset(s->k, 0, decode_k_size(s->p));
    for (int64_t x = 0; x < n; x++)
        for (int64_t c = 0; c < d; c += TILE)
            vec_store((float *)((uint16_t *)s->k + x * row + c),
                      load_row_pairs(attendi_view_row(k, s->item->b, s->item->hk, j + x),
                                     k->stride[3], c, d));
}

static ALWAYS_INLINE void mac_number(__m512 *sum, const float *number, __m512 y)
{
    __asm__ volatile("vfmadd231ps %1%{1to16%}, %2, %0"
                     : "+v"(*sum)
                     : "m"(*number), "v"(y));
}

/*
 * Products of VLEN keys, row_bytes apart, with rows r .. r + rows - 1, to `to`.  Lines of
 * the keys `ahead` bytes further are prefetched into L2, one between any two columns, and
 * into L1 the next line of these keys, or the first of the tile `next` bytes further.
 */
static ALWAYS_INLINE void decode_score(const struct state *s, const struct rows *g,
                                       const char *key, int64_t row_bytes, int64_t next,
                                       int64_t ahead, float *to, int64_t r,
                                       const int rows)
{
    const float *q = g->q + r / DECODE_ROWS * decode_q_group(s->p);
    __m512 total[DECODE_ROWS];

    for (int i = 0; i < rows; i++)
        total[i] = vec_set1(0);
    for (int64_t c = 0; c < s->p->d; c += TILE) {
        __m512 first[DECODE_ROWS], second[DECODE_ROWS];

        for (int i = 0; i < rows; i++)
            first[i] = second[i] = vec_set1(0);
        UNROLL
        for (int half = 0; half < 2; half++) {
            const char *const column = key + (c + half * TILE / 2) * 2;
            __m512 y[TRANSPOSED];

            vec_load_transposed(y, column, row_bytes);
            UNROLL
            for (int u = 0; u < TRANSPOSED; u++, q += 2 * DECODE_ROWS) {
                const __m512 x = first_of_pairs(y[u]), z = second_of_pairs(y[u]);

                for (int i = 0; i < rows; i++) {
                    mac_number(&first[i], q + 2 * i, x);
                    mac_number(&second[i], q + 2 * i + 1, z);
                }
                const char *const line =
                    key + c * 2 + (half * TRANSPOSED + u) * row_bytes;

                PREFETCH_L1(line + (c + TILE < s->p->d ? LINE : next - c * 2));
                PREFETCH_L2(line + ahead);
            }
        }
        for (int i = 0; i < rows; i++)
            total[i] = vec_add(total[i], vec_add(first[i], second[i]));
    }
    for (int i = 0; i < rows; i++)
        vec_store(to + (r + i) * S_ROW, total[i]);
}

/* Products of Q and keys a .. e - 1 of the block, not yet scaled. */
static void decode_multiply(const struct state *s, const struct rows *g, int64_t j0,
                            int64_t a, int64_t e)
{
    const attend_view *k = &s->p->k;
    const bool whole = k->stride[3] == 1 && s->p->d % TILE == 0;
    const unsigned mode = flush_denormals();

    for (int64_t x = a; x < e; x += VLEN) {
        const char *key = attendi_view_row(k, s->item->b, s->item->hk, j0 + x);
        int64_t row_bytes = k->stride[2] * (int64_t)sizeof(uint16_t);
        const int64_t left = max_i64(0, g->hi - j0 - x - VLEN);
        int64_t next = min_i64(left, VLEN) * row_bytes;
        int64_t ahead = min_i64(left, PREFETCH_KEYS) * row_bytes;

        if (!whole || x + VLEN > e) {
            copy_tile_keys(s, j0 + x, min_i64(e - x, VLEN));
            key = (const char *)s->k;
            row_bytes = tile_ceil(s->p->d) * (int64_t)sizeof(uint16_t);
            next = ahead = 0;
        }
        FOR_ROWS_OF(DECODE_ROWS, g->rows, decode_score, s, g, key, row_bytes, next, ahead,
                    s->s + x);
    }
    _mm_setcsr(mode);
}

static void decode_scores(const struct state *s, const struct rows *g, int64_t j0,
                          int64_t a, int64_t e)
{
    const vec scale = vec_set1(to_real(s->p->scale));

    decode_multiply(s, g, j0, a, e);
    for (int64_t r = 0; r < g->rows; r++)
        for (int64_t x = a; x < e; x += VLEN) {
            float *const at = s->s + r * S_ROW + x;
            vec_store(at, vec_mul(vec_load(at), scale));
        }
}

/* Rounds a vector of weights to bf16, as floats, in place. */
static inline void round_weights(float *at)
{
    const __m256i halves = (__m256i)_mm512_cvtneps_pbh(vec_load(at));

    vec_store(at,
              _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16)));
}

static void decode_pack_weights(const struct state *s, const struct rows *g, int64_t a,
                                int64_t e)
{
    for (int64_t r = 0; r < g->rows; r++)
        for (int64_t x = a; x < e; x += VLEN)
            round_weights(s->s + r * S_ROW + x);
}

/* The same for a tile with rows in the lanes, with statistics. */
static void pack_lane_weights(const struct state *s, int64_t a, int64_t e)
{
    for (int64_t x = a; x < e; x++)
        round_weights(s->extra + x * BR);
}

/* The weight of row r and key x of the block is data[r row + x key]. */
struct decode_weights {
    const float *data;
    int64_t row, key;
};

/*
 * Columns c .. of a value, 0 past the last and, with `select`, for Inf and NaN; `whole`:
 * a contiguous vector.
 */
static ALWAYS_INLINE __m512 decode_load_value(const struct state *s,
                                              const uint16_t *value, int64_t c,
                                              const int select, const int whole)
{
    if (whole)
        return _mm512_castsi512_ps(_mm512_slli_epi32(
            _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(value + c))), 16));

    const int64_t n = s->p->dv - c, step = s->p->v.stride[3];
    const __mmask16 have = n >= VLEN ? (__mmask16)-1 : (__mmask16)((1u << n) - 1);
    uint16_t lanes[VLEN] = {0};
    __m512i y;

    if (step == 1) {
        y = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(have, value + c));
    } else {
        for (int64_t x = 0; x < min_i64(n, VLEN); x++)
            lanes[x] = value[(c + x) * step];
        y = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)lanes));
    }
    y = _mm512_slli_epi32(y, 16);
    if (select)
        y = _mm512_maskz_mov_epi32(
            (__mmask16)~_mm512_fpclass_ps_mask(_mm512_castsi512_ps(y), 0x99), y);
    return _mm512_castsi512_ps(y);
}

/* One key's columns times the weights of `rows` rows, to acc[row][vector]. */
static ALWAYS_INLINE void decode_add_key(const struct state *s,
                                         const struct decode_weights *w,
                                         const uint16_t *value, int64_t x, int64_t c,
                                         const int select, const int nv, int64_t r,
                                         const int rows, __m512 *acc)
{
    const float *const weight = w->data + r * w->row + x * w->key;

    for (int u = 0; u < nv; u++) {
        const __m512 y = decode_load_value(s, value, c + u * VLEN, select, nv > 1);

        for (int i = 0; i < rows; i++)
            acc[i * nv + u] = vec_fma(vec_set1(weight[i * w->row]), y, acc[i * nv + u]);
    }
}

/*
 * Adds keys a .. e - 1 of one square to the sums of nv vectors of columns from c on.  The
 * first rows and columns also touch the lines of the others, so that memory is read in
 * order, and prefetch every second line of the next keys; hardware prefetches its
 * neighbour.
 */
static ALWAYS_INLINE void decode_value(const struct state *s,
                                       const struct decode_weights *w, int64_t j0,
                                       int64_t a, int64_t e, int64_t c, const int select,
                                       const int nv, int64_t r, const int rows)
{
    const attend_view *v = &s->p->v;
    const int64_t v_row = decode_v_row(s->p), row = v->stride[2];
    const int64_t used = v->stride[3] == 1 && r == 0 && c == 0 ? s->p->dv * 2 : 0;
    const int64_t ahead = min_i64(max_i64(0, s->rows->hi - j0 - e),
                                  VALUES_BYTES / max_i64(1, s->p->dv * 2)) *
                          row;
    const uint16_t *value = attendi_view_row(v, s->item->b, s->item->hk, j0 + a);
    float *const sums = s->v + r * v_row + c;
    __m512 first[8], second[8];

    for (int i = 0; i < rows * nv; i++)
        first[i] = second[i] = vec_set1(0);
    for (int64_t x = a; x < e; x += 2, value += 2 * row) {
        for (int64_t at = 0; at < used; at += 2 * LINE) {
            PREFETCH_L2((const char *)(value + ahead) + at);
            PREFETCH_L2((const char *)(value + (x + 1 < e ? row : 0) + ahead) + at);
        }
        decode_add_key(s, w, value, x, c, select, nv, r, rows, first);
        for (int64_t at = nv * VLEN * 2; at < used; at += LINE)
            TOUCH((const char *)value + at);
        if (x + 1 == e)
            break;
        decode_add_key(s, w, value + row, x + 1, c, select, nv, r, rows, second);
        for (int64_t at = nv * VLEN * 2; at < used; at += LINE)
            TOUCH((const char *)(value + row) + at);
    }
    for (int i = 0; i < rows; i++)
        for (int u = 0; u < nv; u++) {
            float *const to = sums + i * v_row + u * VLEN;

            vec_store(to, vec_add(vec_load(to),
                                  vec_add(first[i * nv + u], second[i * nv + u])));
        }
}

/* All columns of the keys of one square; fewer rows take more columns at a time. */
static ALWAYS_INLINE void decode_square(const struct state *s,
                                        const struct decode_weights *w, int64_t j0,
                                        int64_t a, int64_t e, const int select, int64_t r,
                                        const int rows)
{
    enum { VECTORS = 8 };
    const int nv = VECTORS / rows;
    int64_t c = 0;

    for (; !select && s->p->v.stride[3] == 1 && c + nv * VLEN <= s->p->dv; c += nv * VLEN)
        decode_value(s, w, j0, a, e, c, select, nv, r, rows);
    for (; c < s->p->dv; c += VLEN)
        decode_value(s, w, j0, a, e, c, select, 1, r, rows);
}

static void decode_sum_values(const struct state *s, const struct rows *g,
                              const struct decode_weights *w, int64_t j0, int64_t a,
                              int64_t e, int select)
{
    memset(s->v, 0, decode_v_size(s->p));
    for (int64_t x = tile_floor(a); x < e; x += TILE) {
        const int64_t from = max_i64(a, x), to = min_i64(e, x + TILE);

        if (select)
            FOR_ROWS_OF(2, g->rows, decode_square, s, w, j0, from, to, 1)
        else
            FOR_ROWS_OF(4, g->rows, decode_square, s, w, j0, from, to, 0)
    }
}

static bool decode_sums_finite(const struct state *s, const struct rows *g)
{
    __m512 sum = vec_set1(0);

    for (int64_t r = 0; r < g->rows; r++)
        for (int64_t c = 0; c < decode_v_row(s->p); c += VLEN)
            sum = vec_fma(vec_load(s->v + r * decode_v_row(s->p) + c), vec_set1(0), sum);
    return _mm512_cmpneq_ps_mask(sum, vec_set1(0)) == 0;
}

/* Adds the terms of non-finite V of keys a .. e - 1 to the rows that see them. */
static void decode_add_infinite(const struct state *s, const struct rows *g,
                                const struct decode_weights *w, int64_t j0, int64_t a,
                                int64_t e)
{
    const attend_view *v = &s->p->v;

    for (int64_t x = a; x < e; x++) {
        const uint16_t *const value =
            attendi_view_row(v, s->item->b, s->item->hk, j0 + x);

        for (int64_t c = 0; c < s->p->dv; c++) {
            const uint16_t bits = value[c * v->stride[3]];

            for (int64_t r = 0; (bits & 0x7f80) == 0x7f80 && r < g->rows; r++) {
                const float weight = w->data[r * w->row + x * w->key];
                float *const at = g->acc + r * s->p->dv + c;

                if (!signbit(weight))
                    *at = fmaf(weight, attendi_bf16_to_f32(bits), *at);
            }
        }
    }
}

/* acc = acc rescale + P V over keys a .. e - 1 of the block. */
static void decode_values(const struct state *s, const struct rows *g, int64_t j0,
                          int64_t a, int64_t e, int edge)
{
    const struct decode_weights w = g->accum ? (struct decode_weights){s->extra, 1, BR}
                                             : (struct decode_weights){s->s, S_ROW, 1};
    const int64_t dv = s->p->dv;
    const unsigned mode = flush_denormals();

    (void)edge; /* hidden keys have weight 0, and non-finite values are added
                   separately */
    decode_sum_values(s, g, &w, j0, a, e, 0);
    const bool finite = decode_sums_finite(s, g);
    if (!finite)
        decode_sum_values(s, g, &w, j0, a, e, 1);
    _mm_setcsr(mode);
    for (int64_t r = 0; r < g->rows; r++)
        for (int64_t c = 0; c < dv; c += VLEN) {
            const int64_t n = min_i64(VLEN, dv - c);
            const vec before = load_lanes(g->acc + r * dv, REAL_DTYPE, 1, c, n);
            const vec sum = vec_load(s->v + r * decode_v_row(s->p) + c);

            store_lanes(g->acc + r * dv, REAL_DTYPE, 1, c, n,
                        vec_fma(before, vec_set1(s->rescale[r]), sum));
        }
    if (!finite)
        decode_add_infinite(s, g, &w, j0, a, e);
}

/*
 * As in decode_stats_tmpl.h: products are transposed, and statistics are summed as in a
 * pass of a prefill tile without interleaved products.
 */
static void decode_accum(struct state *s, struct rows *g, int64_t j0, int64_t a,
                         int64_t e, int edge)
{
    const struct packed block = {.j0 = j0};
    struct pass none = {0},
                pass = {.g = g, .block = &block, .at = {a, e}, .edge = edge, .s = s->s};
    struct interleave alone = {.before = &none, .after = &none};
    uint32_t(*const words)[BR] = s->words;

    if (s->p->mask.data)
        memcpy(pass.words, words, sizeof pass.words);
    s->s = s->work;
    decode_multiply(s, g, j0, a, e);
    s->s = pass.s;
    transpose_scores(s, g, s->work, a, e);
    prefill_row_max(s, g, a, e);
    s->stat->j0 = -1;
    weigh_pass(s, &pass, &alone);
    s->words = words;
    memcpy(s->rescale, pass.rescale, sizeof pass.rescale);
    pack_lane_weights(s, a, e);
}
