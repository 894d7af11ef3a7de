/* SPDX-License-Identifier: MIT */
/* Not a header: statistics of a block of keys, and the record of a split. */

/*
 * |v| of keys a .. e - 1; in double if a square leaves the range of floats.
 */
static void stat_norms(const struct state *s, int64_t j0, int64_t a, int64_t e)
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
        s->stat->norm[x] = (REAL)sqrt(sum);
    }
}

/* Lists the requested sums; the spread is always one. */
static void list_sums(const struct state *s)
{
    static const unsigned needs[SUM_KINDS] = {
        [SUM_DISTANCE] = STATS_DISTANCE, [SUM_LOG_DISTANCE] = STATS_LOG_DISTANCE,
        [SUM_NORM] = STATS_NORM,         [SUM_SINK1] = STATS_SINK,
        [SUM_SINK4] = STATS_SINK,        [SUM_NEAR] = STATS_NEAR,
        [SUM_NEAR + 1] = STATS_NEAR,     [SUM_NEAR + 2] = STATS_NEAR};
    struct block_stat *const stat = s->stat;

    stat->wanted_count = 0;
    for (int x = 0; x < sum_count(s->p); x++)
        if (x >= SUM_KINDS || wants(s, needs[x]))
            stat->wanted[stat->wanted_count++] = x;
}

/* Prepares a block for all tiles of an item. */
static void begin_stat(const struct state *s, int64_t j0, int64_t a, int64_t e)
{
    s->stat->j0 = j0;
    list_sums(s);
    if (wants(s, STATS_NORM | STATS_KEY_NOISE | STATS_MAGNITUDE_NOISE))
        stat_norms(s, j0, a, e);
    for (int64_t x = 0; x < BC; x++)
        s->stat->ramp[x] = (REAL)x;
}

/* Starts the block's sums of a tile, before scores become weights. */
static void open_stat(const struct state *s, const struct rows *g, int64_t j0, int64_t a,
                      int64_t e)
{
    struct block_stat *const stat = s->stat;

    memset(stat->sum, 0, (size_t)sum_count(s->p) * BR * sizeof(REAL));
    memset(stat->square, 0, sizeof stat->square);
    if (wants(s, STATS_LOG_DISTANCE))
        ln_distances(s, g, j0);
    if (wants(s, STATS_MAGNITUDE_NOISE))
        memcpy(stat->aside + a * BR, s->s + a * BR,
               (size_t)((e - a) * BR) * sizeof(REAL));
}

/*
 * Ends the block's sums of a tile: single keys, noise, and combination with earlier
 * blocks.
 */
static void close_stat(struct state *s, struct rows *g, int64_t j0, int64_t a, int64_t e,
                       int select)
{
    if (wants(s, STATS_SINK) && j0 == 0)
        stat_sinks(s, g, a, e);
    if (wants(s, STATS_NEAR))
        stat_near(s, g, j0, a, e);
    block_factors(s, g);
    if (wants_noise(s->p))
        stat_noise(s, g, j0, a, e, select);
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

/* Saves sums of values and of noise. */
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
        noise[0] = (double)g->accum->square[SQUARES_OF(kind) + 1][r];
        noise[1] = (double)g->accum->square[SQUARES_OF(kind)][r];
        for (int64_t c = 0; c < dv; c++)
            noise[2 + c] = (double)g->accum->product[kind][c * BR + r];
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
        top[x] = (double)g->accum->top[x][r] + shift;
        memcpy(&key, &g->accum->top_key[x][r], sizeof key);
        top[sums->top + x] = (double)key;
    }
}

/* Saves the sums of one row over the current split. */
static void save_row_sums(const struct state *s, const struct rows *g, int64_t r,
                          double *record)
{
    const struct accum *const t = g->accum;
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
