/* SPDX-License-Identifier: MIT */
/*
 * Attention as the header defines it, one row at a time.  All scores of the row are
 * stored, so the code follows the formulas literally.
 */
#include "ref/ref.h"

#include <math.h>
#include <stdbool.h>

#include "base/base.h"
#include "core/tensor.h"
#include "ref/ref_partials.h"
#include "ref/ref_score.h"
#include "ref/ref_inspect.h"
#include "ref/ref_stats.h"

/* The largest score; NaN if any score is NaN, so that all results are NaN. */
static double fill_scores(const struct ref_row *r)
{
    double m = -INFINITY;

    for (int64_t j = 0; j < r->p->nk; j++) {
        r->seen[j] = attendi_ref_sees(r->p, r->b, r->h, r->i, j);
        r->score[j] =
            r->seen[j] ? attendi_ref_score(r->p, r->b, r->h, r->i, j) : -INFINITY;
        if (!isnan(m) && !(r->score[j] <= m))
            m = r->score[j];
    }
    return m;
}

/* `empty`: no score above -inf; O is 0 for any V. */
static void store_row(const struct ref_row *r, double m, double l, double sink,
                      bool empty)
{
    const struct problem *p = r->p;
    void *const out = attendi_tensor_row(&p->out, r->b, r->h, r->i);

    for (int64_t c = 0; c < p->dv; c++) {
        double o = 0.0;

        for (int64_t j = 0; j < p->nk && !empty; j++)
            if (r->seen[j])
                o += exp(r->score[j] - m) * attendi_ref_value(r, j, c);
        attendi_store(out, p->out.dtype, c * p->out.stride[3], empty ? 0.0 : o / l);
    }
    if (p->lse.data)
        attendi_store(attendi_tensor_row(&p->lse, r->b, r->h, r->i), p->lse.dtype, 0,
                      empty ? sink : m + log(l));
    for (int64_t j = 0; p->weights.data && j < p->nk; j++)
        attendi_store(attendi_tensor_row(&p->weights, r->b, r->h, r->i), p->weights.dtype,
                      j * p->weights.stride[3],
                      empty || !r->seen[j] ? 0.0 : exp(r->score[j] - m) / l);
}

static void forward_row(const struct ref_row *r)
{
    const struct problem *p = r->p;
    const double sink = p->sinks ? p->sinks[r->h] : -INFINITY;
    double m = fill_scores(r), l = 0.0;
    const bool empty = m == -INFINITY;

    if (p->stats.needs)
        attendi_ref_stats(r, m);
    if (!isnan(m) && !(sink <= m))
        m = sink;
    if (m != -INFINITY) { /* where exp(-inf - -inf) would be NaN */
        l = exp(sink - m);
        for (int64_t j = 0; j < p->nk; j++)
            if (r->seen[j])
                l += exp(r->score[j] - m);
    }
    store_row(r, m, l, sink, empty);
}

static size_t scratch_size(const struct problem *p, int64_t rows)
{
    (void)rows; /* one after another */
    return add_bytes(count_bytes(p->nk, 2 * sizeof(double) + sizeof(bool)),
                     count_bytes(p->dv + p->stats.sums_length, sizeof(double)));
}

static void forward(const struct problem *p, const struct work_item *t, void *scratch)
{
    double *const numbers = scratch;

    for (int64_t x = t->row; x < t->row + t->rows; x++) {
        const struct ref_row r = {
            .p = p,
            .b = t->b,
            .h = t->hk * p->group + x % p->group,
            .hk = t->hk,
            .i = x / p->group,
            .score = numbers,
            .weight = numbers + p->nk,
            .centre = numbers + 2 * p->nk,
            .sums = numbers + 2 * p->nk + p->dv,
            .seen = (bool *)(numbers + 2 * p->nk + p->dv + p->stats.sums_length)};
        if (!p->shard)
            forward_row(&r);
        else
            attendi_ref_leave_record(&r, t);
        if (p->shard && p->stats.needs)
            attendi_ref_stats(&r, fill_scores(&r));
    }
}

static void exp2_floats(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] < -126.0f ? 0.0f : (float)exp2((double)x[i]);
}

static const struct kernels kernels = {.tile_rows = 1,
                                       .tiles_max = 1,
                                       .scratch_size = scratch_size,
                                       .forward = forward,
                                       .finish = attendi_ref_finish,
                                       .inspect_scratch = attendi_ref_inspect_scratch,
                                       .inspect = attendi_ref_inspect,
                                       .exp2 = exp2_floats};

const struct kernel_set attendi_ref = {.isa = "ref", .f64 = &kernels, .f32 = &kernels};
