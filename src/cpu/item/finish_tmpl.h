/* SPDX-License-Identifier: MIT */
/* Not a header: the end of a row: O = acc * share / total, and LSE. */

struct row_end {
    REAL share, total;
    bool empty; /* l is 0: O is 0, whatever acc is */
};

/* LSE and total with a sink logit, which is added relative to the larger of it and m. */
static void end_row_fully(const struct state *s, const struct rows *g, int64_t r,
                          REAL m_row, struct row_end *end)
{
    const struct problem *p = s->p;
    const int64_t h = g->head[r], i = g->query[r];
    const double sink = p->sinks ? p->sinks[h] : -INFINITY;
    const double m = (double)m_row + attendi_alibi_shift(p, s->item->b, h, i),
                 l = (double)end->total;
    double lse = sink;

    if (!end->empty && sink == -INFINITY) {
        lse = m + log(l);
    } else if (!end->empty) {
        const double max = sink <= m ? m : sink;
        const double sum = l * exp(m - max) + exp(sink - max);

        lse = max + log(sum);
        end->share = (REAL)exp(m - max);
        end->total = (REAL)sum;
    }
    if (p->lse.data)
        *(REAL *)attendi_tensor_row(&p->lse, s->item->b, h, i) = (REAL)lse;
}

static inline struct row_end end_row(const struct state *s, const struct rows *g,
                                     int64_t r, REAL m, REAL l)
{
    struct row_end end = {.share = 1, .total = l == 0 ? 1 : l, .empty = l == 0};

    if (s->p->sinks || s->p->lse.data)
        end_row_fully(s, g, r, m, &end);
    return end;
}

/* A vector of O from one of acc. */
static inline vec output(const struct row_end *end, vec acc)
{
    const vec o = end->empty
                      ? vec_set1(0)
                      : vec_div(vec_mul(acc, vec_set1(end->share)), vec_set1(end->total));

    /* + 0: the sign of a zero sum may depend on hidden keys. */
    return vec_add(o, vec_set1(0));
}

/* Stores a row of O. */
static void finish_row(const struct state *s, const struct rows *g, int64_t r, REAL m,
                       REAL l, const REAL *acc)
{
    const struct problem *p = s->p;
    const struct row_end end = end_row(s, g, r, m, l);
    void *const out = attendi_tensor_row(&p->out, s->item->b, g->head[r], g->query[r]);

    for (int64_t c = 0; c < p->dv; c += VLEN) {
        const int64_t n = min_i64(VLEN, p->dv - c);

        store_lanes(out, p->out.dtype, p->out.stride[3], c, n,
                    output(&end, load_lanes(acc, REAL_DTYPE, 1, c, n)));
    }
}

/* Writes the statistics of the rows from their sums. */
static void finish_stats(const struct state *s, const struct rows *g)
{
    for (int64_t r = 0; r < g->rows; r++)
        attendi_stats_finish(s->p, s->item->b, g->head[r], g->query[r],
                             g->sums + r * s->p->stats.sums_length);
}
