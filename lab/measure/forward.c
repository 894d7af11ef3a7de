/* SPDX-License-Identifier: MIT */
#include "lab/measure/forward.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/half.h"

static attend_view view_of(const void *data, attend_dtype dtype, int64_t nb, int64_t rows,
                           int64_t columns)
{
    return (attend_view){.data = data,
                         .dtype = dtype,
                         .size = {nb, 1, rows, columns},
                         .stride = {rows * columns, rows * columns, columns, 1}};
}

static attend_tensor tensor_of(void *data, attend_dtype dtype, int64_t nb, int64_t rows,
                               int64_t columns)
{
    return (attend_tensor){.data = data,
                           .dtype = dtype,
                           .size = {nb, 1, rows, columns},
                           .stride = {rows * columns, rows * columns, columns, 1}};
}

/* In the order of struct lab_row_stats. */
static const attend_stat stat_columns[] = {ATTEND_STAT_SINK1, ATTEND_STAT_TOP_WEIGHT,
                                           ATTEND_STAT_ENTROPY, ATTEND_STAT_N_EFF,
                                           ATTEND_STAT_RAW_VARIANCE};
enum { STAT_COLUMNS = sizeof stat_columns / sizeof *stat_columns };
_Static_assert(sizeof(struct lab_row_stats) == STAT_COLUMNS * sizeof(double),
               "a row of statistics is a struct lab_row_stats");

/* Class 0 for the keys that `rest` sums; NULL without memory. */
static int32_t *rest_classes(const struct lab_problem *problem)
{
    int32_t *const classes = malloc((size_t)problem->nk * sizeof *classes);

    for (int64_t i = 0; classes && i < problem->nk; i++)
        classes[i] = i < problem->wanted ? -1 : 0;
    return classes;
}

static attend_status forward(attend_context *ctx, const struct lab_problem *problem,
                             const int32_t *classes, attend_error *err)
{
    const int64_t nb = problem->nb ? problem->nb : 1, nq = problem->nq ? problem->nq : 1;
    const int64_t nk = problem->nk, dv = problem->v ? problem->dv : 0;
    attend_rule rule = attend_rule_default();
    attend_stats stats = attend_stats_default();
    attend_io io = attend_io_default();

    rule.scale_is_set = 1;
    rule.scale = problem->scale;
    rule.sinks = problem->sink;
    if (problem->bias)
        rule.bias = (attend_view){.data = problem->bias,
                                  .dtype = ATTEND_F64,
                                  .size = {1, 1, 1, nk},
                                  .stride = {0, 0, 0, 1}};
    io.q = view_of(problem->q, ATTEND_F64, nb, nq, problem->d);
    io.k = view_of(problem->k, ATTEND_F64, nb, nk, problem->d);
    io.v = view_of(problem->v, ATTEND_F64, nb, nk, dv);
    io.out = tensor_of(problem->out, ATTEND_F64, nb, nq, dv);
    if (problem->lse)
        io.lse = tensor_of(problem->lse, ATTEND_F64, nb, nq, 1);
    if (problem->weights)
        io.weights = tensor_of(problem->weights, ATTEND_F64, nb, nq, nk);
    stats.columns = stat_columns;
    if (problem->stats)
        stats.rows = tensor_of(problem->stats, ATTEND_F64, nb, nq, STAT_COLUMNS);
    stats.classes = classes;
    if (problem->rest)
        stats.class_mass = tensor_of(problem->rest, ATTEND_F64, nb, nq, 1);
    io.stats = &stats;
    return attend_forward(ctx, &rule, &io, err);
}

attend_status lab_forward(attend_context *ctx, const struct lab_problem *problem,
                          attend_error *err)
{
    int32_t *const classes = problem->rest ? rest_classes(problem) : NULL;

    if (problem->rest && !classes)
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory");
    const attend_status status = forward(ctx, problem, classes, err);
    free(classes);
    return status;
}

/* ---- other dtypes ------------------------------------------------------ */

void lab_narrow(attend_dtype dtype, const double *from, void *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (dtype == ATTEND_F64)
            ((double *)to)[i] = from[i];
        else if (dtype == ATTEND_BF16)
            ((uint16_t *)to)[i] = attendi_f32_to_bf16((float)from[i]);
        else
            ((float *)to)[i] = (float)from[i];
}

void lab_widen(attend_dtype dtype, const void *from, double *to, int64_t n)
{
    for (int64_t i = 0; to && i < n; i++)
        to[i] = dtype == ATTEND_F64 ? ((const double *)from)[i]
                : dtype == ATTEND_BF16
                    ? (double)attendi_bf16_to_f32(((const uint16_t *)from)[i])
                    : (double)((const float *)from)[i];
}

attend_status lab_forward_as(attend_context *ctx, attend_dtype dtype,
                             const struct lab_problem *problem, attend_error *err)
{
    const int64_t nq = problem->nq ? problem->nq : 1, nk = problem->nk, d = problem->d;
    const int64_t dv = problem->v ? problem->dv : 0;
    /* Room for floats, whichever the type: q, k, v, out, weights. */
    const int64_t start[] = {0, nq * d, (nq + nk) * d, (nq + nk) * d + nk * dv,
                             (nq + nk) * d + (nk + nq) * dv};

    if (dtype == ATTEND_F64)
        return lab_forward(ctx, problem, err);
    float *const memory = malloc((size_t)(start[4] + nq * nk) * sizeof *memory);
    if (!memory)
        return ATTEND_ENOMEM;

    attend_rule rule = attend_rule_default();
    attend_io io = attend_io_default();
    rule.scale_is_set = 1;
    rule.scale = problem->scale;
    lab_narrow(dtype, problem->q, memory, nq * d);
    lab_narrow(dtype, problem->k, memory + start[1], nk * d);
    lab_narrow(dtype, problem->v, memory + start[2], nk * dv);
    io.q = view_of(memory, dtype, 1, nq, d);
    io.k = view_of(memory + start[1], dtype, 1, nk, d);
    io.v = view_of(memory + start[2], dtype, 1, nk, dv);
    io.out = tensor_of(memory + start[3], dtype, 1, nq, dv);
    io.weights = tensor_of(memory + start[4], ATTEND_F32, 1, nq, nk);

    const attend_status status = attend_forward(ctx, &rule, &io, err);
    if (status == ATTEND_OK && problem->out)
        lab_widen(dtype, memory + start[3], problem->out, nq * dv);
    if (status == ATTEND_OK && problem->weights)
        lab_widen(ATTEND_F32, memory + start[4], problem->weights, nq * nk);
    free(memory);
    return status;
}

/* ---- for experiments --------------------------------------------------- */

int lab_measure_as(struct lab_session *session, attend_context *ctx, attend_dtype dtype,
                   const struct lab_problem *problem)
{
    attend_error err = {.message = "out of memory"};

    if (lab_forward_as(ctx, dtype, problem, &err) != ATTEND_OK)
        return lab_fail(session, "%s", err.message);
    return 0;
}

int lab_measure(struct lab_session *session, attend_context *ctx,
                const struct lab_problem *problem)
{
    return lab_measure_as(session, ctx, ATTEND_F64, problem);
}

int lab_measure_scores(struct lab_session *session, attend_context *ctx, int64_t n,
                       const double *scores, struct lab_row_stats *stats)
{
    const double one = 1;
    const struct lab_problem problem = LAB_PROBLEM(n, 1, &one, scores, 1, .stats = stats);

    return lab_measure(session, ctx, &problem);
}
