/* SPDX-License-Identifier: MIT */
#include "ref/ref_partials.h"

#include <math.h>

#include "core/tensor.h"
#include "ref/ref_score.h"

/* Fills seen and score; returns the maximum for the record, +inf for NaN. */
static double score_keys(const struct ref_row *r, const struct work_item *t)
{
    const struct problem *p = r->p;
    const double shift = attendi_alibi_shift(p, r->b, r->h, r->i);
    double m = -INFINITY;

    for (int64_t j = t->keys.lo; j < t->keys.hi; j++) {
        r->seen[j] = attendi_ref_sees(p, r->b, r->h, r->i, j);
        r->score[j] =
            r->seen[j] ? attendi_ref_score(p, r->b, r->h, r->i, j) - shift : -INFINITY;
        if (!(r->score[j] <= m))
            m = isnan(r->score[j]) ? INFINITY : r->score[j];
    }
    return attendi_wide_dtype(p->dtype) == ATTEND_F32 ? (double)(float)m : m;
}

void attendi_ref_leave_record(const struct ref_row *r, const struct work_item *t)
{
    const struct problem *p = r->p;
    const attend_dtype dtype = attendi_wide_dtype(p->dtype);
    const int64_t first = t->record * (p->dv + 2);
    void *const row = attendi_tensor_row(&p->records, r->b, r->h, r->i);
    const double m = score_keys(r, t), base = m == -INFINITY ? 0.0 : m;
    double l = 0.0;

    for (int64_t j = t->keys.lo; j < t->keys.hi; j++)
        l += r->seen[j] ? exp(r->score[j] - base) : 0.0;
    attendi_store(row, dtype, first, m);
    attendi_store(row, dtype, first + 1, l);
    for (int64_t c = 0; c < p->dv; c++) {
        double acc = 0.0;

        for (int64_t j = t->keys.lo; j < t->keys.hi; j++)
            if (r->seen[j])
                acc += exp(r->score[j] - base) * attendi_ref_value(r, j, c);
        attendi_store(row, dtype, first + 2 + c, acc);
    }
}

/* The records of one row: `step` numbers from one to the next. */
struct records {
    const void *first;
    attend_dtype dtype;
    int64_t step, count;
    double m; /* the largest, 0 for -inf */
};

/* sum_x number[x] exp(m[x] - m), with number[x] at `offset` of record x. */
static double sum_records(const struct records *s, int64_t offset)
{
    double sum = 0.0;

    for (int64_t x = 0; x < s->count; x++)
        sum += attendi_load(s->first, s->dtype, x * s->step + offset) *
               exp(attendi_load(s->first, s->dtype, x * s->step) - s->m);
    return sum;
}

static void end_row(const struct problem *p, const struct records *s, int64_t b,
                    int64_t h, int64_t i)
{
    const double sink = p->sinks ? p->sinks[h] : -INFINITY, l = sum_records(s, 1);
    const double m = s->m + attendi_alibi_shift(p, b, h, i), top = sink <= m ? m : sink;
    const double sum = l * exp(m - top) + exp(sink - top);
    const bool empty = l == 0.0;
    void *const out = attendi_tensor_row(&p->out, b, h, i);

    for (int64_t c = 0; c < p->dv; c++)
        attendi_store(out, p->out.dtype, c * p->out.stride[3],
                      empty ? 0.0 : sum_records(s, 2 + c) * exp(m - top) / sum);
    if (p->lse.data)
        attendi_store(attendi_tensor_row(&p->lse, b, h, i), p->lse.dtype, 0,
                      empty ? sink : top + log(sum));
}

/* Combines the records of a row into one. */
static void end_record(const struct problem *p, const struct records *s, double m,
                       const struct work_item *t, int64_t h, int64_t i)
{
    void *const row = attendi_tensor_row(&p->records, t->b, h, i);
    const int64_t first = t->record * s->step / t->rows;

    attendi_store(row, s->dtype, first, m);
    for (int64_t c = 1; c < p->dv + 2; c++)
        attendi_store(row, s->dtype, first + c, sum_records(s, c));
}

void attendi_ref_finish(const struct problem *p, const struct work_item *t,
                        void *partials, const int64_t *start, int64_t count,
                        void *scratch)
{
    const int64_t step = p->dv + 2;
    struct records s = {
        .dtype = attendi_wide_dtype(p->dtype), .step = t->rows * step, .count = count};

    (void)start;
    (void)scratch;
    for (int64_t x = 0; x < t->rows; x++) {
        const int64_t row = t->row + x;

        s.first = (char *)partials + x * step * (int64_t)attend_dtype_size(s.dtype);
        s.m = -INFINITY;
        for (int64_t y = 0; y < count; y++)
            s.m = fmax(s.m, attendi_load(s.first, s.dtype, y * s.step));
        const double m = s.m;
        const int64_t h = t->hk * p->group + row % p->group, i = row / p->group;
        if (s.m == -INFINITY)
            s.m = 0.0;
        if (p->shard)
            end_record(p, &s, m, t, h, i);
        else
            end_row(p, &s, t->b, h, i);
    }
}
