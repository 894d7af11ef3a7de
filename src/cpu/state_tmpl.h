/* SPDX-License-Identifier: MIT */
/* Not a header: what the templates of one tile share.  Parameters: forward_tmpl.h. */

#define BR (QV * VLEN)

struct N(state) {
    const struct problem *p;
    const struct tile *t;
    int64_t width;          /* lanes in use: rows, rounded up to whole vectors */
    int64_t lo, hi;         /* keys that some row sees lie in lo .. hi - 1 */
    int64_t all_lo, all_hi; /* keys that every row sees, mask aside */
    int64_t first[BR], end[BR];
    int64_t anchor[BR]; /* ALiBi distances are counted from this key */
    const void *mask_row[BR], *bias_row[BR];
    REAL *qt;    /* the tile's queries, as the products want them */
    REAL *acc;   /* [dv][BR] */
    REAL *s;     /* [BC][BR] scores, then weights */
    REAL *extra; /* [BC][BR] bias, then marks */
    REAL *k, *v; /* a block of K and of V, where they cannot be used in place */
    REAL *m, *l, *fix, *slope; /* [BR] each */
};

static inline int64_t N(row_query)(const STATE *s, int64_t r)
{
    return (s->t->row + r) / s->p->group;
}

static inline int64_t N(row_head)(const STATE *s, int64_t r)
{
    return s->t->hk * s->p->group + (s->t->row + r) % s->p->group;
}

/* A number of the rule as REAL: one too large for it stays finite. */
static inline REAL N(narrow)(double x)
{
    return (REAL)(isfinite(x) ? fmin(fmax(x, -REAL_MAX), REAL_MAX) : x);
}
