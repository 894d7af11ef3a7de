/* SPDX-License-Identifier: MIT */
/*
 * Not a header: what statistics sum of the weights of a block.  Part of stats_tmpl.h.
 */

/* Weights as they are before a product rounds them, -0.0 where hidden. */
static const REAL *N(plain_weights)(const STATE *s)
{
    return N(keeps_weights) ? s->s : s->extra;
}

/* sum of weight times |gap|, gap = position - key, of which the block's first are given.
 */
static VEC N(sum_gaps)(const STATE *s, int64_t a, int64_t e, int64_t r, VEC gap)
{
    const REAL *const w = N(plain_weights)(s) + r;
    VEC minus = V(set1)(0);

    for (int64_t x = a; x < e; x++) /* the sign bit is set, not cleared: -|gap| */
        minus =
            V(fma)(V(load)(w + x * BR),
                   V(either)(V(sub)(gap, V(set1)(s->note->ramp[x])), V(set1)((REAL)-0.0)),
                   minus);
    return V(sub)(V(set1)(0), minus);
}

/*
 * Keys before a row are position - key away, keys after it key - position: over a block
 * on one side of the row that is one sum, known already.  Rows in the block or a little
 * after it, where the difference would cancel, take key by key.
 */
static void N(note_distance)(const STATE *s, const ROWS *g, int64_t j0, int64_t a,
                             int64_t e, int64_t r)
{
    const VEC whole = V(load)(s->note->whole + r), reach = V(load)(s->note->reach + r);
    REAL lanes[VLEN];

    for (int i = 0; i < VLEN; i++)
        lanes[i] = (REAL)(g->tally->position[r + i] - j0);
    const VEC gap = V(load)(lanes), none = V(set1)(0), far = V(set1)(2 * BC);
    const VEC ahead = V(sub)(V(mul)(gap, whole), reach); /* 0 - this is behind */
    VEC sum = V(pick_lt)(gap, none, V(sub)(none, ahead), ahead);

    if (V(lanes_lt)(gap, V(pick_lt)(gap, none, V(set1)(-INFINITY), far))) {
        const VEC near = V(pick_lt)(gap, far, N(sum_gaps)(s, a, e, r, gap), sum);
        sum = V(pick_lt)(gap, none, sum, near);
    }
    V(store)(s->note->sum + SUM_DISTANCE * BR + r, sum);
}

/*
 * ln(1 + |position - key|) for all lanes and keys of the block: lane r and key x at
 * r + group (BC - 1 - x), since row + 1 of the list stands where row does, or one
 * further: lanes are neighbours in memory for any group.
 */
static void N(ln_distances)(const STATE *s, const ROWS *g, int64_t j0)
{
    const struct problem *p = s->p;
    const int64_t count = BR + p->group * (BC - 1);
    int64_t of_group = g->row % p->group;
    int64_t gap = attendi_position(p, s->t->b, g->row / p->group) - (j0 + BC - 1);
    REAL ln = (REAL)attendi_ln_distance(&p->stats, gap);

    for (int64_t x = 0; x < count; x++) {
        s->note->ln[x] = ln;
        if (++of_group == p->group) {
            of_group = 0;
            ln = (REAL)attendi_ln_distance(&p->stats, ++gap);
        }
    }
}

static void N(note_ln_distance)(const STATE *s, int64_t a, int64_t e, int64_t r)
{
    const REAL *const w = N(plain_weights)(s) + r;
    const REAL *const ln = s->note->ln + r;
    VEC sum = V(set1)(0);

    for (int64_t x = a; x < e; x++)
        sum = V(fma)(V(load)(w + x * BR), V(load)(ln + s->p->group * (BC - 1 - x)), sum);
    V(store)(s->note->sum + SUM_LOG_DISTANCE * BR + r, sum);
}

/* sum w norm^power; a hidden key's norm may be anything. */
static void N(add_norms)(const STATE *s, const REAL *w, int64_t a, int64_t e, int64_t r,
                         int power, REAL *to)
{
    VEC sum = V(set1)(0);

    for (int64_t x = a; x < e; x++) {
        const REAL norm = s->note->norm[x], y = power == 2 ? norm * norm : norm;
        const VEC weight = V(load)(w + x * BR + r);

        sum = V(fma)(V(pick)(weight, V(set1)(0), V(set1)(y)), weight, sum);
    }
    V(store)(to + r, sum);
}

static void N(note_sinks)(const STATE *s, const ROWS *g, int64_t a, int64_t e)
{
    const REAL *const w = N(plain_weights)(s);
    REAL *const first = s->note->sum + SUM_SINK1 * BR, *const four = first + BR;

    for (int64_t x = a; x < min_i64(e, 4); x++)
        for (int64_t r = 0; r < g->width; r++) {
            first[r] += x == 0 ? w[x * BR + r] : 0;
            four[r] += w[x * BR + r];
        }
}

static void N(note_near)(const STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e)
{
    const REAL *const w = N(plain_weights)(s);

    for (int64_t r = 0; r < g->width; r++)
        for (int64_t y = 0; y < SUMS_NEAR_KEYS; y++) {
            const int64_t x = g->tally->position[r] - j0 - y;

            if (x >= a && x < e)
                s->note->sum[(SUM_NEAR + y) * BR + r] = w[x * BR + r];
        }
}

static int N(bin)(const STATE *s, int64_t gap)
{
    const uint64_t far = (uint64_t)(gap < 0 ? -gap : gap) + 1;

    return (int)min_i64(63 - __builtin_clzll(far), s->p->stats.bins - 1);
}

/* The bin of a key for all lanes of these positions, or -1 where they differ. */
static int N(common_bin)(const STATE *s, const int64_t *position, int64_t key)
{
    const int64_t first = position[0] - key, last = position[VLEN - 1] - key;

    if (first < 0 && last > 0)
        return -1;
    const int bin = N(bin)(s, first);
    return bin == N(bin)(s, last) ? bin : -1;
}

static void N(add_lanes)(REAL *to, VEC x) { V(store)(to, V(add)(V(load)(to), x)); }

/*
 * Neighbouring keys are mostly of one bin, for all lanes: its sums stay in a register.
 * Every lane adds its keys in order, whatever the others do.
 */
static void N(note_bins)(const STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e,
                         int64_t r)
{
    const int64_t *const position = g->tally->position + r;
    const REAL *const w = N(plain_weights)(s);
    REAL *const bins = s->note->sum + SUM_KINDS * BR;
    VEC sum = V(load)(bins + r);
    int of = 0;

    for (int64_t x = a; x < e; x++) {
        const int bin = N(common_bin)(s, position, j0 + x);

        if (bin != of)
            V(store)(bins + of * BR + r, sum);
        if (bin < 0) {
            for (int64_t i = 0; i < VLEN; i++)
                bins[N(bin)(s, position[i] - j0 - x) * BR + r + i] += w[x * BR + r + i];
            sum = V(load)(bins + of * BR + r);
            continue;
        }
        if (bin != of) {
            sum = V(load)(bins + bin * BR + r);
            of = bin;
        }
        sum = V(add)(sum, V(load)(w + x * BR + r));
    }
    V(store)(bins + of * BR + r, sum);
}

static void N(note_classes)(const STATE *s, int64_t j0, int64_t a, int64_t e, int64_t r)
{
    const struct stats *stats = &s->p->stats;
    const int32_t *const class = stats->classes + s->t->b * s->p->nk + j0;
    const REAL *const w = N(plain_weights)(s);
    REAL *const masses = s->note->sum + (SUM_KINDS + stats->bins) * BR;

    for (int64_t x = a; x < e; x++)
        if (class[x] >= 0)
            N(add_lanes)(masses + class[x] * BR + r, V(load)(w + x * BR + r));
}

/* What is summed of the weights of a vector of rows. */
static void N(note_weights)(const STATE *s, const ROWS *g, int64_t j0, int64_t a,
                            int64_t e, int64_t r)
{
    if (N(wants)(s, STATS_DISTANCE))
        N(note_distance)(s, g, j0, a, e, r);
    if (N(wants)(s, STATS_LOG_DISTANCE))
        N(note_ln_distance)(s, a, e, r);
    if (N(wants)(s, STATS_NORM))
        N(add_norms)(s, N(plain_weights)(s), a, e, r, 1, s->note->sum + SUM_NORM * BR);
    if (N(wants)(s, STATS_BINS))
        N(note_bins)(s, g, j0, a, e, r);
    if (N(wants)(s, STATS_CLASSES))
        N(note_classes)(s, j0, a, e, r);
}
