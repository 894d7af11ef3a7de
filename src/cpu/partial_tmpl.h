/* SPDX-License-Identifier: MIT */
/*
 * Not a header: partial results over splits of the keys, and how they combine.
 * Parameters: forward_tmpl.h.
 *
 * A partial is (m, l, acc) of each row over one split or several.  Two combine, with M
 * the larger maximum, by
 *     l = l_a exp(m_a - M) + l_b exp(m_b - M),  acc likewise;
 * a partial of no keys (-inf, 0, 0) leaves the other as it is.
 *
 * The order is a binary tree over the index of the split in the whole sequence: node n of
 * level x combines nodes 2 n and 2 n + 1 of level x - 1, and splits that nobody sees
 * count as partials of no keys.  So any part of the keys whose splits are whole can be
 * computed anywhere, and the result has the same bits.  One pass over the splits keeps
 * at most one partial of each level, as a binary counter keeps its bits.
 */
#define PARTIAL struct N(partial)

/* Bytes of the statistics' sums of a tile. */
static size_t N(sums_size)(const struct problem *p)
{
    return (size_t)(BR * p->stats.sums_length) * sizeof(double);
}

/* Levels of a problem's tree; 0 where one split has all keys. */
static int N(levels)(const struct problem *p)
{
    const int64_t last = (p->nk - 1) / p->split_keys;

    return last > 0 ? 65 - __builtin_clzll((unsigned long long)last) : 0;
}

/* Lays out one partial for every level. */
static void N(carve_levels)(ROWS *g, const struct problem *p, char *base, size_t *used)
{
    const int levels = N(levels)(p);
    const size_t lanes = BR * sizeof(REAL);
    PARTIAL none;

    g->level = N(take)(base, used, (size_t)levels * sizeof *g->level);
    for (int x = 0; x < levels; x++) {
        PARTIAL *const to = base ? &g->level[x] : &none;

        to->acc = N(take)(base, used, (size_t)p->dv * lanes);
        to->m = N(take)(base, used, lanes);
        to->l = N(take)(base, used, lanes);
        to->sums = N(take)(base, used, N(sums_size)(p));
    }
}

/* The statistics' sums of the split at hand: to their start, and to g->sums. */
static void N(begin_tally)(const STATE *s, ROWS *g);
static void N(save_sums)(const STATE *s, const ROWS *g);

/* No keys seen yet. */
static void N(clear_rows)(const STATE *s, ROWS *g)
{
    const int64_t rows = s->narrow ? g->rows : BR;

    for (int64_t r = 0; r < BR; r++) {
        g->m[r] = -INFINITY;
        g->l[r] = 0;
    }
    memset(g->acc, 0, (size_t)(s->p->dv * rows) * sizeof *g->acc);
    if (g->tally)
        N(begin_tally)(s, g);
}

/* Factors of two partials of as many rows as lanes; *m is the larger maximum. */
static inline void N(combine_factors)(VEC a, VEC b, VEC *m, VEC *f_a, VEC *f_b)
{
    *m = V(max)(b, a);
    const VEC base = N(finite_or_0)(*m);
    *f_a = N(weight)(a, base);
    *f_b = N(weight)(b, base);
}

/* One row: (m, l, acc) of keys before, to those after it. */
static void N(combine_row)(int64_t dv, const REAL *m, const REAL *l, const REAL *acc,
                           REAL *m_after, REAL *l_after, REAL *acc_after)
{
    VEC top, f, f_after;

    N(combine_factors)(V(set1)(*m), V(set1)(*m_after), &top, &f, &f_after);
    *m_after = N(lane0)(top);
    *l_after = N(lane0)(V(fma)(V(set1)(*l), f, V(mul)(V(set1)(*l_after), f_after)));
    for (int64_t c = 0; c < dv; c += VLEN) {
        const int64_t n = min_i64(VLEN, dv - c);
        const VEC x = N(load_lanes)(acc, REAL_DTYPE, 1, c, n);
        const VEC y = N(load_lanes)(acc_after, REAL_DTYPE, 1, c, n);

        N(store_lanes)
        (acc_after, REAL_DTYPE, 1, c, n, V(fma)(x, f, V(mul)(y, f_after)));
    }
}

/* The same for a tile of rows in the lanes. */
static void N(combine_lanes)(const STATE *s, ROWS *g, const PARTIAL *before)
{
    REAL f[BR], f_after[BR];

    for (int64_t r = 0; r < g->width; r += VLEN) {
        VEC top, x, y;

        N(combine_factors)(V(load)(before->m + r), V(load)(g->m + r), &top, &x, &y);
        V(store)(g->m + r, top);
        V(store)
        (g->l + r, V(fma)(V(load)(before->l + r), x, V(mul)(V(load)(g->l + r), y)));
        V(store)(f + r, x);
        V(store)(f_after + r, y);
    }
    for (int64_t c = 0; c < s->p->dv; c++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            REAL *const at = g->acc + c * BR + r;
            const VEC y = V(mul)(V(load)(at), V(load)(f_after + r));

            V(store)(at, V(fma)(V(load)(before->acc + c * BR + r), V(load)(f + r), y));
        }
}

static void N(combine)(const STATE *s, ROWS *g, const PARTIAL *before)
{
    const int64_t dv = s->p->dv;

    if (!s->narrow)
        N(combine_lanes)(s, g, before);
    for (int64_t r = 0; s->narrow && r < g->rows; r++)
        N(combine_row)
    (dv, before->m + r, before->l + r, before->acc + r * dv, g->m + r, g->l + r,
     g->acc + r * dv);
    for (int64_t r = 0; g->tally && r < g->rows; r++)
        attendi_sums_combine(&s->p->stats.sums,
                             before->sums + r * s->p->stats.sums_length,
                             g->sums + r * s->p->stats.sums_length);
}

static void N(swap_partial)(ROWS *g, PARTIAL *other)
{
    const PARTIAL own = {g->m, g->l, g->acc, g->sums};

    g->m = other->m;
    g->l = other->l;
    g->acc = other->acc;
    g->sums = other->sums;
    *other = own;
}

/*
 * Split `split` of the item, which begins where a subtree does, is done: its partial goes
 * up the tree, and the rows start anew.
 */
static void N(push_split)(const STATE *s, ROWS *g, int64_t split)
{
    int level = 0;

    if (g->tally)
        N(save_sums)(s, g);
    for (; split >> level & 1; level++)
        if (g->pending >> level & 1) {
            N(combine)(s, g, &g->level[level]);
            g->pending ^= (uint64_t)1 << level;
        }
    N(swap_partial)(g, &g->level[level]);
    g->pending |= (uint64_t)1 << level;
    N(clear_rows)(s, g);
}

/* All splits are done: what is pending combines to the partial of the rows. */
static void N(combine_pending)(const STATE *s, ROWS *g)
{
    bool first = true;

    if (g->tally && g->pending == 0)
        N(save_sums)(s, g);
    for (int level = 0; g->pending >> level; level++) {
        if (!(g->pending >> level & 1))
            continue;
        if (first)
            N(swap_partial)(g, &g->level[level]);
        else
            N(combine)(s, g, &g->level[level]);
        first = false;
    }
    g->pending = 0;
}

/* Whether the rows see keys of more than one split. */
static bool N(many_splits)(const STATE *s, const ROWS *g)
{
    const int64_t split = s->p->split_keys;

    return g->lo < g->hi && g->lo / split != (g->hi - 1) / split;
}

/*
 * ---- partials in memory ----
 *
 * What an item of one split leaves, row by row: m, l, acc, and the statistics' sums.
 */

/* Where the sums stand in a row's partial, in REALs: at a double. */
static int64_t N(partial_sums)(const struct problem *p)
{
    return p->stats.needs ? (p->dv + 3) / 2 * 2 : p->dv + 2;
}

static int64_t N(partial_row)(const struct problem *p)
{
    const int64_t number = sizeof(REAL);

    return N(partial_sums)(p) + p->stats.sums_length * (int64_t)sizeof(double) / number;
}

static size_t N(partial_size)(const struct problem *p, int64_t rows)
{
    return (size_t)(N(partial_row)(p) * rows) * sizeof(REAL);
}

/* Whether rows leave a partial and do not end. */
static bool N(leaves_partial)(const STATE *s) { return s->t->partial || s->p->shard; }

/* Where row r of a tile leaves it. */
static REAL *N(partial_at)(const STATE *s, const ROWS *g, int64_t r)
{
    const int64_t step = N(partial_row)(s->p);

    if (s->t->partial)
        return (REAL *)s->t->partial + (g->row - s->t->row + r) * step;
    return (REAL *)attendi_tensor_row(&s->p->records, s->t->b, g->head[r], g->query[r]) +
           s->t->record * step;
}

/* The level at which partials that begin at splits a and b meet. */
static int N(level_of)(int64_t a, int64_t b)
{
    return 63 - __builtin_clzll((unsigned long long)(a ^ b));
}

static double *N(sums_of_partial)(const struct problem *p, REAL *partial)
{
    return (double *)(void *)(partial + N(partial_sums)(p));
}

/* Row r of a tile, acc with `step` numbers from one column to the next. */
static void N(store_partial)(const STATE *s, const ROWS *g, int64_t r, const REAL *acc,
                             int64_t step)
{
    const struct problem *p = s->p;
    REAL *const partial = N(partial_at)(s, g, r);

    partial[0] = g->m[r];
    partial[1] = g->l[r];
    for (int64_t c = 0; c < p->dv; c++)
        partial[2 + c] = acc[c * step];
    if (g->tally)
        memcpy(N(sums_of_partial)(p, partial), g->sums + r * p->stats.sums_length,
               (size_t)p->stats.sums_length * sizeof(double));
}

/* The partial `left`, of keys before, to `right`. */
static void N(combine_partials)(const struct problem *p, REAL *left, REAL *right)
{
    N(combine_row)(p->dv, left, left + 1, left + 2, right, right + 1, right + 2);
    if (p->stats.needs)
        attendi_sums_combine(&p->stats.sums, N(sums_of_partial)(p, left),
                             N(sums_of_partial)(p, right));
}

/*
 * The tree over `count` partials of one row, `step` numbers apart, in the order of
 * splits; `start` as in kernels.h.  Each but the last is combined with those after it as
 * soon as the next one lies in another branch.  The result, in place of the last, is
 * returned.
 */
static REAL *N(combine_tree)(const struct problem *p, REAL *partials, int64_t step,
                             const int64_t *start, int64_t count)
{
    int64_t open[64 + 1], splits[64 + 1]; /* partials that wait, levels falling */
    int depth = 0;

    for (int64_t x = 0; x <= count; x++) {
        const int64_t split = start && x < count ? start[x] : x;

        for (; depth > 1 &&
               (x == count || N(level_of)(splits[depth - 2], splits[depth - 1]) <
                                  N(level_of)(splits[depth - 1], split));
             depth--) {
            N(combine_partials)
            (p, partials + open[depth - 2] * step, partials + open[depth - 1] * step);
            open[depth - 2] = open[depth - 1];
        }
        open[depth] = x;
        splits[depth++] = split;
    }
    return partials + open[0] * step;
}
