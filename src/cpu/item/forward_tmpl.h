/* SPDX-License-Identifier: MIT */
/*
 * Not a header: attention of one item of work.
 *
 * Online softmax over blocks of BC keys.  Between blocks, a row holds
 *     m = max score so far,  l = sum exp(s - m),  acc = sum exp(s - m) v.
 * A block sums its own l and acc first and adds them by
 *     l = l f + l_block,  acc = acc f + acc_block,  f = exp(m_old - m_new),
 * so m is always the true maximum, and errors grow with BC + nk / BC, not with nk.
 * Splits of split_keys keys start from zero and combine in a fixed tree (partial_tmpl.h),
 * so that several workers can share the keys of a row.  Blocks and splits start at
 * multiples of their size from key 0 for any range of keys: the bits of a row depend on
 * the row only.
 *
 * Hidden keys are masked by a sign bit: their score becomes -inf and their weight -0.0,
 * which adds nothing and differs from a weight that underflowed.
 */

/*
 * Number of rows at the end of an item that take the decode path: all if a head has fewer
 * rows than lanes, else those past whole vectors if they are too few for a vector of
 * their own.  Both paths give the same bits.
 */
static int64_t decode_rows(const struct problem *p, int64_t rows)
{
    if (p->weights.data || p->stats.needs & (STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE))
        return 0;
    if (p->nq * p->group < VLEN)
        return rows;
    return rows % VLEN <= DECODE_REST ? rows % VLEN : 0;
}

/*
 * Divides the scratch of `rows` rows of one path and returns its size; base NULL: size
 * only.
 */
static size_t alloc(struct state *s, const struct problem *p, int64_t rows, bool decode,
                    char *base)
{
    const struct operand_sizes sizes = operand_sizes(p);
    const size_t lanes = BR * sizeof(REAL), acc = (size_t)p->dv * lanes;
    size_t used = 0;
    struct rows none;

    s->count = ceil_div_i64(rows, BR);
    s->s = bump(base, &used, BC * lanes);
    s->extra = bump(base, &used, BC * lanes);
    s->words = bump(base, &used, p->mask.data ? BC / 32 * sizeof *s->words : 0);
    s->row_max = bump(base, &used, lanes);
    s->rescale = bump(base, &used, lanes);
    s->k = bump(base, &used, decode ? decode_k_size(p) : sizes.k);
    s->v = bump(base, &used, decode ? decode_v_size(p) : sizes.v);
    s->work =
        bump(base, &used, decode ? (size_t)(VLEN * S_ROW) * sizeof(REAL) : sizes.work);
    s->stat = p->stats.needs ? alloc_stat(p, base, &used) : NULL;
    s->rows = bump(base, &used, (size_t)s->count * sizeof *s->rows);
    for (int64_t x = 0; x < s->count; x++) {
        struct rows *const g = base ? &s->rows[x] : &none;

        g->q = bump(base, &used, decode ? decode_q_size(p) : sizes.q);
        g->acc = bump(base, &used, acc);
        g->m = bump(base, &used, lanes);
        g->l = bump(base, &used, lanes);
        g->sums = bump(base, &used, sums_size(p));
        alloc_levels(g, p, base, &used);
        g->accum = p->stats.needs ? alloc_accum(p, base, &used) : NULL;
    }
    return used;
}

static size_t scratch_size(const struct problem *p, int64_t rows)
{
    struct state s;
    const size_t prefill = alloc(&s, p, rows, false, NULL);
    const size_t decode = alloc(&s, p, min_i64(rows, VLEN - 1), true, NULL);

    return prefill > decode ? prefill : decode;
}

static void forward_rows(const struct problem *p, const struct work_item *item,
                         bool decode, void *scratch)
{
    struct state s = {.p = p,
                      .item = item,
                      .decode = decode,
                      .head = item->hk * p->group,
                      .heads = p->group};

    alloc(&s, p, item->rows, decode, scratch);
    if (decode)
        forward_decode(&s);
    else
        forward_prefill(&s);
}

static void forward(const struct problem *p, const struct work_item *item, void *scratch)
{
    const int64_t decode = decode_rows(p, item->rows), prefill = item->rows - decode;
    struct work_item some = *item;

    some.rows = prefill;
    if (prefill > 0)
        forward_rows(p, &some, false, scratch);
    some.row += prefill;
    some.rows = decode;
    some.partial =
        item->partial ? (REAL *)item->partial + prefill * partial_row(p) : NULL;
    if (decode > 0)
        forward_rows(p, &some, true, scratch);
}

static void finish(const struct problem *p, const struct work_item *item, void *partials,
                   const int64_t *start, int64_t count, void *scratch)
{
    const int64_t step = partial_row(p);
    struct state s = {
        .p = p, .item = item, .head = item->hk * p->group, .heads = p->group};

    alloc(&s, p, item->rows, false, scratch);
    for (int64_t x = 0; x < s.count; x++) {
        struct rows *const g = &s.rows[x];

        begin_rows(&s, g, item->row + x * BR, min_i64(BR, item->rows - x * BR));
        for (int64_t r = 0; r < g->rows; r++) {
            REAL *const all = combine_tree(p, (REAL *)partials + (x * BR + r) * step,
                                           item->rows * step, start, count);

            if (p->shard)
                memcpy(partial_at(&s, g, r), all, (size_t)(p->dv + 2) * sizeof *all);
            else
                finish_row(&s, g, r, all[0], all[1], all + 2);
            if (p->stats.needs)
                (p->shard ? attendi_stats_store_raw : attendi_stats_finish)(
                    p, item->b, g->head[r], g->query[r], sums_of_partial(p, all));
        }
    }
}
