/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the products that are interleaved with the weights of a tile of rows:
 * values of the previous tile and scores of the next one.  A product is used during the
 * one after it, when its stores have completed.
 */

/* A tile of rows in a block; g NULL: none. */
struct pass {
    struct rows *g;
    const struct packed *block;
    struct key_range at; /* its keys of the block */
    int edge;
    REAL *s;    /* products or scores, then weights in pairs */
    int sums;   /* number of statistics summed with the weights */
    REAL scale; /* factor from s to scores */
    REAL base[BR], sum[BR], rescale[BR];
    uint32_t words[BC / 32][BR]; /* s->words of the tile and block */
};

/* The unused rest of a product: rows of values or of scores. */
struct use {
    const REAL *from;
    REAL *acc;            /* values: row by row, acc = acc rescale + row */
    int64_t rows;         /* scores: the largest of each lane to s->row_max */
    int64_t rows_of_step; /* rows per step of the current product */
    int values;
};

/* The products in order, values first. */
struct interleave {
    struct pass *before, *after;
    int64_t values, count;  /* number of products of values, and of all */
    int64_t k, unit;        /* current product and unit */
    int64_t done, slots;    /* over all products */
    struct product product; /* number k */
    struct use use;         /* of number k - 1 */
    REAL *buffer;           /* a product of values */
};

/* Slots of a product: one per unit, and one for a product without columns, which is 0. */
static int64_t slots(const struct product *p) { return max_i64(1, p->units); }

/* Product k, which exists. */
static struct product interleaved_product(const struct state *s,
                                          const struct interleave *b, int64_t k)
{
    const struct pass *const before = b->before, *const after = b->after;

    if (k < b->values)
        return value_product(before->block->v, before->s, before->at.lo, before->at.hi,
                             k * TILE, b->buffer);
    return score_product(s, after->g, after->block->k,
                         tile_floor(after->at.lo) + (k - b->values) * TILE, after->s);
}

/* Starts the use of product k. */
static void begin_use(const struct state *s, struct interleave *b, int64_t k)
{
    const struct pass *const before = b->before, *const after = b->after;
    struct use *const use = &b->use;

    use->values = k < b->values;
    if (use->values) {
        use->from = b->buffer;
        use->acc = before->g->acc + k * TILE * BR;
        use->rows = min_i64(TILE, s->p->dv - k * TILE);
    } else {
        const int64_t x = tile_floor(after->at.lo) + (k - b->values) * TILE;
        const int64_t first = max_i64(after->at.lo, x);

        use->from = after->s + first * BR;
        use->rows = min_i64(after->at.hi, x + TILE) - first;
    }
}

/* Loads the operands of use_rows: rescale of the rows, or their maxima. */
static ALWAYS_INLINE void load_use(const struct state *s, const struct interleave *b,
                                   vec with[QV], const int values)
{
    for (int v = 0; v < QV; v++)
        with[v] = vec_load((values ? b->before->rescale : s->row_max) + v * VLEN);
}

static ALWAYS_INLINE void store_use(const struct state *s, const vec with[QV],
                                    const int values)
{
    for (int v = 0; v < QV && !values; v++)
        vec_store(s->row_max + v * VLEN, with[v]);
}

static ALWAYS_INLINE void use_rows(struct use *use, int64_t rows, vec with[QV],
                                   const int values)
{
    const int64_t count = min_i64(rows, use->rows);
    const REAL *from = use->from;
    REAL *acc = use->acc;

    use->rows -= count;
    use->from += count * BR;
    if (values)
        use->acc += count * BR;
    for (int64_t n = 0; n < count; n++, from += BR, acc += values ? BR : 0)
        for (int v = 0; v < QV; v++) {
            const vec y = vec_load(from + v * VLEN);

            if (values)
                vec_store(acc + v * VLEN, vec_fma(vec_load(acc + v * VLEN), with[v], y));
            else
                with[v] = vec_max(y, with[v]);
        }
}

static void use_all(const struct state *s, struct interleave *b)
{
    vec with[QV];

    if (b->use.values) {
        load_use(s, b, with, 1);
        use_rows(&b->use, TILE, with, 1);
    } else {
        load_use(s, b, with, 0);
        use_rows(&b->use, TILE, with, 0);
        store_use(s, with, 0);
    }
}

static void begin_interleave(const struct state *s, struct interleave *b)
{
    const struct pass *const before = b->before, *const after = b->after;

    b->values = before->g ? ceil_div_i64(s->p->dv, TILE) : 0;
    b->count = b->values;
    if (after->g)
        b->count += ceil_div_i64(after->at.hi, TILE) - after->at.lo / TILE;
    b->k = b->unit = b->done = b->slots = 0;
    for (int64_t k = 0; k < b->count; k++) {
        const struct product product = interleaved_product(s, b, k);

        b->slots += slots(&product);
    }
    clear_row_max(s);
}

/* Field by field: copying a structure right after it was written stalls on its stores. */
static void start_product(const struct state *s, struct interleave *b)
{
    const struct product product = interleaved_product(s, b, b->k);

    b->product.a = product.a;
    b->product.b = product.b;
    b->product.units = product.units;
    b->product.to = product.to;
    if (b->k > 0)
        begin_use(s, b, b->k - 1);
    else
        b->use.rows = b->use.values = 0;
    b->use.rows_of_step = ceil_div_i64(TILE, UNIT_STEPS * slots(&product));
    begin_product();
}

static void finish_product(struct interleave *b)
{
    end_product(&b->product);
    b->unit = 0;
    b->k++;
}

/* A step of a unit, and its share of the use of the previous product. */
static ALWAYS_INLINE void run_step(struct interleave *b, const int step, vec with[QV],
                                   const int values)
{
    const struct product *const p = &b->product;

    unit_step(p->a + b->unit * UNIT_A, p->b + b->unit * UNIT_B, step);
    use_rows(&b->use, b->use.rows_of_step, with, values);
    if (step == UNIT_STEPS - 1)
        b->unit++;
}

/*
 * Runs whole slots without weights in between.  The previous product is used completely
 * and first, since few steps may follow.
 */
static void run_interleaved(const struct state *s, struct interleave *b, int64_t until)
{
    for (; b->done < until; b->done++) {
        if (b->unit == 0)
            start_product(s, b);
        if (b->unit < b->product.units)
            add_unit(&b->product, b->unit);
        if (b->use.rows > 0)
            use_all(s, b);
        if (++b->unit == slots(&b->product))
            finish_product(b);
    }
}

static void end_interleave(const struct state *s, struct interleave *b)
{
    const struct pass *const before = b->before;

    run_interleaved(s, b, b->slots);
    if (b->count > 0) {
        begin_use(s, b, b->count - 1);
        use_all(s, b);
    }
    if (before->g && !before->block->finite)
        add_infinite(s, before->g, before->s, before->block->j0, before->at.lo,
                     before->at.hi);
}
