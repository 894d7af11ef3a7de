/* SPDX-License-Identifier: MIT */
/*
 * Not a header: attention of one item of work, for one floating type of one kernel
 * set.  kernels_<isa>.c includes simd_<isa>.h, sets the parameters and includes the
 * templates; all is static but the table, so that no code compiled for a wide machine
 * can be linked into a narrow caller.
 *
 * Parameters
 *   REAL, VEC, VLEN, V(word)  type of scores and sums, its vector and vocabulary
 *   N(name)                   name with the suffix of this instance
 *   QV                        vectors of query rows in a full tile
 *   KR                        keys (or columns of V) in a register tile
 *   LANES_STEP                lanes are used in multiples of this: VLEN, or BR
 *   TILES_MAX                 tiles of an item at most
 *   NARROW_REST               rows past whole vectors that are narrow, at most
 *   NARROW_ROWS               rows at a time in a narrow item, 4 or 8
 *   NARROW_TILES              tiles of VLEN keys that take turns in a narrow item
 *   TURN                      lanes of Q whose columns of K are turned at a time
 *   NARROW_VECTORS            vectors of columns of V at a time in a narrow item
 *   BC, NARROW_BC             keys of a block of a wide and of a narrow item
 *
 * Online softmax over blocks of BC keys.  Between blocks, a row holds
 *     m = max score so far,  l = sum exp(s - m),  acc = sum exp(s - m) v.
 * A block sums its own l and acc first and joins them by
 *     l = l f + l_block,  acc = acc f + acc_block,  f = exp(m_old - m_new),
 * so m is always the true maximum, and errors grow with BC + nk / BC, not with nk.
 * Splits of split_keys keys begin anew and combine in a fixed tree (partial_tmpl.h), so
 * that several workers can share the keys of a row.  Blocks and splits start at multiples
 * of their size from key 0, whatever range a row sees: what a row computes depends on
 * nothing but the row.
 *
 * What a row does not see is marked by a sign bit: its score becomes -inf, its
 * weight -0.0, which adds nothing and which the products can tell from a weight that
 * merely underflowed.
 */

/*
 * Of an item's rows, those at its end that are computed as narrow: all where a head has
 * fewer than lanes, else those past whole vectors if they are so few that a vector of
 * their own would cost more.  Both ways give the same bits.
 */
static int64_t N(narrow_rows)(const struct problem *p, int64_t rows)
{
    if (p->weights.data || p->stats.needs & (STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE))
        return 0;
    if (p->nq * p->group < VLEN)
        return rows;
    return rows % VLEN <= NARROW_REST ? rows % VLEN : 0;
}

/* Lays out scratch for `rows` rows, all narrow or none; base NULL: tells the size. */
static size_t N(carve)(STATE *s, const struct problem *p, int64_t rows, bool narrow,
                       char *base)
{
    const struct operand_sizes sizes = N(operand_sizes)(p);
    const size_t lanes = BR * sizeof(REAL), acc = (size_t)p->dv * lanes;
    size_t used = 0;
    ROWS none;

    s->count = ceil_div_i64(rows, BR);
    s->s = N(take)(base, &used, BC * lanes);
    s->extra = N(take)(base, &used, BC * lanes);
    s->words = N(take)(base, &used, p->mask.data ? BC / 32 * sizeof *s->words : 0);
    s->top = N(take)(base, &used, lanes);
    s->fix = N(take)(base, &used, lanes);
    s->k = N(take)(base, &used, narrow ? N(narrow_k_size)(p) : sizes.k);
    s->v = N(take)(base, &used, narrow ? N(narrow_v_size)(p) : sizes.v);
    s->work =
        N(take)(base, &used, narrow ? (size_t)(VLEN * S_ROW) * sizeof(REAL) : sizes.work);
    s->note = p->stats.needs ? N(carve_note)(p, base, &used) : NULL;
    s->rows = N(take)(base, &used, (size_t)s->count * sizeof *s->rows);
    for (int64_t x = 0; x < s->count; x++) {
        ROWS *const g = base ? &s->rows[x] : &none;

        g->q = N(take)(base, &used, narrow ? N(narrow_q_size)(p) : sizes.q);
        g->acc = N(take)(base, &used, acc);
        g->m = N(take)(base, &used, lanes);
        g->l = N(take)(base, &used, lanes);
        g->sums = N(take)(base, &used, N(sums_size)(p));
        N(carve_levels)(g, p, base, &used);
        g->tally = p->stats.needs ? N(carve_tally)(p, base, &used) : NULL;
    }
    return used;
}

static int64_t N(tile_rows)(attend_dtype dtype)
{
    (void)dtype;
    return BR;
}

static int N(tiles_max)(attend_dtype dtype)
{
    (void)dtype;
    return TILES_MAX;
}

static size_t N(scratch_size)(const struct problem *p, int64_t rows)
{
    STATE s;
    const size_t wide = N(carve)(&s, p, rows, false, NULL);
    const size_t narrow = N(carve)(&s, p, min_i64(rows, VLEN - 1), true, NULL);

    return wide > narrow ? wide : narrow;
}

static void N(forward_rows)(const struct problem *p, const struct tile *t, bool narrow,
                            void *scratch)
{
    STATE s = {
        .p = p, .t = t, .narrow = narrow, .head = t->hk * p->group, .heads = p->group};

    N(carve)(&s, p, t->rows, narrow, scratch);
    if (narrow)
        N(forward_narrow)(&s);
    else
        N(forward_wide)(&s);
}

static void N(forward)(const struct problem *p, const struct tile *t, void *scratch)
{
    const int64_t narrow = N(narrow_rows)(p, t->rows), wide = t->rows - narrow;
    struct tile some = *t;

    some.rows = wide;
    if (wide > 0)
        N(forward_rows)(p, &some, false, scratch);
    some.row += wide;
    some.rows = narrow;
    some.partial = t->partial ? (REAL *)t->partial + wide * N(partial_row)(p) : NULL;
    if (narrow > 0)
        N(forward_rows)(p, &some, true, scratch);
}

static void N(finish)(const struct problem *p, const struct tile *t, void *partials,
                      const int64_t *start, int64_t count, void *scratch)
{
    const int64_t step = N(partial_row)(p);
    STATE s = {.p = p, .t = t, .head = t->hk * p->group, .heads = p->group};

    N(carve)(&s, p, t->rows, false, scratch);
    for (int64_t x = 0; x < s.count; x++) {
        ROWS *const g = &s.rows[x];

        N(begin_rows)(&s, g, t->row + x * BR, min_i64(BR, t->rows - x * BR));
        for (int64_t r = 0; r < g->rows; r++) {
            REAL *const all = N(combine_tree)(p, (REAL *)partials + (x * BR + r) * step,
                                              t->rows * step, start, count);

            if (p->shard) {
                memcpy(N(partial_at)(&s, g, r), all, (size_t)step * sizeof *all);
                continue;
            }
            N(finish_row)(&s, g, r, all[0], all[1], all + 2);
            if (p->stats.needs)
                attendi_stats_finish(p, t->b, g->head[r], g->query[r],
                                     N(sums_of_partial)(p, all));
        }
    }
}
