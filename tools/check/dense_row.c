/* SPDX-License-Identifier: MIT */
#include "check/dense_row.h"

#include <math.h>
#include <stdlib.h>

struct check_row check_row_create(int64_t nk)
{
    const size_t keys = (size_t)nk;
    struct check_row row = {.key = check_memory(keys, sizeof *row.key)};

    row.score = check_memory(4 * keys, sizeof *row.score);
    row.size = row.score + nk;
    row.tiny = row.size + nk;
    row.p = row.tiny + nk;
    return row;
}

void check_row_free(struct check_row *row)
{
    free(row->key);
    free(row->score);
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
static enum check_row_kind judge_dot(const double *q, const double *k, int64_t d,
                                     double limit)
{
    double finite = 0.0;

    for (int64_t c = 0; c < d; c++) {
        if (isnan(q[c]) || isnan(k[c]))
            return CHECK_ROW_POISONED;
        if (isfinite(q[c]) && isfinite(k[c]))
            finite += fabs(q[c] * k[c]);
    }
    return finite > limit ? CHECK_ROW_OUTSIDE : CHECK_ROW_ORDINARY;
}

/*
 * `product` is the plain dot product.  One of -inf, or under a softcap of +-inf, has
 * no single right answer, as an operand may have been flushed to 0 before.
 */
static enum check_row_kind judge(const struct check_problem *p, const double *q,
                                 const double *k, double queries,
                                 const struct dot *product, double score, double size)
{
    const double limit = p->dtype == ATTEND_F64 ? 0x1p1000 : 0x1p100;
    const double largest =
        check_largest(p->dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32);

    if (!isfinite(product->size)) {
        const enum check_row_kind kind = judge_dot(q, k, p->d, limit);
        if (kind != CHECK_ROW_ORDINARY)
            return kind;
    }
    if (isnan(score) || score == INFINITY)
        return CHECK_ROW_POISONED;
    if (isinf(product->dot) || product->size > limit ||
        fabs(check_scale(p)) * fmax(product->size, queries) > limit)
        return CHECK_ROW_OUTSIDE;
    return size > largest && !isinf(score) ? CHECK_ROW_OUTSIDE : CHECK_ROW_ORDINARY;
}

void check_row_score(const struct check_problem *p, int64_t b, int64_t h, int64_t i,
                     struct check_row *row)
{
    const int64_t g = h / (p->hq / p->hkv);
    const double *const q = p->q + ((b * p->hq + h) * p->nq + i) * p->d;
    const double *const k = p->k + (b * p->hkv + g) * p->nk * p->d;
    const double scale = check_scale(p);
    double queries = 0.0;

    for (int64_t c = 0; c < p->d; c++)
        queries += fabs(q[c]);
    const int64_t position = check_position(p, b, i), anchor = check_anchor(p, b, h, i);
    const double slope = p->alibi == NULL ? 0.0 : p->alibi[h];
    row->n = 0;
    row->shift = slope * (double)(anchor - position);
    row->kind = CHECK_ROW_ORDINARY;
    for (int64_t j = 0; j < p->nk; j++) {
        if (!check_sees(p, b, h, i, j))
            continue;
        const struct dot product = dot(q, k + j * p->d, p->d);
        const double bias =
            p->bias == NULL ? 0.0 : check_broadcast(p->bias, p->bias_size, b, h, i, j);
        const double apart =
            fmax(fabs((double)(j - position)), fabs((double)(j - anchor)));
        double x = scale * product.dot;
        if (p->softcap > 0.0)
            x = p->softcap * tanh(x / p->softcap);

        const int64_t at = row->n++;
        row->key[at] = j;
        row->score[at] = x + bias + slope * (double)(j - position);
        row->size[at] = fabs(scale) * product.size + fabs(bias) + fabs(slope) * apart;
        row->tiny[at] =
            (1.0 + fabs(scale)) * ((double)p->d + queries + product.keys + product.size);
        const enum check_row_kind kind =
            judge(p, q, k + j * p->d, queries, &product, row->score[at], row->size[at]);
        if (kind == CHECK_ROW_POISONED ||
            (kind == CHECK_ROW_OUTSIDE && row->kind != CHECK_ROW_POISONED))
            row->kind = kind;
    }
}

void check_row_weigh(struct check_row *row, double sink)
{
    double sum = 0.0;
    int nans = 0;

    row->m = sink;
    for (int64_t at = 0; at < row->n; at++) {
        nans |= isnan(row->score[at]);
        row->m = fmax(row->m, row->score[at]);
    }
    if (row->m == -INFINITY && !nans) {
        row->kind = CHECK_ROW_EMPTY;
        row->log_sum = row->lse = -INFINITY;
        for (int64_t at = 0; at < row->n; at++)
            row->p[at] = 0.0;
        return;
    }
    for (int64_t at = 0; at < row->n; at++)
        sum += row->p[at] = exp(row->score[at] - row->m);
    sum += exp(sink - row->m);
    row->log_sum = log(sum);
    row->lse = row->m + row->log_sum;
    for (int64_t at = 0; at < row->n; at++)
        row->p[at] /= sum;
}

void check_row_join(const struct check_row *row, const double *v, int64_t dv, double *out,
                    double *mean, double *sum, double *largest)
{
    for (int64_t c = 0; c < dv; c++)
        out[c] = mean[c] = sum[c] = largest[c] = 0.0;
    for (int64_t at = 0; at < row->n; at++) {
        const double *const values = v + row->key[at] * dv;
        const double weight = row->p[at];
        for (int64_t c = 0; c < dv; c++) {
            const double size = fabs(values[c]);
            out[c] += weight * values[c];
            mean[c] += weight * size;
            sum[c] += size;
            largest[c] = size > largest[c] ? size : largest[c];
        }
    }
}
