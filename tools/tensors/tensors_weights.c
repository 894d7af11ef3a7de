/* SPDX-License-Identifier: MIT */
/* Sums with weights that are no softmax over the visible keys of a row. */
#include <math.h>
#include <stdlib.h>

#include "check/dense_row.h"
#include "tensors/tensors_tool.h"

/* Scores of all keys, and their errors; the arrays are (nb, hq, nq, nk). */
struct weights {
    const struct tensors_errors *errors;
    const double *visible;
    int64_t size[4];
    int64_t count;
    double *w, *error, *tiny; /* scores, then weights; a_j, then errors */
    double top, spread;       /* largest |score|, largest error of a score */
};

static int is_seen(const struct weights *x, int64_t at)
{
    return x->visible == NULL || x->visible[at] != 0.0;
}

static void score_rows(struct weights *x)
{
    const struct check_problem *const p = &x->errors->variant->p;
    struct check_row row = check_row_create(p->nk);

    for (int64_t r = 0; r < p->nb * p->hq * p->nq; r++) {
        check_row_score(p, r / p->nq / p->hq, r / p->nq % p->hq, r % p->nq, &row);
        for (int64_t j = 0; j < p->nk; j++) {
            x->w[r * p->nk + j] = row.score[j];
            x->error[r * p->nk + j] = row.size[j];
            x->tiny[r * p->nk + j] = row.tiny[j];
            x->top = fmax(x->top, fabs(row.score[j]));
        }
    }
    check_row_free(&row);
    for (int64_t at = 0; at < x->count; at++) {
        const int64_t r = at / p->nk;
        const int64_t place[4] = {r / p->nq / p->hq, r / p->nq % p->hq, r % p->nq,
                                  at % p->nk};
        x->error[at] =
            tensors_error(x->errors, place, x->w[at], x->error[at], x->top, x->tiny[at]);
        x->spread = fmax(x->spread, x->error[at]);
    }
}

/* Softmax over n scores that are `stride` apart; -inf has no weight. */
static void normalise(double *w, int64_t n, int64_t stride)
{
    double m = -INFINITY, sum = 0.0;

    for (int64_t a = 0; a < n; a++)
        m = fmax(m, w[a * stride]);
    for (int64_t a = 0; a < n; a++)
        sum += w[a * stride] = exp(w[a * stride] - m);
    for (int64_t a = 0; a < n; a++)
        w[a * stride] /= sum;
}

/* Softmax along an axis of (b, h, i, j). */
static void normalise_axis(struct weights *x, int axis)
{
    int64_t stride = 1;
    const int64_t n = x->size[axis];

    for (int a = axis + 1; a < 4; a++)
        stride *= x->size[a];
    for (int64_t start = 0; start < x->count; start++)
        if (start / stride % n == 0)
            normalise(x->w + start, n, stride);
}

/* Softmax over `n` scores in a row, for all of them. */
static void normalise_blocks(struct weights *x, int64_t n)
{
    for (int64_t start = 0; start < x->count; start += n)
        normalise(x->w + start, n, 1);
}

/* ln of the sum of exp() of row i of a head, and its max. */
static double log_sum(const double *w, int64_t nk, double *m)
{
    double sum = 0.0;

    *m = -INFINITY;
    for (int64_t j = 0; j < nk; j++)
        *m = fmax(*m, w[j]);
    for (int64_t j = 0; j < nk; j++)
        sum += exp(w[j] - *m);
    return log(sum) + *m;
}

/* A head in which sums and max of rows are not those of the row that they belong to. */
static void normalise_mixed(double *w, int64_t nq, int64_t nk,
                            enum tensors_softmax softmax, double *room)
{
    double *const m = room, *const sum = room + nq;

    for (int64_t i = 0; i < nq; i++)
        sum[i] = log_sum(w + i * nk, nk, &m[i]);
    for (int64_t i = 0; i < nq; i++)
        for (int64_t j = 0; j < nk; j++)
            w[i * nk + j] -= softmax == QUERIES_OF_ROWS    ? m[i]
                             : softmax == LOST_SUM         ? sum[j]
                             : softmax == LOST_SUM_OF_ROWS ? m[i] + sum[j] - m[j]
                                                           : m[j];
    if (softmax == QUERIES_OF_ROWS)
        for (int64_t j = 0; j < nk; j++)
            normalise(w + j, nq, nk);
    /* Of LOST_BOTH the sums are those of rows of exp(s_ij - m_j). */
    for (int64_t i = 0; softmax == LOST_BOTH && i < nq; i++)
        sum[i] = log_sum(w + i * nk, nk, &m[i]);
    for (int64_t at = 0; softmax != QUERIES_OF_ROWS && at < nq * nk; at++)
        w[at] = exp(w[at] - (softmax == LOST_BOTH ? sum[at % nk] : 0.0));
}

static void normalise_heads(struct weights *x, enum tensors_softmax softmax)
{
    const int64_t nq = x->size[2], nk = x->size[3];
    double *const room = check_memory((size_t)(2 * nq), sizeof *room);

    for (int64_t start = 0; start < x->count; start += nq * nk)
        normalise_mixed(x->w + start, nq, nk, softmax, room);
    free(room);
}

/* Weights of exponentials that overflow, or are all 0, in the arithmetic of the level. */
static void normalise_naively(struct weights *x)
{
    const int64_t nk = x->size[3];
    const struct tensors_level *const level = x->errors->level;

    for (int64_t start = 0; start < x->count; start += nk) {
        double m;
        const double sum = log_sum(x->w + start, nk, &m);
        for (int64_t j = 0; j < nk; j++)
            x->w[start + j] = m > level->largest || m < level->lowest ? NAN
                              : sum > level->largest                  ? 0.0
                                                     : exp(x->w[start + j] - sum);
    }
}

/* Hides what the mask hides: its scores become `value`. */
static void hide(struct weights *x, double value)
{
    for (int64_t at = 0; at < x->count; at++)
        if (!is_seen(x, at))
            x->w[at] = value;
}

static void normalise_as(struct weights *x, enum tensors_softmax softmax)
{
    switch (softmax) {
    case OVER_QUERIES:
        normalise_axis(x, 2);
        break;
    case OVER_HEADS:
        normalise_axis(x, 1);
        break;
    case OVER_BATCHES:
        normalise_axis(x, 0);
        break;
    case OVER_MATRIX:
        normalise_blocks(x, x->size[2] * x->size[3]);
        break;
    case OVER_ALL:
        normalise_blocks(x, x->count);
        break;
    case NO_SUBTRACT:
        normalise_naively(x);
        break;
    case NO_SUM:
        for (int64_t at = 0; at < x->count; at++)
            x->w[at] = exp(x->w[at]);
        break;
    case OVER_KEYS:
    case TWICE:
        normalise_blocks(x, x->size[3]);
        break;
    default:
        normalise_heads(x, softmax);
    }
}

/*
 * From scores to weights, and from errors of scores to those of weights: a weight is the
 * exponential of a score, less one that is in the sum and a max, over such a sum.
 */
static void weigh(struct weights *x, const struct tensors_slip *slip)
{
    const double relative = expm1(fmin(4.0 * x->spread, 700.0));

    if (slip->mask != MASK_AFTER)
        hide(x,
             slip->mask == MASK_ZEROES || slip->softmax == NO_SOFTMAX ? 0.0 : -INFINITY);
    if (slip->softmax == NO_SOFTMAX)
        return;
    normalise_as(x, slip->softmax);
    if (slip->mask == MASK_AFTER)
        hide(x, 0.0);
    if (slip->softmax == TWICE) {
        hide(x, -INFINITY);
        normalise_blocks(x, x->size[3]);
    }
    for (int64_t at = 0; at < x->count; at++)
        x->error[at] = relative * x->w[at] + x->errors->model.flush;
}

/* Rows (b, h, i) of the sums, with their bounds. */
static void sum_up(const struct weights *x, double *value, double *bound)
{
    const struct check_problem *const p = &x->errors->variant->p;
    const struct tensors_level *const level = x->errors->level;
    const attend_dtype out = x->errors->model.out_dtype;
    const double nk = (double)p->nk;
    const double u =
        (nk + 2.0) * level->u + level->step * (2.0 + (level->is_rooted ? sqrt(nk) : 0.0));

    for (int64_t r = 0; r < p->nb * p->hq * p->nq; r++) {
        const int64_t h = r / p->nq,
                      g = h / p->hq * p->hkv + h % p->hq / (p->hq / p->hkv);
        const double *const w = x->w + r * p->nk, *const e = x->error + r * p->nk;
        for (int64_t c = 0; c < p->dv; c++) {
            double sum = 0.0, error = 0.0;
            for (int64_t j = 0; j < p->nk; j++) {
                const double v = p->v[(g * p->nk + j) * p->dv + c];
                sum += w[j] * v;
                error += (e[j] + u * fabs(w[j])) * fabs(v);
            }
            value[r * p->dv + c] = sum;
            bound[r * p->dv + c] =
                isnan(sum) ? 0.0
                           : x->errors->model.slack * error +
                                 check_unit(out) * (fabs(sum) + error) +
                                 check_smallest(out) + nk * x->errors->model.product;
        }
    }
}

void tensors_weigh(const struct tensors_errors *errors, const struct tensors_slip *slip,
                   double *value, double *bound)
{
    const struct check_problem *const p = &errors->variant->p;
    struct weights x = {.errors = errors,
                        .visible = errors->variant->visible,
                        .size = {p->nb, p->hq, p->nq, p->nk},
                        .count = p->nb * p->hq * p->nq * p->nk};

    x.w = check_memory((size_t)(3 * x.count), sizeof *x.w);
    x.error = x.w + x.count;
    x.tiny = x.error + x.count;
    score_rows(&x);
    weigh(&x, slip);
    sum_up(&x, value, bound);
    free(x.w);
}
