/* SPDX-License-Identifier: MIT */
/*
 * Not a header: attention of one query tile, for one floating type of one kernel
 * set, after state_tmpl.h, exp2_tmpl.h and a file of products.  kernels_<isa>.c includes
 * simd_<isa>.h, sets the parameters and includes the templates; all is static but the
 * table, so that no code compiled for a wide machine can be linked into a narrow caller.
 *
 * Parameters
 *   REAL, VEC, VLEN, V(word)  type of scores and sums, its vector and vocabulary
 *   N(name)                   name with the suffix of this instance
 *   QV                        vectors of query rows in a full tile
 *   KR                        keys (or columns of V) in a register tile
 * and, from the file of products,
 *   N(operand_sizes), N(pack_q), N(scores), N(add_values).
 *
 * Queries stand in the lanes: lane r of the tile is row r, and row r of K and V
 * is broadcast, so maxima and sums are vertical and K and V are used where they lie.
 *
 * Online softmax over blocks of BC keys.  Between blocks, row r holds
 *     m = max score so far,  l = sum exp(s - m),  acc = sum exp(s - m) v.
 * A block sums its own l and acc first and joins them by
 *     l = l f + l_block,  acc = acc f + acc_block,  f = exp(m_old - m_new),
 * so m is always the true maximum, and errors grow with nk / BC + BC, not with nk.
 * Blocks start at multiples of BC from key 0, whatever range a row sees: what a
 * row computes depends on nothing but the row.
 *
 * What a row does not see is marked by a sign bit: its score becomes -inf, its
 * weight -0.0, which adds nothing and which add_values can tell from a weight that
 * merely underflowed.
 */

/* Pieces of scratch in order; with base NULL only the size is told. */
static size_t N(carve)(STATE *s, const struct problem *p, char *base)
{
    const struct operand_sizes sizes = N(operand_sizes)(p);
    struct {
        REAL **piece;
        size_t bytes;
    } const pieces[] = {
        {&s->qt, sizes.qt},
        {&s->acc, (size_t)p->dv * BR * sizeof(REAL)},
        {&s->s, BC * BR * sizeof(REAL)},
        {&s->extra, BC * BR * sizeof(REAL)},
        {&s->k, sizes.k},
        {&s->v, sizes.v},
        {&s->m, BR * sizeof(REAL)},
        {&s->l, BR * sizeof(REAL)},
        {&s->fix, BR * sizeof(REAL)},
        {&s->slope, BR * sizeof(REAL)},
    };
    size_t used = 0;

    for (size_t x = 0; x < ARRAY_LEN(pieces); x++) {
        if (base)
            *pieces[x].piece = (REAL *)(void *)(base + used);
        used += (pieces[x].bytes + ATTENDI_ALIGN - 1) / ATTENDI_ALIGN * ATTENDI_ALIGN;
    }
    return used;
}

static size_t N(scratch_size)(const struct problem *p)
{
    STATE s;

    return N(carve)(&s, p, NULL);
}

static bool N(mask_sees)(const STATE *s, int64_t r, int64_t j)
{
    return ((const unsigned char *)s->mask_row[r])[j * s->p->mask.stride[3]] != 0;
}

/*
 * The seen key that ALiBi favours most: the last for a positive slope, the first for
 * a negative one.  Softmax does not know a shift common to a row, so distances are
 * counted from here and not from the row's position, and stay small for the keys
 * that have weight; LSE gets the shift back.  Hidden keys do not move it.
 */
static int64_t N(anchor)(const STATE *s, int64_t r)
{
    const int step = s->slope[r] < 0 ? 1 : -1;
    int64_t j = step > 0 ? s->first[r] : s->end[r] - 1;

    while (s->mask_row[r] && j >= s->first[r] && j < s->end[r] && !N(mask_sees)(s, r, j))
        j += step;
    return j;
}

/* Lanes past the last row repeat it and are never stored. */
static void N(begin_rows)(STATE *s)
{
    const struct problem *p = s->p;
    const int64_t b = s->t->b;

    s->lo = s->all_lo = 0;
    s->hi = s->all_hi = 0;
    for (int64_t r = 0; r < BR; r++) {
        const int64_t row = min_i64(r, s->t->rows - 1);
        const int64_t i = N(row_query)(s, row), h = N(row_head)(s, row);
        const struct key_range seen = attendi_key_range(p, b, i);

        s->first[r] = seen.lo;
        s->end[r] = seen.hi;
        s->slope[r] = p->alibi ? N(narrow)(p->alibi[h]) : 0;
        s->mask_row[r] = p->mask.data ? attendi_view_row(&p->mask, b, h, i) : NULL;
        s->anchor[r] = p->alibi ? N(anchor)(s, r) : 0;
        s->bias_row[r] = p->bias.data ? attendi_view_row(&p->bias, b, h, i) : NULL;
        s->m[r] = -INFINITY;
        s->l[r] = 0;
        s->all_lo = r == 0 ? seen.lo : max_i64(s->all_lo, seen.lo);
        s->all_hi = r == 0 ? seen.hi : min_i64(s->all_hi, seen.hi);
        if (seen.lo < seen.hi) {
            s->lo = s->hi == 0 ? seen.lo : min_i64(s->lo, seen.lo);
            s->hi = max_i64(s->hi, seen.hi);
        }
    }
}

static void N(softcap)(STATE *s, int64_t a, int64_t e)
{
    const VEC cap = V(set1)((REAL)fmax(N(narrow)(s->p->softcap), REAL_MIN));

    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < s->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            V(store)(at, V(mul)(cap, N(tanh)(V(div)(V(load)(at), cap))));
        }
}

static void N(bias)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *bias = &s->p->bias;

    for (int64_t r = 0; r < s->width; r++)
        for (int64_t x = a; x < e; x++)
            s->extra[x * BR + r] = N(narrow)(
                attendi_load(s->bias_row[r], bias->dtype, (j0 + x) * bias->stride[3]));
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < s->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            V(store)(at, V(add)(V(load)(at), V(load)(s->extra + x * BR + r)));
        }
}

static void N(alibi)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    REAL anchor[BR];

    for (int64_t r = 0; r < s->width; r++)
        anchor[r] = (REAL)(s->anchor[r] - j0);
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < s->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            const VEC distance = V(sub)(V(set1)((REAL)x), V(load)(anchor + r));
            V(store)(at, V(fma)(V(load)(s->slope + r), distance, V(load)(at)));
        }
}

/* Marks of the block's keys in s->extra, and -inf for the scores they hide. */
static void N(hide)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *mask = &s->p->mask;
    REAL first[BR], last[BR]; /* from the block's start, within -1 .. BC + 1 */

    for (int64_t r = 0; r < s->width; r++) {
        first[r] = (REAL)min_i64(max_i64(s->first[r] - j0, 0), BC + 1);
        last[r] = (REAL)min_i64(max_i64(s->end[r] - j0 - 1, -1), BC);
        for (int64_t x = a; x < e && mask->data; x++)
            s->extra[x * BR + r] = N(mask_sees)(s, r, j0 + x) ? 0 : (REAL)-0.0;
    }
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < s->width; r += VLEN) {
            REAL *score = s->s + x * BR + r, *mark = s->extra + x * BR + r;
            const VEC j = V(set1)((REAL)x);
            VEC hidden = V(either)(V(mark_lt)(j, V(load)(first + r)),
                                   V(mark_lt)(V(load)(last + r), j));

            if (mask->data)
                hidden = V(either)(hidden, V(load)(mark));
            V(store)(mark, hidden);
            V(store)(score, V(pick)(hidden, V(set1)(-INFINITY), V(load)(score)));
        }
}

/* Scores of keys j0 + a .. j0 + e - 1; returns whether some row misses some of them. */
static int N(block_scores)(STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const struct problem *p = s->p;
    const int edge = p->mask.data || j0 + a < s->all_lo || j0 + e > s->all_hi;

    N(scores)(s, j0, a, e);
    if (p->softcap > 0)
        N(softcap)(s, a, e);
    if (p->bias.data)
        N(bias)(s, j0, a, e);
    if (p->alibi)
        N(alibi)(s, j0, a, e);
    if (edge)
        N(hide)(s, j0, a, e);
    return edge;
}

/*
 * exp(s - m), s <= m.  Scores stay in natural units: multiplied by log2 e first,
 * one near the largest float would overflow.  `m` is 0 in the place of -inf.
 */
static inline VEC N(weight)(VEC score, VEC m)
{
    return N(exp2)(V(mul)(V(sub)(score, m), V(set1)((REAL)LOG2_E)));
}

static inline VEC N(finite_or_0)(VEC m)
{
    return V(pick)(V(mark_lt)(m, V(set1)(-REAL_MAX)), V(set1)(0), m);
}

/* Scores to weights; m, l and fix of every row. */
static void N(weigh)(STATE *s, int64_t a, int64_t e, int edge)
{
    for (int64_t r = 0; r < s->width; r += VLEN) {
        const VEC m_old = V(load)(s->m + r);
        VEC m = m_old, sum = V(set1)(0);

        for (int64_t x = a; x < e; x++)
            m = V(max)(V(load)(s->s + x * BR + r), m);
        const VEC base = N(finite_or_0)(m);
        for (int64_t x = a; x < e; x++) {
            REAL *at = s->s + x * BR + r;
            VEC w = N(weight)(V(load)(at), base);

            if (edge)
                w = V(either)(w, V(load)(s->extra + x * BR + r));
            V(store)(at, w);
            sum = V(add)(sum, w);
        }
        const VEC fix = N(weight)(m_old, base);
        V(store)(s->fix + r, fix);
        V(store)(s->m + r, m);
        V(store)(s->l + r, V(fma)(V(load)(s->l + r), fix, sum));
    }
}

/* The block's part of the keys that some row sees, from an even key on. */
static struct key_range N(block_range)(const STATE *s, int64_t j0)
{
    return (struct key_range){(max_i64(s->lo, j0) - j0) & ~(int64_t)1,
                              min_i64(s->hi, j0 + BC) - j0};
}

static void N(store_row)(const STATE *s, int64_t r)
{
    const attend_tensor *out = &s->p->out;
    void *const to =
        attendi_tensor_row(out, s->t->b, N(row_head)(s, r), N(row_query)(s, r));
    const int64_t step = out->stride[3];

    switch (out->dtype) {
    case ATTEND_F64:
        for (int64_t c = 0; c < s->p->dv; c++)
            ((double *)to)[c * step] = (double)s->acc[c * BR + r];
        break;
    case ATTEND_F32:
        for (int64_t c = 0; c < s->p->dv; c++)
            ((float *)to)[c * step] = (float)s->acc[c * BR + r];
        break;
    case ATTEND_F16:
        for (int64_t c = 0; c < s->p->dv; c++)
            ((uint16_t *)to)[c * step] = attendi_f32_to_f16((float)s->acc[c * BR + r]);
        break;
    case ATTEND_BF16:
        for (int64_t c = 0; c < s->p->dv; c++)
            ((uint16_t *)to)[c * step] = attendi_f32_to_bf16((float)s->acc[c * BR + r]);
        break;
    case ATTEND_BOOL:
        break;
    }
}

/*
 * The row's last word: O = acc * share / total, P = weight * share / total.  A
 * sink joins the sum about the larger of it and m.  l is 0 only for an empty row:
 * its acc may be NaN by 0 * NaN, its O is 0.
 */
static void N(finish_row)(STATE *s, int64_t r, REAL *share, REAL *total)
{
    const struct problem *p = s->p;
    const int64_t h = N(row_head)(s, r);
    const int64_t position = attendi_position(p, s->t->b, N(row_query)(s, r));
    const double shift = p->alibi ? p->alibi[h] * (double)(s->anchor[r] - position) : 0;
    const double m = (double)s->m[r] + shift, l = (double)s->l[r];
    const double sink = p->sinks ? p->sinks[h] : -INFINITY;
    double lse = sink;

    *share = *total = 1;
    if (l == 0) {
        for (int64_t c = 0; c < p->dv; c++)
            s->acc[c * BR + r] = 0;
    } else if (sink == -INFINITY) {
        lse = m + log(l);
        *total = s->l[r];
    } else {
        const double top = sink <= m ? m : sink;
        const double sum = l * exp(m - top) + exp(sink - top);

        lse = top + log(sum);
        *share = (REAL)exp(m - top);
        *total = (REAL)sum;
    }
    if (p->lse.data)
        *(REAL *)attendi_tensor_row(&p->lse, s->t->b, h, N(row_query)(s, r)) = (REAL)lse;
}

/* Scores of a block to P; 0 where hidden, also in a row whose total is NaN. */
static void N(block_weights)(STATE *s, int64_t a, int64_t e, int edge, const REAL *share,
                             const REAL *total)
{
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < s->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            const VEC w = N(weight)(V(load)(at), N(finite_or_0)(V(load)(s->m + r)));
            VEC p = V(div)(V(mul)(w, V(load)(share + r)), V(load)(total + r));

            if (edge)
                p = V(pick)(V(load)(s->extra + x * BR + r), V(set1)(0), p);
            V(store)(at, p);
        }
}

/* P of the tile, from scores computed again: the first pass did not know m and l. */
static void N(store_weights)(STATE *s, const REAL *share, const REAL *total)
{
    const attend_tensor *weights = &s->p->weights;
    const int64_t step = weights->stride[3];
    REAL *to[BR];

    for (int64_t r = 0; r < s->t->rows; r++) {
        to[r] =
            attendi_tensor_row(weights, s->t->b, N(row_head)(s, r), N(row_query)(s, r));
        for (int64_t j = 0; j < s->p->nk; j++)
            to[r][j * step] = 0;
    }
    for (int64_t j0 = s->lo / BC * BC; j0 < s->hi; j0 += BC) {
        const struct key_range x = N(block_range)(s, j0);
        const int edge = N(block_scores)(s, j0, x.lo, x.hi);

        N(block_weights)(s, x.lo, x.hi, edge, share, total);
        for (int64_t r = 0; r < s->t->rows; r++)
            for (int64_t j = x.lo; j < x.hi; j++)
                to[r][(j0 + j) * step] = s->s[j * BR + r];
    }
}

static void N(finish)(STATE *s)
{
    REAL share[BR], total[BR];

    for (int64_t r = 0; r < BR; r++)
        share[r] = total[r] = 1;
    for (int64_t r = 0; r < s->t->rows; r++)
        N(finish_row)(s, r, &share[r], &total[r]);
    for (int64_t x = 0; x < s->p->dv * BR; x += VLEN) {
        const VEC o = V(div)(V(mul)(V(load)(s->acc + x), V(load)(share + x % BR)),
                             V(load)(total + x % BR));
        /* + 0: whether a zero sum ended as -0 may depend on keys that were hidden. */
        V(store)(s->acc + x, V(add)(o, V(set1)(0)));
    }
    for (int64_t r = 0; r < s->t->rows; r++)
        N(store_row)(s, r);
    if (s->p->weights.data)
        N(store_weights)(s, share, total);
}

static void N(forward)(const struct problem *p, const struct tile *t, void *scratch)
{
    STATE s = {.p = p, .t = t, .width = ceil_div_i64(t->rows, VLEN) * VLEN};

    N(carve)(&s, p, scratch);
    N(begin_rows)(&s);
    N(pack_q)(&s);
    for (int64_t x = 0; x < p->dv * BR; x++)
        s.acc[x] = 0;
    for (int64_t j0 = s.lo / BC * BC; j0 < s.hi; j0 += BC) {
        const struct key_range x = N(block_range)(&s, j0);
        const int edge = N(block_scores)(&s, j0, x.lo, x.hi);

        N(weigh)(&s, x.lo, x.hi, edge);
        N(add_values)(&s, j0, x.lo, x.hi, edge);
    }
    N(finish)(&s);
}
