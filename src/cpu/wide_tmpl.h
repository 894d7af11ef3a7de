/* SPDX-License-Identifier: MIT */
/*
 * Not a header: items of many rows, cut into tiles of BR.  Queries stand in the lanes:
 * lane r of a tile is row r, and rows of K and V are broadcast, so maxima and sums are
 * vertical and K and V are used where they lie.  The tiles of an item take turns on
 * each block of keys, so that what is packed or widened of it serves them all.
 * Parameters: forward_tmpl.h.
 */

/* s->s of the block = f(score), for the scores of keys a .. e - 1. */
static void N(wide_softcap)(const STATE *s, const ROWS *g, int64_t a, int64_t e)
{
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            V(store)(at, N(softcap)(s, V(load)(at)));
        }
}

/* Adds the bias, read along the keys and turned, VLEN rows by VLEN keys at a time. */
static void N(wide_bias)(const STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *bias = &s->p->bias;

    for (int64_t r0 = 0; r0 < g->width; r0 += VLEN)
        for (int64_t x = a; x < e; x += VLEN) {
            const int64_t n = min_i64(VLEN, e - x);
            VEC y[VLEN];

            for (int r = 0; r < VLEN; r++)
                y[r] = N(load_lanes)(g->bias_row[r0 + r], bias->dtype, bias->stride[3],
                                     j0 + x, n);
            V(transpose)(y);
            for (int64_t i = 0; i < n; i++) {
                REAL *at = s->s + (x + i) * BR + r0;
                V(store)(at, V(add)(V(load)(at), y[i]));
            }
        }
}

static void N(wide_alibi)(const STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e)
{
    REAL anchor[BR];

    for (int64_t r = 0; r < g->width; r++)
        anchor[r] = (REAL)(g->anchor[r] - j0);
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            const VEC distance = V(sub)(V(set1)((REAL)x), V(load)(anchor + r));
            V(store)(at, V(fma)(V(load)(g->slope + r), distance, V(load)(at)));
        }
}

/* Marks of the keys in s->extra, -inf for the scores they hide, the largest left. */
static void N(wide_hide)(const STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e,
                         int edge)
{
    REAL first[BR], last[BR]; /* from the block's start, within -1 .. BC + 1 */

    for (int64_t r = 0; r < g->width; r++) {
        first[r] = (REAL)min_i64(max_i64(g->first[r] - j0, 0), BC + 1);
        last[r] = (REAL)min_i64(max_i64(g->end[r] - j0 - 1, -1), BC);
    }
    for (int64_t r = 0; r < g->width; r += VLEN) {
        VEC top = V(set1)(-INFINITY);

        for (int64_t x = a; x < e; x++) {
            REAL *at = s->s + x * BR + r;
            const VEC j = V(set1)((REAL)x);
            VEC hidden = V(set1)(0);

            if (edge & EDGE_RANGE)
                hidden = V(either)(V(mark_lt)(j, V(load)(first + r)),
                                   V(mark_lt)(V(load)(last + r), j));
            if (edge & EDGE_MASK)
                hidden =
                    V(either)(hidden, V(mark_bit)(s->words[x / 32] + r, (int)(x % 32)));
            const VEC score = V(pick)(hidden, V(set1)(-INFINITY), V(load)(at));
            V(store)(s->extra + x * BR + r, hidden);
            V(store)(at, score);
            top = V(max)(score, top);
        }
        V(store)(s->top + r, top);
    }
}

static void N(wide_top)(const STATE *s, const ROWS *g, int64_t a, int64_t e)
{
    for (int64_t r = 0; r < g->width; r += VLEN) {
        VEC top = V(set1)(-INFINITY);

        for (int64_t x = a; x < e; x++)
            top = V(max)(V(load)(s->s + x * BR + r), top);
        V(store)(s->top + r, top);
    }
}

/* What the rule makes of the scores of keys j0 + a .. j0 + e - 1, and of s->top. */
static void N(wide_rule)(STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e,
                         int edge)
{
    const struct problem *p = s->p;

    if (!edge && p->softcap == 0 && !p->bias.data && !p->alibi)
        return;
    if (p->softcap > 0)
        N(wide_softcap)(s, g, a, e);
    if (p->bias.data)
        N(wide_bias)(s, g, j0, a, e);
    if (p->alibi)
        N(wide_alibi)(s, g, j0, a, e);
    if (edge)
        N(wide_hide)(s, g, j0, a, e, edge);
    else
        N(wide_top)(s, g, a, e);
}

/* Scores of the rows, [rows][S_ROW], to [key][BR]; lanes past the last row repeat it. */
static void N(transpose_scores)(const STATE *s, const ROWS *g, const REAL *from,
                                int64_t a, int64_t e)
{
    for (int64_t x = a; x < e; x += VLEN) {
        VEC y[VLEN];

        for (int64_t r = 0; r < VLEN; r++)
            y[r] = V(load)(from + min_i64(r, g->rows - 1) * S_ROW + x);
        V(transpose)(y);
        for (int64_t i = 0; i < min_i64(VLEN, e - x); i++)
            V(store)(s->s + (x + i) * BR, y[i]);
    }
}

static void N(clear_top)(const STATE *s)
{
    for (int64_t r = 0; r < BR; r += VLEN)
        V(store)(s->top + r, V(set1)(-INFINITY));
}

/* Scores of keys j0 + a .. j0 + e - 1, and the largest of each row in s->top. */
static void N(wide_scores)(STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e,
                           int edge)
{
    N(clear_top)(s);
    N(scores)(s, g, j0, a, e);
    N(wide_rule)(s, g, j0, a, e, edge);
}

/* What statistics sum of the weights w of x = s - m, of key j, as they arise. */
enum { N(sum_xw), N(sum_ww), N(sum_jw), N(sum_xxw), N(sums) };

/* The first `sums` of them; w is kept beside the marks where the product rounds it. */
static ALWAYS_INLINE void N(add_sums)(const STATE *s, int64_t j, int64_t r, VEC x, VEC w,
                                      VEC *sum, const int sums)
{
    const VEC finite = V(max)(V(set1)(-SPREAD_MAX), x);

    sum[N(sum_xw)] = V(fma)(finite, w, sum[N(sum_xw)]);
    sum[N(sum_ww)] = V(fma)(w, w, sum[N(sum_ww)]);
    if (sums > N(sum_jw))
        sum[N(sum_jw)] = V(fma)(V(set1)(N(ramp)(s)[j]), w, sum[N(sum_jw)]);
    if (sums > N(sum_xxw))
        sum[N(sum_xxw)] = V(fma)(V(mul)(finite, w), finite, sum[N(sum_xxw)]);
    if (!N(keeps_weights))
        V(store)(s->extra + j * BR + r, w);
}

static ALWAYS_INLINE VEC N(wide_weight)(const STATE *s, int64_t j, int64_t r, VEC base,
                                        const int edge, VEC *sum, const int sums)
{
    const VEC gap = V(sub)(V(load)(s->s + j * BR + r), base);
    VEC w = N(weight_of)(gap);

    if (edge)
        w = V(either)(w, V(load)(s->extra + j * BR + r));
    if (sums > 0)
        N(add_sums)(s, j, r, gap, w, sum, sums);
    return w;
}

/*
 * Scores to weights, two keys at a time; returns their sum, key by key.  `sums` others
 * besides, 0 unless statistics are wanted, of even keys and of odd keys apart.
 */
static ALWAYS_INLINE VEC N(weigh_lanes)(const STATE *s, int64_t a, int64_t e, int64_t r,
                                        VEC base, const int edge, VEC *sum,
                                        const int sums)
{
    VEC whole = V(set1)(0), *const sum_odd = sums > 0 ? sum + N(sums) : NULL;
    int64_t x = a;

    for (; x + 2 <= e; x += 2) {
        const VEC even = N(wide_weight)(s, x, r, base, edge, sum, sums);
        const VEC odd = N(wide_weight)(s, x + 1, r, base, edge, sum_odd, sums);

        N(keep_weights)(s, x, r, even, odd);
        whole = V(add)(V(add)(whole, even), odd);
    }
    if (x < e) {
        const VEC even = N(wide_weight)(s, x, r, base, edge, sum, sums);

        N(keep_weights)(s, x, r, even, V(set1)(0));
        whole = V(add)(whole, even);
    }
    return whole;
}

/* Scores of a block to P; 0 where hidden, also in a row whose total is NaN. */
static void N(block_weights)(const STATE *s, const ROWS *g, const REAL *m, int64_t a,
                             int64_t e, int edge, const REAL *share, const REAL *total)
{
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            const VEC w = N(weight)(V(load)(at), N(finite_or_0)(V(load)(m + r)));
            VEC p = V(div)(V(mul)(w, V(load)(share + r)), V(load)(total + r));

            if (edge)
                p = V(pick)(V(load)(s->extra + x * BR + r), V(set1)(0), p);
            V(store)(at, p);
        }
}

/* P of the tile, from scores computed again: the first pass did not know m and l. */
static void N(store_weights)(STATE *s, const ROWS *g, const REAL *m, const REAL *share,
                             const REAL *total)
{
    const attend_tensor *weights = &s->p->weights;
    const int64_t step = weights->stride[3];
    REAL *to[BR];

    for (int64_t r = 0; r < g->rows; r++) {
        to[r] = attendi_tensor_row(weights, s->t->b, g->head[r], g->query[r]);
        for (int64_t j = 0; j < s->p->nk; j++)
            to[r][j * step] = 0;
    }
    for (int64_t j0 = g->lo / BC * BC; j0 < g->hi; j0 += BC) {
        int edge;
        const struct key_range x = N(keys_left)(
            s, g, g->width, j0, N(block_range)(s, g->lo, g->hi, j0, BC), &edge);

        if (x.lo >= x.hi)
            continue;
        N(open_block)(s, j0, x.lo, x.hi);
        N(wide_scores)(s, g, j0, x.lo, x.hi, edge);
        N(block_weights)(s, g, m, x.lo, x.hi, edge, share, total);
        for (int64_t r = 0; r < g->rows; r++)
            for (int64_t j = x.lo; j < x.hi; j++)
                to[r][(j0 + j) * step] = s->s[j * BR + r];
    }
}

/* Rows r0 .. r0 + VLEN - 1 of acc, turned, a vector of columns at a time, to O. */
static ALWAYS_INLINE void N(store_rows)(const STATE *s, const ROWS *g, const REAL *acc,
                                        int64_t r0, const struct N(row_end) * end,
                                        const attend_dtype dtype)
{
    const struct problem *p = s->p;
    const int64_t rows = min_i64(VLEN, g->rows - r0), step = p->out.stride[3];
    void *to[VLEN];

    for (int64_t r = 0; r < rows; r++)
        to[r] = attendi_tensor_row(&p->out, s->t->b, g->head[r0 + r], g->query[r0 + r]);
    for (int64_t c = 0; c < p->dv; c += VLEN) {
        const int64_t n = min_i64(VLEN, p->dv - c);
        VEC x[VLEN];

        for (int64_t y = 0; y < VLEN; y++)
            x[y] = V(load)(acc + min_i64(c + y, p->dv - 1) * BR + r0);
        V(transpose)(x);
        if (n == VLEN && step == 1 && dtype == p->out.dtype)
            for (int64_t r = 0; r < rows; r++)
                N(store_lanes)
        (to[r], dtype, 1, c, VLEN, N(output)(&end[r0 + r], x[r]));
        else for (int64_t r = 0; r < rows; r++) N(store_lanes)(
            to[r], p->out.dtype, step, c, n, N(output)(&end[r0 + r], x[r]));
    }
}

static void N(finish_tile)(STATE *s, const ROWS *g)
{
    struct N(row_end) end[BR] = {{0}};
    REAL share[BR], total[BR];

    for (int64_t r = 0; r < g->width; r++) {
        const int64_t row = min_i64(r, g->rows - 1);
        end[r] = r > row ? end[row] : N(end_row)(s, g, r, g->m[r], g->l[r]);
        share[r] = end[r].share;
        total[r] = end[r].total;
    }
    for (int64_t r = 0; r < g->rows; r += VLEN)
        FOR_DTYPES(s->p->out.dtype, N(store_rows), s, g, g->acc, r, end);
    if (g->tally)
        N(finish_stats)(s, g);
    if (s->p->weights.data)
        N(store_weights)(s, g, g->m, share, total);
}

/*
 * The blocks of keys keys.lo .. keys.hi - 1 in turn, each for every tile that sees some
 * of it; the item sees keys all.lo .. all.hi - 1.  begin_blocks and end_blocks come
 * before the first and after the last of an item.
 */
static void N(wide_blocks)(STATE *s, struct key_range all, struct key_range keys);
static void N(begin_blocks)(void);
static void N(end_blocks)(void);

static void N(forward_wide)(STATE *s)
{
    const int64_t split = s->p->split_keys;
    struct key_range all = {0, 0};

    N(begin_blocks)();
    for (int64_t x = 0; x < s->count; x++) {
        ROWS *const g = &s->rows[x];

        N(begin_rows)(s, g, s->t->row + x * BR, min_i64(BR, s->t->rows - x * BR));
        N(pack_q)(s, g);
        N(clear_rows)(s, g);
        if (g->lo < g->hi) {
            all.lo = all.hi == 0 ? g->lo : min_i64(all.lo, g->lo);
            all.hi = max_i64(all.hi, g->hi);
        }
    }
    for (int64_t k0 = all.lo / split * split; k0 < all.hi; k0 += split) {
        N(wide_blocks)
        (s, all, (struct key_range){max_i64(all.lo, k0), min_i64(all.hi, k0 + split)});
        for (int64_t x = 0; x < s->count; x++)
            if (N(many_splits)(s, &s->rows[x]))
                N(push_split)(s, &s->rows[x], (k0 - s->t->keys.lo) / split);
    }
    for (int64_t x = 0; x < s->count; x++) {
        ROWS *const g = &s->rows[x];

        N(combine_pending)(s, g);
        for (int64_t r = 0; N(leaves_partial)(s) && r < g->rows; r++)
            N(store_partial)(s, g, r, g->acc + r, BR);
        if (!N(leaves_partial)(s))
            N(finish_tile)(s, g);
    }
    N(end_blocks)();
}
