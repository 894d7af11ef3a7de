/* SPDX-License-Identifier: MIT */
/*
 * Not a header: an item of the inspection pass.  Lanes are queries of one head, as in a
 * prefill item; scores become P = exp(s - lse) in place, and each requested output is a
 * loop over them.  Columns are summed lane by lane over the tiles, and lanes are added up
 * in double every FLUSH_GROUPS groups of tiles, so that errors do not grow with nq.
 * Tiles and groups start at multiples of their size from query 0: a column's sum depends
 * neither on the item's other keys nor on other outputs.
 */
#define GROUP_ROWS (TILES_MAX * BR)
#define FLUSH_GROUPS (32 / TILES_MAX)

struct inspect_sums {
    const struct inspection *request;
    const struct inspect_item *item;
    /* Sums and maxima of the item's columns: [keys][VLEN] and [keys]. */
    REAL *mass, *last, *max;
    double *mass_sum, *last_sum, *max_sum;
    struct inspect_pool pool;
};

/*
 * Divides the scratch of an item of the inspection pass and returns its size; base NULL:
 * size only.
 */
static size_t alloc_inspect(struct state *s, struct inspect_sums *c,
                            const struct problem *p, char *base)
{
    const struct operand_sizes sizes = operand_sizes(p);
    const size_t lanes = BR * sizeof(REAL), keys = (size_t)p->inspection->item_keys;
    size_t used = 0;
    struct rows none;

    s->s = bump(base, &used, BC * lanes);
    s->extra = bump(base, &used, BC * lanes);
    s->words = bump(base, &used, p->mask.data ? BC / 32 * sizeof *s->words : 0);
    s->row_max = bump(base, &used, lanes);
    s->k = bump(base, &used, sizes.k);
    s->rows = bump(base, &used, TILES_MAX * sizeof *s->rows);
    for (int64_t x = 0; x < TILES_MAX; x++) {
        struct rows *const g = base ? &s->rows[x] : &none;

        g->q = bump(base, &used, sizes.q);
        g->m = bump(base, &used, lanes);
        g->l = bump(base, &used, lanes);
    }
    c->mass = bump(base, &used, keys * VLEN * sizeof(REAL));
    c->last = bump(base, &used, keys * VLEN * sizeof(REAL));
    c->max = bump(base, &used, keys * VLEN * sizeof(REAL));
    c->mass_sum = bump(base, &used, keys * sizeof(double));
    c->last_sum = bump(base, &used, keys * sizeof(double));
    c->max_sum = bump(base, &used, keys * sizeof(double));
    c->pool.sums = bump(base, &used, attendi_pool_size(p, GROUP_ROWS));
    return used;
}

/*
 * Sets up a tile of queries of the item's head. m: the lse, relative to the row's anchor;
 * l: its rounding error as REAL, in units of exp2.  A row whose lse is -inf, or past the
 * last, sees no key.
 */
static void begin_inspect(struct state *s, struct rows *g, int64_t row, int64_t rows)
{
    const struct problem *p = s->p;

    begin_rows(s, g, row, rows);
    for (int64_t r = 0; r < g->width; r++) {
        double lse =
            r < rows ? attendi_inspect_lse(p, s->item->b, s->head, row + r) : -INFINITY;

        if (lse == -INFINITY) {
            g->first[r] = g->end[r] = g->all_lo = g->all_hi = 0;
            lse = 0;
        } else {
            lse -= attendi_alibi_shift(p, s->item->b, s->head, row + r);
        }
        g->m[r] = to_real(lse);
        g->l[r] = isfinite(g->m[r]) ? (REAL)(((double)g->m[r] - lse) * LOG2_E) : 0;
    }
    if (g->lo < g->hi)
        pack_q(s, g);
}

/* Scores of keys a .. e - 1 to P, for lanes r .. r + VLEN - 1; 0 where hidden. */
static ALWAYS_INLINE void recall_lanes(const struct state *s, const struct rows *g,
                                       int64_t a, int64_t e, int64_t r, const int edge)
{
    const vec lse = vec_load(g->m + r), rest = vec_load(g->l + r);

    for (int64_t x = a; x < e; x++) {
        REAL *const at = s->s + x * BR + r;
        const vec y = vec_fma(vec_sub(vec_load(at), lse), vec_set1((REAL)LOG2_E), rest);
        const vec w = vec_exp2(y);

        vec_store(at,
                  edge ? vec_blend(vec_load(s->extra + x * BR + r), vec_set1(0), w) : w);
    }
}

/* Whether an lse lies so far below a score that exp2 would overflow. */
static int is_beyond(const struct state *s, const struct rows *g)
{
    int beyond = 0;

    ROLLED
    for (int64_t r = 0; r < g->width; r++)
        beyond |= s->row_max[r] - g->m[r] > (REAL)(-EXP2_MIN / LOG2_E);
    return beyond;
}

static void recall_beyond(const struct state *s, const struct rows *g, int64_t a,
                          int64_t e, int edge)
{
    for (int64_t x = a; x < e; x++) {
        ROLLED
        for (int64_t r = 0; r < g->width; r++) {
            REAL *const at = s->s + x * BR + r;
            const double y = ((double)*at - (double)g->m[r]) * LOG2_E + (double)g->l[r];
            *at = edge && signbit(s->extra[x * BR + r]) ? 0 : (REAL)exp2(y);
        }
    }
}

static void recall(const struct state *s, const struct rows *g, int64_t a, int64_t e,
                   int edge)
{
    if (is_beyond(s, g)) {
        recall_beyond(s, g, a, e, edge);
        return;
    }
    for (int64_t r = 0; r < g->width; r += VLEN)
        if (edge)
            recall_lanes(s, g, a, e, r, 1);
        else
            recall_lanes(s, g, a, e, r, 0);
}

/* Adds P of keys a .. e - 1 to their columns, [e - a][VLEN]. */
static void add_columns(const struct state *s, const struct rows *g, int64_t a, int64_t e,
                        REAL *to)
{
    for (int64_t x = a; x < e; x++, to += VLEN) {
        const REAL *const from = s->s + x * BR;
        vec sum = vec_load(from);

        for (int64_t r = VLEN; r < g->width; r += VLEN)
            sum = vec_add(sum, vec_load(from + r));
        vec_store(to, vec_add(vec_load(to), sum));
    }
}

/*
 * The same for the last queries; the tile that contains the first of them is added at
 * once.
 */
static void add_last(const struct state *s, const struct rows *g, int64_t a, int64_t e,
                     int64_t last_query, REAL *to, double *sums)
{
    const int64_t first = last_query - g->row;

    if (first <= 0)
        add_columns(s, g, a, e, to);
    else if (first < g->rows)
        attendi_inspect_add_lanes(s->s + a * BR, BR, REAL_DTYPE, first, g->rows, e - a,
                                  sums);
}

static void max_columns(const struct state *s, const struct rows *g, int64_t a, int64_t e,
                        REAL *to)
{
    for (int64_t x = a; x < e; x++, to += VLEN) {
        vec max = vec_load(to);

        for (int64_t r = 0; r < g->width; r += VLEN)
            max = vec_max(vec_load(s->s + x * BR + r), max);
        vec_store(to, max);
    }
}

/* Adds keys a .. e - 1 of each row to its block of the pooled map. */
static void add_pooled(const struct state *s, const struct rows *g,
                       const struct inspect_sums *c, int64_t j0, int64_t a, int64_t e)
{
    const int64_t block = c->request->block;
    int64_t x = a;

    while (x < e) {
        const int64_t column = (j0 + x) / block;
        const int64_t end = min_i64(e, (column + 1) * block - j0);
        REAL sums[BR];

        for (int64_t r = 0; r < g->width; r += VLEN) {
            vec sum = vec_set1(0);

            for (int64_t y = x; y < end; y++)
                sum = vec_add(sum, vec_load(s->s + y * BR + r));
            vec_store(sums + r, sum);
        }
        attendi_pool_add(&c->pool, s->p, c->item, g->row, g->rows, column, sums,
                         REAL_DTYPE);
        x = end;
    }
}

/* Inspects a tile over keys j0 + a .. j0 + e - 1. */
static void inspect_tile(struct state *s, const struct rows *g,
                         const struct inspect_sums *c, int64_t j0, int64_t a, int64_t e,
                         int edge)
{
    const struct inspection *request = c->request;
    const int64_t at = j0 + a - c->item->keys.lo; /* index in the item's keys */

    prefill_scores(s, g, j0, a, e, edge);
    recall(s, g, a, e, edge);
    if (request->column_mass.data || request->column_max.data)
        add_columns(s, g, a, e, c->mass + at * VLEN);
    if (request->column_max.data)
        max_columns(s, g, a, e, c->max + at * VLEN);
    if (request->column_last.data)
        add_last(s, g, a, e, request->last_query, c->last + at * VLEN, c->last_sum + at);
    if (request->block)
        add_pooled(s, g, c, j0, a, e);
    if (request->zoom.data)
        attendi_inspect_store_zoom(s->p, c->item, g->row, g->rows, j0 + a, e - a,
                                   s->s + a * BR, BR);
}

static void flush_lanes(REAL *lanes, int64_t keys, double *sums)
{
    attendi_inspect_add_lanes(lanes, VLEN, REAL_DTYPE, 0, VLEN, keys, sums);
    memset(lanes, 0, (size_t)(keys * VLEN) * sizeof *lanes);
}

static void flush_columns(const struct inspect_sums *c)
{
    const int64_t keys = c->item->keys.hi - c->item->keys.lo;

    if (c->request->column_mass.data || c->request->column_max.data)
        flush_lanes(c->mass, keys, c->mass_sum);
    if (c->request->column_last.data)
        flush_lanes(c->last, keys, c->last_sum);
}

/* The part of keys lo .. hi - 1 in the block from j0 on, not widened to pairs. */
static struct key_range inspect_range(int64_t lo, int64_t hi, int64_t j0)
{
    return (struct key_range){max_i64(lo - j0, 0), min_i64(hi - j0, BC)};
}

/*
 * Inspects queries first .. end - 1, at most a group; the tiles alternate on each block
 * of keys.
 */
static void inspect_group(struct state *s, const struct inspect_sums *c, int64_t first,
                          int64_t end)
{
    struct key_range all = {0, 0};

    s->count = 0;
    for (int64_t row = first; row < end; row += BR) {
        struct rows *const g = &s->rows[s->count++];

        begin_inspect(s, g, row, min_i64(BR, s->p->nq - row));
        if (g->lo < g->hi) {
            all.lo = all.hi == 0 ? g->lo : min_i64(all.lo, g->lo);
            all.hi = max_i64(all.hi, g->hi);
        }
    }
    for (int64_t j0 = all.lo / BC * BC; j0 < all.hi; j0 += BC) {
        const struct key_range in = inspect_range(all.lo, all.hi, j0);
        bool open = false;

        for (int64_t x = 0; x < s->count; x++) {
            const struct rows *const g = &s->rows[x];
            int edge;
            const struct key_range at =
                keys_left(s, g, g->width, j0, inspect_range(g->lo, g->hi, j0), &edge);

            if (at.lo >= at.hi)
                continue;
            if (!open)
                open_keys(s, j0, in.lo, in.hi);
            open = true;
            inspect_tile(s, g, c, j0, at.lo, at.hi, edge);
        }
    }
}

static size_t inspect_scratch(const struct problem *p)
{
    struct inspect_sums c;
    struct state s;

    return alloc_inspect(&s, &c, p, NULL);
}

static void inspect_columns(const struct problem *p, const struct inspect_item *item,
                            void *scratch)
{
    const struct inspection *const request = p->inspection;
    const struct work_item own = {
        .b = item->b, .hk = item->h / p->group, .keys = item->keys};
    const int64_t keys = item->keys.hi - item->keys.lo;
    struct state s = {.p = p, .item = &own, .head = item->h, .heads = 1};
    struct inspect_sums c = {.request = request, .item = item};

    alloc_inspect(&s, &c, p, scratch);
    memset(c.mass, 0, (size_t)((char *)c.pool.sums - (char *)c.mass));
    attendi_pool_begin(&c.pool, p, item, GROUP_ROWS, c.pool.sums);
    attendi_inspect_clear_zoom(p, item);
    begin_blocks();
    for (int64_t group = request->queries / GROUP_ROWS * GROUP_ROWS;
         group < request->queries_end; group += GROUP_ROWS) {
        const int64_t first = max_i64(group, request->queries / BR * BR);
        const int64_t end = min_i64(group + GROUP_ROWS, request->queries_end);
        const struct key_range seen =
            attendi_keys_seen(p, own.b, first, end - 1, item->keys);

        if (seen.lo < seen.hi)
            inspect_group(&s, &c, first, end);
        attendi_pool_pass(&c.pool, p, item, end);
        if (group / GROUP_ROWS % FLUSH_GROUPS == FLUSH_GROUPS - 1)
            flush_columns(&c);
    }
    end_blocks();
    flush_columns(&c);
    if (request->column_max.data)
        attendi_inspect_largest(c.max, VLEN, REAL_DTYPE, keys, c.max_sum);
    attendi_inspect_store_columns(p, item, c.mass_sum, c.max_sum, c.last_sum);
}
