/* SPDX-License-Identifier: MIT */
/*
 * Not a header: items of fewer rows than a vector has lanes, as in decoding, which is
 * bound by reading K and V.  Lanes are keys for scores and columns for values; every sum
 * has the order of prefill_tmpl.h.
 */

static const REAL iota[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static void decode_rule(const struct state *s, const struct rows *g, int64_t r,
                        int64_t j0, int64_t a, int64_t e)
{
    const struct problem *p = s->p;
    const vec slope = vec_set1(p->alibi ? g->slope[r] : 0);
    const vec anchor = vec_set1((REAL)(p->alibi ? g->anchor[r] - j0 : 0));

    for (int64_t x = a; x < e; x += VLEN) {
        REAL *const at = s->s + r * S_ROW + x;
        vec score = vec_load(at);

        if (p->softcap > 0)
            score = softcap(s, score);
        if (p->bias.data)
            score = vec_add(score,
                            load_lanes(g->bias_row[r], p->bias.dtype, p->bias.stride[3],
                                       j0 + x, min_i64(VLEN, e - x)));
        if (p->alibi) {
            const vec j = vec_add(vec_set1((REAL)x), vec_load(iota));
            score = vec_fma(slope, vec_sub(j, anchor), score);
        }
        vec_store(at, score);
    }
}

/* Masks of hidden keys to s->extra, and their scores to -inf. */
static void decode_hide(const struct state *s, const struct rows *g, int64_t r,
                        int64_t j0, int64_t a, int64_t e, int edge)
{
    const attend_view *mask = &s->p->mask;
    const vec first =
        vec_set1((REAL)min_i64(max_i64(g->first[r] - j0, 0), DECODE_BC + 1));
    const vec last = vec_set1((REAL)min_i64(max_i64(g->end[r] - j0 - 1, -1), DECODE_BC));

    for (int64_t x = a; x < e; x += VLEN) {
        REAL *const score = s->s + r * S_ROW + x, *const to = s->extra + r * S_ROW + x;
        const vec j = vec_add(vec_set1((REAL)x), vec_load(iota));
        vec hidden = vec_or(vec_mask_lt(j, first), vec_mask_lt(last, j));

        if (edge & EDGE_MASK)
            hidden = vec_or(hidden, load_mask(g->mask_row[r], mask->stride[3], j0 + x,
                                              min_i64(VLEN, e - x)));
        vec_store(to, hidden);
        vec_store(score, vec_blend(hidden, vec_set1(-INFINITY), vec_load(score)));
    }
}

static REAL largest(REAL m, const REAL *score, int64_t a, int64_t e)
{
    vec max = vec_set1(m);
    REAL lanes[VLEN];

    for (int64_t x = a; x < e; x += VLEN)
        max = vec_max(vec_load(score + x), max);
    vec_store(lanes, max);
    for (int v = 0; v < VLEN; v++)
        m = lanes[v] > m ? lanes[v] : m;
    return m;
}

/*
 * Scores to weights; m, l and rescale of rows r .. r + rows - 1.  Sums run over the keys
 * in order, for several rows at once to hide their latency.
 */
static ALWAYS_INLINE void decode_weigh(const struct state *s, struct rows *g, int64_t a,
                                       int64_t e, int edge, int64_t r, const int rows)
{
    REAL *const score = s->s + r * S_ROW;
    const REAL *const mask = s->extra + r * S_ROW;
    REAL m[4], sum[4];
    vec base[4];

    for (int i = 0; i < rows; i++) {
        /* Lanes past the end have weight 0. */
        vec_store(score + i * S_ROW + e, vec_set1(-INFINITY));
        m[i] = largest(g->m[r + i], score + i * S_ROW, a, e);
        base[i] = finite_or_0(vec_set1(m[i]));
        sum[i] = 0;
    }
    for (int64_t x = a; x < e; x += VLEN) {
        for (int i = 0; i < rows; i++) {
            REAL *const at = score + i * S_ROW + x;
            const vec w = weight_of(vec_load(at), base[i]);

            vec_store(at, edge ? vec_or(w, vec_load(mask + i * S_ROW + x)) : w);
        }
        for (int v = 0; v < VLEN && WEIGHT_PIECE == DECODE_BC; v++)
            for (int i = 0; i < rows; i++)
                sum[i] += score[i * S_ROW + x + v];
    }
    for (int64_t x = a; x < e && WEIGHT_PIECE < DECODE_BC;
         x = (x / WEIGHT_PIECE + 1) * WEIGHT_PIECE) {
        const int64_t keys = min_i64(e, (x / WEIGHT_PIECE + 1) * WEIGHT_PIECE) - x;
        REAL piece[4] = {0, 0, 0, 0};

        for (int64_t v = 0; v < keys; v++)
            for (int i = 0; i < rows; i++)
                piece[i] += score[i * S_ROW + x + v];
        for (int i = 0; i < rows; i++)
            sum[i] += piece[i];
    }
    for (int i = 0; i < rows; i++) {
        const vec rescale = weight_of(vec_set1(g->m[r + i]), base[i]);
        const vec l = vec_fma(vec_set1(g->l[r + i]), rescale, vec_set1(sum[i]));

        s->rescale[r + i] = lane0(rescale);
        g->m[r + i] = m[i];
        g->l[r + i] = lane0(l);
    }
}

static ALWAYS_INLINE void decode_softmax(const struct state *s, struct rows *g,
                                         int64_t j0, int64_t a, int64_t e, int edge,
                                         int64_t r, const int rows)
{
    const struct problem *p = s->p;

    for (int64_t i = r; i < r + rows; i++) {
        if (p->softcap > 0 || p->bias.data || p->alibi)
            decode_rule(s, g, i, j0, a, e);
        if (edge)
            decode_hide(s, g, i, j0, a, e, edge);
    }
    decode_weigh(s, g, a, e, edge, r, rows);
}

static void decode_block(struct state *s, struct rows *g, int64_t j0)
{
    const int64_t lanes = g->accum ? g->width : g->rows;
    int edge;
    const struct key_range x =
        keys_left(s, g, lanes, j0, block_range(s, g->lo, g->hi, j0, DECODE_BC), &edge);

    if (x.lo >= x.hi)
        return;
    if (g->accum) {
        decode_accum(s, g, j0, x.lo, x.hi, edge);
    } else {
        decode_scores(s, g, j0, x.lo, x.hi);
        FOR_ROWS_OF(4, g->rows, decode_softmax, s, g, j0, x.lo, x.hi, edge);
        decode_pack_weights(s, g, x.lo, x.hi);
    }
    decode_values(s, g, j0, x.lo, x.hi, edge);
}

static void forward_decode(struct state *s)
{
    struct rows *const g = s->rows;
    const int64_t split = s->p->split_keys;

    begin_rows(s, g, s->item->row, s->item->rows);
    decode_pack_q(s, g);
    clear_rows(s, g);
    for (int64_t k0 = g->lo / split * split; k0 < g->hi; k0 += split) {
        for (int64_t j0 = max_i64(g->lo, k0) / DECODE_BC * DECODE_BC;
             j0 < min_i64(g->hi, k0 + split); j0 += DECODE_BC)
            decode_block(s, g, j0);
        if (many_splits(s, g))
            push_split(s, g, (k0 - s->item->keys.lo) / split);
    }
    combine_pending(s, g);
    for (int64_t r = 0; r < g->rows; r++) {
        const REAL *const acc = g->acc + r * s->p->dv;

        if (leaves_partial(s))
            store_partial(s, g, r, acc, 1);
        else
            finish_row(s, g, r, g->m[r], g->l[r], acc);
    }
    if (g->accum && !leaves_partial(s))
        finish_stats(s, g);
}
