/* SPDX-License-Identifier: MIT */
/* The result of a slip, or the right one, with its bound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/dense_row.h"
#include "shared/tool.h"
#include "tensors/tensors_tool.h"

/* ---- the bound of the engine's results -------------------------------------------- */

struct row {
    struct check_row of;
    double *excess, *mean, *sum, *largest, *spread, *out;
};

static struct row row_create(const struct check_problem *p)
{
    struct row row = {.of = check_row_create(p->nk)};

    row.excess = check_memory((size_t)(p->nk + 5 * p->dv), sizeof *row.excess);
    row.mean = row.excess + p->nk;
    row.sum = row.mean + p->dv;
    row.largest = row.sum + p->dv;
    row.spread = row.largest + p->dv;
    row.out = row.spread + p->dv;
    return row;
}

static void bound_row(const struct tensors_errors *errors, const struct check_problem *p,
                      int64_t at[4], struct row *row, const double *value, double *bound)
{
    const int64_t g = at[1] / (p->hq / p->hkv);
    const double *const v = p->v + (at[0] * p->hkv + g) * p->nk * p->dv;
    double total = 0.0, least = 0.0;

    check_row_score(p, at[0], at[1], at[2], &row->of);
    check_row_weigh(&row->of, -INFINITY);
    check_row_join(&row->of, v, p->dv, row->out, row->mean, row->sum, row->largest);
    memset(row->spread, 0, (size_t)p->dv * sizeof *row->spread);
    for (int64_t n = 0; n < row->of.n && row->of.kind == CHECK_ROW_ORDINARY; n++) {
        at[3] = row->of.key[n];
        const double e = tensors_error(errors, at, row->of.score[n], row->of.size[n],
                                       row->of.m, row->of.tiny[n]);
        const double log_p = row->of.score[n] - row->of.lse;
        const double excess =
            check_bound_excess(row->of.p[n], log_p, e) + errors->model.flush;
        total += excess;
        least += check_bound_least(row->of.p[n], e);
        for (int64_t c = 0; c < p->dv; c++)
            row->spread[c] += excess * fabs(v[at[3] * p->dv + c]);
    }
    for (int64_t c = 0; c < p->dv; c++)
        bound[c] = row->of.kind != CHECK_ROW_ORDINARY
                       ? -1.0
                       : check_bound_out(&errors->model, total, least, row->spread[c],
                                         row->mean[c], row->largest[c], value[c], p->nk);
}

/* Values by the engine; rows that see no key are not compared. */
static int attend_to(struct tensors_engine *engine, const struct tensors_errors *errors,
                     double *value, double *bound)
{
    struct check_problem p = errors->variant->p;
    struct check_outputs outputs = {0};
    char reason[300];

    if (errors->variant->visible) {
        const int64_t size[4] = {p.nb, p.hq, p.nq, p.nk};
        p.mask = errors->variant->visible;
        memcpy(p.mask_size, size, sizeof size);
    }
    if (!check_call(&engine->blocks, engine->ctx, &p, &outputs, reason, sizeof reason))
        return tool_fail("grade", TOOL_FAILED, "%s", reason);
    memcpy(value, outputs.out, (size_t)(p.nb * p.hq * p.nq * p.dv) * sizeof *value);
    check_outputs_free(&outputs);
    struct row row = row_create(&p);
    for (int64_t r = 0; r < p.nb * p.hq * p.nq; r++)
        bound_row(errors, &p, (int64_t[4]){r / p.nq / p.hq, r / p.nq % p.hq, r % p.nq, 0},
                  &row, value + r * p.dv, bound + r * p.dv);
    check_row_free(&row.of);
    free(row.excess);
    return TOOL_OK;
}

/* ---- the axes of a file ----------------------------------------------------------- */

/* The mean of the heads of x (b, h, l, d), or their sum: (b, 1, l, d). */
static void join_heads(double **x, int64_t size[4], double factor)
{
    const int64_t head = size[2] * size[3];
    double *const y = check_memory((size_t)(size[0] * head), sizeof *y);

    for (int64_t at = 0; at < size[0] * head; at++) {
        y[at] = 0.0;
        for (int64_t h = 0; h < size[1]; h++)
            y[at] += factor * (*x)[(at / head * size[1] + h) * head + at % head];
    }
    free(*x);
    *x = y;
    size[1] = 1;
}

static void reorder(double **x, int64_t size[4], const int order[4])
{
    const int64_t old[4] = {size[0], size[1], size[2], size[3]};
    double *const y = tensors_permuted(*x, size, order);

    free(*x);
    *x = y;
    for (int a = 0; a < 4; a++)
        size[a] = old[order[a]];
}

/*
 * x (b, h, l, d), of the sizes `size`, as a file of the layout has it; the axes of the
 * file are size[0 .. 3] afterwards, of which PACKED has (1, b, l, h d).
 */
static void lay_out(double **x, int64_t size[4], const struct tensors_problem *problem,
                    const struct tensors_slip *slip)
{
    static const int swapped[4] = {0, 2, 1, 3}, transposed[4] = {0, 1, 3, 2};
    const int is_packed = problem->layout == TENSORS_PACKED;
    int is_swapped = problem->layout != TENSORS_BHLD;

    if (slip->split == SPLIT_AXES)
        reorder(x, size, swapped);
    if (slip->merge == MERGE_MEAN || slip->merge == MERGE_SUM)
        join_heads(x, size, slip->merge == MERGE_MEAN ? 1.0 / (double)size[1] : 1.0);
    if (slip->merge == MERGE_OTHER)
        is_swapped = !is_swapped;
    if (slip->merge == MERGE_INTERLEAVED) {
        reorder(x, size, (int[4]){0, 2, 3, 1});
        const int64_t as[4] = {1, size[0], size[1], size[2] * size[3]};
        memcpy(size, as, sizeof as);
        return;
    }
    const int64_t as[4] = {size[0], size[2], size[1], size[3]};
    if (slip->merge == MERGE_RAW)
        memcpy(size, as, sizeof as);
    else if (is_swapped)
        reorder(x, size, swapped);
    if (is_packed && slip->merge != MERGE_OTHER) {
        const int64_t flat[4] = {1, size[0], size[1], size[2] * size[3]};
        memcpy(size, flat, sizeof flat);
    }
    if (slip->merge == MERGE_TRANSPOSED)
        reorder(x, size, transposed);
}

/* ---- results ---------------------------------------------------------------------- */

static int is_of_engine(const struct tensors_slip *slip)
{
    return slip->softmax == OVER_KEYS && slip->mask != MASK_AFTER &&
           slip->mask != MASK_ZEROES;
}

int tensors_evaluate(struct tensors_engine *engine, const struct tensors_problem *problem,
                     const struct tensors_slip *slip, const struct tensors_level *level,
                     attend_dtype out, struct tensors_result *result)
{
    struct tensors_variant variant = tensors_variant_of(problem, slip);
    const struct check_problem *const p = &variant.p;
    struct tensors_errors errors = tensors_errors_of(&variant, level, out);
    int64_t size[4] = {p->nb, p->hq, p->nq, p->dv}, bound_size[4];
    const size_t count = (size_t)check_count(size);
    int status = TOOL_OK;

    *result = (struct tensors_result){.value = check_memory(count, sizeof(double)),
                                      .bound = check_memory(count, sizeof(double))};
    if (is_of_engine(slip))
        status = attend_to(engine, &errors, result->value, result->bound);
    else
        tensors_weigh(&errors, slip, result->value, result->bound);
    memcpy(bound_size, size, sizeof size);
    lay_out(&result->value, size, problem, slip);
    lay_out(&result->bound, bound_size, problem, slip);
    result->count = check_count(size);
    result->ndim = problem->rank;
    for (int a = 0; a < 4; a++)
        result->size[a] = size[a];
    tensors_errors_free(&errors);
    tensors_variant_free(&variant);
    return status;
}

void tensors_result_free(struct tensors_result *result)
{
    free(result->value);
    free(result->bound);
    *result = (struct tensors_result){0};
}
