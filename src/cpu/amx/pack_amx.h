/* SPDX-License-Identifier: MIT */
/*
 * Not a header: K copied and V transposed, a block at a time, into the squares that
 * products_amx.h multiplies.  Scratch holds PACKED_BLOCKS blocks: the tiles of rows in
 * flight (prefill_amx.h) may be in as many.
 */
#define PACKED_BLOCKS 3

/* A packed block of keys. */
struct packed {
    int64_t j0;
    uint16_t *k, *v;
    bool finite; /* V is finite; else v has 0 in place of Inf and NaN */
};

/* Elements of the packed K and V of a block. */
static size_t packed_keys(const struct problem *p)
{
    return (size_t)tile_ceil(p->d) * BC;
}

static size_t packed_values(const struct problem *p)
{
    return (size_t)tile_ceil(p->dv) * BC;
}

static struct operand_sizes operand_sizes(const struct problem *p)
{
    return (struct operand_sizes){
        .q = q_size(p),
        .k = PACKED_BLOCKS * packed_keys(p) * sizeof(uint16_t),
        .v = PACKED_BLOCKS * packed_values(p) * sizeof(uint16_t),
        .work = (2 * WORK_SCORES + WORK_PRODUCT) * sizeof(float)};
}

static void pack_q(const struct state *s, struct rows *g) { pack_q_pairs(s, g); }

/* Copies K of keys a .. e - 1 to squares, TILE keys at a time. */
static void copy_keys(const struct state *s, uint16_t *squares, int64_t j0, int64_t a,
                      int64_t e)
{
    const attend_view *k = &s->p->k;
    const int64_t d = s->p->d;

    for (int64_t x = a; x < e; x++) {
        const uint16_t *const key = attendi_view_row(k, s->item->b, s->item->hk, j0 + x);
        uint16_t *const to = squares + tile_floor(x) * tile_ceil(d) + x % TILE * TILE;

        for (int64_t c = 0; c < d; c += TILE)
            vec_store((float *)(to + c * TILE), load_row_pairs(key, k->stride[3], c, d));
    }
}

/* Mask of the finite elements of x. */
static inline __mmask32 finite_mask(__m512i x)
{
    const __m512i exponent = _mm512_set1_epi16(0x7f80);

    return _mm512_cmpneq_epi16_mask(_mm512_and_si512(x, exponent), exponent);
}

/*
 * Loads columns c .. c + TILE - 1 of keys x0 .. x0 + TILE - 1, with 0 in place of Inf,
 * NaN and keys outside a .. e - 1; returns whether all were finite.
 */
static bool load_values(const struct state *s, int64_t j0, int64_t x0, int64_t c,
                        int64_t a, int64_t e, __m512i y[TILE])
{
    const attend_view *v = &s->p->v;
    const uint16_t *const row = attendi_view_row(v, s->item->b, s->item->hk, j0);
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
            y[i] = _mm512_castps_si512(load_row_pairs(value, v->stride[3], c, s->p->dv));
        finite &= finite_mask(y[i]);
    }
    if (finite == ~(__mmask32)0)
        return true;
    for (int i = 0; i < TILE; i++)
        y[i] = _mm512_maskz_mov_epi16(finite_mask(y[i]), y[i]);
    return false;
}

/* Every other column of y, from `first` on, in pairs of keys, transposed. */
static inline void transpose_half(uint16_t *to, const __m512i y[TILE], const int first)
{
    __m512 pair[VLEN];

    for (int i = 0; i < VLEN; i++) {
        const __m512i low = first ? _mm512_srli_epi32(y[2 * i], 16) : y[2 * i];
        const __m512i high = first ? y[2 * i + 1] : _mm512_slli_epi32(y[2 * i + 1], 16);

        pair[i] = _mm512_castsi512_ps(_mm512_mask_blend_epi16(0xaaaaaaaa, low, high));
    }
    vec_transpose(pair);
    for (int i = 0; i < VLEN; i++)
        vec_store((float *)(to + (2 * i + first) * TILE), pair[i]);
}

/*
 * Transposes V of a block to squares, with 0 for keys outside a .. e - 1.  Returns
 * whether it was finite.
 */
static bool transpose_values(const struct state *s, uint16_t *squares, int64_t j0,
                             int64_t a, int64_t e)
{
    bool finite = true;

    for (int64_t x = tile_floor(a); x < e; x += TILE)
        for (int64_t c = 0; c < s->p->dv; c += TILE) {
            uint16_t *const to = squares + c * BC + x * TILE;
            __m512i y[TILE];

            finite = load_values(s, j0, x, c, a, e, y) && finite;
            transpose_half(to, y, 0);
            transpose_half(to, y, 1);
        }
    return finite;
}

/* Packs keys a .. e - 1 of the block from j0 on into slot x of the scratch. */
static struct packed pack_block(const struct state *s, int x, int64_t j0, int64_t a,
                                int64_t e)
{
    struct packed to = {.j0 = j0,
                        .k = (uint16_t *)s->k + (size_t)x * packed_keys(s->p),
                        .v = (uint16_t *)s->v + (size_t)x * packed_values(s->p)};

    copy_keys(s, to.k, j0, a, e);
    to.finite = transpose_values(s, to.v, j0, a, e);
    return to;
}

/* For `scores`, which reads K from the first packed block. */
static void open_keys(struct state *s, int64_t j0, int64_t a, int64_t e)
{
    copy_keys(s, (uint16_t *)s->k, j0, a, e);
}

static void open_block(struct state *s, int64_t j0, int64_t a, int64_t e)
{
    open_keys(s, j0, a, e);
}
