/* SPDX-License-Identifier: MIT */
/*
 * Not a header: a block of a wide bf16 item on tile registers.  While a tile of rows
 * turns its scores into weights, which is work for the vector units, the products of
 * its neighbours run on the tile unit: values of the tile before it and scores of the
 * one after, a few instructions of each in turn, near enough for the machine to run
 * both at once.  What becomes of a product is computed beside the next one, when its
 * stores have long left.
 * Parameters: forward_tmpl.h.
 */

/* Keys weighed between steps of products; a row sums their weights apart. */
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

/* Products that run beside the weighing of a pass, those of values first. */
struct N(beside) {
    struct N(pass) * before, *after;
    int64_t values, count;     /* products: of values, and in all */
    int64_t k, unit;           /* where the work stands */
    int64_t done, turns;       /* of all products */
    struct N(product) product; /* number k */
    REAL scale, *buffer;
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

/* One for each unit; a product of no columns, which is 0, has one too. */
static int64_t N(turns)(const struct N(product) * p) { return max_i64(1, p->units); }

/* Product k, which exists. */
static struct N(product)
    N(product_beside)(const STATE *s, const struct N(beside) * b, int64_t k)
{
    const struct N(pass) *const before = b->before, *const after = b->after;

    if (k < b->values)
        return N(value_product)(s, before->s, before->at.lo, before->at.hi, k * TILE,
                                b->buffer);
    return N(score_product)(
        s, after->g, N(tile_floor)(after->at.lo) + (k - b->values) * TILE, after->s);
}

/* Rows from .. to - 1 of product k to acc, or to scores and their maxima. */
static void N(use_product)(const STATE *s, const struct N(beside) * b, int64_t k,
                           int64_t from, int64_t to)
{
    if (k < b->values) {
        const int64_t c = k * TILE;

        N(join_product)
        (b->before->g, b->before->fix, b->buffer + from * BR, c + from,
         min_i64(c + to, s->p->dv));
    } else {
        const struct key_range at = b->after->at;
        const int64_t x = N(tile_floor)(at.lo) + (k - b->values) * TILE;

        N(scale_scores)
        (s, b->after->s, V(set1)(b->scale), max_i64(x + from, at.lo),
         min_i64(x + to, at.hi));
    }
}

static void N(open_beside)(const STATE *s, struct N(beside) * b)
{
    const struct N(pass) *const before = b->before, *const after = b->after;

    b->values = before->g ? ceil_div_i64(s->p->dv, TILE) : 0;
    b->count = b->values;
    if (after->g)
        b->count += ceil_div_i64(after->at.hi, TILE) - after->at.lo / TILE;
    b->k = b->unit = b->done = b->turns = 0;
    for (int64_t k = 0; k < b->count; k++) {
        const struct N(product) product = N(product_beside)(s, b, k);

        b->turns += N(turns)(&product);
    }
    N(clear_top)(s);
}

/* A turn of product k, and as much of what becomes of product k - 1. */
static void N(run_turn)(const STATE *s, struct N(beside) * b)
{
    struct N(product) *const p = &b->product;

    if (b->unit == 0) {
        *p = N(product_beside)(s, b, b->k);
        N(begin_product)();
    }
    const int64_t turns = N(turns)(p);
    if (b->unit < p->units)
        N(add_unit)(p, b->unit);
    if (b->k > 0)
        N(use_product)
    (s, b, b->k - 1, TILE * b->unit / turns, TILE * (b->unit + 1) / turns);
    if (++b->unit == turns) {
        N(end_product)(p);
        b->unit = 0;
        b->k++;
    }
}

static void N(run_beside)(const STATE *s, struct N(beside) * b, int64_t until)
{
    for (; b->done < until; b->done++)
        N(run_turn)(s, b);
}

static void N(close_beside)(const STATE *s, struct N(beside) * b, int64_t j0)
{
    const struct N(pass) *const before = b->before;

    N(run_beside)(s, b, b->turns);
    if (b->count > 0)
        N(use_product)(s, b, b->count - 1, 0, TILE);
    if (before->g && !s->finite)
        N(add_infinite)(s, before->g, before->s, j0, before->at.lo, before->at.hi);
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
        const VEC sum = pass->edge ? N(weigh_lanes)(s, a, e, r, base, 1, NULL, 0)
                                   : N(weigh_lanes)(s, a, e, r, base, 0, NULL, 0);

        V(store)(pass->sum + r, V(add)(V(load)(pass->sum + r), sum));
    }
}

/* Weights of the pass, piece by piece, and the products beside it spread among them. */
static void N(weigh_pass)(STATE *s, struct N(pass) * pass, struct N(beside) * b,
                          int64_t j0)
{
    const int64_t a = pass->at.lo, e = pass->at.hi, first = a / PIECE;
    const int64_t pieces = ceil_div_i64(e, PIECE) - first;
    ROWS *const g = pass->g;

    N(begin_weights)(s, pass, j0);
    N(open_beside)(s, b);
    for (int64_t n = 0; n < pieces; n++) {
        const int64_t x = (first + n) * PIECE;

        N(run_beside)(s, b, b->turns * (n + 1) / pieces);
        N(weigh_piece)(s, pass, max_i64(x, a), min_i64(x + PIECE, e));
    }
    N(close_beside)(s, b, j0);
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
                          .scale = N(narrow)(s->p->scale),
                          .buffer = work + 2 * N(work_scores)};
    int64_t index = 0;

    N(open_block)(s, j0, all.lo, all.hi);
    N(next_pass)(s, j0, &index, scores[0], b.after);
    N(open_beside)(s, &b);
    N(close_beside)(s, &b, j0);
    for (int turn = 0; b.after->g; turn++) {
        struct N(pass) *const now = b.after;

        b.after = &passes[(turn + 1) % 3];
        N(next_pass)(s, j0, &index, scores[(turn + 1) % 3], b.after);
        N(weigh_pass)(s, now, &b, j0);
        b.before = now;
    }
    N(open_beside)(s, &b);
    N(close_beside)(s, &b, j0);
    s->s = own;
}
