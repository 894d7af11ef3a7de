/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of a bf16 tile by tdpbf16ps, which multiplies 16 rows of 32
 * bf16 by 16 rows of 16 pairs.  Lanes are queries here too, so both are the same product:
 * scores are S^T = K Q^T, with Q in pairs of columns, values O^T = V^T P, with P in pairs
 * of keys; pack_amx.h packs K and V.  The instruction treats denormals as 0.
 *
 * The packed V has 0 in place of Inf and NaN, which cannot reach rows that do not see
 * them; their terms are added separately to the rows that do.  So each row has the same
 * bits whatever other rows see.
 */

/* Rows and columns of a product: two by two tile registers. */
#define TILE 32
_Static_assert(BR == TILE && BC % TILE == 0, "blocks are whole tiles");

static int64_t tile_floor(int64_t n) { return n / TILE * TILE; }

static int64_t tile_ceil(int64_t n) { return ceil_div_i64(n, TILE) * TILE; }

/* Eight tile registers of 16 rows by 64 bytes. */
static void begin_blocks(void)
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

static void end_blocks(void) { _tile_release(); }

/* Compiler barrier: compilers do not model the memory accesses of tile instructions. */
static inline void settle_memory(void) { __asm__ volatile("" ::: "memory"); }

/*
 * A B: A has TILE rows of `units` squares of TILE columns, each square contiguous; B has
 * as many squares of TILE / 2 rows of BR pairs.
 */
struct product {
    const uint16_t *a;
    const uint32_t *b;
    int64_t units;
    float *to; /* [TILE][BR] */
};

/* Elements of a square of A and of B. */
enum { UNIT_A = TILE * TILE, UNIT_B = TILE / 2 * BR };

static inline void begin_product(void)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

/*
 * A unit in four steps, for other work to stand between them.  Seven registers, not
 * eight: a core that runs two threads has hardly more than its eight for each, and a tile
 * instruction that finds none free holds up all that follows.
 */
enum { UNIT_STEPS = 4 };

static ALWAYS_INLINE void unit_step(const uint16_t *a, const uint32_t *b, const int step)
{
    const int64_t row = TILE * sizeof *a, lanes = BR * sizeof *b;

    settle_memory();
    if (step == 0) {
        _tile_loadd(4, a, row);
        _tile_loadd(5, a + UNIT_A / 2, row);
    } else if (step == 1) {
        _tile_loadd(6, b, lanes);
        _tile_dpbf16ps(0, 4, 6);
    } else if (step == 2) {
        _tile_dpbf16ps(2, 5, 6);
        _tile_loadd(6, b + VLEN, lanes);
    } else {
        _tile_dpbf16ps(1, 4, 6);
        _tile_dpbf16ps(3, 5, 6);
    }
    settle_memory();
}

static inline void add_unit(const struct product *p, int64_t unit)
{
    const uint16_t *const a = p->a + unit * UNIT_A;
    const uint32_t *const b = p->b + unit * UNIT_B;

    UNROLL
    for (int step = 0; step < UNIT_STEPS; step++)
        unit_step(a, b, step);
}

static inline void end_product(const struct product *p)
{
    const int64_t lanes = BR * sizeof *p->to;

    settle_memory();
    _tile_stored(0, p->to, lanes);
    _tile_stored(1, p->to + VLEN, lanes);
    _tile_stored(2, p->to + TILE / 2 * BR, lanes);
    _tile_stored(3, p->to + TILE / 2 * BR + VLEN, lanes);
    settle_memory();
}

/* s->work: scores of two more tiles, and a product of values. */
enum { WORK_SCORES = BC * BR, WORK_PRODUCT = TILE * BR };

/* Q and keys x .. x + TILE - 1 of the block. */
static struct product score_product(const struct state *s, const struct rows *g,
                                    const uint16_t *k, int64_t x, float *scores)
{
    const int64_t d = tile_ceil(s->p->d);

    return (struct product){.a = k + x * d,
                            .b = (const uint32_t *)g->q,
                            .units = d / TILE,
                            .to = scores + x * BR};
}

/* Converts products of keys a .. e - 1 to scores; s->row_max: their maxima. */
static void scale_scores(const struct state *s, float *scores, vec scale, int64_t a,
                         int64_t e)
{
    vec low = vec_load(s->row_max), high = vec_load(s->row_max + VLEN);

    for (int64_t x = a; x < e; x++) {
        float *const at = scores + x * BR;
        const vec y = vec_mul(vec_load(at), scale),
                  z = vec_mul(vec_load(at + VLEN), scale);

        vec_store(at, y);
        vec_store(at + VLEN, z);
        low = vec_max(y, low);
        high = vec_max(z, high);
    }
    vec_store(s->row_max, low);
    vec_store(s->row_max + VLEN, high);
}

static void scores(const struct state *s, const struct rows *g, int64_t j0, int64_t a,
                   int64_t e)
{
    (void)j0;
    for (int64_t x = tile_floor(a); x < e; x += TILE) {
        const struct product product =
            score_product(s, g, (const uint16_t *)s->k, x, s->s);

        begin_product();
        for (int64_t u = 0; u < product.units; u++)
            add_unit(&product, u);
        end_product(&product);
    }
    scale_scores(s, s->s, vec_set1(to_real(s->p->scale)), a, e);
}

/* Clears weights outside keys a .. e - 1 in the tiles of these keys. */
static void clear_weights(float *weights, int64_t a, int64_t e)
{
    const int64_t from = tile_floor(a) / 2, to = tile_ceil(e) / 2;

    memset(weights + from * BR, 0, (size_t)(a / 2 - from) * BR * sizeof *weights);
    memset(weights + PAIRS(e) * BR, 0, (size_t)(to - PAIRS(e)) * BR * sizeof *weights);
}

/* Columns c .. c + TILE - 1 of V and weights of keys a .. e - 1. */
static struct product value_product(const uint16_t *v, const float *weights, int64_t a,
                                    int64_t e, int64_t c, float *to)
{
    const int64_t from = tile_floor(a);

    return (struct product){.a = v + c * BC + from * TILE,
                            .b = (const uint32_t *)weights + from / 2 * BR,
                            .units = (tile_ceil(e) - from) / TILE,
                            .to = to};
}

/* Adds the terms of non-finite V of keys a .. e - 1 to acc in the rows that see them. */
static void add_infinite(const struct state *s, const struct rows *g,
                         const float *weights, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;

    for (int64_t x = a; x < e; x++) {
        const uint16_t *value = attendi_view_row(v, s->item->b, s->item->hk, j0 + x);

        for (int64_t c = 0; c < s->p->dv; c++) {
            const uint32_t y = value[c * v->stride[3]];

            for (int64_t r = 0; (y & 0x7f80) == 0x7f80 && r < BR; r += VLEN) {
                const __m512i two = _mm512_loadu_si512(weights + x / 2 * BR + r);
                const __m512i w = x % 2 ? two : _mm512_slli_epi32(two, 16);
                const __m512i w1 = _mm512_and_si512(w, _mm512_set1_epi32(~0xffff));
                const __mmask16 seen = (__mmask16)~_mm512_movepi32_mask(w1);
                float *const at = g->acc + c * BR + r;
                const vec value1 = _mm512_castsi512_ps(_mm512_set1_epi32((int)(y << 16)));

                vec_store(at, _mm512_mask3_fmadd_ps(_mm512_castsi512_ps(w1), value1,
                                                    vec_load(at), seen));
            }
        }
    }
}
