/* SPDX-License-Identifier: MIT */
/* Not a header: statistics of the scores, before they become weights. */

/*
 * Inserts a score and its key into the k largest of each lane; of equal scores the
 * earlier key comes first, and NaN comes before all.
 */
static ALWAYS_INLINE void sift(vec *top, vec *key, vec score, vec index, const int k)
{
    vec down = score;

    for (int x = 0; x < k; x++) {
        const vec bar = top[x], old = key[x];

        top[x] = vec_blend_lt(bar, score, down, bar);
        key[x] = vec_blend_lt(bar, score, index, old);
        down = vec_blend_lt(bar, score, bar, down);
        index = vec_blend_lt(bar, score, old, index);
    }
}

static ALWAYS_INLINE vec max_of_four(const REAL *at)
{
    return vec_max(vec_max(vec_load(at), vec_load(at + BR)),
                   vec_max(vec_load(at + 2 * BR), vec_load(at + 3 * BR)));
}

/*
 * Scores among the largest are rare, so eight keys are tested at once. s->s times
 * `scale`, which is positive, are the scores.
 */
static ALWAYS_INLINE void stat_top_of(const struct state *s, struct rows *g, int64_t j0,
                                      int64_t a, int64_t e, int64_t r, const int k,
                                      vec scale)
{
    struct accum *const t = g->accum;
    const vec bar = vec_load(t->bar + r);
    vec top[ATTEND_TOP_MAX], key[ATTEND_TOP_MAX];

    if (!vec_lanes_lt(vec_max(bar, vec_load(t->top[k - 1] + r)),
                      vec_load(s->row_max + r)))
        return;
    for (int x = 0; x < k; x++) {
        top[x] = vec_load(t->top[x] + r);
        key[x] = vec_load(t->top_key[x] + r);
    }
    for (int64_t x = a; x < e; x += 8) {
        const REAL *const at = s->s + x * BR + r;

        if (x + 8 <= e &&
            !vec_lanes_lt(
                vec_max(bar, top[k - 1]),
                vec_mul(vec_max(max_of_four(at), max_of_four(at + 4 * BR)), scale)))
            continue;
        for (int64_t y = x; y < min_i64(x + 8, e); y++)
            sift(top, key, vec_mul(vec_load(s->s + y * BR + r), scale), key_bits(j0 + y),
                 k);
    }
    for (int x = 0; x < k; x++) {
        vec_store(t->top[x] + r, top[x]);
        vec_store(t->top_key[x] + r, key[x]);
    }
}

/* Number and mean of some scores, and the sum of squares about it. */
struct raw {
    double keys, mean, m2;
};

/* The same of one row in double, for scores whose squares leave the range of REAL. */
static struct raw raw_of_row(const REAL *score, int64_t a, int64_t e)
{
    struct raw raw = {0, 0, 0};

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

/* Combines the count, mean and squares of two sets of scores. */
static void combine_raw(struct accum *t, int64_t r, struct raw raw)
{
    const double keys = t->keys[r] + raw.keys, gap = raw.mean - t->raw_mean[r];

    if (raw.keys == 0)
        return;
    t->raw_mean[r] += gap * (raw.keys / keys);
    t->raw_m2[r] += raw.m2 + gap * gap * (t->keys[r] * raw.keys / keys);
    t->keys[r] = keys;
}

/* Sums of 1 and y over the scores above -inf, y = score - about, or of y and y^2. */
static ALWAYS_INLINE void sum_raw(const struct state *s, int64_t a, int64_t e, int64_t r,
                                  vec about, vec *ones, vec *sum, vec *squares)
{
    *sum = vec_set1(0);
    for (int64_t x = a; x < e; x++) {
        const vec score = vec_load(s->s + x * BR + r), least = vec_set1(-REAL_MAX);
        const vec y = vec_blend_lt(score, least, vec_set1(0), vec_sub(score, about));

        *sum = vec_add(*sum, y);
        if (ones)
            *ones = vec_add(*ones, vec_blend_lt(score, least, vec_set1(0), vec_set1(1)));
        if (squares)
            *squares = vec_fma(y, y, *squares);
    }
}

/*
 * Mean and variance of the scores above -inf: sums about the largest give the mean, then
 * squares about the mean do not cancel; the rest is in double.
 */
static void stat_raw(const struct state *s, struct rows *g, int64_t a, int64_t e,
                     int64_t r)
{
    const vec row_max = finite_or_0(vec_load(s->row_max + r));
    vec n = vec_set1(0), squares = n, sum;
    REAL keys[VLEN], about[VLEN], sums[VLEN], m2[VLEN];

    sum_raw(s, a, e, r, row_max, &n, &sum, NULL);
    const vec mean = vec_add(row_max, vec_div(sum, vec_max(vec_set1(1), n)));
    sum_raw(s, a, e, r, mean, NULL, &sum, &squares);
    vec_store(keys, n);
    vec_store(about, mean);
    vec_store(sums, sum);
    vec_store(m2, squares);
    for (int i = 0; i < VLEN; i++) {
        struct raw raw = {(double)keys[i], (double)about[i], (double)m2[i]};

        if (keys[i] > 0 && isfinite(m2[i])) {
            raw.mean += (double)sums[i] / raw.keys;
            raw.m2 -= (double)sums[i] * (double)sums[i] / raw.keys;
        } else if (keys[i] > 0) {
            raw = raw_of_row(s->s + r + i, a, e);
        }
        combine_raw(g->accum, r + i, raw);
    }
}
