/* SPDX-License-Identifier: MIT */
#include "lab/design/design_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/frames.h"
#include "layer/matrix.h"
#include "base/error.h"

/* More keys than this are not inverted: n^3 / 3 operations. */
enum { EVERY_KEY_MAX = 2048 };
/* A pivot this small beside the longest key is a dependence. */
#define PIVOT_MIN 1e-12
/* Largest error of a prescribed score, relative to the largest score. */
#define SCORE_ERROR 1e-8
#define BETA_MAX 1e6

int lab_design_item_of(const struct lab_design_request *request, int64_t i)
{
    for (int x = 0; x < request->m; x++)
        if (request->items[x] == i)
            return x;
    return -1;
}

int lab_design_is_own(const struct lab_design_request *request,
                      const struct lab_design_head *head, int64_t i)
{
    const int x = lab_design_item_of(request, i);

    return x >= head->first && x < head->first + head->count;
}

/* Score of an item minus beta. */
static double offset_of(const struct lab_design_request *request, int item)
{
    return request->weights ? log(request->weights[item]) : 0;
}

/* The shortest q with <q, row_i> = score_i, checked; -1 when rows are dependent. */
static int solve(const double *rows, int64_t count, int64_t d, const double *score,
                 double *q)
{
    double largest = 0, off = 0;

    if (count > d || attend_theory_query_for_scores(rows, count, d, score, q))
        return -1;
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(score[i]));
        off = fmax(off, fabs(lab_dot(rows + i * d, q, d) - score[i]));
    }
    return off <= SCORE_ERROR * largest ? 0 : -1;
}

double *lab_design_factor(const struct lab_design_request *request)
{
    const int64_t n = request->n, d = request->d;

    if (request->n > request->d || request->n > EVERY_KEY_MAX)
        return NULL;
    double *const a = calloc((size_t)n * (size_t)n, sizeof *a);
    if (!a)
        return NULL;
    attendi_matrix_gram(request->keys, n, d, a);
    double longest = 0;
    for (int64_t i = 0; i < n; i++)
        longest = fmax(longest, a[i * n + i]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double rest =
                a[i * n + j] - attendi_matrix_dot(a + i * n, a + j * n, j);
            if (i == j && !(rest > PIVOT_MIN * longest)) {
                free(a);
                return NULL;
            }
            a[i * n + j] = i == j ? sqrt(rest) : rest / a[j * n + j];
        }
    return a;
}

/* Scratch of one head: u and t with q = (beta u + t) / tau, and their scores. */
struct parts {
    double *u, *t;             /* [d] */
    double *u_score, *t_score; /* [n] */
    double *rows, *wanted;     /* [count][d], [n]: the linear system */
};

static int parts_open(const struct lab_design_request *r, int count, struct parts *parts)
{
    const size_t d = (size_t)r->d, n = (size_t)r->n;
    double *const memory = calloc(2 * d + 3 * n + (size_t)count * d, sizeof *memory);

    if (!memory)
        return -1;
    *parts = (struct parts){.u = memory,
                            .t = memory + d,
                            .u_score = memory + 2 * d,
                            .t_score = memory + 2 * d + n,
                            .wanted = memory + 2 * d + 2 * n,
                            .rows = memory + 2 * d + 3 * n};
    return 0;
}

/* q += K^T (K K^T)^-1 (score - K q): twice, so that rounding is not squared. */
static void solve_factored(const struct lab_design_request *r, const double *factor,
                           const double *score, double *q, double *residual)
{
    const int64_t n = r->n, d = r->d;

    for (int pass = 0; pass < 2; pass++) {
        memcpy(residual, score, (size_t)n * sizeof *residual);
        attendi_matrix_apply(r->keys, n, d, -1, q, residual);
        attendi_matrix_solve(factor, n, residual);
        attendi_matrix_solve_transposed(factor, n, residual);
        attendi_matrix_apply_transposed(r->keys, n, d, 1, residual, q);
    }
}

/* Prescribes the score of every key: u scores 1 on the items and 0 elsewhere. */
static void solve_every_key(const struct lab_design_request *r, const double *factor,
                            const struct lab_design_head *head, struct parts *parts)
{
    for (int64_t i = 0; i < r->n; i++) {
        const int is_own = lab_design_is_own(r, head, i);
        parts->u_score[i] = is_own;
        parts->t_score[i] = is_own ? offset_of(r, lab_design_item_of(r, i)) : 0;
    }
    solve_factored(r, factor, parts->u_score, parts->u, parts->wanted);
    if (r->weights)
        solve_factored(r, factor, parts->t_score, parts->t, parts->wanted);
}

/* Prescribes the scores of the items only. */
static int solve_items(const struct lab_design_request *r,
                       const struct lab_design_head *head, struct parts *parts)
{
    for (int x = 0; x < head->count; x++) {
        memcpy(parts->rows + x * r->d, r->keys + r->items[head->first + x] * r->d,
               (size_t)r->d * sizeof *parts->rows);
        parts->wanted[x] = 1;
    }
    if (solve(parts->rows, head->count, r->d, parts->wanted, parts->u))
        return -1;
    memset(parts->t, 0, (size_t)r->d * sizeof *parts->t);
    for (int x = 0; x < head->count; x++)
        parts->wanted[x] = offset_of(r, head->first + x);
    if (r->weights && solve(parts->rows, head->count, r->d, parts->wanted, parts->t))
        return -1;
    for (int64_t i = 0; i < r->n; i++) {
        parts->u_score[i] = lab_dot(r->keys + i * r->d, parts->u, r->d);
        parts->t_score[i] = lab_dot(r->keys + i * r->d, parts->t, r->d);
    }
    return 0;
}

static double leak_at(const struct lab_design_request *r,
                      const struct lab_design_head *head, const struct parts *parts,
                      double beta)
{
    double highest = -INFINITY, own = 0, others = 0;

    for (int64_t i = 0; i < r->n; i++)
        highest = fmax(highest, beta * parts->u_score[i] + parts->t_score[i]);
    for (int64_t i = 0; i < r->n; i++) {
        const double e = exp(beta * parts->u_score[i] + parts->t_score[i] - highest);
        *(lab_design_is_own(r, head, i) ? &own : &others) += e;
    }
    return others / (own + others);
}

/* The smallest beta >= 0 whose leak is eps or less: the leak falls as beta grows. */
static double beta_needed(const struct lab_design_request *r,
                          const struct lab_design_head *head, const struct parts *parts)
{
    const double n = (double)r->n, m = head->count;
    double lo = 0, hi = 1;

    if (!strcmp(head->method, "every key")) {
        const double beta = r->weights
                                ? attend_theory_weighted_scale_needed(n, m, r->eps, 1)
                                : attend_theory_average_scale_needed(n, m, r->eps, 1);
        return fmax(0, beta);
    }
    if (leak_at(r, head, parts, 0) <= r->eps)
        return 0;
    while (leak_at(r, head, parts, hi) > r->eps && hi < 2 * BETA_MAX)
        hi *= 2;
    while (hi - lo > 1e-12 * hi) {
        const double middle = lo + (hi - lo) / 2;
        *(leak_at(r, head, parts, middle) > r->eps ? &lo : &hi) = middle;
    }
    return hi;
}

/* The other key that scores highest under u, where the items score 1; -1: none. */
static int64_t rival_of(const struct lab_design_request *r,
                        const struct lab_design_head *head, const struct parts *parts)
{
    int64_t rival = -1;

    for (int64_t i = 0; i < r->n; i++)
        if (!lab_design_is_own(r, head, i) &&
            (rival < 0 || parts->u_score[i] > parts->u_score[rival]))
            rival = i;
    return rival;
}

static attend_status choose_beta(const struct lab_design_request *r,
                                 struct lab_design_head *head, const struct parts *parts,
                                 attend_error *err)
{
    const int64_t rival = rival_of(r, head, parts);

    if (!isnan(r->scale)) {
        head->beta = r->tau * r->scale;
        return ATTEND_OK;
    }
    if (rival >= 0 && parts->u_score[rival] >= 1 - 1e-9)
        return attendi_fail(err, ATTEND_EINVAL,
                            "key %lld scores %.6g times as high as the items for every "
                            "query of their span: no scale gives a leak of %g",
                            (long long)rival, parts->u_score[rival], r->eps);
    head->beta = beta_needed(r, head, parts);
    if (head->beta > BETA_MAX)
        return attendi_fail(err, ATTEND_EINVAL,
                            "key %lld is so close to the items (%.9g of their score) "
                            "that a leak of %g needs scores above %g",
                            (long long)rival, parts->u_score[rival], r->eps, BETA_MAX);
    return ATTEND_OK;
}

static attend_status fill_head(const struct lab_design_request *r, const double *factor,
                               struct lab_design_head *head, struct parts *parts,
                               attend_error *err)
{
    head->method = factor ? "every key" : "items only";
    if (factor)
        solve_every_key(r, factor, head, parts);
    else if (solve_items(r, head, parts))
        return attendi_fail(err, ATTEND_EINVAL,
                            "the keys of the items are linearly dependent (%d items, "
                            "%lld dimensions): no query gives each the score it needs",
                            head->count, (long long)r->d);
    const attend_status status = choose_beta(r, head, parts, err);
    if (status != ATTEND_OK)
        return status;
    for (int64_t c = 0; c < r->d; c++)
        head->query[c] = (head->beta * parts->u[c] + parts->t[c]) / r->tau;
    for (int64_t i = 0; i < r->n; i++)
        head->score[i] = head->beta * parts->u_score[i] + parts->t_score[i];
    head->leak = leak_at(r, head, parts, head->beta);
    return ATTEND_OK;
}

attend_status lab_design_head_open(const struct lab_design_request *request,
                                   const double *factor, int first, int count,
                                   struct lab_design_head *head, attend_error *err)
{
    struct parts parts = {.u = NULL};

    *head = (struct lab_design_head){.first = first, .count = count};
    head->query = calloc((size_t)(request->d + request->n), sizeof *head->query);
    if (!head->query || parts_open(request, count, &parts)) {
        lab_design_head_close(head);
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory");
    }
    head->score = head->query + request->d;
    const attend_status status = fill_head(request, factor, head, &parts, err);
    free(parts.u);
    if (status != ATTEND_OK)
        lab_design_head_close(head);
    return status;
}

void lab_design_head_close(struct lab_design_head *head)
{
    free(head->query);
    head->query = head->score = NULL;
}
