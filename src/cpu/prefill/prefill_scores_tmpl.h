/* SPDX-License-Identifier: MIT */
/* Not a header: scores of a tile over a block: products and rule. */

/* s->s of the block = f(score), for the scores of keys a .. e - 1. */
static void prefill_softcap(const struct state *s, const struct rows *g, int64_t a,
                            int64_t e)
{
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            vec_store(at, softcap(s, vec_load(at)));
        }
}

/* Adds the bias, which is read along the keys and transposed in VLEN x VLEN tiles. */
static void prefill_bias(const struct state *s, const struct rows *g, int64_t j0,
                         int64_t a, int64_t e)
{
    const attend_view *bias = &s->p->bias;

    for (int64_t r0 = 0; r0 < g->width; r0 += VLEN)
        for (int64_t x = a; x < e; x += VLEN) {
            const int64_t n = min_i64(VLEN, e - x);
            vec y[VLEN];

            for (int r = 0; r < VLEN; r++)
                y[r] = load_lanes(g->bias_row[r0 + r], bias->dtype, bias->stride[3],
                                  j0 + x, n);
            vec_transpose(y);
            for (int64_t i = 0; i < n; i++) {
                REAL *at = s->s + (x + i) * BR + r0;
                vec_store(at, vec_add(vec_load(at), y[i]));
            }
        }
}

static void prefill_alibi(const struct state *s, const struct rows *g, int64_t j0,
                          int64_t a, int64_t e)
{
    REAL anchor[BR];

    for (int64_t r = 0; r < g->width; r++)
        anchor[r] = (REAL)(g->anchor[r] - j0);
    for (int64_t x = a; x < e; x++)
        for (int64_t r = 0; r < g->width; r += VLEN) {
            REAL *at = s->s + x * BR + r;
            const vec distance = vec_sub(vec_set1((REAL)x), vec_load(anchor + r));
            vec_store(at, vec_fma(vec_load(g->slope + r), distance, vec_load(at)));
        }
}

/* Masks of hidden keys to s->extra, their scores to -inf, and the row max of the rest. */
static void prefill_hide(const struct state *s, const struct rows *g, int64_t j0,
                         int64_t a, int64_t e, int edge)
{
    REAL first[BR], last[BR]; /* relative to the block's start, in -1 ..  BC + 1 */

    for (int64_t r = 0; r < g->width; r++) {
        first[r] = (REAL)min_i64(max_i64(g->first[r] - j0, 0), BC + 1);
        last[r] = (REAL)min_i64(max_i64(g->end[r] - j0 - 1, -1), BC);
    }
    for (int64_t r = 0; r < g->width; r += VLEN) {
        vec row_max = vec_set1(-INFINITY);

        for (int64_t x = a; x < e; x++) {
            REAL *at = s->s + x * BR + r;
            const vec j = vec_set1((REAL)x);
            vec hidden = vec_set1(0);

            if (edge & EDGE_RANGE)
                hidden = vec_or(vec_mask_lt(j, vec_load(first + r)),
                                vec_mask_lt(vec_load(last + r), j));
            if (edge & EDGE_MASK)
                hidden =
                    vec_or(hidden, vec_mask_bit(s->words[x / 32] + r, (int)(x % 32)));
            const vec score = vec_blend(hidden, vec_set1(-INFINITY), vec_load(at));
            vec_store(s->extra + x * BR + r, hidden);
            vec_store(at, score);
            row_max = vec_max(score, row_max);
        }
        vec_store(s->row_max + r, row_max);
    }
}

static void prefill_row_max(const struct state *s, const struct rows *g, int64_t a,
                            int64_t e)
{
    for (int64_t r = 0; r < g->width; r += VLEN) {
        vec row_max = vec_set1(-INFINITY);

        for (int64_t x = a; x < e; x++)
            row_max = vec_max(vec_load(s->s + x * BR + r), row_max);
        vec_store(s->row_max + r, row_max);
    }
}

/* Applies the rule to the scores of keys j0 + a .. j0 + e - 1, and updates s->row_max. */
static void prefill_rule(struct state *s, const struct rows *g, int64_t j0, int64_t a,
                         int64_t e, int edge)
{
    const struct problem *p = s->p;

    if (!edge && p->softcap == 0 && !p->bias.data && !p->alibi)
        return;
    if (p->softcap > 0)
        prefill_softcap(s, g, a, e);
    if (p->bias.data)
        prefill_bias(s, g, j0, a, e);
    if (p->alibi)
        prefill_alibi(s, g, j0, a, e);
    if (edge)
        prefill_hide(s, g, j0, a, e, edge);
    else
        prefill_row_max(s, g, a, e);
}

/*
 * Transposes scores of the rows, [rows][S_ROW], to [key][BR]; lanes past the last row
 * repeat it.
 */
static void transpose_scores(const struct state *s, const struct rows *g,
                             const REAL *from, int64_t a, int64_t e)
{
    for (int64_t x = a; x < e; x += VLEN) {
        vec y[VLEN];

        for (int64_t r = 0; r < VLEN; r++)
            y[r] = vec_load(from + min_i64(r, g->rows - 1) * S_ROW + x);
        vec_transpose(y);
        for (int64_t i = 0; i < min_i64(VLEN, e - x); i++)
            vec_store(s->s + (x + i) * BR, y[i]);
    }
}

static void clear_row_max(const struct state *s)
{
    for (int64_t r = 0; r < BR; r += VLEN)
        vec_store(s->row_max + r, vec_set1(-INFINITY));
}

/* Scores of keys j0 + a .. j0 + e - 1; s->row_max: the largest of each row. */
static void prefill_scores(struct state *s, const struct rows *g, int64_t j0, int64_t a,
                           int64_t e, int edge)
{
    clear_row_max(s);
    scores(s, g, j0, a, e);
    prefill_rule(s, g, j0, a, e, edge);
}
