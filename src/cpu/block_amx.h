/* SPDX-License-Identifier: MIT */
/*
 * Not a header: a block of a wide bf16 item on tile registers.  While a tile of rows
 * turns its scores into weights, which is work for the vector units, the products of
 * its neighbours run on the tile unit: values of the tile before it and scores of the
 * one after, a product after every few keys, near enough for the machine to run both
 * at once.  A product stays in the tile registers until the next one's turn, so that
 * nothing waits for it in between.
 * Parameters: forward_tmpl.h.
 */

/* Keys weighed between products; a row sums their weights apart. */
#define PIECE 8
_Static_assert(BC % PIECE == 0, "pieces lie at the same keys for every row");

/* One tile of rows on its way through the block; g NULL: none. */
struct N(pass) {
    ROWS *g;
    struct key_range at; /* its keys of the block */
    int edge;
    REAL *s; /* scores, then weights in pairs */
    REAL base[BR], sum[BR], fix[BR];
};

/* Products that run beside the weighing of a pass. */
struct N(beside) {
    struct N(pass) * before, *after;
    int64_t j0, done, values, count;
    REAL scale, *product;
};

/* The first tile from *index on that sees some of the block. */
static void N(next_pass)(const STATE *s, int64_t j0, int64_t *index, REAL *scores,
                         struct N(pass) * pass)
{
    pass->g = NULL;
    pass->s = scores;
    for (; *index < s->count && !pass->g; ++*index) {
        ROWS *const g = &s->rows[*index];

        pass->at = N(block_range)(s, g->lo, g->hi, j0);
        if (pass->at.lo < pass->at.hi)
            pass->g = g;
    }
    if (pass->g)
        pass->edge = N(is_edge)(s, pass->g, j0, pass->at.lo, pass->at.hi);
}

/* Values of the pass before: what product k - 1 adds to acc, beside product k. */
static void N(values_beside)(const STATE *s, const struct N(beside) * b, int64_t k)
{
    const struct N(pass) *const pass = b->before;
    const int64_t a = pass->at.lo, e = pass->at.hi, c = k * TILE;

    if (k > 0)
        N(store_product)(b->product);
    if (c < s->p->dv)
        N(value_product)(s, pass->s, a, e, c);
    if (k > 0)
        N(join_product)(s, pass->g, pass->fix, b->product, c - TILE);
    if (c >= s->p->dv && !s->finite)
        N(add_infinite)(s, pass->g, pass->s, b->j0, a, e);
}

/* Scores of the pass after: scores and maxima of product k - 1, beside product k. */
static void N(scores_beside)(const STATE *s, const struct N(beside) * b, int64_t k)
{
    const struct N(pass) *const pass = b->after;
    const int64_t a = pass->at.lo, e = pass->at.hi, x = N(tile_floor)(a) + k * TILE;
    const int64_t from = x < e ? N(score_from)(s, b->j0, x) : e;
    const int64_t before = N(score_from)(s, b->j0, x - TILE);

    if (k > 0)
        N(store_product)(pass->s + before * BR);
    if (x < e)
        N(score_product)(s, pass->g, from);
    if (k > 0)
        N(scale_scores)
    (s, pass->s, V(set1)(b->scale), max_i64(before, a), from);
}

/* Every product has one turn, and the last of each kind one more. */
static void N(open_beside)(const STATE *s, struct N(beside) * b)
{
    const struct N(pass) *const before = b->before, *const after = b->after;
    const int64_t tiles =
        after->g ? (N(tile_ceil)(after->at.hi) - N(tile_floor)(after->at.lo)) / TILE : 0;

    b->done = 0;
    b->values = before->g ? ceil_div_i64(s->p->dv, TILE) + 1 : 0;
    b->count = b->values + (tiles ? tiles + 1 : 0);
    N(clear_top)(s);
}

static void N(run_beside)(const STATE *s, struct N(beside) * b, int64_t until)
{
    for (; b->done < until; b->done++)
        if (b->done < b->values)
            N(values_beside)(s, b, b->done);
        else
            N(scores_beside)(s, b, b->done - b->values);
}

/* The new maximum of every row, and what it makes of the sums before. */
static void N(begin_weights)(STATE *s, struct N(pass) * pass, int64_t j0)
{
    ROWS *const g = pass->g;

    s->s = pass->s;
    N(wide_rule)(s, g, j0, pass->at.lo, pass->at.hi, pass->edge);
    for (int64_t r = 0; r < g->width; r += VLEN) {
        const VEC before = V(load)(g->m + r), m = V(max)(V(load)(s->top + r), before);
        const VEC base = N(finite_or_0)(m);

        V(store)(pass->base + r, base);
        V(store)(pass->fix + r, N(weight)(before, base));
        V(store)(pass->sum + r, V(set1)(0));
        V(store)(g->m + r, m);
    }
}

static void N(weigh_piece)(const STATE *s, struct N(pass) * pass, int64_t a, int64_t e)
{
    for (int64_t r = 0; r < pass->g->width; r += VLEN) {
        const VEC base = V(load)(pass->base + r);
        const VEC sum = pass->edge ? N(weigh_lanes)(s, a, e, r, base, 1)
                                   : N(weigh_lanes)(s, a, e, r, base, 0);

        V(store)(pass->sum + r, V(add)(V(load)(pass->sum + r), sum));
    }
}

/* Weights of the pass, piece by piece, and the products beside it spread among them. */
static void N(weigh_pass)(STATE *s, struct N(pass) * pass, struct N(beside) * b)
{
    const int64_t a = pass->at.lo, e = pass->at.hi, first = a / PIECE;
    const int64_t pieces = ceil_div_i64(e, PIECE) - first;
    ROWS *const g = pass->g;

    N(begin_weights)(s, pass, b->j0);
    N(open_beside)(s, b);
    for (int64_t n = 0; n < pieces; n++) {
        const int64_t x = (first + n) * PIECE;

        N(run_beside)(s, b, b->count * (n + 1) / pieces);
        N(weigh_piece)(s, pass, max_i64(x, a), min_i64(x + PIECE, e));
    }
    N(clear_weights)(pass->s, a, e);
    for (int64_t r = 0; r < g->width; r += VLEN)
        V(store)
    (g->l + r, V(fma)(V(load)(g->l + r), V(load)(pass->fix + r), V(load)(pass->sum + r)));
}

static void N(wide_block)(STATE *s, int64_t j0, struct key_range all)
{
    REAL *const own = s->s, *const work = s->work;
    REAL *const scores[3] = {own, work, work + N(work_scores)};
    struct N(pass) passes[3] = {{0}};
    struct N(beside) b = {.before = &passes[2],
                          .after = &passes[0],
                          .j0 = j0,
                          .scale = N(narrow)(s->p->scale),
                          .product = work + 2 * N(work_scores)};
    int64_t index = 0;

    N(open_block)(s, j0, all.lo, all.hi);
    N(next_pass)(s, j0, &index, scores[0], b.after);
    N(open_beside)(s, &b);
    N(run_beside)(s, &b, b.count);
    for (int turn = 0; b.after->g; turn++) {
        struct N(pass) *const now = b.after;

        b.after = &passes[(turn + 1) % 3];
        N(next_pass)(s, j0, &index, scores[(turn + 1) % 3], b.after);
        N(weigh_pass)(s, now, &b);
        b.before = now;
    }
    N(open_beside)(s, &b);
    N(run_beside)(s, &b, b.count);
    s->s = own;
}
