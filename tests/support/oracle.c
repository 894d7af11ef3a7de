/* SPDX-License-Identifier: MIT */
#include "oracle.h"

static double *values_of(const attend_view *view, int64_t s0, int64_t s1, int64_t s2,
                         int64_t s3)
{
    double *const values = check_memory((size_t)(s0 * s1 * s2 * s3), sizeof *values);
    int64_t at = 0;

    for (int64_t b = 0; b < s0; b++)
        for (int64_t h = 0; h < s1; h++)
            for (int64_t l = 0; l < s2; l++)
                for (int64_t d = 0; d < s3; d++)
                    values[at++] = view_get(view, b, h, l, d);
    return values;
}

/* A mask or bias, if there is one. */
static double *plane_of(const attend_view *view, int64_t size[4])
{
    if (view->data == NULL)
        return NULL;
    memcpy(size, view->size, sizeof view->size);
    return values_of(view, size[0], size[1], size[2], size[3]);
}

static void *array_of(const void *from, int64_t count, size_t width)
{
    if (from == NULL)
        return NULL;
    return memcpy(check_memory((size_t)count, width), from, (size_t)count * width);
}

struct check_problem dense_problem(const problem *p)
{
    const attend_rule *const rule = &p->rule;
    const shape n = p->n;
    struct check_problem dense = {.dtype = p->dtype,
                                  .nb = n.nb,
                                  .hq = n.hq,
                                  .hkv = n.hkv,
                                  .nq = n.nq,
                                  .nk = n.nk,
                                  .d = n.d,
                                  .dv = n.dv,
                                  .scale_is_set = rule->scale_is_set,
                                  .scale = rule->scale,
                                  .softcap = rule->softcap,
                                  .causal = rule->causal,
                                  .window_left = rule->window_left,
                                  .window_right = rule->window_right};

    dense.q = values_of(&p->io.q, n.nb, n.hq, n.nq, n.d);
    dense.k = values_of(&p->io.k, n.nb, n.hkv, n.nk, n.d);
    dense.v = values_of(&p->io.v, n.nb, n.hkv, n.nk, n.dv);
    dense.mask = plane_of(&rule->mask, dense.mask_size);
    dense.bias = plane_of(&rule->bias, dense.bias_size);
    dense.causal_offset =
        array_of(rule->causal_offset, n.nb, sizeof *rule->causal_offset);
    dense.key_lengths = array_of(rule->key_lengths, n.nb, sizeof *rule->key_lengths);
    dense.alibi = array_of(rule->alibi, n.hq, sizeof *rule->alibi);
    dense.sinks = array_of(rule->sinks, n.hq, sizeof *rule->sinks);
    return dense;
}

double score_magnitude(const struct check_problem *dense, int64_t b, int64_t h, int64_t i,
                       const struct check_row *row, int64_t at)
{
    const double slope = dense->alibi == NULL ? 0.0 : dense->alibi[h];
    const double term = slope * (double)(row->key[at] - check_position(dense, b, i));

    if (row->score[at] == -INFINITY)
        return 0.0;
    return row->size[at] - fmax(fabs(term), fabs(term - row->shift)) + fabs(term);
}

/* One row, and temporary memory for it: [dv] each. */
typedef struct dense_row {
    struct check_row keys;
    double *out, *absolute, *sum, *largest; /* absolute: sum_j P |V| */
    double magnitude, value_max;
} dense_row;

static dense_row row_create(const problem *p)
{
    dense_row row = {.keys = check_row_create(p->n.nk)};

    row.out = test_memory((size_t)(4 * p->n.dv) * sizeof *row.out);
    row.absolute = row.out + p->n.dv;
    row.sum = row.absolute + p->n.dv;
    row.largest = row.sum + p->n.dv;
    return row;
}

static void row_free(dense_row *row)
{
    check_row_free(&row->keys);
    free(row->out);
}

static void row_evaluate(const struct check_problem *p, int64_t b, int64_t h, int64_t i,
                         dense_row *row)
{
    const int64_t g = h / (p->hq / p->hkv);

    check_row_score(p, b, h, i, &row->keys);
    check_row_weigh(&row->keys, p->sinks != NULL ? p->sinks[h] : -INFINITY);
    check_row_join(&row->keys, p->v + (b * p->hkv + g) * p->nk * p->dv, p->dv, row->out,
                   row->absolute, row->sum, row->largest);
    row->magnitude = row->value_max = 0.0;
    for (int64_t at = 0; at < row->keys.n; at++)
        row->magnitude =
            fmax(row->magnitude, score_magnitude(p, b, h, i, &row->keys, at));
    for (int64_t c = 0; c < p->dv; c++)
        row->value_max = fmax(row->value_max, row->largest[c]);
}

double type_error(attend_dtype dtype)
{
    return dtype == ATTEND_F64   ? 1e-12
           : dtype == ATTEND_F32 ? 2e-6
           : dtype == ATTEND_F16 ? 0x1p-9
                                 : 0x1p-7;
}

/* Relative error of a weight due to the rounding of its score. */
static double score_error(const problem *p, const dense_row *row)
{
    const double u = unit_of(p->dtype);

    if (p->close == CLOSE_NORMAL)
        return 0.0;
    return ((double)p->n.nk + 16.0 + 2.0 * ((double)p->n.d + 8.0) * row->magnitude) * u;
}

int near_or_same(double got, double want, double tolerance)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return got == want;
    return fabs(got - want) <= tolerance;
}

static int row_is_close(const problem *p, int64_t b, int64_t h, int64_t i,
                        const dense_row *row)
{
    const double scores = score_error(p, row), type = type_error(p->dtype);
    const attend_io *const io = &p->io;
    const char *what = "out";
    double got = 0.0, want = 0.0, tolerance = 0.0;
    int64_t at = 0, seen = 0;

    for (int64_t c = 0; c < p->n.dv; c++) {
        got = tensor_get(&io->out, b, h, i, c), want = row->out[c], at = c;
        tolerance = type * row->value_max + scores * row->absolute[c];
        if (!near_or_same(got, want, tolerance))
            goto differs;
    }
    if (io->lse.data != NULL) {
        what = "lse";
        got = tensor_get(&io->lse, b, h, i, 0), want = row->keys.lse, at = 0;
        tolerance = (p->dtype == ATTEND_F64 ? 1e-12 : 2e-6) * (1.0 + fabs(want)) + scores;
        if (!near_or_same(got, want, tolerance))
            goto differs;
    }
    for (int64_t j = 0; io->weights.data != NULL && j < p->n.nk; j++) {
        const int sees = seen < row->keys.n && row->keys.key[seen] == j;
        what = "weights";
        got = tensor_get(&io->weights, b, h, i, j), at = j;
        want = sees ? row->keys.p[seen++] : 0.0;
        tolerance = (type + scores) * want;
        if (p->dtype != ATTEND_F64 && tolerance < 1e-7)
            tolerance = 1e-7;
        if (sees ? !isnan(row->keys.lse) && !near_or_same(got, want, tolerance)
                 : got != 0.0)
            goto differs;
    }
    return 1;
differs:
    test_fail(__FILE__, __LINE__, "the same as the dense evaluation",
              "%s %s (b %lld h %lld i %lld, at %lld) of nb %lld hq %lld hkv %lld nq %lld "
              "nk %lld d %lld dv %lld: got %.9g, want %.9g, tolerance %.3g",
              attend_dtype_name(p->dtype), what, (long long)b, (long long)h, (long long)i,
              (long long)at, (long long)p->n.nb, (long long)p->n.hq, (long long)p->n.hkv,
              (long long)p->n.nq, (long long)p->n.nk, (long long)p->n.d,
              (long long)p->n.dv, got, want, tolerance);
    return 0;
}

int problem_is_close(const problem *p)
{
    auto_check_problem dense = dense_problem(p);
    dense_row row = row_create(p);
    int same = 1;

    for (int64_t b = 0; b < p->n.nb; b++)
        for (int64_t h = 0; h < p->n.hq; h++)
            for (int64_t i = 0; i < p->n.nq && same; i++) {
                row_evaluate(&dense, b, h, i, &row);
                same = row_is_close(p, b, h, i, &row);
            }
    row_free(&row);
    return same;
}

int problem_check(const problem *p, attend_context *ctx)
{
    return problem_run(p, ctx) && problem_is_close(p);
}
