/* SPDX-License-Identifier: MIT */
/*
 * Not a header: statistics of the rows of a wide tile, summed beside the softmax.
 * Each block sums on its own, relative to the maximum that its weights have, and is
 * joined to the sums before: with M the larger maximum, D = m - M, F = exp D, each side
 * gives F x for a sum of weights, F^2 x for one of their squares, F (u + D l) for the
 * spread u = sum (s - m) e and F (w + 2 D u + D^2 l) for w = sum (s - m)^2 e.
 * Unlike acc, these sums pass the ends of splits: nobody shares the keys of a row here.
 * Passes over scores come before they become weights, passes over weights after, each a
 * loop of its own: what is not asked for costs nothing.  Parameters: forward_tmpl.h.
 */

/* An integer as wide as REAL. */
typedef REAL_INTEGER N(integer);

/* Sums of one tile over the keys so far. */
struct N(tally) {
    REAL m[BR], rest[BR]; /* the largest score, and l - 1: see block_rest */
    double keys[BR], raw_mean[BR], raw_m2[BR];
    int64_t position[BR];
    REAL shift[BR];                   /* what ALiBi's anchor takes from the scores */
    REAL top[ATTEND_TOP_MAX][BR];     /* largest scores, the first the largest */
    REAL top_key[ATTEND_TOP_MAX][BR]; /* the bits of integers */
    REAL square[SQUARES][BR];
    REAL *sum;                  /* [sums][BR] */
    REAL *product[NOISE_KINDS]; /* [dv][BR] sum x^2 v */
};

/* The block at hand of the tile at hand. */
struct N(note) {
    REAL whole[BR];         /* sums of weights */
    REAL f[BR], f_next[BR]; /* what the sums before and the block's are multiplied by */
    REAL square[SQUARES][BR];
    REAL norm[BC];    /* |v| of each key */
    REAL nothing[BR]; /* zeros */
    REAL ramp[BC];    /* 0, 1, 2 ... */
    REAL reach[BR];   /* sum of weight times key, counted from the block's start */
    int wanted[SUM_KINDS + 2 * STATS_BINS_MAX], wanted_count; /* of sum */
    REAL *sum;                                                /* [sums][BR] */
    REAL *ln;                                                 /* ln_distances */
    REAL *aside;   /* [BC][BR] scores, then squares */
    REAL *product; /* [dv][BR] */
};

static bool N(wants)(const STATE *s, unsigned needs)
{
    return (s->p->stats.needs & needs) != 0;
}

static bool N(wants_noise)(const struct problem *p)
{
    return (p->stats.needs & (STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE)) != 0;
}

static int N(sum_count)(const struct problem *p)
{
    return SUM_KINDS + p->stats.bins + p->stats.class_count;
}

static struct N(note) * N(carve_note)(const struct problem *p, char *base, size_t *used)
{
    const size_t lanes = BR * sizeof(REAL);
    struct N(note) *note = N(take)(base, used, sizeof *note);
    struct N(note) none, *const to = note ? note : &none;

    to->sum = N(take)(base, used, (size_t)N(sum_count)(p) * lanes);
    to->ln = N(take)(base, used,
                     p->stats.needs & STATS_LOG_DISTANCE
                         ? (BR + (size_t)p->group * BC) * sizeof(REAL)
                         : 0);
    to->aside = N(take)(base, used, N(wants_noise)(p) ? BC * lanes : 0);
    to->product = N(take)(base, used, N(wants_noise)(p) ? (size_t)p->dv * lanes : 0);
    return note;
}

static struct N(tally) * N(carve_tally)(const struct problem *p, char *base, size_t *used)
{
    const size_t lanes = BR * sizeof(REAL);
    struct N(tally) *tally = N(take)(base, used, sizeof *tally);
    struct N(tally) none, *const to = tally ? tally : &none;

    to->sum = N(take)(base, used, (size_t)N(sum_count)(p) * lanes);
    for (int x = 0; x < NOISE_KINDS; x++)
        to->product[x] =
            N(take)(base, used, N(wants_noise)(p) ? (size_t)p->dv * lanes : 0);
    return tally;
}

/* A key as bits in every lane: sift moves them and never looks at them. */
static ALWAYS_INLINE VEC N(key_bits)(int64_t key)
{
    const N(integer) bits = (N(integer))key;
    REAL x;

    memcpy(&x, &bits, sizeof x);
    return V(set1)(x);
}

/* What a score is more than the one computed: see N(anchor). */
static double N(alibi_shift)(const STATE *s, const ROWS *g, int64_t r)
{
    const struct problem *p = s->p;

    return p->alibi
               ? p->alibi[g->head[r]] *
                     (double)(g->anchor[r] - attendi_position(p, s->t->b, g->query[r]))
               : 0;
}

static void N(begin_tally)(const STATE *s, ROWS *g)
{
    struct N(tally) *const t = g->tally;
    const size_t sums = (size_t)N(sum_count)(s->p) * BR * sizeof(REAL);
    REAL *const sum = t->sum, *product[NOISE_KINDS];

    memcpy(product, t->product, sizeof product);
    memset(t, 0, sizeof *t);
    memset(sum, 0, sums);
    t->sum = sum;
    for (int64_t r = 0; r < BR; r++)
        t->m[r] = -INFINITY;
    for (int64_t r = 0; r < g->width; r++) {
        const int64_t row = min_i64(r, g->rows - 1);

        t->position[r] = attendi_position(s->p, s->t->b, g->query[row]);
        t->shift[r] = (REAL)N(alibi_shift)(s, g, row);
    }
    for (int x = 0; x < ATTEND_TOP_MAX; x++)
        for (int64_t r = 0; r < BR; r += VLEN) {
            V(store)(t->top[x] + r, V(set1)(-INFINITY));
            V(store)(t->top_key[x] + r, N(key_bits)(-1));
        }
    for (int x = 0; x < NOISE_KINDS; x++) {
        t->product[x] = product[x];
        if (N(wants_noise)(s->p))
            memset(product[x], 0, (size_t)s->p->dv * BR * sizeof(REAL));
    }
}

static const REAL *N(ramp)(const STATE *s) { return s->note->ramp; }

/* ---- of the scores ------------------------------------------------------ */

/*
 * A score and its key to their place among the k largest of each lane; of equal scores
 * the earlier key stays first, and NaN passes all.
 */
static ALWAYS_INLINE void N(sift)(VEC *top, VEC *key, VEC score, VEC index, const int k)
{
    VEC down = score;

    for (int x = 0; x < k; x++) {
        const VEC bar = top[x], old = key[x];

        top[x] = V(pick_lt)(bar, score, down, bar);
        key[x] = V(pick_lt)(bar, score, index, old);
        down = V(pick_lt)(bar, score, bar, down);
        index = V(pick_lt)(bar, score, old, index);
    }
}

static ALWAYS_INLINE VEC N(top_of_four)(const REAL *at)
{
    return V(max)(V(max)(V(load)(at), V(load)(at + BR)),
                  V(max)(V(load)(at + 2 * BR), V(load)(at + 3 * BR)));
}

/* Scores among the largest so far are rare: eight keys share a look. */
static ALWAYS_INLINE void N(note_top_of)(const STATE *s, ROWS *g, int64_t j0, int64_t a,
                                         int64_t e, int64_t r, const int k)
{
    struct N(tally) *const t = g->tally;
    VEC top[ATTEND_TOP_MAX], key[ATTEND_TOP_MAX];

    if (!V(lanes_lt)(V(load)(t->top[k - 1] + r), V(load)(s->top + r)))
        return;
    for (int x = 0; x < k; x++) {
        top[x] = V(load)(t->top[x] + r);
        key[x] = V(load)(t->top_key[x] + r);
    }
    for (int64_t x = a; x < e; x += 8) {
        const REAL *const at = s->s + x * BR + r;

        if (x + 8 <= e && !V(lanes_lt)(top[k - 1], V(max)(N(top_of_four)(at),
                                                          N(top_of_four)(at + 4 * BR))))
            continue;
        for (int64_t y = x; y < min_i64(x + 8, e); y++)
            N(sift)(top, key, V(load)(s->s + y * BR + r), N(key_bits)(j0 + y), k);
    }
    for (int x = 0; x < k; x++) {
        V(store)(t->top[x] + r, top[x]);
        V(store)(t->top_key[x] + r, key[x]);
    }
}

static void N(note_top)(const STATE *s, ROWS *g, int64_t j0, int64_t a, int64_t e,
                        int64_t r)
{
    if (s->p->stats.top == 2)
        N(note_top_of)(s, g, j0, a, e, r, 2);
    else
        N(note_top_of)(s, g, j0, a, e, r, s->p->stats.top);
}

/* Number and mean of some scores, and the sum of squares about it. */
struct N(raw) {
    double keys, mean, m2;
};

/* Of one row's scores in the block, where they leave the range of a vector's sums. */
static struct N(raw) N(raw_of_row)(const REAL *score, int64_t a, int64_t e)
{
    struct N(raw) raw = {0, 0, 0};

    for (int64_t x = a; x < e; x++) {
        const double y = (double)score[x * BR], gap = y - raw.mean;

        if (y == -INFINITY)
            continue;
        raw.keys++;
        raw.mean += gap / raw.keys;
        raw.m2 += gap * (y - raw.mean);
    }
    return raw;
}

/* Two sets of numbers are joined about their common mean. */
static void N(join_raw)(struct N(tally) * t, int64_t r, struct N(raw) raw)
{
    const double keys = t->keys[r] + raw.keys, gap = raw.mean - t->raw_mean[r];

    if (raw.keys == 0)
        return;
    t->raw_mean[r] += gap * (raw.keys / keys);
    t->raw_m2[r] += raw.m2 + gap * gap * (t->keys[r] * raw.keys / keys);
    t->keys[r] = keys;
}

/* Sums of 1 and y over the scores above -inf, y = score - about, or of y and y^2. */
static ALWAYS_INLINE void N(sum_raw)(const STATE *s, int64_t a, int64_t e, int64_t r,
                                     VEC about, VEC *ones, VEC *sum, VEC *squares)
{
    *sum = V(set1)(0);
    for (int64_t x = a; x < e; x++) {
        const VEC score = V(load)(s->s + x * BR + r), least = V(set1)(-REAL_MAX);
        const VEC y = V(pick_lt)(score, least, V(set1)(0), V(sub)(score, about));

        *sum = V(add)(*sum, y);
        if (ones)
            *ones = V(add)(*ones, V(pick_lt)(score, least, V(set1)(0), V(set1)(1)));
        if (squares)
            *squares = V(fma)(y, y, *squares);
    }
}

/*
 * The scores above -inf as they are, every key alike: about the largest for their mean,
 * then about that, so that squares do not cancel; the rest in double.
 */
static void N(note_raw)(const STATE *s, ROWS *g, int64_t a, int64_t e, int64_t r)
{
    const VEC top = N(finite_or_0)(V(load)(s->top + r));
    VEC n = V(set1)(0), squares = n, sum;
    REAL keys[VLEN], about[VLEN], sums[VLEN], m2[VLEN];

    N(sum_raw)(s, a, e, r, top, &n, &sum, NULL);
    const VEC mean = V(add)(top, V(div)(sum, V(max)(V(set1)(1), n)));
    N(sum_raw)(s, a, e, r, mean, NULL, &sum, &squares);
    V(store)(keys, n);
    V(store)(about, mean);
    V(store)(sums, sum);
    V(store)(m2, squares);
    for (int i = 0; i < VLEN; i++) {
        struct N(raw) raw = {(double)keys[i], (double)about[i], (double)m2[i]};

        if (keys[i] > 0 && isfinite(m2[i])) {
            raw.mean += (double)sums[i] / raw.keys;
            raw.m2 -= (double)sums[i] * (double)sums[i] / raw.keys;
        } else if (keys[i] > 0) {
            raw = N(raw_of_row)(s->s + r + i, a, e);
        }
        N(join_raw)(g->tally, r + i, raw);
    }
}

/* What has to be seen of the scores of a vector of rows before they become weights. */
static void N(note_scores)(const STATE *s, ROWS *g, int64_t j0, int64_t a, int64_t e,
                           int64_t r)
{
    if (N(wants)(s, STATS_TOP))
        N(note_top)(s, g, j0, a, e, r);
    if (N(wants)(s, STATS_RAW))
        N(note_raw)(s, g, a, e, r);
}

/* ---- of the weights ----------------------------------------------------- */

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
        for (int64_t y = 0; y < STATS_NEAR_KEYS; y++) {
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

/* Neighbouring keys are mostly of one bin, for all lanes. */
static void N(note_bins)(const STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e,
                         int64_t r)
{
    const int64_t *const position = g->tally->position + r;
    const REAL *const w = N(plain_weights)(s);
    REAL *const bins = s->note->sum + SUM_KINDS * BR;
    VEC run = V(set1)(0);
    int of = 0;

    for (int64_t x = a; x < e; x++) {
        const int bin = N(common_bin)(s, position, j0 + x);

        if (bin < 0) {
            for (int64_t i = 0; i < VLEN; i++)
                bins[N(bin)(s, position[i] - j0 - x) * BR + r + i] += w[x * BR + r + i];
            continue;
        }
        if (bin != of) {
            N(add_lanes)(bins + of * BR + r, run);
            run = V(set1)(0);
            of = bin;
        }
        run = V(add)(run, V(load)(w + x * BR + r));
    }
    N(add_lanes)(bins + of * BR + r, run);
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

/* ---- joined to those before --------------------------------------------- */

/* What the sums before and the block's are multiplied by. */
static void N(join_factors)(const STATE *s, const ROWS *g)
{
    for (int64_t r = 0; r < g->width; r += VLEN) {
        const VEC before = V(load)(g->tally->m + r), next = V(load)(g->m + r);
        const VEC base = N(finite_or_0)(V(max)(next, before));

        V(store)(s->note->f + r, N(weight)(before, base));
        V(store)(s->note->f_next + r, N(weight)(next, base));
    }
}

static inline void N(join_lanes)(REAL *to, VEC f, const REAL *from, VEC f_next)
{
    V(store)(to, V(fma)(V(load)(to), f, V(mul)(V(load)(from), f_next)));
}

/* The sum of the weights below 1 of one vector of rows. */
static VEC N(under_one)(const STATE *s, int64_t a, int64_t e, int64_t r)
{
    const REAL *const w = N(plain_weights)(s);
    VEC sum = V(set1)(0);

    for (int64_t x = a; x < e; x++)
        sum = V(add_lt)(sum, V(load)(w + x * BR + r), V(set1)(1));
    return sum;
}

/*
 * l - 1.  Where the block has the new maximum, some of its weights are exactly 1, and 1
 * is taken from their number: from a sum near 1 it would leave nothing but rounding.
 */
static VEC N(block_rest)(const STATE *s, const ROWS *g, int64_t a, int64_t e, int64_t r)
{
    const struct N(tally) *const t = g->tally;
    const VEC f = V(load)(s->note->f + r), f_next = V(load)(s->note->f_next + r);
    const VEC rest = V(load)(t->rest + r), whole = V(load)(s->note->whole + r);
    const VEC grew = V(mark_lt)(V(load)(t->m + r), V(load)(g->m + r));
    const VEC more = V(sub)(whole, V(set1)(1));
    const VEC near = V(pick)(grew, V(set1)(1), V(set1)(-INFINITY));
    VEC others = more;

    /* Each lane by itself: what a row gets must not depend on its neighbours. */
    if (V(lanes_lt)(more, near)) {
        const VEC under = N(under_one)(s, a, e, r);
        const VEC ones = V(nearest)(V(sub)(whole, under));

        others = V(pick_lt)(more, near, V(add)(under, V(sub)(ones, V(set1)(1))), more);
    }
    return V(pick)(grew, V(add)(V(fma)(f, rest, f), others), V(fma)(f_next, whole, rest));
}

/* One side's spread and its square, moved by `by` to another maximum. */
static void N(move_spread)(VEC *u, VEC *w, VEC l, VEC by)
{
    const VEC moved = V(fma)(by, l, *u);

    *w = V(fma)(by, V(add)(*u, moved), *w);
    *u = moved;
}

static void N(join_spread)(const STATE *s, const ROWS *g, int64_t a, int64_t e, int64_t r)
{
    struct N(tally) *const t = g->tally;
    const VEC f = V(load)(s->note->f + r), f_next = V(load)(s->note->f_next + r);
    const VEC base = N(finite_or_0)(V(max)(V(load)(g->m + r), V(load)(t->m + r)));
    const VEC least = V(set1)(-SPREAD_MAX);
    REAL *const to = t->sum + SUM_SPREAD * BR + r, *const from = s->note->sum + r;
    VEC u = V(load)(to), w = V(load)(to + BR);
    VEC u_next = V(load)(from + SUM_SPREAD * BR),
        w_next = V(load)(from + SUM_SPREAD2 * BR);

    N(move_spread)
    (&u, &w, V(add)(V(load)(t->rest + r), V(set1)(1)),
     V(max)(least, V(sub)(V(load)(t->m + r), base)));
    N(move_spread)
    (&u_next, &w_next, V(load)(s->note->whole + r),
     V(max)(least, V(sub)(V(load)(g->m + r), base)));
    V(store)(to, V(fma)(u, f, V(mul)(u_next, f_next)));
    V(store)(to + BR, V(fma)(w, f, V(mul)(w_next, f_next)));
    V(store)(t->rest + r, N(block_rest)(s, g, a, e, r));
}

static void N(join_sums)(const STATE *s, const ROWS *g, int64_t a, int64_t e)
{
    struct N(tally) *const t = g->tally;
    struct N(note) *const note = s->note;
    const int squares = N(wants_noise)(s->p) ? SQUARES : 1;

    for (int64_t r = 0; r < g->width; r += VLEN) {
        const VEC f = V(load)(note->f + r), f_next = V(load)(note->f_next + r);

        N(join_spread)(s, g, a, e, r);
        for (int y = 0; y < note->wanted_count; y++) {
            const int64_t at = note->wanted[y] * BR + r;
            N(join_lanes)(t->sum + at, f, note->sum + at, f_next);
        }
        for (int x = 0; x < squares; x++)
            N(join_lanes)
        (t->square[x] + r, V(mul)(f, f), note->square[x] + r, V(mul)(f_next, f_next));
        V(store)(t->m + r, V(max)(V(load)(g->m + r), V(load)(t->m + r)));
    }
}

/* ---- noise --------------------------------------------------------------- */

/* A score whose square is a number: finfo.min in a bias must not make it inf or NaN. */
static inline VEC N(bounded)(VEC score)
{
    const VEC most = V(set1)(sizeof(REAL) == 4 ? (REAL)0x1p50 : (REAL)0x1p120);
    const VEC above = V(max)(V(sub)(V(set1)(0), most), score);

    return V(pick_lt)(most, above, most, above);
}

/* In note->aside: squares of x = w, or of x = w s; hidden keys keep their mark. */
static void N(square_aside)(const STATE *s, const ROWS *g, int64_t a, int64_t e, int kind)
{
    const REAL *const w = N(plain_weights)(s);

    for (int64_t r = 0; r < g->width; r += VLEN) {
        const VEC shift = V(load)(g->tally->shift + r);
        VEC sum = V(set1)(0);

        for (int64_t x = a; x < e; x++) {
            REAL *const at = s->note->aside + x * BR + r;
            const VEC weight = V(load)(w + x * BR + r);
            VEC y = weight;

            if (kind == NOISE_OF_NORMS)
                y = V(mul)(weight, N(bounded)(V(add)(V(load)(at), shift)));
            y = V(pick)(weight, weight, V(mul)(y, y));
            V(store)(at, y);
            sum = V(add)(sum, y);
        }
        if (kind == NOISE_OF_NORMS) /* the other was summed as the weights arose */
            V(store)(s->note->square[SQUARES_OF(kind)] + r, sum);
    }
}

/* The block's sum x^2 v, by the product that makes O, to that of the keys before. */
static void N(join_product)(STATE *s, ROWS *g, int64_t a, int64_t e, int select,
                            REAL *product)
{
    REAL *const weights = s->s, *const acc = g->acc, *const fix = s->fix;

    memset(s->note->product, 0, (size_t)s->p->dv * BR * sizeof(REAL));
    s->s = s->note->aside;
    s->fix = s->note->nothing;
    g->acc = s->note->product;
    N(add_values)(s, g, a, e, select);
    s->s = weights;
    s->fix = fix;
    g->acc = acc;
    for (int64_t c = 0; c < s->p->dv; c++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            const VEC f = V(load)(s->note->f + r), f_next = V(load)(s->note->f_next + r);

            N(join_lanes)
            (product + c * BR + r, V(mul)(f, f), s->note->product + c * BR + r,
             V(mul)(f_next, f_next));
        }
}

/* Noise of the keys last: its squares overwrite the scores that were put aside. */
static void N(note_noise)(STATE *s, ROWS *g, int64_t a, int64_t e, int select)
{
    const unsigned needs[NOISE_KINDS] = {
        [NOISE_OF_NORMS] = STATS_MAGNITUDE_NOISE, [NOISE_OF_KEYS] = STATS_KEY_NOISE};

    for (int kind = NOISE_KINDS - 1; kind >= 0; kind--)
        if (N(wants)(s, needs[kind])) {
            N(square_aside)(s, g, a, e, kind);
            for (int64_t r = 0; r < g->width; r += VLEN)
                N(add_norms)
            (s, s->note->aside, a, e, r, 2, s->note->square[SQUARES_OF(kind) + 1]);
            N(join_product)(s, g, a, e, select, g->tally->product[kind]);
        }
}

/* ---- a block, and the end ------------------------------------------------ */

/* |v| of keys a .. e - 1; in double where the square of a float would not do. */
static void N(note_norms)(const STATE *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;

    for (int64_t x = a; x < e; x++) {
        const void *const row = attendi_view_row(v, s->t->b, s->t->hk, j0 + x);
        VEC squares = V(set1)(0);
        REAL lanes[VLEN];
        double sum = 0;

        for (int64_t c = 0; c < s->p->dv; c += VLEN) {
            const VEC y = N(load_lanes)(row, v->dtype, v->stride[3], c,
                                        min_i64(VLEN, s->p->dv - c));
            squares = V(fma)(y, y, squares);
        }
        V(store)(lanes, squares);
        for (int i = 0; i < VLEN; i++)
            sum += (double)lanes[i];
        if (!(sum > (double)REAL_MIN / (double)REAL_EPSILON && sum <= (double)REAL_MAX)) {
            sum = 0;
            for (int64_t c = 0; c < s->p->dv; c++) {
                const double y = attendi_load(row, v->dtype, c * v->stride[3]);
                sum += y * y;
            }
        }
        s->note->norm[x] = (REAL)sqrt(sum);
    }
}

/* Which sums are wanted; the spread is always. */
static void N(list_sums)(const STATE *s)
{
    static const unsigned needs[SUM_KINDS] = {
        [SUM_DISTANCE] = STATS_DISTANCE, [SUM_LOG_DISTANCE] = STATS_LOG_DISTANCE,
        [SUM_NORM] = STATS_NORM,         [SUM_SINK1] = STATS_SINK,
        [SUM_SINK4] = STATS_SINK,        [SUM_NEAR] = STATS_NEAR,
        [SUM_NEAR + 1] = STATS_NEAR,     [SUM_NEAR + 2] = STATS_NEAR};
    struct N(note) *const note = s->note;

    note->wanted_count = 0;
    for (int x = 0; x < N(sum_count)(s->p); x++)
        if (x >= SUM_KINDS || N(wants)(s, needs[x]))
            note->wanted[note->wanted_count++] = x;
}

/* What the tiles of an item share of a block. */
static void N(begin_note)(const STATE *s, int64_t j0, int64_t a, int64_t e)
{
    N(list_sums)(s);
    if (N(wants)(s, STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE))
        N(note_norms)(s, j0, a, e);
    memset(s->note->nothing, 0, sizeof s->note->nothing);
    for (int64_t x = 0; x < BC; x++)
        s->note->ramp[x] = (REAL)x;
}

/* Before a tile turns its scores of the block into weights. */
static void N(open_note)(const STATE *s, const ROWS *g, int64_t j0, int64_t a, int64_t e)
{
    struct N(note) *const note = s->note;

    memset(note->sum, 0, (size_t)N(sum_count)(s->p) * BR * sizeof(REAL));
    memset(note->square, 0, sizeof note->square);
    if (N(wants)(s, STATS_LOG_DISTANCE))
        N(ln_distances)(s, g, j0);
    if (N(wants)(s, STATS_MAGNITUDE_NOISE))
        memcpy(note->aside + a * BR, s->s + a * BR,
               (size_t)((e - a) * BR) * sizeof(REAL));
}

/* After it: single keys, noise, and the block joined to those before. */
static void N(close_note)(STATE *s, ROWS *g, int64_t j0, int64_t a, int64_t e, int select)
{
    if (N(wants)(s, STATS_SINK) && j0 == 0)
        N(note_sinks)(s, g, a, e);
    if (N(wants)(s, STATS_NEAR))
        N(note_near)(s, g, j0, a, e);
    N(join_factors)(s, g);
    if (N(keeps_weights) && N(wants_noise)(s->p))
        N(note_noise)(s, g, a, e, select);
    N(join_sums)(s, g, a, e);
}

/* |c|^2, and sum x^2 |v - c|^2 = sum x^2 |v|^2 - 2 c sum x^2 v + |c|^2 sum x^2. */
static void N(read_values)(const STATE *s, const ROWS *g, int64_t r, const REAL *acc,
                           struct row_sums *sums)
{
    const struct N(tally) *const t = g->tally;
    double inner[NOISE_KINDS] = {0}, noise[NOISE_KINDS];

    sums->output2 = 0;
    for (int64_t c = 0; c < s->p->dv; c++) {
        const double y = (double)acc[c * BR + r] / sums->l;

        sums->output2 += y * y;
        for (int x = 0; x < NOISE_KINDS && N(wants_noise)(s->p); x++)
            inner[x] += y * (double)t->product[x][c * BR + r];
    }
    for (int x = 0; x < NOISE_KINDS; x++)
        noise[x] = (double)t->square[SQUARES_OF(x) + 1][r] - 2 * inner[x] +
                   sums->output2 * (double)t->square[SQUARES_OF(x)][r];
    sums->magnitude_noise = noise[NOISE_OF_NORMS];
    sums->key_noise = noise[NOISE_OF_KEYS];
}

static double N(query_square)(const STATE *s, const ROWS *g, int64_t r)
{
    const attend_view *q = &s->p->q;
    const void *const row = attendi_view_row(q, s->t->b, g->head[r], g->query[r]);
    double sum = 0;

    for (int64_t c = 0; c < s->p->d; c++) {
        const double x = attendi_load(row, q->dtype, c * q->stride[3]);
        sum += x * x;
    }
    return sum;
}

static void N(read_sums)(const STATE *s, const ROWS *g, int64_t r, REAL m, REAL l,
                         const REAL *acc, struct row_sums *sums)
{
    const struct N(tally) *const t = g->tally;
    const struct stats *const stats = &s->p->stats;
    const double shift = N(alibi_shift)(s, g, r);
    const REAL *const sum = t->sum + r;
    N(integer) key;

    sums->m = (double)m + shift;
    sums->l = (double)l;
    sums->rest = (double)t->rest[r];
    sums->spread = (double)sum[SUM_SPREAD * BR];
    sums->spread2 = (double)sum[SUM_SPREAD2 * BR];
    sums->squares = (double)t->square[SQUARE_WEIGHT][r];
    sums->keys = t->keys[r];
    sums->raw_mean = t->raw_mean[r] + shift;
    sums->raw_m2 = t->raw_m2[r];
    for (int x = 0; x < stats->named; x++) {
        sums->top[x] = (double)t->top[x][r];
        memcpy(&key, &t->top_key[x][r], sizeof key);
        sums->top_key[x] = key;
    }
    sums->sink1 = (double)sum[SUM_SINK1 * BR];
    sums->sink4 = (double)sum[SUM_SINK4 * BR];
    for (int x = 0; x < STATS_NEAR_KEYS; x++)
        sums->near[x] = (double)sum[(SUM_NEAR + x) * BR];
    sums->distance = (double)sum[SUM_DISTANCE * BR];
    sums->log_distance = (double)sum[SUM_LOG_DISTANCE * BR];
    sums->norm = (double)sum[SUM_NORM * BR];
    for (int x = 0; x < stats->bins; x++)
        sums->bin[x] = (double)sum[(SUM_KINDS + x) * BR];
    for (int x = 0; x < stats->class_count; x++)
        sums->class_mass[x] = (double)sum[(SUM_KINDS + stats->bins + x) * BR];
    if (N(wants)(s, STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE))
        N(read_values)(s, g, r, acc, sums);
    sums->query2 = N(wants)(s, STATS_KEY_NOISE) ? N(query_square)(s, g, r) : 0;
}

/* The largest scores to weights. */
static void N(weigh_top)(const STATE *s, const ROWS *g, const REAL *m)
{
    for (int x = 0; x < s->p->stats.named; x++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            REAL *const top = g->tally->top[x] + r;
            V(store)(top, N(weight)(V(load)(top), N(finite_or_0)(V(load)(m + r))));
        }
}

/* Statistics of the tile's rows, from its sums and the m, l and acc that O comes from. */
static void N(tell_rows)(const STATE *s, const ROWS *g, const REAL *m, const REAL *l,
                         const REAL *acc)
{
    REAL second[BR];

    memcpy(second, g->tally->top[1], sizeof second);
    N(weigh_top)(s, g, m);
    for (int64_t r = 0; r < g->rows; r++) {
        struct row_stats row;
        struct row_sums sums;

        if (l[r] == 0) {
            attendi_stats_no_keys(&row);
        } else if (isnan(l[r])) {
            attendi_stats_not_numbers(&row, g->tally->keys[r]);
        } else {
            N(read_sums)(s, g, r, m[r], l[r], acc, &sums);
            sums.margin = (double)m[r] - (double)second[r];
            attendi_stats_read(s->p, &sums, &row);
        }
        attendi_stats_store(s->p, s->t->b, g->head[r], g->query[r], &row);
    }
}
