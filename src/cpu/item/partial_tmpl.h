/* SPDX-License-Identifier: MIT */
/*
 * Not a header: partial results over splits of the keys, and how they combine.
 *
 * A partial is (m, l, acc) of each row over one split or several.  Two combine, with M
 * the larger maximum, by
 *     l = l_a exp(m_a - M) + l_b exp(m_b - M),  acc likewise;
 * a partial of no keys (-inf, 0, 0) does not change the other.
 *
 * The order is a binary tree over the index of the split in the whole sequence: node n of
 * level x combines nodes 2 n and 2 n + 1 of level x - 1, and splits that no row sees are
 * partials of no keys.  So shards of whole splits can be computed anywhere, and the
 * result has the same bits.  One pass over the splits keeps at most one partial of each
 * level, as a binary counter keeps its bits.
 */

/* Bytes of the statistics of a tile. */
static size_t sums_size(const struct problem *p)
{
    return (size_t)(BR * p->stats.sums_length) * sizeof(double);
}

/* Levels of a problem's tree; 0 if there is one split. */
static int levels_of(const struct problem *p)
{
    const int64_t last = (p->nk - 1) / p->split_keys;

    return last > 0 ? 65 - __builtin_clzll((unsigned long long)last) : 0;
}

/* Scratch for one partial of every level. */
static void alloc_levels(struct rows *g, const struct problem *p, char *base,
                         size_t *used)
{
    const int levels = levels_of(p);
    const size_t lanes = BR * sizeof(REAL);
    struct partial none;

    g->level = bump(base, used, (size_t)levels * sizeof *g->level);
    for (int x = 0; x < levels; x++) {
        struct partial *const to = base ? &g->level[x] : &none;

        to->acc = bump(base, used, (size_t)p->dv * lanes);
        to->m = bump(base, used, lanes);
        to->l = bump(base, used, lanes);
        to->sums = bump(base, used, sums_size(p));
    }
}

/* Resets rows to no keys. */
static void clear_rows(const struct state *s, struct rows *g)
{
    const int64_t rows = s->decode ? g->rows : BR;

    for (int64_t r = 0; r < BR; r++) {
        g->m[r] = -INFINITY;
        g->l[r] = 0;
    }
    memset(g->acc, 0, (size_t)(s->p->dv * rows) * sizeof *g->acc);
    if (g->accum)
        begin_accum(s, g);
}

/*
 * Factors of the partials of a vector of rows with maxima a and b; *m: the larger
 * maximum.
 */
static inline void combine_factors(vec a, vec b, vec *m, vec *f_a, vec *f_b)
{
    *m = vec_max(b, a);
    const vec base = finite_or_0(*m);
    *f_a = weight_of(a, base);
    *f_b = weight_of(b, base);
}

/* Combines (m, l, acc) of a row with those of later keys. */
static void combine_row(int64_t dv, const REAL *m, const REAL *l, const REAL *acc,
                        REAL *m_after, REAL *l_after, REAL *acc_after)
{
    vec max, f, f_after;

    combine_factors(vec_set1(*m), vec_set1(*m_after), &max, &f, &f_after);
    *m_after = lane0(max);
    *l_after = lane0(vec_fma(vec_set1(*l), f, vec_mul(vec_set1(*l_after), f_after)));
    for (int64_t c = 0; c < dv; c += VLEN) {
        const int64_t n = min_i64(VLEN, dv - c);
        const vec x = load_lanes(acc, REAL_DTYPE, 1, c, n);
        const vec y = load_lanes(acc_after, REAL_DTYPE, 1, c, n);

        store_lanes(acc_after, REAL_DTYPE, 1, c, n, vec_fma(x, f, vec_mul(y, f_after)));
    }
}

/* The same for a tile of rows in the lanes. */
static void combine_lanes(const struct state *s, struct rows *g,
                          const struct partial *before)
{
    REAL f[BR], f_after[BR];

    for (int64_t r = 0; r < g->width; r += VLEN) {
        vec max, x, y;

        combine_factors(vec_load(before->m + r), vec_load(g->m + r), &max, &x, &y);
        vec_store(g->m + r, max);
        vec_store(g->l + r,
                  vec_fma(vec_load(before->l + r), x, vec_mul(vec_load(g->l + r), y)));
        vec_store(f + r, x);
        vec_store(f_after + r, y);
    }
    for (int64_t c = 0; c < s->p->dv; c++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            REAL *const at = g->acc + c * BR + r;
            const vec y = vec_mul(vec_load(at), vec_load(f_after + r));

            vec_store(at,
                      vec_fma(vec_load(before->acc + c * BR + r), vec_load(f + r), y));
        }
}

static void combine(const struct state *s, struct rows *g, const struct partial *before)
{
    const int64_t dv = s->p->dv;

    if (!s->decode)
        combine_lanes(s, g, before);
    for (int64_t r = 0; s->decode && r < g->rows; r++)
        combine_row(dv, before->m + r, before->l + r, before->acc + r * dv, g->m + r,
                    g->l + r, g->acc + r * dv);
    for (int64_t r = 0; g->accum && r < g->rows; r++)
        attendi_sums_combine(&s->p->stats.sums,
                             before->sums + r * s->p->stats.sums_length,
                             g->sums + r * s->p->stats.sums_length);
}

static void swap_partial(struct rows *g, struct partial *other)
{
    const struct partial own = {g->m, g->l, g->acc, g->sums};

    g->m = other->m;
    g->l = other->l;
    g->acc = other->acc;
    g->sums = other->sums;
    *other = own;
}

/*
 * Adds the partial of split `split` of the item to the tree and resets the rows.  The
 * item begins at a subtree.
 */
static void push_split(const struct state *s, struct rows *g, int64_t split)
{
    int level = 0;

    if (g->accum)
        save_sums(s, g);
    for (; split >> level & 1; level++)
        if (g->pending >> level & 1) {
            combine(s, g, &g->level[level]);
            g->pending ^= (uint64_t)1 << level;
        }
    swap_partial(g, &g->level[level]);
    g->pending |= (uint64_t)1 << level;
    clear_rows(s, g);
}

/* Combines the pending levels to the partial of the rows, after the last split. */
static void combine_pending(const struct state *s, struct rows *g)
{
    bool first = true;

    if (g->accum && g->pending == 0)
        save_sums(s, g);
    for (int level = 0; g->pending >> level; level++) {
        if (!(g->pending >> level & 1))
            continue;
        if (first)
            swap_partial(g, &g->level[level]);
        else
            combine(s, g, &g->level[level]);
        first = false;
    }
    g->pending = 0;
}

/* Whether the rows see keys of more than one split. */
static bool many_splits(const struct state *s, const struct rows *g)
{
    const int64_t split = s->p->split_keys;

    return g->lo < g->hi && g->lo / split != (g->hi - 1) / split;
}

/*
 * ---- partials in memory ----
 *
 * The partial of an item of one split has, for each row: m, l, acc, and the sums of
 * statistics.
 */

/* Offset of the sums in a row's partial, in REALs; aligned for doubles. */
static int64_t partial_sums(const struct problem *p)
{
    return p->stats.needs ? (p->dv + 3) / 2 * 2 : p->dv + 2;
}

static int64_t partial_row(const struct problem *p)
{
    const int64_t number = sizeof(REAL);

    return partial_sums(p) + p->stats.sums_length * (int64_t)sizeof(double) / number;
}

static size_t partial_size(const struct problem *p, int64_t rows)
{
    return (size_t)(partial_row(p) * rows) * sizeof(REAL);
}

/* Whether the item's result is a partial. */
static bool leaves_partial(const struct state *s)
{
    return s->item->partial || s->p->shard;
}

/* Address of m, l and acc of row r of a tile, in a partial or a record. */
static REAL *partial_at(const struct state *s, const struct rows *g, int64_t r)
{
    const struct problem *p = s->p;

    if (s->item->partial)
        return (REAL *)s->item->partial + (g->row - s->item->row + r) * partial_row(p);
    return (REAL *)attendi_tensor_row(&p->records, s->item->b, g->head[r], g->query[r]) +
           s->item->record * (p->dv + 2);
}

/* The level at which the partials of splits a and b combine. */
static int level_of(int64_t a, int64_t b)
{
    return 63 - __builtin_clzll((unsigned long long)(a ^ b));
}

static double *sums_of_partial(const struct problem *p, REAL *partial)
{
    return (double *)(void *)(partial + partial_sums(p));
}

/* Stores the partial of row r of a tile; columns of acc are `step` numbers apart. */
static void store_partial(const struct state *s, const struct rows *g, int64_t r,
                          const REAL *acc, int64_t step)
{
    const struct problem *p = s->p;
    REAL *const partial = partial_at(s, g, r);

    partial[0] = g->m[r];
    partial[1] = g->l[r];
    for (int64_t c = 0; c < p->dv; c++)
        partial[2 + c] = acc[c * step];
    double *const sums = g->sums + r * p->stats.sums_length;
    if (g->accum && s->item->partial)
        memcpy(sums_of_partial(p, partial), sums,
               (size_t)p->stats.sums_length * sizeof *sums);
    else if (g->accum)
        attendi_stats_store_raw(p, s->item->b, g->head[r], g->query[r], sums);
}

/* Combines the partial `left`, of earlier keys, into `right`. */
static void combine_partials(const struct problem *p, REAL *left, REAL *right)
{
    combine_row(p->dv, left, left + 1, left + 2, right, right + 1, right + 2);
    if (p->stats.needs)
        attendi_sums_combine(&p->stats.sums, sums_of_partial(p, left),
                             sums_of_partial(p, right));
}

/*
 * The tree over `count` partials of one row, `step` numbers apart, in the order of
 * splits; `start` as in kernels.h.  A partial is combined with later ones as soon as the
 * next one lies in another branch.  Returns the result, which replaces the last partial.
 */
static REAL *combine_tree(const struct problem *p, REAL *partials, int64_t step,
                          const int64_t *start, int64_t count)
{
    int64_t open[64 + 1], splits[64 + 1]; /* pending partials, in descending order of
                                             level */
    int depth = 0;

    for (int64_t x = 0; x <= count; x++) {
        const int64_t split = start && x < count ? start[x] : x;

        for (;
             depth > 1 && (x == count || level_of(splits[depth - 2], splits[depth - 1]) <
                                             level_of(splits[depth - 1], split));
             depth--) {
            combine_partials(p, partials + open[depth - 2] * step,
                             partials + open[depth - 1] * step);
            open[depth - 2] = open[depth - 1];
        }
        open[depth] = x;
        splits[depth++] = split;
    }
    return partials + open[0] * step;
}
