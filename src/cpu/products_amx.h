/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of a wide bf16 tile by tdpbf16ps, which multiplies 16
 * rows of 32 bf16 by 16 rows of 16 pairs.  Queries stand in the lanes here too, so both
 * are the same product: scores are S^T = K Q^T, with K where it lies and Q in pairs of
 * columns, values O^T = V^T P, with V turned a block at a time and P in pairs of keys.
 * The instruction treats denormals as 0.  Parameters: forward_tmpl.h.
 *
 * Where V is not finite, the turned V has 0, so that it cannot reach rows that do not
 * see it, and the rows that do get their share by themselves: each row has the same
 * bits whatever the others see.
 */

/* Rows and columns of a product: two by two tile registers. */
#define TILE 32
_Static_assert(BR == TILE && BC % TILE == 0, "blocks are whole tiles");

static int64_t N(tile_floor)(int64_t n) { return n / TILE * TILE; }

static int64_t N(tile_ceil)(int64_t n) { return ceil_div_i64(n, TILE) * TILE; }

/* Eight tile registers of 16 rows by 64 bytes. */
static void N(begin_blocks)(void)
{
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1,
                .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

    _tile_loadconfig(&config);
}

static void N(end_blocks)(void) { _tile_release(); }

/* The compilers do not know what the tile instructions read. */
static inline void N(settle_memory)(void) { __asm__ volatile("" ::: "memory"); }

/*
 * A B in tile registers 0 .. 3: A has TILE rows of n columns, a_row elements apart, n a
 * multiple of TILE; B has n / 2 rows of BR pairs.
 */
static inline void N(multiply)(const uint16_t *a, int64_t a_row, const uint32_t *b,
                               int64_t n)
{
    const int64_t a_bytes = a_row * (int64_t)sizeof *a, lanes = BR * sizeof *b;

    N(settle_memory)();
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t c = 0; c < n; c += TILE) {
        _tile_loadd(4, a + c, a_bytes);
        _tile_loadd(6, b + c / 2 * BR, lanes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b + c / 2 * BR + VLEN, lanes);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a + TILE / 2 * a_row + c, a_bytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
}

/* to[TILE][BR] = the product in the tile registers. */
static inline void N(store_product)(float *to)
{
    const int64_t lanes = BR * sizeof *to;

    _tile_stored(0, to, lanes);
    _tile_stored(1, to + VLEN, lanes);
    _tile_stored(2, to + TILE / 2 * BR, lanes);
    _tile_stored(3, to + TILE / 2 * BR + VLEN, lanes);
    N(settle_memory)();
}

/* s->work: scores of two tiles more, and a product of values. */
enum { N(work_scores) = BC * BR, N(work_product) = TILE * BR };

static struct operand_sizes N(operand_sizes)(const struct problem *p)
{
    return (struct operand_sizes){
        .q = N(q_size)(p),
        .k = (size_t)N(tile_ceil)(p->d) * BC * sizeof(uint16_t),
        .v = (size_t)N(tile_ceil)(p->dv) * BC * sizeof(uint16_t),
        .work = (2 * N(work_scores) + N(work_product)) * sizeof(float)};
}

/* K in place, or whole tiles of it where columns or keys do not fill them. */
static struct operand N(block_keys)(const STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *k = &s->p->k;
    const int64_t d = s->p->d, row = N(tile_ceil)(d);
    uint16_t *const buffer = (uint16_t *)s->k;

    if (k->stride[3] == 1 && d == row && s->p->nk - j0 >= TILE)
        return (struct operand){attendi_view_row(k, s->t->b, s->t->hk, j0), k->stride[2]};
    for (int64_t x = a; x < e; x++) {
        const uint16_t *key = attendi_view_row(k, s->t->b, s->t->hk, j0 + x);

        for (int64_t c = 0; c < row; c += TILE)
            V(store)
        ((float *)(buffer + x * row + c), N(load_row_pairs)(key, k->stride[3], c, d));
    }
    return (struct operand){buffer, row};
}

/* Where a bf16 of x is finite. */
static inline __mmask32 N(finite_mask)(__m512i x)
{
    const __m512i exponent = _mm512_set1_epi16(0x7f80);

    return _mm512_cmpneq_epi16_mask(_mm512_and_si512(x, exponent), exponent);
}

/*
 * Columns c .. c + TILE - 1 of keys x0 .. x0 + TILE - 1, 0 in the place of what is not
 * finite and of keys outside a .. e - 1.
 */
static void N(load_values)(STATE *s, int64_t j0, int64_t x0, int64_t c, int64_t a,
                           int64_t e, __m512i y[TILE])
{
    const attend_view *v = &s->p->v;
    const uint16_t *const row = attendi_view_row(v, s->t->b, s->t->hk, j0);
    const int whole = v->stride[3] == 1 && c + TILE <= s->p->dv;
    __mmask32 finite = ~(__mmask32)0;

    for (int i = 0; i < TILE; i++) {
        const int64_t x = x0 + i;
        const uint16_t *const value = row + x * v->stride[2];

        if (x < a || x >= e)
            y[i] = _mm512_setzero_si512();
        else if (whole)
            y[i] = _mm512_loadu_si512(value + c);
        else
            y[i] =
                _mm512_castps_si512(N(load_row_pairs)(value, v->stride[3], c, s->p->dv));
        finite &= N(finite_mask)(y[i]);
    }
    if (finite == ~(__mmask32)0)
        return;
    s->finite = 0;
    for (int i = 0; i < TILE; i++)
        y[i] = _mm512_maskz_mov_epi16(N(finite_mask)(y[i]), y[i]);
}

/* Every other column of y, from `first` on, in pairs of keys, turned. */
static inline void N(turn_half)(uint16_t *to, const __m512i y[TILE], const int first)
{
    __m512 pair[VLEN];

    for (int i = 0; i < VLEN; i++) {
        const __m512i low = first ? _mm512_srli_epi32(y[2 * i], 16) : y[2 * i];
        const __m512i high = first ? y[2 * i + 1] : _mm512_slli_epi32(y[2 * i + 1], 16);

        pair[i] = _mm512_castsi512_ps(_mm512_mask_blend_epi16(0xaaaaaaaa, low, high));
    }
    V(transpose)(pair);
    for (int i = 0; i < VLEN; i++)
        V(store)((float *)(to + (2 * i + first) * BC), pair[i]);
}

/* Vt[c][x] of a block: its tiles of keys, zero where they lie outside a .. e - 1. */
static void N(turn_values)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    for (int64_t x = N(tile_floor)(a); x < e; x += TILE)
        for (int64_t c = 0; c < s->p->dv; c += TILE) {
            uint16_t *const to = (uint16_t *)s->v + c * BC + x;
            __m512i y[TILE];

            N(load_values)(s, j0, x, c, a, e, y);
            N(turn_half)(to, y, 0);
            N(turn_half)(to, y, 1);
        }
}

static void N(open_block)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    s->keys = N(block_keys)(s, j0, a, e);
    s->values = (struct operand){s->v, BC};
    s->finite = 1;
    N(turn_values)(s, j0, a, e);
}

/* The first key of the product for keys from x on: the last TILE that exist serve too. */
static int64_t N(score_from)(const STATE *s, int64_t j0, int64_t x)
{
    return min_i64(x, (s->keys.data == s->k ? BC : s->p->nk - j0) - TILE);
}

/* Products of Q and keys x .. x + TILE - 1 of the block. */
static void N(score_product)(const STATE *s, const ROWS *g, int64_t x)
{
    N(multiply)
    ((const uint16_t *)s->keys.data + x * s->keys.row, s->keys.row,
     (const uint32_t *)g->q, N(tile_ceil)(s->p->d));
}

/* Products of keys a .. e - 1 to scores, and s->top of those. */
static void N(scale_scores)(const STATE *s, float *scores, VEC scale, int64_t a,
                            int64_t e)
{
    VEC low = V(load)(s->top), high = V(load)(s->top + VLEN);

    for (int64_t x = a; x < e; x++) {
        float *const at = scores + x * BR;
        const VEC y = V(mul)(V(load)(at), scale), z = V(mul)(V(load)(at + VLEN), scale);

        V(store)(at, y);
        V(store)(at + VLEN, z);
        low = V(max)(y, low);
        high = V(max)(z, high);
    }
    V(store)(s->top, low);
    V(store)(s->top + VLEN, high);
}

static void N(scores)(const STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e)
{
    for (int64_t x = N(tile_floor)(a); x < e; x += TILE) {
        const int64_t from = N(score_from)(s, j0, x);

        N(score_product)(s, g, from);
        N(store_product)(s->s + from * BR);
    }
    N(scale_scores)(s, s->s, V(set1)(N(narrow)(s->p->scale)), a, e);
}

/* 0 for weights outside keys a .. e - 1 in the tiles that hold these. */
static void N(clear_weights)(float *weights, int64_t a, int64_t e)
{
    const int64_t from = N(tile_floor)(a) / 2, to = N(tile_ceil)(e) / 2;

    memset(weights + from * BR, 0, (size_t)(a / 2 - from) * BR * sizeof *weights);
    memset(weights + PAIRS(e) * BR, 0, (size_t)(to - PAIRS(e)) * BR * sizeof *weights);
}

/* Products of columns c .. c + TILE - 1 of V and weights of keys a .. e - 1. */
static void N(value_product)(const STATE *s, const float *weights, int64_t a, int64_t e,
                             int64_t c)
{
    const int64_t from = N(tile_floor)(a);

    N(multiply)
    ((const uint16_t *)s->values.data + c * s->values.row + from, s->values.row,
     (const uint32_t *)weights + from / 2 * BR, N(tile_ceil)(e) - from);
}

/* acc = acc fix + product for columns c .. c + TILE - 1. */
static void N(join_product)(const STATE *s, const ROWS *g, const float *fix,
                            const float *product, int64_t c)
{
    const VEC low = V(load)(fix), high = V(load)(fix + VLEN);

    for (int64_t i = 0; i < min_i64(TILE, s->p->dv - c); i++) {
        float *const at = g->acc + (c + i) * BR;
        const float *const sum = product + i * BR;

        V(store)(at, V(fma)(V(load)(at), low, V(load)(sum)));
        V(store)(at + VLEN, V(fma)(V(load)(at + VLEN), high, V(load)(sum + VLEN)));
    }
}

/* What keys a .. e - 1 add to acc where V is not finite, in the rows that see them. */
static void N(add_infinite)(const STATE *s, const ROWS *g, const float *weights,
                            int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;

    for (int64_t x = a; x < e; x++) {
        const uint16_t *value = attendi_view_row(v, s->t->b, s->t->hk, j0 + x);

        for (int64_t c = 0; c < s->p->dv; c++) {
            const uint32_t y = value[c * v->stride[3]];

            for (int64_t r = 0; (y & 0x7f80) == 0x7f80 && r < BR; r += VLEN) {
                const __m512i two = _mm512_loadu_si512(weights + x / 2 * BR + r);
                const __m512i w = x % 2 ? two : _mm512_slli_epi32(two, 16);
                const __m512i w1 = _mm512_and_si512(w, _mm512_set1_epi32(~0xffff));
                const __mmask16 seen = (__mmask16)~_mm512_movepi32_mask(w1);
                float *const at = g->acc + c * BR + r;
                const VEC value1 = _mm512_castsi512_ps(_mm512_set1_epi32((int)(y << 16)));

                V(store)
                (at, _mm512_mask3_fmadd_ps(_mm512_castsi512_ps(w1), value1, V(load)(at),
                                           seen));
            }
        }
    }
}
