/* SPDX-License-Identifier: MIT */
/*
 * Not a header: blocks of a wide bf16 item on tile registers.  While a tile of rows
 * turns its scores into weights, which is work for the vector units, the products of
 * its neighbours run on the tile unit, an instruction or two at a time.  That is so over
 * all blocks of a split: the tiles stand in one line, block after block.
 * Parameters: forward_tmpl.h.
 */

/* Keys weighed at a time, among steps of products; a row sums their weights apart. */
#define PIECE 8
_Static_assert(BC % PIECE == 0, "pieces lie at the same keys for every row");

/* Tiles of rows in the order in which they take turns on the blocks. */
struct N(line) {
    struct key_range all; /* keys of the item */
    int64_t end;          /* of the keys at hand */
    int64_t j0, index;    /* the block at hand, and the next tile in it */
    int place;            /* of the last block laid out */
    bool open;            /* whether that is the block at hand */
    struct N(laid) laid[LAID];
};

/* Lays out the block at hand in a place that no pass needs any more. */
static const struct N(laid) * N(open_line)(const STATE *s, struct N(line) * line)
{
    const struct key_range at =
        N(block_range)(s, line->all.lo, line->all.hi, line->j0, BC);

    if (!line->open) {
        line->place = (line->place + 1) % LAID;
        line->laid[line->place] = N(lay_out)(s, line->place, line->j0, at.lo, at.hi);
        line->open = true;
    }
    return &line->laid[line->place];
}

/* The next tile that sees some of its block; a block that none sees is not laid out. */
static void N(next_pass)(STATE *s, struct N(line) * line, REAL *scores,
                         struct N(pass) * pass)
{
    pass->g = NULL;
    pass->s = scores;
    s->words = pass->words;
    while (!pass->g && line->j0 < line->end) {
        ROWS *const g = &s->rows[line->index];

        pass->at =
            N(keys_left)(s, g, g->width, line->j0,
                         N(block_range)(s, g->lo, g->hi, line->j0, BC), &pass->edge);
        if (pass->at.lo < pass->at.hi) {
            pass->g = g;
            pass->block = N(open_line)(s, line);
        }
        if (++line->index == s->count) {
            line->index = 0;
            line->j0 += BC;
            line->open = false;
        }
    }
}

/*
 * Products of the pass to scores, where the rule wants to see them; s->top of the
 * products is that of the scores already for a positive scale, since rounding keeps
 * order.
 */
static void N(begin_scores)(STATE *s, struct N(pass) * pass)
{
    const struct problem *p = s->p;
    const REAL scale = N(narrow)(p->scale);

    if (scale > 0 && scale <= REAL_MAX && !pass->edge && p->softcap == 0 &&
        !p->bias.data && !p->alibi && !pass->g->tally) {
        pass->scale = scale;
        for (int64_t r = 0; r < BR; r += VLEN)
            V(store)(s->top + r, V(mul)(V(load)(s->top + r), V(set1)(scale)));
    } else {
        pass->scale = 1;
        N(clear_top)(s);
        N(scale_scores)(s, s->s, V(set1)(scale), pass->at.lo, pass->at.hi);
        N(wide_rule)(s, pass->g, pass->block->j0, pass->at.lo, pass->at.hi, pass->edge);
    }
}

/* What statistics take of the scores, and of the block once for all its tiles. */
static void N(begin_pass_note)(STATE *s, struct N(pass) * pass)
{
    const int64_t j0 = pass->block->j0, a = pass->at.lo, e = pass->at.hi;

    if (s->note->j0 != j0)
        N(begin_note)(s, j0, 0, min_i64(BC, s->p->nk - j0));
    N(open_note)(s, pass->g, j0, a, e);
    memset(s->note->reach, 0, sizeof s->note->reach);
    for (int64_t r = 0; r < BR; r += VLEN)
        N(note_scores)(s, pass->g, j0, a, e, r);
}

static void N(end_pass_note)(STATE *s, struct N(pass) * pass)
{
    const int64_t j0 = pass->block->j0, a = pass->at.lo, e = pass->at.hi;

    memcpy(s->note->whole, pass->sum, sizeof s->note->whole);
    for (int64_t r = 0; r < BR; r += VLEN)
        N(note_weights)(s, pass->g, j0, a, e, r);
    N(close_note)(s, pass->g, j0, a, e, 0);
}

/* A piece's sums of statistics, of even and of odd keys, to the block's. */
static ALWAYS_INLINE void N(add_piece_sums)(const STATE *s, int64_t r, const VEC *sum)
{
    REAL *const to[] = {[N(sum_xw)] = s->note->sum + SUM_SPREAD * BR,
                        [N(sum_ww)] = s->note->square[SQUARE_WEIGHT],
                        [N(sum_jw)] = s->note->reach,
                        [N(sum_xxw)] = s->note->sum + SUM_SPREAD2 * BR};

    for (int x = 0; x < N(sums); x++)
        V(store)
    (to[x] + r, V(add)(V(load)(to[x] + r), V(add)(sum[x], sum[N(sums) + x])));
}

/* The new maximum of every row, and what it makes of the sums before. */
static void N(begin_weights)(STATE *s, struct N(pass) * pass)
{
    ROWS *const g = pass->g;

    s->s = pass->s;
    s->words = pass->words;
    N(begin_scores)(s, pass);
    if (g->tally)
        N(begin_pass_note)(s, pass);
    for (int64_t r = 0; r < BR; r += VLEN) {
        const VEC before = V(load)(g->m + r), m = V(max)(V(load)(s->top + r), before);
        const VEC base = N(finite_or_0)(m);

        V(store)(pass->base + r, base);
        V(store)(pass->fix + r, N(weight)(before, base));
        V(store)(pass->sum + r, V(set1)(0));
        V(store)(g->m + r, m);
    }
}

/*
 * The weight of key x in lanes r .., from its score or product at `product`; mark NULL:
 * not at an edge; `sum`: of `sums` statistics, 0 for none.
 */
static ALWAYS_INLINE VEC N(tile_weight)(const STATE *s, const REAL *product,
                                        const REAL *mark, VEC scale, VEC base, int64_t x,
                                        int64_t r, VEC *sum, const int sums)
{
    const VEC gap = V(sub)(V(mul)(V(load)(product), scale), base);
    VEC w = N(weight_of)(gap);

    if (mark)
        w = V(either)(w, V(load)(mark));
    if (sums > 0)
        N(add_sums)(s, x, r, gap, w, sum, sums);
    return w;
}

/*
 * Weights of keys x .. x + PIECE - 1 and their sums, with `units` turns of the product at
 * hand among them; `values`: what the product before it was of; `sums` of statistics.
 */
static ALWAYS_INLINE void N(weigh_among)(const STATE *s, struct N(pass) * pass,
                                         struct N(beside) * b, int64_t x, const int edge,
                                         const int units, const int values,
                                         const int sums)
{
    enum { parts = PIECE / 2 * QV };
    const VEC scale = V(set1)(pass->scale);
    const REAL *const from = s->s + x * BR, *const mark = s->extra + x * BR;
    REAL *const to = s->s + x / 2 * BR;
    VEC base[QV], sum[QV], with[QV], more[QV][2 * N(sums)];

    for (int v = 0; v < QV; v++) {
        base[v] = V(load)(pass->base + v * VLEN);
        sum[v] = V(set1)(0);
        for (int y = 0; y < 2 * sums; y++)
            more[v][y] = V(set1)(0);
    }
    if (units > 0)
        N(load_use)(s, b, with, values);
    UNROLL
    for (int n = 0; n < parts; n++) {
        const int v = n % QV, pair = n / QV;

        UNROLL
        for (int k = n * units * N(unit_steps) / parts;
             k < (n + 1) * units * N(unit_steps) / parts; k++)
            N(run_step)(b, k % N(unit_steps), with, values);
        const int64_t key = x + 2 * pair, r = v * VLEN, at = 2 * pair * BR + r;
        const VEC even = N(tile_weight)(s, from + at, edge ? mark + at : NULL, scale,
                                        base[v], key, r, more[v], sums);
        const VEC odd =
            N(tile_weight)(s, from + at + BR, edge ? mark + at + BR : NULL, scale,
                           base[v], key + 1, r, more[v] + N(sums), sums);

        N(store_pairs)(to + pair * BR + v * VLEN, even, odd);
        sum[v] = V(add)(V(add)(sum[v], even), odd);
    }
    if (units > 0)
        N(store_use)(s, with, values);
    b->done += units;
    for (int v = 0; v < QV; v++) {
        V(store)
        (pass->sum + v * VLEN, V(add)(V(load)(pass->sum + v * VLEN), sum[v]));
        if (sums > 0)
            N(add_piece_sums)(s, v * VLEN, more[v]);
    }
}

/* Each in a function of its own, whose registers are its own. */
#define WEIGH(name, edge, units, values, sums)                                           \
    static __attribute__((noinline)) void N(name)(const STATE *s, struct N(pass) * pass, \
                                                  struct N(beside) * b, int64_t x)       \
    {                                                                                    \
        N(weigh_among)(s, pass, b, x, edge, units, values, sums);                        \
    }
WEIGH(weigh_alone, 0, 0, 0, 0)
WEIGH(weigh_score, 0, 1, 0, 0)
WEIGH(weigh_value, 0, 1, 1, 0)
WEIGH(weigh_scores, 0, 2, 0, 0)
WEIGH(weigh_values, 0, 2, 1, 0)
WEIGH(weigh_edge_alone, 1, 0, 0, 0)
WEIGH(weigh_edge_score, 1, 1, 0, 0)
WEIGH(weigh_edge_value, 1, 1, 1, 0)
WEIGH(weigh_edge_scores, 1, 2, 0, 0)
WEIGH(weigh_edge_values, 1, 2, 1, 0)
WEIGH(weigh_stats_alone, pass->edge, 0, 0, N(sums))
WEIGH(weigh_stats_score, pass->edge, 1, 0, N(sums))
WEIGH(weigh_stats_value, pass->edge, 1, 1, N(sums))
WEIGH(weigh_stats_scores, pass->edge, 2, 0, N(sums))
WEIGH(weigh_stats_values, pass->edge, 2, 1, N(sums))

static void N(weigh_whole)(const STATE *s, struct N(pass) * pass, struct N(beside) * b,
                           int64_t x, int64_t units)
{
    static void (*const weigh[3][3][2])(const STATE *, struct N(pass) *,
                                        struct N(beside) *, int64_t) = {
        {{N(weigh_alone), N(weigh_alone)},
         {N(weigh_score), N(weigh_value)},
         {N(weigh_scores), N(weigh_values)}},
        {{N(weigh_edge_alone), N(weigh_edge_alone)},
         {N(weigh_edge_score), N(weigh_edge_value)},
         {N(weigh_edge_scores), N(weigh_edge_values)}},
        {{N(weigh_stats_alone), N(weigh_stats_alone)},
         {N(weigh_stats_score), N(weigh_stats_value)},
         {N(weigh_stats_scores), N(weigh_stats_values)}}};

    const int kind = pass->g->tally ? 2 : pass->edge != 0;

    weigh[kind][min_i64(units, 2)][b->use.values](s, pass, b, x);
}

/* The same for keys a .. e - 1 of a piece, and nothing among them. */
static void N(weigh_some)(const STATE *s, struct N(pass) * pass, int64_t a, int64_t e)
{
    const VEC scale = V(set1)(pass->scale);

    for (int64_t r = 0; r < BR; r += VLEN) {
        const int sums = pass->g->tally ? N(sums) : 0;
        const VEC base = V(load)(pass->base + r);
        VEC sum = V(set1)(0), more[2 * N(sums)];

        for (int y = 0; y < 2 * N(sums); y++)
            more[y] = V(set1)(0);
        for (int64_t x = a; x < e; x += 2) {
            VEC w[2] = {V(set1)(0), V(set1)(0)};

            for (int64_t y = x; y < min_i64(x + 2, e); y++)
                w[y - x] = N(tile_weight)(
                    s, s->s + y * BR + r, pass->edge ? s->extra + y * BR + r : NULL,
                    scale, base, y, r, more + (y - x) * N(sums), sums);
            N(keep_weights)(s, x, r, w[0], w[1]);
            sum = V(add)(V(add)(sum, w[0]), w[1]);
        }
        V(store)(pass->sum + r, V(add)(V(load)(pass->sum + r), sum));
        if (sums > 0)
            N(add_piece_sums)(s, r, more);
    }
}

/* Keys of the piece at x, and turns of the products beside it up to `until`. */
static void N(weigh_piece)(const STATE *s, struct N(pass) * pass, struct N(beside) * b,
                           int64_t x, int64_t until)
{
    const int64_t a = max_i64(x, pass->at.lo), e = min_i64(x + PIECE, pass->at.hi);

    if (e - a < PIECE) {
        N(weigh_some)(s, pass, a, e);
    } else {
        if (b->done < until && b->unit == 0)
            N(start_product)(s, b);
        N(weigh_whole)
        (s, pass, b, x, min_i64(until - b->done, b->product.units - b->unit));
        if (b->unit > 0 && b->unit == b->product.units)
            N(finish_product)(b);
    }
    N(run_beside)(s, b, until);
}

/* Weights of the pass, piece by piece, and the products beside it spread among them. */
static void N(weigh_pass)(STATE *s, struct N(pass) * pass, struct N(beside) * b)
{
    const int64_t a = pass->at.lo, e = pass->at.hi, first = a / PIECE;
    const int64_t pieces = ceil_div_i64(e, PIECE) - first;
    ROWS *const g = pass->g;

    N(begin_weights)(s, pass);
    N(open_beside)(s, b);
    for (int64_t n = 0; n < pieces; n++)
        N(weigh_piece)(s, pass, b, (first + n) * PIECE, b->turns * (n + 1) / pieces);
    N(close_beside)(s, b);
    N(clear_weights)(pass->s, a, e);
    for (int64_t r = 0; r < BR; r += VLEN)
        V(store)
    (g->l + r, V(fma)(V(load)(g->l + r), V(load)(pass->fix + r), V(load)(pass->sum + r)));
    if (g->tally)
        N(end_pass_note)(s, pass);
}

static void N(wide_blocks)(STATE *s, struct key_range all, struct key_range keys)
{
    REAL *const own = s->s, *const work = s->work;
    uint32_t(*const own_words)[BR] = s->words;
    REAL *const scores[3] = {own, work, work + N(work_scores)};
    struct N(line) line = {.all = all, .end = keys.hi, .j0 = keys.lo / BC * BC};
    struct N(pass) passes[3] = {{0}};
    struct N(beside) b = {
        .before = &passes[2], .after = &passes[0], .buffer = work + 2 * N(work_scores)};

    if (s->note)
        s->note->j0 = -1;
    N(next_pass)(s, &line, scores[0], b.after);
    N(open_beside)(s, &b);
    N(close_beside)(s, &b);
    for (int turn = 0; b.after->g; turn++) {
        struct N(pass) *const now = b.after;

        b.after = &passes[(turn + 1) % 3];
        N(next_pass)(s, &line, scores[(turn + 1) % 3], b.after);
        N(weigh_pass)(s, now, &b);
        b.before = now;
    }
    N(open_beside)(s, &b);
    N(close_beside)(s, &b);
    s->s = own;
    s->words = own_words;
}
