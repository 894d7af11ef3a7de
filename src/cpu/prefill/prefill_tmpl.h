/* SPDX-License-Identifier: MIT */
/*
 * Not a header: items of many rows, in tiles of BR.  Lane r of a tile is row r, and
 * numbers of K and V are broadcast: maxima and sums are vertical, and K and V are used in
 * place.  The tiles of an item alternate on each block of keys and share its packed or
 * widened K and V.
 */

/* Scores of a block to P; 0 for hidden keys, also if the row's total is NaN. */
static void block_weights(const struct state *s, const struct rows *g, const REAL *m,
                          int64_t a, int64_t e, int edge, const REAL *share,
                          const REAL *total)
{
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            const vec w = weight_of(vec_load(at), finite_or_0(vec_load(m + r)));
            vec p = vec_div(vec_mul(w, vec_load(share + r)), vec_load(total + r));

            if (edge)
                p = vec_blend(vec_load(s->extra + x * BR + r), vec_set1(0), p);
            vec_store(at, p);
        }
}

/*
 * Stores P of the tile, from recomputed scores: m and l are known only after the first
 * pass.
 */
static void store_weights(struct state *s, const struct rows *g, const REAL *m,
                          const REAL *share, const REAL *total)
{
    const attend_tensor *weights = &s->p->weights;
    const int64_t step = weights->stride[3];
    REAL *to[BR];

    for (int64_t r = 0; r < g->rows; r++) {
        to[r] = attendi_tensor_row(weights, s->item->b, g->head[r], g->query[r]);
        for (int64_t j = 0; j < s->p->nk; j++)
            to[r][j * step] = 0;
    }
    for (int64_t j0 = g->lo / BC * BC; j0 < g->hi; j0 += BC) {
        int edge;
        const struct key_range x =
            keys_left(s, g, g->width, j0, block_range(s, g->lo, g->hi, j0, BC), &edge);

        if (x.lo >= x.hi)
            continue;
        open_block(s, j0, x.lo, x.hi);
        prefill_scores(s, g, j0, x.lo, x.hi, edge);
        block_weights(s, g, m, x.lo, x.hi, edge, share, total);
        for (int64_t r = 0; r < g->rows; r++)
            for (int64_t j = x.lo; j < x.hi; j++)
                to[r][(j0 + j) * step] = s->s[j * BR + r];
    }
}

/* Stores rows r0 .. r0 + VLEN - 1 of O: acc, transposed a vector of columns at a time. */
static ALWAYS_INLINE void store_rows(const struct state *s, const struct rows *g,
                                     const REAL *acc, int64_t r0,
                                     const struct row_end *end, const attend_dtype dtype)
{
    const struct problem *p = s->p;
    const int64_t rows = min_i64(VLEN, g->rows - r0), step = p->out.stride[3];
    void *to[VLEN];

    for (int64_t r = 0; r < rows; r++)
        to[r] =
            attendi_tensor_row(&p->out, s->item->b, g->head[r0 + r], g->query[r0 + r]);
    for (int64_t c = 0; c < p->dv; c += VLEN) {
        const int64_t n = min_i64(VLEN, p->dv - c);
        vec x[VLEN];

        for (int64_t y = 0; y < VLEN; y++)
            x[y] = vec_load(acc + min_i64(c + y, p->dv - 1) * BR + r0);
        vec_transpose(x);
        if (n == VLEN && step == 1 && dtype == p->out.dtype)
            for (int64_t r = 0; r < rows; r++)
                store_lanes(to[r], dtype, 1, c, VLEN, output(&end[r0 + r], x[r]));
        else
            for (int64_t r = 0; r < rows; r++)
                store_lanes(to[r], p->out.dtype, step, c, n, output(&end[r0 + r], x[r]));
    }
}

static void finish_tile(struct state *s, const struct rows *g)
{
    struct row_end end[BR] = {{0}};
    REAL share[BR], total[BR];

    for (int64_t r = 0; r < g->width; r++) {
        const int64_t row = min_i64(r, g->rows - 1);
        end[r] = r > row ? end[row] : end_row(s, g, r, g->m[r], g->l[r]);
        share[r] = end[r].share;
        total[r] = end[r].total;
    }
    for (int64_t r = 0; r < g->rows; r += VLEN)
        FOR_DTYPES(s->p->out.dtype, store_rows, s, g, g->acc, r, end);
    if (g->accum)
        finish_stats(s, g);
    if (s->p->weights.data)
        store_weights(s, g, g->m, share, total);
}

static void forward_prefill(struct state *s)
{
    const int64_t split = s->p->split_keys;
    struct key_range all = {0, 0};

    begin_blocks();
    for (int64_t x = 0; x < s->count; x++) {
        struct rows *const g = &s->rows[x];

        begin_rows(s, g, s->item->row + x * BR, min_i64(BR, s->item->rows - x * BR));
        pack_q(s, g);
        clear_rows(s, g);
        if (g->lo < g->hi) {
            all.lo = all.hi == 0 ? g->lo : min_i64(all.lo, g->lo);
            all.hi = max_i64(all.hi, g->hi);
        }
    }
    for (int64_t k0 = all.lo / split * split; k0 < all.hi; k0 += split) {
        prefill_blocks(
            s, all, (struct key_range){max_i64(all.lo, k0), min_i64(all.hi, k0 + split)});
        for (int64_t x = 0; x < s->count; x++)
            if (many_splits(s, &s->rows[x]))
                push_split(s, &s->rows[x], (k0 - s->item->keys.lo) / split);
    }
    for (int64_t x = 0; x < s->count; x++) {
        struct rows *const g = &s->rows[x];

        combine_pending(s, g);
        for (int64_t r = 0; leaves_partial(s) && r < g->rows; r++)
            store_partial(s, g, r, g->acc + r, BR);
        if (!leaves_partial(s))
            finish_tile(s, g);
    }
    end_blocks();
}
