/* SPDX-License-Identifier: MIT */
/*
 * Not a header: blocks of a prefill item on tile registers.  While the vector units
 * compute the weights of a tile of rows, the tile unit runs the products of its
 * neighbours, an instruction or two at a time.  The tiles form one pipeline over all
 * blocks of a split.
 */

/*
 * Keys whose weights are computed at a time, between steps of products, and summed
 * separately.
 */
#define PIECE 8
_Static_assert(BC % PIECE == 0, "pieces lie at the same keys for every row");

/* The sequence of tiles of rows and blocks. */
struct line {
    struct key_range all; /* keys of the item */
    int64_t end;          /* end of the keys of this split */
    int64_t j0, index;    /* the current block, and the next tile in it */
    int place;            /* slot of the last packed block */
    bool open;            /* the current block is packed */
    struct packed block[PACKED_BLOCKS];
};

/* Packs the current block into a slot that no pass uses any more. */
static const struct packed *open_line(const struct state *s, struct line *line)
{
    const struct key_range at = block_range(s, line->all.lo, line->all.hi, line->j0, BC);

    if (!line->open) {
        line->place = (line->place + 1) % PACKED_BLOCKS;
        line->block[line->place] = pack_block(s, line->place, line->j0, at.lo, at.hi);
        line->open = true;
    }
    return &line->block[line->place];
}

/*
 * Moves to the next tile that sees a part of its block; blocks that no tile sees are not
 * packed.
 */
static void next_pass(struct state *s, struct line *line, REAL *scores, struct pass *pass)
{
    pass->g = NULL;
    pass->s = scores;
    s->words = pass->words;
    while (!pass->g && line->j0 < line->end) {
        struct rows *const g = &s->rows[line->index];

        pass->at = keys_left(s, g, g->width, line->j0,
                             block_range(s, g->lo, g->hi, line->j0, BC), &pass->edge);
        if (pass->at.lo < pass->at.hi) {
            pass->g = g;
            pass->block = open_line(s, line);
        }
        if (++line->index == s->count) {
            line->index = 0;
            line->j0 += BC;
            line->open = false;
        }
    }
}

/*
 * Converts products of the pass to scores, if the rule needs them; for a positive scale
 * s->row_max of the products is that of the scores, since rounding is monotonic.
 */
static void begin_scores(struct state *s, struct pass *pass)
{
    const struct problem *p = s->p;
    const REAL scale = to_real(p->scale);

    if (scale > 0 && scale <= REAL_MAX && !pass->edge && p->softcap == 0 &&
        !p->bias.data && !p->alibi && !wants(s, STATS_RAW | STATS_MAGNITUDE_NOISE)) {
        pass->scale = scale;
        for (int64_t r = 0; r < BR; r += VLEN)
            vec_store(s->row_max + r, vec_mul(vec_load(s->row_max + r), vec_set1(scale)));
    } else {
        pass->scale = 1;
        clear_row_max(s);
        scale_scores(s, s->s, vec_set1(scale), pass->at.lo, pass->at.hi);
        prefill_rule(s, pass->g, pass->block->j0, pass->at.lo, pass->at.hi, pass->edge);
    }
}

/*
 * Inserts the scores of keys x .. x + PIECE - 1, below e, into the k largest of each lane
 * whose x is not negative.
 */
static ALWAYS_INLINE void sift_pieces(const REAL *products, vec scale, int64_t j0,
                                      int64_t e, __m512i x, vec *top, vec *key,
                                      const int k)
{
    const __m512i lane =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __mmask16 some = _mm512_cmpge_epi32_mask(x, _mm512_setzero_si512());

    for (int i = 0; i < PIECE; i++, x = _mm512_add_epi32(x, _mm512_set1_epi32(1))) {
        const __mmask16 in =
            _mm512_mask_cmplt_epi32_mask(some, x, _mm512_set1_epi32((int)e));
        const __m512i at =
            _mm512_add_epi32(_mm512_mullo_epi32(x, _mm512_set1_epi32(BR)), lane);
        const vec y = _mm512_mask_i32gather_ps(vec_set1(-INFINITY), in, at, products, 4);
        const __m512i j = _mm512_add_epi32(x, _mm512_set1_epi32((int)j0));

        sift(top, key, vec_mul(y, scale), _mm512_castsi512_ps(j), k);
    }
}

static ALWAYS_INLINE vec max_of_piece(const REAL *at, int64_t keys)
{
    vec max = vec_load(at);

    if (keys >= PIECE)
        return vec_max(max_of_four(at), max_of_four(at + 4 * BR));
    for (int64_t x = 1; x < keys; x++)
        max = vec_max(max, vec_load(at + x * BR));
    return max;
}

/*
 * The two largest scores of each lane are in the two pieces with the largest maxima,
 * which are found without branches.
 */
static void stat_top_two(const struct state *s, const struct pass *pass, int64_t r,
                         vec scale)
{
    enum { k = 2 };
    struct accum *const t = pass->g->accum;
    const REAL *const products = s->s + r;
    const vec least = vec_max(vec_load(t->bar + r), vec_load(t->top[k - 1] + r));
    const int64_t a = pass->at.lo, e = pass->at.hi;
    vec best[k] = {least, least}, first[k] = {key_bits(-1), key_bits(-1)};

    if (!vec_lanes_lt(least, vec_load(s->row_max + r)))
        return;
    for (int64_t x = a; x < e; x += PIECE)
        sift(best, first, vec_mul(max_of_piece(products + x * BR, e - x), scale),
             key_bits(x), k);
    const __m512i x = _mm512_castps_si512(first[0]), y = _mm512_castps_si512(first[1]);
    vec top[k] = {vec_load(t->top[0] + r), vec_load(t->top[1] + r)};
    vec key[k] = {vec_load(t->top_key[0] + r), vec_load(t->top_key[1] + r)};

    /* The earlier piece first, for ties. */
    sift_pieces(products, scale, pass->block->j0, e, _mm512_min_epi32(x, y), top, key, k);
    sift_pieces(products, scale, pass->block->j0, e, _mm512_max_epi32(x, y), top, key, k);
    for (int n = 0; n < k; n++) {
        vec_store(t->top[n] + r, top[n]);
        vec_store(t->top_key[n] + r, key[n]);
    }
}

static void stat_tile_top(struct state *s, const struct pass *pass, int64_t r)
{
    const vec scale = vec_set1(pass->scale);

    if (s->p->stats.top == 2)
        stat_top_two(s, pass, r, scale);
    else
        stat_top_of(s, pass->g, pass->block->j0, pass->at.lo, pass->at.hi, r,
                    s->p->stats.top, scale);
}

/* Statistics of the scores, and of the block once for all its tiles. */
static void begin_pass_stat(struct state *s, struct pass *pass)
{
    const int64_t j0 = pass->block->j0, a = pass->at.lo, e = pass->at.hi;

    if (s->stat->j0 != j0)
        begin_stat(s, j0, 0, min_i64(BC, s->p->nk - j0));
    open_stat(s, pass->g, j0, a, e);
    memset(s->stat->reach, 0, sizeof s->stat->reach);
    for (int64_t r = 0; r < BR; r += VLEN) {
        if (wants(s, STATS_TOP))
            stat_tile_top(s, pass, r);
        if (wants(s, STATS_RAW))
            stat_raw(s, pass->g, a, e, r);
    }
}

static void end_pass_stat(struct state *s, struct pass *pass)
{
    const int64_t j0 = pass->block->j0, a = pass->at.lo, e = pass->at.hi;

    s->values.data = pass->block->v;
    s->finite = pass->block->finite;
    memcpy(s->stat->whole, pass->sum, sizeof s->stat->whole);
    for (int64_t r = 0; r < BR; r += VLEN)
        stat_weights(s, pass->g, j0, a, e, r);
    close_stat(s, pass->g, j0, a, e, 0);
}

/* Adds a piece's sums of statistics to those of the block. */
static ALWAYS_INLINE void add_piece_sums(const struct state *s, int64_t r, const vec *sum,
                                         const int sums)
{
    REAL *const to[] = {[SUM_XW] = s->stat->sum + SUM_SPREAD * BR,
                        [SUM_WW] = s->stat->square[SQUARE_WEIGHT],
                        [SUM_JW] = s->stat->reach,
                        [SUM_XXW] = s->stat->sum + SUM_SPREAD2 * BR};

    for (int x = 0; x < sums; x++)
        vec_store(to[x] + r, vec_add(vec_load(to[x] + r), sum[x]));
}

/* Computes the new maximum of every row, and rescales the sums. */
static void begin_weights(struct state *s, struct pass *pass)
{
    struct rows *const g = pass->g;

    s->s = pass->s;
    s->words = pass->words;
    begin_scores(s, pass);
    pass->sums = g->accum ? wants(s, STATS_SPREAD2) ? WEIGHT_SUMS : SUM_XXW : 0;
    if (g->accum)
        begin_pass_stat(s, pass);
    for (int64_t r = 0; r < BR; r += VLEN) {
        const vec before = vec_load(g->m + r),
                  m = vec_max(vec_load(s->row_max + r), before);
        const vec base = finite_or_0(m);

        vec_store(pass->base + r, base);
        vec_store(pass->rescale + r, weight_of(before, base));
        vec_store(pass->sum + r, vec_set1(0));
        vec_store(g->m + r, m);
    }
}

/*
 * As add_sums, but skips lanes whose exp is 0, which avoids 0 * inf without clamping the
 * gap.
 */
static ALWAYS_INLINE void add_tile_sums(const struct state *s, int64_t j, int64_t r,
                                        vec gap, vec w, vec *sum, const int sums)
{
    const __mmask16 some = _mm512_cmp_ps_mask(vec_mul(gap, vec_set1((REAL)LOG2_E)),
                                              vec_set1(EXP2_MIN), _CMP_NLT_UQ);

    sum[SUM_XW] = _mm512_mask3_fmadd_ps(gap, w, sum[SUM_XW], some);
    sum[SUM_WW] = vec_fma(w, w, sum[SUM_WW]);
    sum[SUM_JW] = vec_fma(vec_set1(ramp(s)[j]), w, sum[SUM_JW]);
    if (sums > SUM_XXW)
        sum[SUM_XXW] = _mm512_mask3_fmadd_ps(vec_mul(gap, w), gap, sum[SUM_XXW], some);
    vec_store(s->extra + j * BR + r, w);
}

/*
 * The weight of key x in lanes r .., from its score or product at `product`; mask NULL:
 * no hidden keys; `sum`: the first `sums` sums of statistics.
 */
static ALWAYS_INLINE vec tile_weight(const struct state *s, const REAL *product,
                                     const REAL *mask, vec scale, vec base, int64_t x,
                                     int64_t r, vec *sum, const int sums)
{
    const vec gap = vec_sub(vec_mul(vec_load(product), scale), base);
    vec w = vec_exp(gap);

    if (mask)
        w = vec_or(w, vec_load(mask));
    if (sums > 0)
        add_tile_sums(s, x, r, gap, w, sum, sums);
    return w;
}

/*
 * Weights of keys x .. x + PIECE - 1 and their sums, interleaved with `units` slots of
 * the current product; `values`: the previous product was of values; `sums`: sums of
 * statistics.
 */
static ALWAYS_INLINE void weigh_among(const struct state *s, struct pass *pass,
                                      struct interleave *b, int64_t x, const int edge,
                                      const int units, const int values, const int sums)
{
    enum { pairs = PIECE / 2 * QV };
    const vec scale = vec_set1(pass->scale);
    const REAL *const from = s->s + x * BR, *const mask = s->extra + x * BR;
    REAL *const to = s->s + x / 2 * BR;
    vec base[QV], sum[QV], with[QV], more[QV][WEIGHT_SUMS];

    for (int v = 0; v < QV; v++) {
        base[v] = vec_load(pass->base + v * VLEN);
        sum[v] = vec_set1(0);
        for (int y = 0; y < sums; y++)
            more[v][y] = vec_set1(0);
    }
    if (units > 0)
        load_use(s, b, with, values);
    UNROLL
    for (int n = 0; n < pairs; n++) {
        const int v = n % QV, pair = n / QV;

        UNROLL
        for (int k = n * units * UNIT_STEPS / pairs;
             k < (n + 1) * units * UNIT_STEPS / pairs; k++)
            run_step(b, k % UNIT_STEPS, with, values);
        const int64_t key = x + 2 * pair, r = v * VLEN, at = 2 * pair * BR + r;
        const vec even = tile_weight(s, from + at, edge ? mask + at : NULL, scale,
                                     base[v], key, r, more[v], sums);
        const vec odd = tile_weight(s, from + at + BR, edge ? mask + at + BR : NULL,
                                    scale, base[v], key + 1, r, more[v], sums);

        store_pairs(to + pair * BR + v * VLEN, even, odd);
        sum[v] = vec_add(vec_add(sum[v], even), odd);
    }
    if (units > 0)
        store_use(s, with, values);
    b->done += units;
    for (int v = 0; v < QV; v++) {
        vec_store(pass->sum + v * VLEN, vec_add(vec_load(pass->sum + v * VLEN), sum[v]));
        if (sums > 0)
            add_piece_sums(s, v * VLEN, more[v], sums);
    }
}

/*
 * Instances of weigh_among as functions with separate register allocation: keys from x
 * on, and its `edge`, `units`, `values` and `sums`.
 */
#define WEIGH static __attribute__((noinline)) void
#define WEIGH_ARGS                                                                       \
    const struct state *s, struct pass *pass, struct interleave *b, int64_t x
#define WEIGH_AMONG(...) weigh_among(s, pass, b, x, __VA_ARGS__)
WEIGH weigh_alone(WEIGH_ARGS) { WEIGH_AMONG(0, 0, 0, 0); }
WEIGH weigh_score(WEIGH_ARGS) { WEIGH_AMONG(0, 1, 0, 0); }
WEIGH weigh_value(WEIGH_ARGS) { WEIGH_AMONG(0, 1, 1, 0); }
WEIGH weigh_scores(WEIGH_ARGS) { WEIGH_AMONG(0, 2, 0, 0); }
WEIGH weigh_values(WEIGH_ARGS) { WEIGH_AMONG(0, 2, 1, 0); }
WEIGH weigh_edge_alone(WEIGH_ARGS) { WEIGH_AMONG(1, 0, 0, 0); }
WEIGH weigh_edge_score(WEIGH_ARGS) { WEIGH_AMONG(1, 1, 0, 0); }
WEIGH weigh_edge_value(WEIGH_ARGS) { WEIGH_AMONG(1, 1, 1, 0); }
WEIGH weigh_edge_scores(WEIGH_ARGS) { WEIGH_AMONG(1, 2, 0, 0); }
WEIGH weigh_edge_values(WEIGH_ARGS) { WEIGH_AMONG(1, 2, 1, 0); }
WEIGH weigh_stats_alone(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 0, 0, SUM_XXW); }
WEIGH weigh_stats_score(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 1, 0, SUM_XXW); }
WEIGH weigh_stats_value(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 1, 1, SUM_XXW); }
WEIGH weigh_stats_scores(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 2, 0, SUM_XXW); }
WEIGH weigh_stats_values(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 2, 1, SUM_XXW); }
WEIGH weigh_spread_alone(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 0, 0, WEIGHT_SUMS); }
WEIGH weigh_spread_score(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 1, 0, WEIGHT_SUMS); }
WEIGH weigh_spread_value(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 1, 1, WEIGHT_SUMS); }
WEIGH weigh_spread_scores(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 2, 0, WEIGHT_SUMS); }
WEIGH weigh_spread_values(WEIGH_ARGS) { WEIGH_AMONG(pass->edge, 2, 1, WEIGHT_SUMS); }

static void weigh_whole(const struct state *s, struct pass *pass, struct interleave *b,
                        int64_t x, int64_t units)
{
    static void (*const weigh[4][3][2])(const struct state *, struct pass *,
                                        struct interleave *, int64_t) = {
        {{weigh_alone, weigh_alone},
         {weigh_score, weigh_value},
         {weigh_scores, weigh_values}},
        {{weigh_edge_alone, weigh_edge_alone},
         {weigh_edge_score, weigh_edge_value},
         {weigh_edge_scores, weigh_edge_values}},
        {{weigh_stats_alone, weigh_stats_alone},
         {weigh_stats_score, weigh_stats_value},
         {weigh_stats_scores, weigh_stats_values}},
        {{weigh_spread_alone, weigh_spread_alone},
         {weigh_spread_score, weigh_spread_value},
         {weigh_spread_scores, weigh_spread_values}}};

    const int kind = pass->sums ? pass->sums - SUM_XXW + 2 : pass->edge != 0;

    weigh[kind][min_i64(units, 2)][b->use.values](s, pass, b, x);
}

/* The same for keys a .. e - 1 of a piece, without interleaving. */
static void weigh_some(const struct state *s, struct pass *pass, int64_t a, int64_t e)
{
    const vec scale = vec_set1(pass->scale);

    for (int64_t r = 0; r < BR; r += VLEN) {
        const vec base = vec_load(pass->base + r);
        vec sum = vec_set1(0), more[WEIGHT_SUMS];

        for (int y = 0; y < WEIGHT_SUMS; y++)
            more[y] = vec_set1(0);
        for (int64_t x = a; x < e; x += 2) {
            vec w[2] = {vec_set1(0), vec_set1(0)};

            for (int64_t y = x; y < min_i64(x + 2, e); y++)
                w[y - x] = tile_weight(s, s->s + y * BR + r,
                                       pass->edge ? s->extra + y * BR + r : NULL, scale,
                                       base, y, r, more, pass->sums);
            keep_weights(s, x, r, w[0], w[1]);
            sum = vec_add(vec_add(sum, w[0]), w[1]);
        }
        vec_store(pass->sum + r, vec_add(vec_load(pass->sum + r), sum));
        if (pass->sums > 0)
            add_piece_sums(s, r, more, pass->sums);
    }
}

/* Keys of the piece at x, interleaved with slots of the products up to `until`. */
static void weigh_piece(const struct state *s, struct pass *pass, struct interleave *b,
                        int64_t x, int64_t until)
{
    const int64_t a = max_i64(x, pass->at.lo), e = min_i64(x + PIECE, pass->at.hi);

    if (e - a < PIECE) {
        weigh_some(s, pass, a, e);
    } else {
        if (b->done < until && b->unit == 0)
            start_product(s, b);
        weigh_whole(s, pass, b, x, min_i64(until - b->done, b->product.units - b->unit));
        if (b->unit > 0 && b->unit == b->product.units)
            finish_product(b);
    }
    run_interleaved(s, b, until);
}

/* Weights of the pass, piece by piece, and the products interleaved with them. */
static void weigh_pass(struct state *s, struct pass *pass, struct interleave *b)
{
    const int64_t a = pass->at.lo, e = pass->at.hi, first = a / PIECE;
    const int64_t pieces = ceil_div_i64(e, PIECE) - first;
    struct rows *const g = pass->g;

    begin_weights(s, pass);
    begin_interleave(s, b);
    for (int64_t n = 0; n < pieces; n++)
        weigh_piece(s, pass, b, (first + n) * PIECE, b->slots * (n + 1) / pieces);
    end_interleave(s, b);
    clear_weights(pass->s, a, e);
    for (int64_t r = 0; r < BR; r += VLEN)
        vec_store(g->l + r, vec_fma(vec_load(g->l + r), vec_load(pass->rescale + r),
                                    vec_load(pass->sum + r)));
    if (g->accum)
        end_pass_stat(s, pass);
}

/* As in prefill_block_tmpl.h. */
static void prefill_blocks(struct state *s, struct key_range all, struct key_range keys)
{
    REAL *const own = s->s, *const work = s->work;
    uint32_t(*const own_words)[BR] = s->words;
    REAL *const scores[3] = {own, work, work + WORK_SCORES};
    struct line line = {.all = all, .end = keys.hi, .j0 = keys.lo / BC * BC};
    struct pass passes[3] = {{0}};
    struct interleave b = {
        .before = &passes[2], .after = &passes[0], .buffer = work + 2 * WORK_SCORES};

    if (s->stat)
        s->stat->j0 = -1;
    next_pass(s, &line, scores[0], b.after);
    begin_interleave(s, &b);
    end_interleave(s, &b);
    for (int n = 0; b.after->g; n++) {
        struct pass *const now = b.after;

        b.after = &passes[(n + 1) % 3];
        next_pass(s, &line, scores[(n + 1) % 3], b.after);
        weigh_pass(s, now, &b);
        b.before = now;
    }
    begin_interleave(s, &b);
    end_interleave(s, &b);
    s->s = own;
    s->words = own_words;
}
