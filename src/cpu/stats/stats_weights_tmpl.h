/* SPDX-License-Identifier: MIT */
/* Not a header: statistics of the weights of a block. */

/* Unrounded weights, -0.0 for hidden keys. */
static const REAL *plain_weights(const struct state *s)
{
    return KEEPS_WEIGHTS ? s->s : s->extra;
}

/* sum of weight times |gap|, gap = position - key; `gap` is that of the first key. */
static vec sum_gaps(const struct state *s, int64_t a, int64_t e, int64_t r, vec gap)
{
    const REAL *const w = plain_weights(s) + r;
    vec minus = vec_set1(0);

    for (int64_t x = a; x < e; x++) /* the sign bit is set, not cleared: -|gap| */
        minus = vec_fma(
            vec_load(w + x * BR),
            vec_or(vec_sub(gap, vec_set1(s->stat->ramp[x])), vec_set1((REAL)-0.0)),
            minus);
    return vec_sub(vec_set1(0), minus);
}

/*
 * Distances are position - key before a row and key - position after it: over a block on
 * one side of the row, the existing sums suffice.  Rows in the block or shortly after it,
 * where the difference would cancel, sum key by key.
 */
static void stat_distance(const struct state *s, const struct rows *g, int64_t j0,
                          int64_t a, int64_t e, int64_t r)
{
    const vec whole = vec_load(s->stat->whole + r), reach = vec_load(s->stat->reach + r);
    REAL lanes[VLEN];

    for (int i = 0; i < VLEN; i++)
        lanes[i] = (REAL)(g->accum->position[r + i] - j0);
    const vec gap = vec_load(lanes), none = vec_set1(0), far = vec_set1(2 * BC);
    const vec ahead = vec_sub(vec_mul(gap, whole), reach); /* 0 - this is behind */
    vec sum = vec_blend_lt(gap, none, vec_sub(none, ahead), ahead);

    if (vec_lanes_lt(gap, vec_blend_lt(gap, none, vec_set1(-INFINITY), far))) {
        const vec near = vec_blend_lt(gap, far, sum_gaps(s, a, e, r, gap), sum);
        sum = vec_blend_lt(gap, none, sum, near);
    }
    vec_store(s->stat->sum + SUM_DISTANCE * BR + r, sum);
}

/*
 * ln(1 + |position - key|) for all lanes and keys of the block: lane r and key x at
 * r + group (BC - 1 - x), since row + 1 of the list stands where row does, or one
 * further: lanes are neighbours in memory for any group.
 */
static void ln_distances(const struct state *s, const struct rows *g, int64_t j0)
{
    const struct problem *p = s->p;
    const int64_t count = BR + p->group * (BC - 1);
    int64_t of_group = g->row % p->group;
    int64_t gap = attendi_position(p, s->item->b, g->row / p->group) - (j0 + BC - 1);
    REAL ln = (REAL)attendi_ln_distance(&p->stats, gap);

    for (int64_t x = 0; x < count; x++) {
        s->stat->ln[x] = ln;
        if (++of_group == p->group) {
            of_group = 0;
            ln = (REAL)attendi_ln_distance(&p->stats, ++gap);
        }
    }
}

static void stat_ln_distance(const struct state *s, int64_t a, int64_t e, int64_t r)
{
    const REAL *const w = plain_weights(s) + r;
    const REAL *const ln = s->stat->ln + r;
    vec sum = vec_set1(0);

    for (int64_t x = a; x < e; x++)
        sum =
            vec_fma(vec_load(w + x * BR), vec_load(ln + s->p->group * (BC - 1 - x)), sum);
    vec_store(s->stat->sum + SUM_LOG_DISTANCE * BR + r, sum);
}

/* sum w norm^power; a hidden key's norm may be anything. */
static void add_norms(const struct state *s, const REAL *w, int64_t a, int64_t e,
                      int64_t r, int power, REAL *to)
{
    vec sum = vec_set1(0);

    for (int64_t x = a; x < e; x++) {
        const REAL norm = s->stat->norm[x], y = power == 2 ? norm * norm : norm;
        const vec weight = vec_load(w + x * BR + r);

        sum = vec_fma(vec_blend(weight, vec_set1(0), vec_set1(y)), weight, sum);
    }
    vec_store(to + r, sum);
}

static void stat_sinks(const struct state *s, const struct rows *g, int64_t a, int64_t e)
{
    const REAL *const w = plain_weights(s);
    REAL *const first = s->stat->sum + SUM_SINK1 * BR, *const four = first + BR;

    for (int64_t x = a; x < min_i64(e, 4); x++)
        for (int64_t r = 0; r < g->width; r++) {
            first[r] += x == 0 ? w[x * BR + r] : 0;
            four[r] += w[x * BR + r];
        }
}

static void stat_near(const struct state *s, const struct rows *g, int64_t j0, int64_t a,
                      int64_t e)
{
    const REAL *const w = plain_weights(s);

    for (int64_t r = 0; r < g->width; r++)
        for (int64_t y = 0; y < SUMS_NEAR_KEYS; y++) {
            const int64_t x = g->accum->position[r] - j0 - y;

            if (x >= a && x < e)
                s->stat->sum[(SUM_NEAR + y) * BR + r] = w[x * BR + r];
        }
}

static int bin_of(const struct state *s, int64_t gap)
{
    const uint64_t far = (uint64_t)(gap < 0 ? -gap : gap) + 1;

    return (int)min_i64(63 - __builtin_clzll(far), s->p->stats.bins - 1);
}

/* The bin of a key, if it is the same for all lanes of these positions; else -1. */
static int common_bin(const struct state *s, const int64_t *position, int64_t key)
{
    const int64_t first = position[0] - key, last = position[VLEN - 1] - key;

    if (first < 0 && last > 0)
        return -1;
    const int bin = bin_of(s, first);
    return bin == bin_of(s, last) ? bin : -1;
}

static void add_lanes(REAL *to, vec x) { vec_store(to, vec_add(vec_load(to), x)); }

/*
 * Neighbouring keys mostly share a bin in all lanes, whose sums stay in a register.
 * Every lane adds its keys in order, independently of the others.
 */
static void stat_bins(const struct state *s, const struct rows *g, int64_t j0, int64_t a,
                      int64_t e, int64_t r)
{
    const int64_t *const position = g->accum->position + r;
    const REAL *const w = plain_weights(s);
    REAL *const bins = s->stat->sum + SUM_KINDS * BR;
    vec sum = vec_load(bins + r);
    int of = 0;

    for (int64_t x = a; x < e; x++) {
        const int bin = common_bin(s, position, j0 + x);

        if (bin != of)
            vec_store(bins + of * BR + r, sum);
        if (bin < 0) {
            for (int64_t i = 0; i < VLEN; i++)
                bins[bin_of(s, position[i] - j0 - x) * BR + r + i] += w[x * BR + r + i];
            sum = vec_load(bins + of * BR + r);
            continue;
        }
        if (bin != of) {
            sum = vec_load(bins + bin * BR + r);
            of = bin;
        }
        sum = vec_add(sum, vec_load(w + x * BR + r));
    }
    vec_store(bins + of * BR + r, sum);
}

static void stat_classes(const struct state *s, int64_t j0, int64_t a, int64_t e,
                         int64_t r)
{
    const struct stats *stats = &s->p->stats;
    const int32_t *const class = stats->classes + s->item->b * s->p->nk + j0;
    const REAL *const w = plain_weights(s);
    REAL *const masses = s->stat->sum + (SUM_KINDS + stats->bins) * BR;

    for (int64_t x = a; x < e; x++)
        if (class[x] >= 0)
            add_lanes(masses + class[x] * BR + r, vec_load(w + x * BR + r));
}

/* Sums of the weights of a vector of rows. */
static void stat_weights(const struct state *s, const struct rows *g, int64_t j0,
                         int64_t a, int64_t e, int64_t r)
{
    if (wants(s, STATS_DISTANCE))
        stat_distance(s, g, j0, a, e, r);
    if (wants(s, STATS_LOG_DISTANCE))
        stat_ln_distance(s, a, e, r);
    if (wants(s, STATS_NORM))
        add_norms(s, plain_weights(s), a, e, r, 1, s->stat->sum + SUM_NORM * BR);
    if (wants(s, STATS_BINS))
        stat_bins(s, g, j0, a, e, r);
    if (wants(s, STATS_CLASSES))
        stat_classes(s, j0, a, e, r);
}
