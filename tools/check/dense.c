/* SPDX-License-Identifier: MIT */
#include "check/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/bound.h"

/* How a row is to be judged. */
enum row_kind {
    ORDINARY,
    EMPTY,
    POISONED, /* a score of +inf or NaN */
    OUTSIDE   /* beyond what the bound covers */
};

/* Room for one row: the keys it sees and what is known of each. */
struct row {
    int64_t n;
    int64_t *key;
    double *score, *size, *tiny, *p, *excess[CHECK_MODELS];
    double total[CHECK_MODELS], least[CHECK_MODELS];
    double *spread[CHECK_MODELS], *mean, *sum, *largest; /* [dv] */
    double m, lse;
    enum row_kind kind;
};

static struct row row_create(int64_t nk, int64_t dv)
{
    const size_t keys = (size_t)nk, columns = (size_t)dv;
    struct row row = {.key = check_memory(keys, sizeof *row.key)};

    row.score = check_memory(6 * keys, sizeof *row.score);
    row.size = row.score + nk;
    row.tiny = row.size + nk;
    row.p = row.tiny + nk;
    row.excess[0] = row.p + nk;
    row.excess[1] = row.excess[0] + nk;
    row.mean = check_memory(5 * columns, sizeof *row.mean);
    row.sum = row.mean + dv;
    row.largest = row.sum + dv;
    row.spread[0] = row.largest + dv;
    row.spread[1] = row.spread[0] + dv;
    return row;
}

static void row_free(struct row *row)
{
    free(row->key);
    free(row->score);
    free(row->mean);
}

/* <q, k>, <|q|, |k|> and sum |k| over d elements. */
struct dot {
    double dot, size, keys;
};

static struct dot dot(const double *q, const double *k, int64_t d)
{
    double s[4] = {0.0}, t[4] = {0.0}, w[4] = {0.0};

    for (int64_t c = 0; c < d; c++) {
        const double product = q[c] * k[c];
        s[c & 3] += product;
        t[c & 3] += fabs(product);
        w[c & 3] += fabs(k[c]);
    }
    return (struct dot){(s[0] + s[1]) + (s[2] + s[3]), (t[0] + t[1]) + (t[2] + t[3]),
                        (w[0] + w[1]) + (w[2] + w[3])};
}

/*
 * A dot product of numbers that are not all finite, or that overflow.  A NaN among
 * them makes it NaN in any order; otherwise finite products beyond the limit may
 * become infinite, or not, with the order.
 */
static enum row_kind judge_dot(const double *q, const double *k, int64_t d, double limit)
{
    double finite = 0.0;

    for (int64_t c = 0; c < d; c++) {
        if (isnan(q[c]) || isnan(k[c]))
            return POISONED;
        if (isfinite(q[c]) && isfinite(k[c]))
            finite += fabs(q[c] * k[c]);
    }
    return finite > limit ? OUTSIDE : ORDINARY;
}

/*
 * `product` is the plain dot product.  One of -inf, or under a softcap of +-inf, has
 * no single right answer, as an operand may have been flushed to 0 before.
 */
static enum row_kind judge(const struct check_problem *p, const double *q,
                           const double *k, double queries, const struct dot *product,
                           double score, double size)
{
    const double limit = p->dtype == ATTEND_F64 ? 0x1p1000 : 0x1p100;
    const double largest =
        check_largest(p->dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32);

    if (!isfinite(product->size)) {
        const enum row_kind kind = judge_dot(q, k, p->d, limit);
        if (kind != ORDINARY)
            return kind;
    }
    if (isnan(score) || score == INFINITY)
        return POISONED;
    if (isinf(product->dot) || product->size > limit ||
        fabs(check_scale(p)) * fmax(product->size, queries) > limit)
        return OUTSIDE;
    return size > largest && !isinf(score) ? OUTSIDE : ORDINARY;
}

/* Scores of the keys that row (b, h, i) sees. */
static void score_row(const struct check_problem *p, int64_t b, int64_t h, int64_t i,
                      struct row *row)
{
    const int64_t g = h / (p->hq / p->hkv);
    const double *const q = p->q + ((b * p->hq + h) * p->nq + i) * p->d;
    const double *const k = p->k + (b * p->hkv + g) * p->nk * p->d;
    const double scale = check_scale(p);
    double queries = 0.0;

    for (int64_t c = 0; c < p->d; c++)
        queries += fabs(q[c]);
    row->n = 0;
    row->kind = ORDINARY;
    for (int64_t j = 0; j < p->nk; j++) {
        if (!check_sees(p, b, h, i, j))
            continue;
        const struct dot product = dot(q, k + j * p->d, p->d);
        const double bias =
            p->bias == NULL ? 0.0 : check_broadcast(p->bias, p->bias_size, b, h, i, j);
        const double slope =
            p->alibi == NULL ? 0.0 : p->alibi[h] * (double)(j - check_position(p, b, i));
        double x = scale * product.dot;
        if (p->softcap > 0.0)
            x = p->softcap * tanh(x / p->softcap);

        const int64_t at = row->n++;
        row->key[at] = j;
        row->score[at] = x + bias + slope;
        row->size[at] = fabs(scale) * product.size + fabs(bias) + fabs(slope);
        row->tiny[at] =
            (1.0 + fabs(scale)) * ((double)p->d + queries + product.keys + product.size);
        const enum row_kind kind =
            judge(p, q, k + j * p->d, queries, &product, row->score[at], row->size[at]);
        if (kind == POISONED || (kind == OUTSIDE && row->kind != POISONED))
            row->kind = kind;
    }
}

/* The bound's D_j, D and W; `log_sum` is LSE - m, which LSE itself may not resolve. */
static void bound_row(const struct check_model *model, double sink, double log_sum,
                      struct row *row, int t)
{
    row->total[t] = row->least[t] = 0.0;
    if (sink != -INFINITY) {
        const double log_p = sink - row->m - log_sum, weight = exp(log_p);
        const double e = check_bound_score(model, fabs(sink), row->m, 0.0);
        row->total[t] = check_bound_excess(weight, log_p, e);
        row->least[t] = check_bound_least(weight, e);
    }
    for (int64_t at = 0; at < row->n; at++) {
        row->excess[t][at] = 0.0;
        if (row->score[at] == -INFINITY)
            continue;
        const double e = check_bound_score(model, row->size[at], row->m, row->tiny[at]);
        const double log_p = row->score[at] - row->m - log_sum;
        row->excess[t][at] = check_bound_excess(row->p[at], log_p, e) + model->flush;
        row->total[t] += row->excess[t][at];
        row->least[t] += check_bound_least(row->p[at], e);
    }
}

/* Weights, and the bound's part in them for every model. */
static void weigh_row(const struct check_model *models, double sink, struct row *row)
{
    double sum = 0.0;

    row->m = sink;
    for (int64_t at = 0; at < row->n; at++)
        row->m = fmax(row->m, row->score[at]);
    if (row->m == -INFINITY) {
        row->kind = EMPTY;
        return;
    }
    for (int64_t at = 0; at < row->n; at++)
        sum += row->p[at] = exp(row->score[at] - row->m);
    sum += exp(sink - row->m);
    row->lse = row->m + log(sum);
    for (int64_t at = 0; at < row->n; at++)
        row->p[at] /= sum;
    for (int t = 0; t < CHECK_MODELS; t++)
        bound_row(&models[t], sink, log(sum), row, t);
}

/* Whether a value that the row sees, in the column that starts at v, is NaN or Inf. */
static int sees_nonfinite(const double *v, int64_t dv, const struct row *row)
{
    for (int64_t at = 0; at < row->n; at++)
        if (!isfinite(v[row->key[at] * dv]))
            return 1;
    return 0;
}

/* O and its bounds, into element `at` of the results and the dv - 1 after it. */
static void join_row(const struct check_problem *p, const struct check_model *models,
                     int64_t b, int64_t h, struct row *row, struct check_values *out,
                     int64_t first)
{
    const int64_t g = h / (p->hq / p->hkv), dv = p->dv;
    const double *const v = p->v + (b * p->hkv + g) * p->nk * dv;
    const double limit = p->dtype == ATTEND_F64 ? 0x1p1000 : 0x1p118;
    double *const o = out->value + first;

    for (int64_t c = 0; c < dv; c++)
        o[c] = row->mean[c] = row->sum[c] = row->largest[c] = row->spread[0][c] =
            row->spread[1][c] = 0.0;
    for (int64_t at = 0; at < row->n; at++) {
        const double *const values = v + row->key[at] * dv;
        const double weight = row->p[at], d0 = row->excess[0][at],
                     d1 = row->excess[1][at];
        for (int64_t c = 0; c < dv; c++) {
            const double size = fabs(values[c]);
            o[c] += weight * values[c];
            row->mean[c] += weight * size;
            row->sum[c] += size;
            row->largest[c] = size > row->largest[c] ? size : row->largest[c];
            row->spread[0][c] += d0 * size;
            row->spread[1][c] += d1 * size;
        }
    }
    for (int64_t c = 0; c < dv; c++) {
        /* A sum may also be infinite because finite values overflow. */
        if (!isfinite(row->sum[c]) && sees_nonfinite(v + c, dv, row))
            o[c] = NAN;
        else if (!(row->sum[c] <= limit))
            o[c] = 0.0;
        for (int t = 0; t < CHECK_MODELS; t++)
            out->bound[t][first + c] =
                isnan(o[c]) ? 0.0
                : row->sum[c] > limit
                    ? -1.0
                    : check_bound_out(&models[t], row->total[t], row->least[t],
                                      row->spread[t][c], row->mean[c], row->largest[c],
                                      o[c], p->nk);
    }
}

/* Value and bound of elements first .. first + n - 1, alike. */
static void set_values(struct check_values *values, int64_t first, int64_t n,
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
    for (int64_t at = 0; at < row->n; at++)
        if (row->score[at] != -INFINITY)
            return 0;
    return 1;
}

static void expect_row(const struct check_problem *p, const struct check_model *models,
                       int64_t b, int64_t h, int64_t i, struct row *row,
                       struct check_expect *expect)
{
    const int64_t r = (b * p->hq + h) * p->nq + i;
    const double sink = p->sinks == NULL ? -INFINITY : p->sinks[h];

    score_row(p, b, h, i, row);
    if (row->kind == ORDINARY)
        weigh_row(models, sink, row);
    set_values(&expect->weights, r * p->nk, p->nk, 0.0, 0.0);
    if (row->kind > EMPTY) {
        for (int64_t at = 0; at < row->n; at++)
            set_values(&expect->weights, r * p->nk + row->key[at], 1, NAN, -1.0);
        set_values(&expect->out, r * p->dv, p->dv, NAN,
                   row->kind == OUTSIDE ? -1.0 : 0.0);
        set_values(&expect->lse, r, 1, NAN, row->kind == OUTSIDE ? -1.0 : 0.0);
        return;
    }
    expect->empty[r] = row->kind == EMPTY;
    if (row->kind == EMPTY) {
        set_values(&expect->out, r * p->dv, p->dv, 0.0, 0.0);
        set_values(&expect->lse, r, 1, -INFINITY, 0.0);
        return;
    }
    join_row(p, models, b, h, row, &expect->out, r * p->dv);
    if (only_sink(row))
        set_values(&expect->out, r * p->dv, p->dv, 0.0, 0.0);
    for (int t = 0; t < CHECK_MODELS; t++) {
        expect->lse.value[r] = row->lse;
        expect->lse.bound[t][r] =
            check_bound_lse(&models[t], row->total[t], row->least[t], row->lse);
        for (int64_t at = 0; expect->weights.value != NULL && at < row->n; at++) {
            expect->weights.value[r * p->nk + row->key[at]] = row->p[at];
            expect->weights.bound[t][r * p->nk + row->key[at]] = check_bound_weight(
                &models[t], row->total[t], row->least[t], row->excess[t][at], row->p[at]);
        }
    }
}

static struct check_values values_create(int64_t count)
{
    struct check_values values = {
        .value = check_memory((size_t)(3 * count), sizeof *values.value)};

    values.bound[0] = values.value + count;
    values.bound[1] = values.bound[0] + count;
    return values;
}

struct check_expect check_dense(const struct check_problem *p)
{
    const int64_t rows = p->nb * p->hq * p->nq;
    const struct check_model models[CHECK_MODELS] = {check_model_of(p, 0),
                                                     check_model_of(p, 1)};
    struct check_expect expect = {.out = values_create(rows * p->dv),
                                  .lse = values_create(rows),
                                  .empty = check_memory((size_t)rows, 1)};
    struct row row = row_create(p->nk, p->dv);

    if (p->wants_weights)
        expect.weights = values_create(rows * p->nk);
    for (int64_t b = 0; b < p->nb; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; i < p->nq; i++)
                expect_row(p, models, b, h, i, &row, &expect);
    row_free(&row);
    return expect;
}

void check_expect_free(struct check_expect *expect)
{
    free(expect->out.value);
    free(expect->lse.value);
    free(expect->weights.value);
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

static double compare_values(const char *name, const struct check_values *want, int model,
                             const double *got, int64_t rows, int64_t columns,
                             double worst, char *where, size_t where_size)
{
    if (got == NULL)
        return worst;
    for (int64_t at = 0; at < rows * columns; at++) {
        const double ratio =
            check_ratio(got[at], want->value[at], want->bound[model][at]);
        if (!(ratio <= worst)) {
            worst = ratio;
            snprintf(where, where_size,
                     "%s row %lld column %lld: got %.9g want %.9g +- %.3g", name,
                     (long long)(at / columns), (long long)(at % columns), got[at],
                     want->value[at], want->bound[model][at]);
        }
    }
    return worst;
}

double check_compare(const struct check_problem *p, const struct check_expect *expect,
                     int model, const struct check_outputs *got, char *where,
                     size_t where_size)
{
    const int64_t rows = p->nb * p->hq * p->nq;
    double worst = 0.0;

    worst = compare_values("out", &expect->out, model, got->out, rows, p->dv, worst,
                           where, where_size);
    worst = compare_values("lse", &expect->lse, model, got->lse, rows, 1, worst, where,
                           where_size);
    return compare_values("weights", &expect->weights, model, got->weights, rows, p->nk,
                          worst, where, where_size);
}
