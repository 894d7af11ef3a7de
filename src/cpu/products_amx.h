/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of a wide bf16 tile by tdpbf16ps, which multiplies 16
 * rows of 32 bf16 by 16 rows of 16 pairs.  Queries stand in the lanes here too, so both
 * are the same product: scores are S^T = K Q^T, with Q in pairs of columns, values
 * O^T = V^T P, with P in pairs of keys.  K is copied and V turned a block at a time, into
 * squares that a tile register loads from 16 lines of cache in a row.
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
 * A B: A is TILE rows of `units` squares of TILE columns, each with its rows one after
 * another, and B has as many squares of TILE / 2 rows of BR pairs.
 */
struct N(product) {
    const uint16_t *a;
    const uint32_t *b;
    int64_t units;
    float *to; /* [TILE][BR] */
};

/* Elements of a square of A and of B. */
enum { N(unit_a) = TILE * TILE, N(unit_b) = TILE / 2 * BR };

static inline void N(begin_product)(void)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

/* Loads before products: where they alternate, each waits for the one before it. */
static inline void N(add_unit)(const struct N(product) * p, int64_t unit)
{
    const int64_t row = TILE * sizeof *p->a, lanes = BR * sizeof *p->b;
    const uint16_t *const a = p->a + unit * N(unit_a);
    const uint32_t *const b = p->b + unit * N(unit_b);

    N(settle_memory)();
    _tile_loadd(4, a, row);
    _tile_loadd(6, b, lanes);
    _tile_loadd(5, a + N(unit_a) / 2, row);
    _tile_loadd(7, b + VLEN, lanes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
}

static inline void N(end_product)(const struct N(product) * p)
{
    const int64_t lanes = BR * sizeof *p->to;

    _tile_stored(0, p->to, lanes);
    _tile_stored(1, p->to + VLEN, lanes);
    _tile_stored(2, p->to + TILE / 2 * BR, lanes);
    _tile_stored(3, p->to + TILE / 2 * BR + VLEN, lanes);
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

/* K of keys a .. e - 1 in squares, the columns of TILE keys after one another. */
static void N(copy_keys)(const STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *k = &s->p->k;
    const int64_t d = s->p->d;

    for (int64_t x = a; x < e; x++) {
        const uint16_t *const key = attendi_view_row(k, s->t->b, s->t->hk, j0 + x);
        uint16_t *const to =
            (uint16_t *)s->k + N(tile_floor)(x) * N(tile_ceil)(d) + x % TILE * TILE;

        for (int64_t c = 0; c < d; c += TILE)
            V(store)
        ((float *)(to + c * TILE), N(load_row_pairs)(key, k->stride[3], c, d));
    }
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
        V(store)((float *)(to + (2 * i + first) * TILE), pair[i]);
}

/* V of a block, turned: squares as in K, 0 where their keys lie outside a .. e - 1. */
static void N(turn_values)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    for (int64_t x = N(tile_floor)(a); x < e; x += TILE)
        for (int64_t c = 0; c < s->p->dv; c += TILE) {
            uint16_t *const to = (uint16_t *)s->v + c * BC + x * TILE;
            __m512i y[TILE];

            N(load_values)(s, j0, x, c, a, e, y);
            N(turn_half)(to, y, 0);
            N(turn_half)(to, y, 1);
        }
}

static void N(open_block)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    s->finite = 1;
    N(copy_keys)(s, j0, a, e);
    N(turn_values)(s, j0, a, e);
}

/* Q and keys x .. x + TILE - 1 of the block. */
static struct N(product)
    N(score_product)(const STATE *s, const ROWS *g, int64_t x, float *scores)
{
    const int64_t d = N(tile_ceil)(s->p->d);

    return (struct N(product)){.a = (const uint16_t *)s->k + x * d,
                               .b = (const uint32_t *)g->q,
                               .units = d / TILE,
                               .to = scores + x * BR};
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
    (void)j0;
    for (int64_t x = N(tile_floor)(a); x < e; x += TILE) {
        const struct N(product) product = N(score_product)(s, g, x, s->s);

        N(begin_product)();
        for (int64_t u = 0; u < product.units; u++)
            N(add_unit)(&product, u);
        N(end_product)(&product);
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

/* Columns c .. c + TILE - 1 of V and weights of keys a .. e - 1. */
static struct N(product) N(value_product)(const STATE *s, const float *weights, int64_t a,
                                          int64_t e, int64_t c, float *to)
{
    const int64_t from = N(tile_floor)(a);

    return (struct N(product)){.a = (const uint16_t *)s->v + c * BC + from * TILE,
                               .b = (const uint32_t *)weights + from / 2 * BR,
                               .units = (N(tile_ceil)(e) - from) / TILE,
                               .to = to};
}

/* acc = acc fix + product for columns c .. e - 1, the first rows of the product. */
static void N(join_product)(const ROWS *g, const float *fix, const float *product,
                            int64_t c, int64_t e)
{
    const VEC low = V(load)(fix), high = V(load)(fix + VLEN);

    for (int64_t i = 0; i < e - c; i++) {
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
