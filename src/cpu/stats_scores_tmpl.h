/* SPDX-License-Identifier: MIT */
/*
 * Not a header: what statistics take of the scores before they become weights.  Part of
 * stats_tmpl.h.
 */

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
    const VEC bar = V(load)(t->bar + r);
    VEC top[ATTEND_TOP_MAX], key[ATTEND_TOP_MAX];

    if (!V(lanes_lt)(V(max)(bar, V(load)(t->top[k - 1] + r)), V(load)(s->top + r)))
        return;
    for (int x = 0; x < k; x++) {
        top[x] = V(load)(t->top[x] + r);
        key[x] = V(load)(t->top_key[x] + r);
    }
    for (int64_t x = a; x < e; x += 8) {
        const REAL *const at = s->s + x * BR + r;

        if (x + 8 <= e &&
            !V(lanes_lt)(V(max)(bar, top[k - 1]),
                         V(max)(N(top_of_four)(at), N(top_of_four)(at + 4 * BR))))
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
