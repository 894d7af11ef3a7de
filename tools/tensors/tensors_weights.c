/* SPDX-License-Identifier: MIT */
/* Sums with weights that are no softmax over the visible keys of a row. */
#include <math.h>
#include <stdlib.h>

#include "check/dense_row.h"
#include "tensors/tensors.h"

/* Scores of all keys, and their errors; the arrays are (nb, hq, nq, nk). */
struct weights {
    const struct tensors_errors *errors;
    const double *visible;
    int64_t size[4];
    int64_t count;
    double *w, *error;  /* scores, then weights */
    double top, spread; /* largest |score|, largest error of a score */
};

static int is_seen(const struct weights *x, int64_t at)
{
    return x->visible == NULL || x->visible[at] != 0.0;
}

/* Calls score() of every row; `pass` 1 has x->top, and stores errors. */
static void walk_rows(struct weights *x, int pass)
{
    const struct check_problem *const p = &x->errors->variant->p;
    struct check_row row = check_row_create(p->nk);
    int64_t to = 0;

    for (int64_t b = 0; b < p->nb; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; i < p->nq; i++) {
                check_row_score(p, b, h, i, &row);
                for (int64_t j = 0; j < p->nk; j++, to++) {
                    x->w[to] = row.score[j];
                    if (pass == 0)
                        x->top = fmax(x->top, fabs(row.score[j]));
                    else
                        x->error[to] =
                            tensors_error(x->errors, (const int64_t[4]){b, h, i, j},
                                          row.score[j], row.size[j], x->top, row.tiny[j]);
                }
            }
    check_row_free(&row);
    for (int64_t at = 0; pass == 1 && at < x->count; at++)
        x->spread = fmax(x->spread, x->error[at]);
}

/* Softmax along an axis of (b, h, i, j); -inf has no weight. */
static void normalise(struct weights *x, int axis)
{
    int64_t stride = 1;
    const int64_t n = x->size[axis];

    for (int a = axis + 1; a < 4; a++)
        stride *= x->size[a];
    for (int64_t start = 0; start < x->count; start++) {
        double m = -INFINITY, sum = 0.0;
        if (start / stride % n != 0)
            continue;
        for (int64_t a = 0; a < n; a++)
            m = fmax(m, x->w[start + a * stride]);
        for (int64_t a = 0; a < n; a++)
            sum += x->w[start + a * stride] = exp(x->w[start + a * stride] - m);
        for (int64_t a = 0; a < n; a++)
            x->w[start + a * stride] /= sum;
    }
}

/* Weights of exponentials that overflow, or are all 0, in the arithmetic of the level. */
static void normalise_naively(struct weights *x)
{
    const int64_t nk = x->size[3];
    const struct tensors_level *const level = x->errors->level;

    for (int64_t start = 0; start < x->count; start += nk) {
        double m = -INFINITY, sum = 0.0;
        for (int64_t j = 0; j < nk; j++)
            m = fmax(m, x->w[start + j]);
        for (int64_t j = 0; j < nk; j++)
            sum += exp(x->w[start + j] - m);
        const double log_sum = m + log(sum);
        for (int64_t j = 0; j < nk; j++)
            x->w[start + j] = m > level->largest || m < level->lowest ? NAN
                              : log_sum > level->largest              ? 0.0
                                                         : exp(x->w[start + j] - log_sum);
    }
}

/* Hides what the mask hides: its scores become `value`. */
static void hide(struct weights *x, double value)
{
    for (int64_t at = 0; at < x->count; at++)
        if (!is_seen(x, at))
            x->w[at] = value;
}

/* From scores to weights, and from errors of scores to those of weights. */
static void weigh(struct weights *x, const struct tensors_slip *slip)
{
    const int softmax = slip->softmax;
    const double relative = expm1(fmin(2.0 * x->spread, 700.0));

    if (slip->mask != MASK_AFTER)
        hide(x, slip->mask == MASK_ZEROES || softmax == NO_SOFTMAX ? 0.0 : -INFINITY);
    if (softmax == NO_SOFTMAX)
        return;
    if (softmax == NO_SUBTRACT)
        normalise_naively(x);
    else if (softmax == NO_SUM)
        for (int64_t at = 0; at < x->count; at++)
            x->w[at] = exp(x->w[at]);
    else
        normalise(x, softmax == OVER_QUERIES   ? 2
                     : softmax == OVER_HEADS   ? 1
                     : softmax == OVER_BATCHES ? 0
                                               : 3);
    if (slip->mask == MASK_AFTER)
        hide(x, 0.0);
    if (softmax == TWICE) {
        hide(x, -INFINITY);
        normalise(x, 3);
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

    x.w = check_memory((size_t)(2 * x.count), sizeof *x.w);
    x.error = x.w + x.count;
    walk_rows(&x, 0);
    walk_rows(&x, 1);
    weigh(&x, slip);
    sum_up(&x, value, bound);
    free(x.w);
}
