/* SPDX-License-Identifier: MIT */
/*
 * Not a header: statistics of the rows of a tile, summed during the softmax.  Each block
 * sums on its own, relative to the maximum that its weights have, and is combined with
 * the sums before: with M the larger maximum, D = m - M, F = exp D, each side gives F x
 * for a sum of weights, F^2 x for one of their squares, F (u + D l) for the spread u =
 * sum (s - m) e and F (w + 2 D u + D^2 l) for w = sum (s - m)^2 e.  The sums of each row
 * over a split are stored in double, and src/core combines them.  Each pass over scores,
 * and over weights, is a loop of its own: statistics that are not requested cost nothing.
 */

/*
 * Statistics: sums that scale with the weights (SUM_SPREAD2 follows SUM_SPREAD, bins of
 * distances and classes follow all), and with their squares: of each kind of noise sum
 * x^2 and sum x^2 |v|^2, where x is the weight, or the weight times the score.
 */
enum {
    SUM_SPREAD,
    SUM_SPREAD2,
    SUM_DISTANCE,
    SUM_LOG_DISTANCE,
    SUM_NORM,
    SUM_SINK1,
    SUM_SINK4,
    SUM_NEAR,
    SUM_KINDS = SUM_NEAR + SUMS_NEAR_KEYS
};
/* Score differences beyond this have weight 0.  It replaces -inf, since 0 inf is NaN. */
#define SPREAD_MAX 1000
enum { NOISE_OF_KEYS, NOISE_OF_NORMS, NOISE_KINDS };
#define SQUARES_OF(noise) (2 * (noise))
enum { SQUARE_WEIGHT = SQUARES_OF(NOISE_OF_KEYS), SQUARES = SQUARES_OF(NOISE_KINDS) };

/* An integer as wide as REAL. */
typedef REAL_INTEGER real_bits;

/* Sums of one tile over the keys so far. */
struct accum {
    REAL m[BR], rest[BR]; /* the largest score, and l - 1: see block_rest */
    double keys[BR], raw_mean[BR], raw_m2[BR];
    int64_t position[BR];
    REAL shift[BR];               /* attendi_alibi_shift of the row */
    REAL top[ATTEND_TOP_MAX][BR]; /* largest scores, the first the largest */
    REAL bar[BR]; /* the last of these over earlier splits: scores not above it are not
                     among the largest */
    REAL top_key[ATTEND_TOP_MAX][BR]; /* integers, as bits */
    REAL square[SQUARES][BR];
    REAL *sum;                  /* [sums][BR] */
    REAL *product[NOISE_KINDS]; /* [dv][BR] sum x^2 v */
};

/* The current block of the current tile. */
struct block_stat {
    int64_t j0;             /* first key of the block */
    REAL whole[BR];         /* sums of weights */
    REAL f[BR], f_next[BR]; /* factors of the earlier sums and of the block's */
    REAL square[SQUARES][BR];
    REAL norm[BC];  /* |v| of each key */
    REAL ramp[BC];  /* 0, 1, 2 ... */
    REAL reach[BR]; /* sum of weight times key, counted from the block's start */
    int wanted[SUM_KINDS + 2 * STATS_BINS_MAX], wanted_count; /* of sum */
    REAL *sum;                                                /* [sums][BR] */
    REAL *ln;                                                 /* ln_distances */
    REAL *aside;   /* [BC][BR] scores, then squares */
    REAL *product; /* [dv][BR] */
    void *parts;   /* working memory of a product of squares */
};

static bool wants(const struct state *s, unsigned needs)
{
    return (s->p->stats.needs & needs) != 0;
}

static bool wants_noise(const struct problem *p)
{
    return (p->stats.needs & (STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE)) != 0;
}

static int sum_count(const struct problem *p)
{
    return SUM_KINDS + p->stats.bins + p->stats.class_count;
}

static struct block_stat *alloc_stat(const struct problem *p, char *base, size_t *used)
{
    const size_t lanes = BR * sizeof(REAL);
    struct block_stat *stat = bump(base, used, sizeof *stat);
    struct block_stat none, *const to = stat ? stat : &none;

    to->sum = bump(base, used, (size_t)sum_count(p) * lanes);
    to->ln = bump(base, used,
                  p->stats.needs & STATS_LOG_DISTANCE
                      ? (BR + (size_t)p->group * BC) * sizeof(REAL)
                      : 0);
    to->aside = bump(base, used, wants_noise(p) ? BC * lanes : 0);
    to->product = bump(base, used, wants_noise(p) ? (size_t)p->dv * lanes : 0);
    to->parts = bump(base, used, wants_noise(p) ? PARTS_BYTES : 0);
    return stat;
}

static struct accum *alloc_accum(const struct problem *p, char *base, size_t *used)
{
    const size_t lanes = BR * sizeof(REAL);
    struct accum *accum = bump(base, used, sizeof *accum);
    struct accum none, *const to = accum ? accum : &none;

    to->sum = bump(base, used, (size_t)sum_count(p) * lanes);
    for (int x = 0; x < NOISE_KINDS; x++)
        to->product[x] = bump(base, used, wants_noise(p) ? (size_t)p->dv * lanes : 0);
    return accum;
}

/* A key as bits in every lane: sift only moves them. */
static ALWAYS_INLINE vec key_bits(int64_t key)
{
    const real_bits bits = (real_bits)key;
    REAL x;

    memcpy(&x, &bits, sizeof x);
    return vec_set1(x);
}

static void begin_accum(const struct state *s, struct rows *g)
{
    struct accum *const t = g->accum;
    const size_t sums = (size_t)sum_count(s->p) * BR * sizeof(REAL);
    const int last = s->p->stats.top > 0 ? s->p->stats.top - 1 : 0;
    REAL *const sum = t->sum, *product[NOISE_KINDS], bar[BR];

    memcpy(product, t->product, sizeof product);
    for (int64_t r = 0; r < BR; r++)
        bar[r] = g->pending == 0               ? -INFINITY
                 : t->bar[r] > t->top[last][r] ? t->bar[r]
                                               : t->top[last][r];
    memset(t, 0, sizeof *t);
    memset(sum, 0, sums);
    memcpy(t->bar, bar, sizeof bar);
    t->sum = sum;
    for (int64_t r = 0; r < BR; r++)
        t->m[r] = -INFINITY;
    for (int64_t r = 0; r < g->width; r++) {
        const int64_t row = min_i64(r, g->rows - 1);

        t->position[r] = attendi_position(s->p, s->item->b, g->query[row]);
        t->shift[r] =
            (REAL)attendi_alibi_shift(s->p, s->item->b, g->head[row], g->query[row]);
    }
    for (int x = 0; x < ATTEND_TOP_MAX; x++)
        for (int64_t r = 0; r < BR; r += VLEN) {
            vec_store(t->top[x] + r, vec_set1(-INFINITY));
            vec_store(t->top_key[x] + r, key_bits(-1));
        }
    for (int x = 0; x < NOISE_KINDS; x++) {
        t->product[x] = product[x];
        if (wants_noise(s->p))
            memset(product[x], 0, (size_t)s->p->dv * BR * sizeof(REAL));
    }
}

static const REAL *ramp(const struct state *s) { return s->stat->ramp; }
