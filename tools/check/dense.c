/* SPDX-License-Identifier: MIT */
#include "check/dense.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/bound.h"
#include "check/dense_row.h"
#include "check/dense_stats.h"

/* Working memory of one row. */
struct row {
    struct check_row of;
    double *excess;                        /* [nk]: D_j */
    double *mean, *sum, *largest, *spread; /* [dv] */
    double *stats;                         /* room */
};

static struct row row_create(int64_t nk, int64_t dv)
{
    struct row row = {.of = check_row_create(nk)};

    row.excess = check_memory((size_t)nk, sizeof *row.excess);
    row.mean = check_memory((size_t)(4 * dv), sizeof *row.mean);
    row.sum = row.mean + dv;
    row.largest = row.sum + dv;
    row.spread = row.largest + dv;
    row.stats = check_memory((size_t)check_stats_room(nk), sizeof *row.stats);
    return row;
}

static void row_free(struct row *row)
{
    check_row_free(&row->of);
    free(row->excess);
    free(row->mean);
    free(row->stats);
}

/* The bound's D_j, D and W; log_sum is LSE - m, which LSE itself may not resolve. */
static void bound_weights(const struct check_model *model, double sink, struct row *row,
                          double *total, double *least)
{
    const double top = check_bound_row_max(row->of.m, row->of.shift);
    const double log_sum = row->of.log_sum;

    *total = *least = 0.0;
    if (sink != -INFINITY) {
        const double log_p = sink - row->of.m - log_sum, weight = exp(log_p);
        const double e = check_bound_score(model, fabs(sink), top, 0.0);
        *total = check_bound_excess(weight, log_p, e);
        *least = check_bound_least(weight, e);
    }
    for (int64_t at = 0; at < row->of.n; at++) {
        row->excess[at] = 0.0;
        if (row->of.score[at] == -INFINITY)
            continue;
        const double e =
            check_bound_score(model, row->of.size[at], top, row->of.tiny[at]);
        const double log_p = row->of.score[at] - row->of.m - log_sum;
        row->excess[at] = check_bound_excess(row->of.p[at], log_p, e) + model->flush;
        *total += row->excess[at];
        *least += check_bound_least(row->of.p[at], e);
    }
}

/* Whether a value that the row sees, in the column that starts at v, is NaN or Inf. */
static int sees_nonfinite(const double *v, int64_t dv, const struct row *row)
{
    for (int64_t at = 0; at < row->of.n; at++)
        if (!isfinite(v[row->of.key[at] * dv]))
            return 1;
    return 0;
}

/* No claim is made of sums of values beyond this. */
static double sum_limit(const struct check_problem *p)
{
    return p->dtype == ATTEND_F64 ? 0x1p1000 : 0x1p118;
}

static void average_values(const struct check_problem *p, const double *v,
                           struct row *row, double *o)
{
    check_row_join(&row->of, v, p->dv, o, row->mean, row->sum, row->largest);
    for (int64_t c = 0; c < p->dv; c++)
        /* A sum may also be infinite because finite values overflow. */
        if (!isfinite(row->sum[c]) && sees_nonfinite(v + c, p->dv, row))
            o[c] = NAN;
        else if (!(row->sum[c] <= sum_limit(p)))
            o[c] = 0.0;
}

/* The bounds of row r of O, LSE and P under a model, whose values are known. */
static void bound_row(const struct check_problem *p, const struct check_model *model,
                      int t, double sink, const double *v, int64_t r, struct row *row,
                      struct check_expect *expect)
{
    const double *const o = expect->out.value + r * p->dv;
    double *const o_bound = expect->out.bound[t] + r * p->dv, total, least;

    bound_weights(model, sink, row, &total, &least);
    for (int64_t c = 0; c < p->dv; c++)
        row->spread[c] = 0.0;
    for (int64_t at = 0; at < row->of.n; at++)
        for (int64_t c = 0; c < p->dv; c++)
            row->spread[c] += row->excess[at] * fabs(v[row->of.key[at] * p->dv + c]);
    for (int64_t c = 0; c < p->dv; c++)
        o_bound[c] = isnan(o[c]) ? 0.0
                     : row->sum[c] > sum_limit(p)
                         ? -1.0
                         : check_bound_out(model, total, least, row->spread[c],
                                           row->mean[c], row->largest[c], o[c], p->nk);
    expect->lse.bound[t][r] = check_bound_lse(model, total, least, row->of.lse);
    for (int64_t at = 0; expect->weights.value != NULL && at < row->of.n; at++)
        expect->weights.bound[t][r * p->nk + row->of.key[at]] =
            check_bound_weight(model, total, least, row->excess[at], row->of.p[at]);
}

void check_values_fill(struct check_values *values, int64_t first, int64_t n,
                       double value, double bound)
{
    for (int64_t at = first; values->value != NULL && at < first + n; at++) {
        values->value[at] = value;
        values->bound[0][at] = values->bound[1][at] = bound;
    }
}

/* All weight is the sink's: O is 0 whatever V holds. */
static int only_sink(const struct row *row)
{
    for (int64_t at = 0; at < row->of.n; at++)
        if (row->of.score[at] != -INFINITY)
            return 0;
    return 1;
}

static void expect_row(const struct check_problem *p, const struct check_model *models,
                       int64_t b, int64_t h, int64_t i, struct row *row,
                       struct check_expect *expect)
{
    const int64_t r = (b * p->hq + h) * p->nq + i, g = h / (p->hq / p->hkv);
    const double *const v = p->v + (b * p->hkv + g) * p->nk * p->dv;
    const double sink = p->sinks == NULL ? -INFINITY : p->sinks[h];

    check_row_score(p, b, h, i, &row->of);
    check_dense_stats(p, models, b, h, i, &row->of, row->stats, expect);
    if (row->of.kind == CHECK_ROW_ORDINARY)
        check_row_weigh(&row->of, sink);
    check_values_fill(&expect->weights, r * p->nk, p->nk, 0.0, 0.0);
    if (row->of.kind > CHECK_ROW_EMPTY) {
        const double bound = row->of.kind == CHECK_ROW_OUTSIDE ? -1.0 : 0.0;
        for (int64_t at = 0; at < row->of.n; at++)
            check_values_fill(&expect->weights, r * p->nk + row->of.key[at], 1, NAN,
                              -1.0);
        check_values_fill(&expect->out, r * p->dv, p->dv, NAN, bound);
        check_values_fill(&expect->lse, r, 1, NAN, bound);
        return;
    }
    expect->empty[r] = row->of.kind == CHECK_ROW_EMPTY;
    if (expect->empty[r]) {
        check_values_fill(&expect->out, r * p->dv, p->dv, 0.0, 0.0);
        check_values_fill(&expect->lse, r, 1, -INFINITY, 0.0);
        return;
    }
    average_values(p, v, row, expect->out.value + r * p->dv);
    expect->lse.value[r] = row->of.lse;
    for (int64_t at = 0; expect->weights.value != NULL && at < row->of.n; at++)
        expect->weights.value[r * p->nk + row->of.key[at]] = row->of.p[at];
    for (int t = 0; t < CHECK_MODELS; t++)
        bound_row(p, &models[t], t, sink, v, r, row, expect);
    if (only_sink(row))
        check_values_fill(&expect->out, r * p->dv, p->dv, 0.0, 0.0);
}

static struct check_values values_create(int64_t count)
{
    struct check_values values = {
        .value = check_memory((size_t)(3 * count), sizeof *values.value)};

    values.bound[0] = values.value + count;
    values.bound[1] = values.bound[0] + count;
    return values;
}

/* Row r is not checked. */
static void claim_nothing(const struct check_problem *p, int64_t r,
                          struct check_expect *expect)
{
    for (int t = 0; t < CHECK_OUTPUTS; t++) {
        int64_t size[4];
        check_tensor_shape(p, check_output_shape(t), size);
        check_values_fill(&expect->of[t], r * size[3], size[3], 0.0, -1.0);
    }
}

struct check_expect check_dense(const struct check_problem *p)
{
    return check_dense_rows(p, NULL);
}

struct check_expect check_dense_rows(const struct check_problem *p,
                                     const unsigned char *wanted)
{
    const int64_t rows = p->nb * p->hq * p->nq;
    const struct check_model models[CHECK_MODELS] = {check_model_of(p, 0),
                                                     check_model_of(p, 1)};
    struct check_expect expect = {.out = values_create(rows * p->dv),
                                  .lse = values_create(rows),
                                  .empty = check_memory((size_t)rows, 1)};
    struct row row = row_create(p->nk, p->dv);

    for (int t = CHECK_WEIGHTS - CHECK_OUT; t < CHECK_OUTPUTS; t++) {
        int64_t size[4];
        check_tensor_shape(p, check_output_shape(t), size);
        if (check_wants(p, check_output_shape(t)))
            expect.of[t] = values_create(check_count(size));
    }
    for (int64_t b = 0; b < p->nb; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; i < p->nq; i++) {
                const int64_t r = (b * p->hq + h) * p->nq + i;
                if (wanted == NULL || wanted[r])
                    expect_row(p, models, b, h, i, &row, &expect);
                else
                    claim_nothing(p, r, &expect);
            }
    row_free(&row);
    return expect;
}

void check_expect_free(struct check_expect *expect)
{
    for (int t = 0; t < CHECK_OUTPUTS; t++)
        free(expect->of[t].value);
    free(expect->empty);
    *expect = (struct check_expect){0};
}

double check_ratio(double got, double want, double bound)
{
    if (bound < 0.0)
        return 0.0;
    if (isnan(want))
        return isfinite(got) ? INFINITY : 0.0;
    if (got == want)
        return 0.0;

    const double ratio = fabs(got - want) / bound;
    return isnan(ratio) || !isfinite(got) ? INFINITY : ratio;
}

int check_is_worse(struct check_worst *worst, double ratio)
{
    if (ratio <= worst->ratio)
        return 0;
    *worst = (struct check_worst){.ratio = ratio};
    return 1;
}

void check_say(struct check_worst *worst, const char *format, ...)
{
    const size_t used = strlen(worst->where);
    va_list args;

    va_start(args, format);
    vsnprintf(worst->where + used, sizeof worst->where - used, format, args);
    va_end(args);
}

void check_say_element(struct check_worst *worst, const struct check_problem *p,
                       int output, int64_t row, int64_t column)
{
    check_say(worst, "%s row %lld ", check_output_names[output], (long long)row);
    if (check_output_shape(output) == CHECK_ROWS)
        check_say(worst, "%s: ", attend_stat_name(p->stats.column[column]));
    else
        check_say(worst, "column %lld: ", (long long)column);
}

void check_compare(const struct check_problem *p, const struct check_expect *expect,
                   int model, const struct check_outputs *outputs,
                   struct check_worst *worst)
{
    for (int t = 0; t < CHECK_OUTPUTS; t++) {
        const double *const got = outputs->values[t], *const want = expect->of[t].value;
        const double *const bound = expect->of[t].bound[model];
        int64_t size[4];
        check_tensor_shape(p, check_output_shape(t), size);
        for (int64_t at = 0; got != NULL && at < check_count(size); at++)
            if (check_is_worse(worst, check_ratio(got[at], want[at], bound[at]))) {
                check_say_element(worst, p, t, at / size[3], at % size[3]);
                check_say(worst, "got %.9g want %.9g +- %.3g", got[at], want[at],
                          bound[at]);
            }
    }
}
