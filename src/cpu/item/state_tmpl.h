/* SPDX-License-Identifier: MIT */
/* Not a header: the state of a work item, shared by the prefill and the decode path. */

/* A tile of rows, or all rows of a decode item: visible keys, and running sums. */
struct rows {
    int64_t row, rows;      /* rows row .. row + rows - 1 of the head's list */
    int64_t width;          /* lanes in use: rows, rounded up to LANES_STEP */
    int64_t lo, hi;         /* keys lo .. hi - 1 of the item: those that some row sees */
    int64_t all_lo, all_hi; /* keys that every row sees, apart from the mask */
    int64_t query[BR], head[BR];
    int64_t first[BR], end[BR];
    int64_t last_end[QV]; /* the maximum end of the rows up to each vector's last */
    int64_t anchor[BR];   /* attendi_anchor, with ALiBi */
    const void *mask_row[BR], *bias_row[BR];
    REAL slope[BR];
    REAL *q;               /* packed by the products */
    REAL *m, *l;           /* [BR] each, of the current split */
    REAL *acc;             /* prefill: [dv][BR]; decode: [rows][dv] */
    struct partial *level; /* of the splits before: partial_tmpl.h */
    uint64_t pending;      /* bit x: level[x] is in use */
    double *sums;          /* [BR][sums_length] of statistics over whole splits */
    struct accum *accum;   /* sums of statistics of the current split; NULL: none */
};

/* The corresponding members of struct rows over earlier splits. */
struct partial {
    REAL *m, *l, *acc;
    double *sums;
};

struct state {
    const struct problem *p;
    const struct work_item *item;
    bool decode;         /* decode path; else prefill path */
    int64_t head, heads; /* query heads that alternate in the list of rows */
    struct rows *rows;   /* the tiles of the item; one on the decode path */
    int64_t count;
    /*
     * Scores, then weights of a block: prefill [BC][BR], decode [rows][S_ROW], but
     * [BC][BR] with statistics.
     */
    REAL *s;
    REAL *extra; /* masks of hidden keys, in the layout of s; then unrounded weights */
    /* [x / 32][r], bit x % 32: whether the mask hides key x of the block from row r. */
    uint32_t (*words)[BR];
    /*
     * Prefill: a block of K and of V, if not used in place.  Decode: copied keys, and the
     * block's sums of V.
     */
    REAL *k, *v;
    struct operand keys, values;
    REAL *work;    /* working memory of the products; decode with statistics:
                      scores */
    REAL *row_max; /* [BR] prefill: the largest score of each row in the block */
    REAL *rescale; /* [BR] factor of l and acc of the earlier blocks */
    struct block_stat *stat; /* the block's statistics; NULL: none */
    int finite;              /* V of the current block is finite; -1: unknown */
};

/* Allocates `bytes` of scratch; with base NULL only `used` grows. */
static void *bump(char *base, size_t *used, size_t bytes)
{
    void *const piece = base ? base + *used : NULL;

    *used += (bytes + ATTENDI_ALIGN - 1) / ATTENDI_ALIGN * ATTENDI_ALIGN;
    return piece;
}

/* A number of the rule as REAL, clamped to finite values. */
static inline REAL to_real(double x)
{
    return (REAL)(isfinite(x) ? fmin(fmax(x, -REAL_MAX), REAL_MAX) : x);
}

static inline REAL lane0(vec x)
{
    REAL lanes[VLEN];

    vec_store(lanes, x);
    return lanes[0];
}

static void begin_row(struct state *s, struct rows *g, int64_t r)
{
    const struct problem *p = s->p;
    const int64_t i = g->query[r], h = g->head[r];
    const struct key_range seen = attendi_key_range(p, s->item->b, i);

    g->first[r] = seen.lo;
    g->end[r] = seen.hi;
    g->mask_row[r] = p->mask.data ? attendi_view_row(&p->mask, s->item->b, h, i) : NULL;
    g->bias_row[r] = p->bias.data ? attendi_view_row(&p->bias, s->item->b, h, i) : NULL;
    if (p->alibi) {
        g->slope[r] = to_real(p->alibi[h]);
        g->anchor[r] = attendi_anchor(p, s->item->b, h, i);
    }
    g->all_lo = r == 0 ? seen.lo : max_i64(g->all_lo, seen.lo);
    g->all_hi = r == 0 ? seen.hi : min_i64(g->all_hi, seen.hi);
    if (seen.lo < seen.hi) {
        g->lo = g->hi == 0 ? seen.lo : min_i64(g->lo, seen.lo);
        g->hi = max_i64(g->hi, seen.hi);
    }
}

/* Lanes past the last row repeat it and are never stored. */
static void begin_rows(struct state *s, struct rows *g, int64_t row, int64_t rows)
{
    g->row = row;
    g->rows = rows;
    g->pending = 0;
    g->width = ceil_div_i64(rows, LANES_STEP) * LANES_STEP;
    g->lo = g->hi = 0;
    int64_t i = row / s->heads, of_group = row % s->heads;
    for (int64_t r = 0; r < rows; r++) {
        g->query[r] = i;
        g->head[r] = s->head + of_group;
        begin_row(s, g, r);
        of_group = of_group + 1 < s->heads ? of_group + 1 : 0;
        i += of_group == 0;
    }
    for (int64_t r = rows; r < g->width; r++) {
        g->first[r] = g->first[rows - 1];
        g->end[r] = g->end[rows - 1];
        g->mask_row[r] = g->mask_row[rows - 1];
        g->bias_row[r] = g->bias_row[rows - 1];
        g->slope[r] = g->slope[rows - 1];
        g->anchor[r] = g->anchor[rows - 1];
    }
    for (int64_t r = 0, last = 0; r < g->width; r++) {
        last = max_i64(last, g->end[r]);
        g->last_end[r / VLEN] = last;
    }
    g->lo = max_i64(g->lo, s->item->keys.lo);
    g->hi = min_i64(g->hi, s->item->keys.hi);
    if (g->lo >= g->hi) /* empty: block_range would widen it at an odd key */
        g->lo = g->hi = 0;
}

/*
 * The part of keys lo .. hi - 1 in the block of `keys` keys from j0 on, widened to an
 * even key and an even end, within nk; additional keys are hidden.
 */
static struct key_range block_range(const struct state *s, int64_t lo, int64_t hi,
                                    int64_t j0, int64_t keys)
{
    const int64_t even = min_i64(hi + (hi & 1), s->p->nk);

    return (struct key_range){(max_i64(lo, j0) - j0) & ~(int64_t)1,
                              min_i64(even, j0 + keys) - j0};
}

/*
 * exp(x), x = s - m <= 0.  Scores stay in natural units: times log2 e, one near the
 * largest float would overflow.  `m` is 0 in place of -inf.
 */
static inline vec vec_exp(vec x) { return vec_exp2(vec_mul(x, vec_set1((REAL)LOG2_E))); }

static inline vec weight_of(vec score, vec m) { return vec_exp(vec_sub(score, m)); }

static inline vec finite_or_0(vec m)
{
    return vec_blend(vec_mask_lt(m, vec_set1(-REAL_MAX)), vec_set1(0), m);
}

static inline vec softcap(const struct state *s, vec score)
{
    const vec cap = vec_set1((REAL)fmax(to_real(s->p->softcap), REAL_MIN));

    return vec_mul(cap, vec_tanh(vec_div(score, cap)));
}
