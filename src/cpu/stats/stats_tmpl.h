/* SPDX-License-Identifier: MIT */
/*
 * Not a header: statistics of the rows of a tile, summed during the softmax.
 * Each block sums on its own, relative to the maximum that its weights have, and is
 * combined with the sums before: with M the larger maximum, D = m - M, F = exp D, each
 * side gives F x for a sum of weights, F^2 x for one of their squares, F (u + D l) for
 * the spread u = sum (s - m) e and F (w + 2 D u + D^2 l) for w = sum (s - m)^2 e. A split
 * leaves its sums of each row in double, and core combines them. Passes over scores come
 * before they become weights, passes over weights after, each a loop of its own: what is
 * not asked for costs nothing.  Parameters: template_params.h.
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
/* Score differences beyond this have weight 0; it stands in for -inf, since 0 inf is NaN.
 */
#define SPREAD_MAX 1000
enum { NOISE_OF_KEYS, NOISE_OF_NORMS, NOISE_KINDS };
#define SQUARES_OF(noise) (2 * (noise))
enum { SQUARE_WEIGHT = SQUARES_OF(NOISE_OF_KEYS), SQUARES = SQUARES_OF(NOISE_KINDS) };

/* An integer as wide as REAL. */
typedef REAL_INTEGER real_bits;

/* Sums of one tile over the keys so far. */
struct tally {
    REAL m[BR], rest[BR]; /* the largest score, and l - 1: see block_rest */
    double keys[BR], raw_mean[BR], raw_m2[BR];
    int64_t position[BR];
    REAL shift[BR];               /* what ALiBi's anchor takes from the scores */
    REAL top[ATTEND_TOP_MAX][BR]; /* largest scores, the first the largest */
    REAL bar[BR]; /* the last of these in the splits before: what is not above it counts
                     for nothing once all are combined */
    REAL top_key[ATTEND_TOP_MAX][BR]; /* the bits of integers */
    REAL square[SQUARES][BR];
    REAL *sum;                  /* [sums][BR] */
    REAL *product[NOISE_KINDS]; /* [dv][BR] sum x^2 v */
};

/* The current block of the current tile. */
struct note {
    int64_t j0;             /* where the block begins */
    REAL whole[BR];         /* sums of weights */
    REAL f[BR], f_next[BR]; /* what the sums before and the block's are multiplied by */
    REAL square[SQUARES][BR];
    REAL norm[BC];  /* |v| of each key */
    REAL ramp[BC];  /* 0, 1, 2 ... */
    REAL reach[BR]; /* sum of weight times key, counted from the block's start */
    int wanted[SUM_KINDS + 2 * STATS_BINS_MAX], wanted_count; /* of sum */
    REAL *sum;                                                /* [sums][BR] */
    REAL *ln;                                                 /* ln_distances */
    REAL *aside;   /* [BC][BR] scores, then squares */
    REAL *product; /* [dv][BR] */
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

static struct note *carve_note(const struct problem *p, char *base, size_t *used)
{
    const size_t lanes = BR * sizeof(REAL);
    struct note *note = take(base, used, sizeof *note);
    struct note none, *const to = note ? note : &none;

    to->sum = take(base, used, (size_t)sum_count(p) * lanes);
    to->ln = take(base, used,
                  p->stats.needs & STATS_LOG_DISTANCE
                      ? (BR + (size_t)p->group * BC) * sizeof(REAL)
                      : 0);
    to->aside = take(base, used, wants_noise(p) ? BC * lanes : 0);
    to->product = take(base, used, wants_noise(p) ? (size_t)p->dv * lanes : 0);
    return note;
}

static struct tally *carve_tally(const struct problem *p, char *base, size_t *used)
{
    const size_t lanes = BR * sizeof(REAL);
    struct tally *tally = take(base, used, sizeof *tally);
    struct tally none, *const to = tally ? tally : &none;

    to->sum = take(base, used, (size_t)sum_count(p) * lanes);
    for (int x = 0; x < NOISE_KINDS; x++)
        to->product[x] = take(base, used, wants_noise(p) ? (size_t)p->dv * lanes : 0);
    return tally;
}

/* A key as bits in every lane: sift moves them and never looks at them. */
static ALWAYS_INLINE vec key_bits(int64_t key)
{
    const real_bits bits = (real_bits)key;
    REAL x;

    memcpy(&x, &bits, sizeof x);
    return vec_set1(x);
}

static void begin_tally(const struct state *s, struct rows *g)
{
    struct tally *const t = g->tally;
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

static const REAL *ramp(const struct state *s) { return s->note->ramp; }

#include "cpu/stats/stats_scores_tmpl.h"
#include "cpu/stats/stats_weights_tmpl.h"
#include "cpu/stats/stats_combine_tmpl.h"
#include "cpu/stats/stats_noise_tmpl.h"

/* ---- a block, and the end ------------------------------------------------ */

/* |v| of keys a .. e - 1; in double where the square of a float would not do. */
static void note_norms(const struct state *s, int64_t j0, int64_t a, int64_t e)
{
    const attend_view *v = &s->p->v;

    for (int64_t x = a; x < e; x++) {
        const void *const row = attendi_view_row(v, s->item->b, s->item->hk, j0 + x);
        vec squares = vec_set1(0);
        REAL lanes[VLEN];
        double sum = 0;

        for (int64_t c = 0; c < s->p->dv; c += VLEN) {
            const vec y =
                load_lanes(row, v->dtype, v->stride[3], c, min_i64(VLEN, s->p->dv - c));
            squares = vec_fma(y, y, squares);
        }
        vec_store(lanes, squares);
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
static void list_sums(const struct state *s)
{
    static const unsigned needs[SUM_KINDS] = {
        [SUM_DISTANCE] = STATS_DISTANCE, [SUM_LOG_DISTANCE] = STATS_LOG_DISTANCE,
        [SUM_NORM] = STATS_NORM,         [SUM_SINK1] = STATS_SINK,
        [SUM_SINK4] = STATS_SINK,        [SUM_NEAR] = STATS_NEAR,
        [SUM_NEAR + 1] = STATS_NEAR,     [SUM_NEAR + 2] = STATS_NEAR};
    struct note *const note = s->note;

    note->wanted_count = 0;
    for (int x = 0; x < sum_count(s->p); x++)
        if (x >= SUM_KINDS || wants(s, needs[x]))
            note->wanted[note->wanted_count++] = x;
}

/* What the tiles of an item share of a block. */
static void begin_note(const struct state *s, int64_t j0, int64_t a, int64_t e)
{
    s->note->j0 = j0;
    list_sums(s);
    if (wants(s, STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE))
        note_norms(s, j0, a, e);
    for (int64_t x = 0; x < BC; x++)
        s->note->ramp[x] = (REAL)x;
}

/* Before the scores of a tile become weights. */
static void open_note(const struct state *s, const struct rows *g, int64_t j0, int64_t a,
                      int64_t e)
{
    struct note *const note = s->note;

    memset(note->sum, 0, (size_t)sum_count(s->p) * BR * sizeof(REAL));
    memset(note->square, 0, sizeof note->square);
    if (wants(s, STATS_LOG_DISTANCE))
        ln_distances(s, g, j0);
    if (wants(s, STATS_MAGNITUDE_NOISE))
        memcpy(note->aside + a * BR, s->s + a * BR,
               (size_t)((e - a) * BR) * sizeof(REAL));
}

/* After it: single keys, noise, and the block combined with those before. */
static void close_note(struct state *s, struct rows *g, int64_t j0, int64_t a, int64_t e,
                       int select)
{
    if (wants(s, STATS_SINK) && j0 == 0)
        note_sinks(s, g, a, e);
    if (wants(s, STATS_NEAR))
        note_near(s, g, j0, a, e);
    block_factors(s, g);
    if (wants_noise(s->p))
        note_noise(s, g, j0, a, e, select);
    combine_block(s, g, a, e);
}

static double query_square(const struct state *s, const struct rows *g, int64_t r)
{
    const attend_view *q = &s->p->q;
    const void *const row = attendi_view_row(q, s->item->b, g->head[r], g->query[r]);
    double sum = 0;

    for (int64_t c = 0; c < s->p->d; c++) {
        const double x = attendi_load(row, q->dtype, c * q->stride[3]);
        sum += x * x;
    }
    return sum;
}

/* Sums of values, and of noise. */
static void save_values(const struct state *s, const struct rows *g, int64_t r,
                        double *record)
{
    const struct sums_layout *const sums = &s->p->stats.sums;
    const int64_t dv = s->p->dv;
    const bool wanted[NOISE_KINDS] = {
        [NOISE_OF_KEYS] = sums->key_noise, [NOISE_OF_NORMS] = sums->magnitude_noise};
    double *const values = record + attendi_sums_values(sums);

    for (int64_t c = 0; c < dv; c++)
        values[c] = (double)(s->decode ? g->acc[r * dv + c] : g->acc[c * BR + r]);
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        double *const noise = record + attendi_sums_noise(sums, kind);

        if (!wanted[kind])
            continue;
        noise[0] = (double)g->tally->square[SQUARES_OF(kind) + 1][r];
        noise[1] = (double)g->tally->square[SQUARES_OF(kind)][r];
        for (int64_t c = 0; c < dv; c++)
            noise[2 + c] = (double)g->tally->product[kind][c * BR + r];
    }
    record[ROW_QUERY2] =
        sums->key_noise ? s->p->scale * s->p->scale * query_square(s, g, r) : 0;
}

static void save_top(const struct state *s, const struct rows *g, int64_t r, double shift,
                     double *record)
{
    const struct sums_layout *const sums = &s->p->stats.sums;
    double *const top = record + attendi_sums_top(sums);
    real_bits key;

    for (int x = 0; x < sums->top; x++) {
        top[x] = (double)g->tally->top[x][r] + shift;
        memcpy(&key, &g->tally->top_key[x][r], sizeof key);
        top[sums->top + x] = (double)key;
    }
}

/* The sums of one row over the current split. */
static void save_row_sums(const struct state *s, const struct rows *g, int64_t r,
                          double *record)
{
    const struct tally *const t = g->tally;
    const struct stats *const stats = &s->p->stats;
    const double shift = attendi_alibi_shift(s->p, s->item->b, g->head[r], g->query[r]);
    const REAL *const sum = t->sum + r;

    if (g->l[r] == 0) {
        attendi_sums_clear(&stats->sums, record);
        return;
    }
    record[ROW_MAX] = isnan(g->l[r]) ? NAN : (double)g->m[r] + shift;
    record[ROW_REST] = (double)t->rest[r];
    record[ROW_SPREAD] = (double)sum[SUM_SPREAD * BR];
    record[ROW_SPREAD2] = (double)sum[SUM_SPREAD2 * BR];
    record[ROW_SQUARES] = (double)t->square[SQUARE_WEIGHT][r];
    record[ROW_KEYS] = t->keys[r];
    record[ROW_RAW_MEAN] = t->raw_mean[r] + shift;
    record[ROW_RAW_M2] = t->raw_m2[r];
    record[ROW_SINK1] = (double)sum[SUM_SINK1 * BR];
    record[ROW_SINK4] = (double)sum[SUM_SINK4 * BR];
    for (int x = 0; x < SUMS_NEAR_KEYS; x++)
        record[ROW_NEAR + x] = (double)sum[(SUM_NEAR + x) * BR];
    record[ROW_DISTANCE] = (double)sum[SUM_DISTANCE * BR];
    record[ROW_LOG_DISTANCE] = (double)sum[SUM_LOG_DISTANCE * BR];
    record[ROW_NORM] = (double)sum[SUM_NORM * BR];
    record[ROW_QUERY2] = 0;
    save_top(s, g, r, shift, record);
    double *const bins = record + attendi_sums_bins(&stats->sums);
    for (int x = 0; x < stats->bins + stats->class_count; x++)
        bins[x] = (double)sum[(SUM_KINDS + x) * BR];
    if (wants(s, STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE))
        save_values(s, g, r, record);
}

static void save_sums(const struct state *s, const struct rows *g)
{
    for (int64_t r = 0; r < g->rows; r++)
        save_row_sums(s, g, r, g->sums + r * s->p->stats.sums_length);
}
