/* SPDX-License-Identifier: MIT */
/*
 * Not a header: both products of the decode path over a block.  A tile of keys is
 * transposed in registers: a lane holds a key, and every score is a sum over columns in
 * order.  V is used in place.  The steps are in decode_fma_tmpl.h or decode_bf16.h.
 */

/* Columns of K in a vector of Q. */
enum { CHUNK = VLEN * LANE_COLUMNS };

/*
 * Elements of Q per group of DECODE_ROWS rows, [column][row] in whole vectors of columns;
 * rows past the last repeat it.
 */
static int64_t decode_q_group(const struct problem *p)
{
    return ceil_div_i64(p->d, CHUNK) * VLEN * DECODE_ROWS;
}

static size_t decode_q_size(const struct problem *p)
{
    return (size_t)(ceil_div_i64(VLEN, DECODE_ROWS) * decode_q_group(p)) * sizeof(REAL);
}

static void decode_pack_q(const struct state *s, struct rows *g)
{
    const struct problem *p = s->p;
    const int64_t rows = ceil_div_i64(g->rows, DECODE_ROWS) * DECODE_ROWS;

    for (int64_t r = 0; r < rows; r++) {
        const int64_t row = min_i64(r, g->rows - 1);
        const void *const from =
            attendi_view_row(&p->q, s->item->b, g->head[row], g->query[row]);
        REAL *to = g->q + r / DECODE_ROWS * decode_q_group(p) + r % DECODE_ROWS;

        for (int64_t c = 0; c < p->d; c += CHUNK) {
            REAL lanes[VLEN];

            vec_store(lanes, decode_query(p, from, c));
            for (int x = 0; x < VLEN; x++, to += DECODE_ROWS)
                *to = lanes[x];
        }
    }
}

/* Elements of a row of the block's sums of V, in whole pairs of vectors. */
static int64_t decode_v_row(const struct problem *p)
{
    return ceil_div_i64(p->dv, 2 * VLEN) * (2 * VLEN);
}

static size_t decode_v_size(const struct problem *p)
{
    return (size_t)(VLEN * decode_v_row(p)) * sizeof(REAL);
}

/* Keys scored at a time. */
enum { TILE_KEYS = DECODE_TILES * VLEN };

/* Bytes of a copied key, padded to whole steps. */
static int64_t copied_key(const struct problem *p, int64_t bytes)
{
    return ceil_div_i64(p->d, CHUNK) * CHUNK * bytes;
}

static size_t decode_k_size(const struct problem *p)
{
    return (size_t)(TILE_KEYS * copied_key(p, sizeof(REAL)));
}

/*
 * Copies keys j .. j + n - 1 for the loop of the scores: contiguous columns, padded with
 * 0 to whole steps of columns and whole tiles of keys.
 */
static __attribute__((noinline)) void copy_keys_in_whole(const struct state *s, int64_t j,
                                                         int64_t n, int64_t bytes)
{
    const attend_view *k = &s->p->k;
    const int64_t row_bytes = copied_key(s->p, bytes), step = k->stride[3] * bytes;

    memset(s->k, 0, (size_t)(TILE_KEYS * row_bytes));
    for (int64_t x = 0; x < n; x++) {
        const char *const from = attendi_view_row(k, s->item->b, s->item->hk, j + x);
        char *const to = (char *)s->k + x * row_bytes;

        if (k->stride[3] == 1)
            memcpy(to, from, (size_t)(s->p->d * bytes));
        for (int64_t c = 0; k->stride[3] != 1 && c < s->p->d; c++)
            memcpy(to + c * bytes, from + c * step, (size_t)bytes);
    }
}

/*
 * The lines that a step of TRANSPOSED columns prefetches, one at a time between
 * multiply-adds.
 */
struct prefetch {
    const char *line;    /* of a key of this step */
    int64_t near, ahead; /* bytes from there to the next lines for L1 and L2 */
};

/* Prefetches the current line of a key, then moves to the next key. */
static ALWAYS_INLINE void prefetch_line(struct prefetch *f, int64_t row_bytes)
{
    PREFETCH_L1(f->line + f->near);
    PREFETCH_L2(f->line + f->ahead);
    f->line += row_bytes;
}

/*
 * Scores of a tile of keys, row_bytes apart, for rows r .. r + rows - 1.  The tiles of
 * VLEN keys alternate, which hides the latency of the sums.  Hardware does not prefetch K
 * in this order: keys `ahead` bytes further are prefetched into L2, and into L1 the next
 * line of these keys, or the first of the tile at `next`.
 */
static ALWAYS_INLINE void decode_score(const struct state *s, const struct rows *g,
                                       const char *key, int64_t row_bytes, int64_t next,
                                       int64_t ahead, REAL *scores, vec scale,
                                       const attend_dtype dtype, int64_t r,
                                       const int rows)
{
    const int64_t bytes = dtype_bytes(dtype), columns = TRANSPOSED * LANE_COLUMNS;
    const int64_t line_steps = LINE / (columns * bytes),
                  every = line_steps * TRANSPOSED / VLEN;
    const int64_t d = s->p->d;
    const REAL *q = g->q + r / DECODE_ROWS * decode_q_group(s->p);

    for (int64_t c0 = 0; c0 == 0 || c0 < d; c0 += SUM_COLUMNS) {
        vec acc[DECODE_TILES][DECODE_ROWS];

        for (int z = 0; z < DECODE_TILES; z++)
            for (int i = 0; i < rows; i++)
                acc[z][i] = vec_set1(0);
        for (int64_t c = c0; c < min_i64(c0 + SUM_COLUMNS, d); c += columns) {
            const char *const column = key + c * bytes;
            const int64_t first_key = c / columns % line_steps * (TILE_KEYS / line_steps);
            const bool last = c * bytes + LINE >= d * bytes;
            struct prefetch prefetch = {column + first_key * row_bytes,
                                        last ? next - c * bytes : LINE, ahead};

            UNROLL
            for (int z = 0; z < DECODE_TILES; z++) {
                vec y[TRANSPOSED];

                transpose_keys(y, column + z * VLEN * row_bytes, row_bytes, dtype);
                UNROLL
                for (int u = 0; u < TRANSPOSED; u++) {
                    for (int i = 0; i < rows; i++)
                        decode_dot(&acc[z][i], &q[u * DECODE_ROWS + i], y[u]);
                    if (u % every == 0)
                        prefetch_line(&prefetch, row_bytes);
                }
            }
            q += TRANSPOSED * DECODE_ROWS;
        }
        for (int z = 0; z < DECODE_TILES; z++)
            for (int i = 0; i < rows; i++) {
                REAL *const to = scores + (r + i) * S_ROW + z * VLEN;
                vec_store(to, decode_add_piece(c0, to, acc[z][i], scale));
            }
    }
}

static ALWAYS_INLINE void decode_scores_of(const struct state *s, const struct rows *g,
                                           int64_t j0, int64_t a, int64_t e,
                                           const attend_dtype dtype)
{
    const attend_view *k = &s->p->k;
    const int64_t bytes = dtype_bytes(dtype);
    const bool whole = k->stride[3] == 1 && s->p->d % (TRANSPOSED * LANE_COLUMNS) == 0;
    const vec scale = vec_set1(to_real(s->p->scale));

    for (int64_t x = a; x < e; x += TILE_KEYS) {
        const char *key = attendi_view_row(k, s->item->b, s->item->hk, j0 + x);
        int64_t row_bytes = k->stride[2] * bytes;
        const int64_t left = max_i64(0, g->hi - j0 - x - TILE_KEYS);
        int64_t next = min_i64(left, TILE_KEYS) * row_bytes;
        int64_t ahead = min_i64(left, PREFETCH_KEYS) * row_bytes;

        if (!whole || x + TILE_KEYS > e) {
            copy_keys_in_whole(s, j0 + x, min_i64(e - x, TILE_KEYS), bytes);
            key = (const char *)s->k;
            row_bytes = copied_key(s->p, bytes);
            next = ahead = 0;
        }
        FOR_ROWS_OF(DECODE_ROWS, g->rows, decode_score, s, g, key, row_bytes, next, ahead,
                    s->s + x, scale, dtype);
    }
}

static void decode_scores(const struct state *s, const struct rows *g, int64_t j0,
                          int64_t a, int64_t e)
{
    FOR_DECODE_DTYPES(s->p->k.dtype, decode_scores_of, s, g, j0, a, e);
}

/*
 * Strides of the weights: that of row r and key x (or its pair) is at r row + x key.
 * decode_accum stores them with rows in the lanes.
 */
struct weight_steps {
    int64_t row, key;
};

static struct weight_steps weight_steps(const struct rows *g)
{
    return g->accum ? (struct weight_steps){1, BR} : (struct weight_steps){S_ROW, 1};
}

/*
 * Adds keys a .. e - 1 of the block to the sums of nv vectors of columns from c on.  The
 * first pass over these keys also touches the columns of the other passes, right after
 * its own, so that memory is read in order.  The first rows prefetch the next keys, each
 * pass its own columns; of more than two lines every second one, since hardware
 * prefetches its neighbour.
 */
static ALWAYS_INLINE void decode_value(const struct state *s, int64_t j0, int64_t a,
                                       int64_t e, int64_t c, const int select,
                                       const attend_dtype dtype, const int nv, int64_t r,
                                       const int rows)
{
    const attend_view *v = &s->p->v;
    const int64_t v_row = decode_v_row(s->p);
    const int64_t bytes = dtype_bytes(dtype), row_bytes = v->stride[2] * bytes;
    const int64_t used = s->p->dv * bytes, own = nv * VLEN * bytes;
    const char *row = attendi_view_row(v, s->item->b, s->item->hk, j0 + a);
    const struct weight_steps step = weight_steps(s->rows);
    const REAL *w = s->s + r * step.row + a / WEIGHT_KEYS * step.key;
    REAL *const sums = s->v + r * v_row + c;
    const int64_t left = max_i64(0, s->rows->hi - j0 - e);
    const int64_t ahead = min_i64(left, VALUES_BYTES / max_i64(1, used)) * row_bytes;
    const int64_t apart = own > 2 * LINE ? 2 * LINE : LINE;
    const bool first = nv >= DECODE_VECTORS && r == 0;
    vec acc[4 * DECODE_VECTORS];

    for (int i = 0; i < rows; i++)
        for (int u = 0; u < nv; u++)
            acc[i * nv + u] = vec_load(sums + i * v_row + u * VLEN);
    for (int64_t keys = e - a; keys > 0; keys -= WEIGHT_KEYS, w += step.key) {
        const int64_t have = first ? min_i64(keys, WEIGHT_KEYS) : 0;
        vec y[2 * DECODE_VECTORS];

        for (int64_t z = 0; z < have; z++)
            for (int64_t x = 0; x < own; x += apart)
                PREFETCH_L2(row + z * row_bytes + ahead + c * bytes + x);
        if (nv >= DECODE_VECTORS)
            decode_load_values(y, row + c * bytes, row_bytes, keys, dtype, nv);
        else
            decode_load_some(y, s->p, row, row_bytes, keys, c);
        for (int64_t z = 0; z < have; z++)
            for (int64_t x = own; c == 0 && x < used; x += LINE)
                TOUCH(row + z * row_bytes + x);
        for (int i = 0; i < rows; i++) {
            const vec weight = vec_set1(w[i * step.row]);

            for (int u = 0; u < nv; u++)
                acc[i * nv + u] = decode_add_value(acc[i * nv + u], weight, y[u], select);
        }
        row += WEIGHT_KEYS * row_bytes;
    }
    for (int i = 0; i < rows; i++)
        for (int u = 0; u < nv; u++)
            vec_store(sums + i * v_row + u * VLEN, acc[i * nv + u]);
}

/* Columns from c on with any stride; skips hidden keys if V is not finite. */
static void decode_values_any(const struct state *s, const struct rows *g, int64_t j0,
                              int64_t a, int64_t e, int64_t c, int select)
{
    for (; c < s->p->dv; c += WEIGHT_KEYS * VLEN)
        FOR_ROWS_OF(4, g->rows, decode_value, s, j0, a, e, c, select, s->p->v.dtype,
                    WEIGHT_KEYS);
}

/* The first `whole` columns in whole vectors; fewer rows take more columns at a time. */
static ALWAYS_INLINE void decode_values_of(const struct state *s, const struct rows *g,
                                           int64_t j0, int64_t a, int64_t e,
                                           int64_t whole, const attend_dtype dtype)
{
    enum { DOUBLE = 2 * DECODE_VECTORS * VLEN };
    const int64_t doubled = g->rows > 2 ? 0 : whole / DOUBLE * DOUBLE;

    for (int64_t c = 0; c < doubled; c += DOUBLE)
        FOR_ROWS_OF(2, g->rows, decode_value, s, j0, a, e, c, 0, dtype,
                    2 * DECODE_VECTORS);
    for (int64_t c = doubled; c < whole; c += DECODE_VECTORS * VLEN)
        FOR_ROWS_OF(4, g->rows, decode_value, s, j0, a, e, c, 0, dtype, DECODE_VECTORS);
}

/* acc = acc * rescale + the block's sums. */
static void decode_combine_block(const struct state *s, const struct rows *g)
{
    const int64_t dv = s->p->dv;

    for (int64_t r = 0; r < g->rows; r++)
        for (int64_t c = 0; c < dv; c += VLEN) {
            const int64_t n = min_i64(VLEN, dv - c);
            REAL *const acc = g->acc + r * dv;
            const vec before = load_lanes(acc, REAL_DTYPE, 1, c, n);
            const vec sum = decode_block_sum(s->v + r * decode_v_row(s->p), c);

            store_lanes(acc, REAL_DTYPE, 1, c, n,
                        vec_fma(before, vec_set1(s->rescale[r]), sum));
        }
}

/* Number of keys, even, whose V stays in L1 for all rows and columns. */
static int64_t decode_value_keys(const struct problem *p)
{
    const int64_t row_bytes = p->dv * (int64_t)attend_dtype_size(p->v.dtype);

    return max_i64(VALUES_LEAST, VALUES_BYTES / max_i64(1, row_bytes) / 2 * 2);
}

static void decode_values(const struct state *s, const struct rows *g, int64_t j0,
                          int64_t a, int64_t e, int edge)
{
    enum { WHOLE = DECODE_VECTORS * VLEN };
    const struct problem *p = s->p;
    const int select = edge && !decode_finite(s, j0, a, e);
    const int64_t whole = select || p->v.stride[3] != 1 ? 0 : p->dv / WHOLE * WHOLE;
    const int64_t keys = decode_value_keys(p);
    const int64_t rows = min_i64(VLEN, ceil_div_i64(g->rows, 4) * 4);

    memset(s->v, 0, (size_t)(rows * decode_v_row(p)) * sizeof *s->v);
    for (int64_t x = a; x < e; x += keys) {
        const int64_t end = min_i64(e, x + keys);

        FOR_DECODE_DTYPES(p->v.dtype, decode_values_of, s, g, j0, x, end, whole);
        decode_values_any(s, g, j0, x, end, whole, select);
    }
    decode_combine_block(s, g);
}
