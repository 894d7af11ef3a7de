/* SPDX-License-Identifier: MIT */
/* Splitting the keys and merging the partials by (O, LSE). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/laws.h"

enum { PARTS_MAX = 8 };

struct check_problem check_part_of(const struct check_problem *p, int64_t from,
                                   int64_t end, int keeps_sink)
{
    struct check_problem part = check_problem_range(p, from, end);

    part.out_dtype = check_tensor_dtype(p, CHECK_LSE);
    for (int64_t b = 0; b < p->nb; b++) {
        if (part.causal_offset != NULL)
            part.causal_offset[b] -= from;
        if (part.key_lengths != NULL) {
            const int64_t length = p->key_lengths[b] - from;
            part.key_lengths[b] = length < 0 ? 0 : length > part.nk ? part.nk : length;
        }
    }
    if (!keeps_sink) {
        free(part.sinks);
        part.sinks = NULL;
    }
    return part;
}

/* Memory of `dtype`, contiguous (nb, hq, nq, columns), filled from values or zero. */
static void *array_of(attend_dtype dtype, int64_t count, const double *values)
{
    void *const array = check_memory((size_t)count, attend_dtype_size(dtype));

    for (int64_t at = 0; at < count && values != NULL; at++)
        check_store(array, dtype, at, values[at]);
    return array;
}

/* O and LSE of the parts through attend_merge(), in the type of the LSE. */
static attend_status merge(const struct check_problem *p,
                           const struct check_outputs *parts, int count,
                           struct check_outputs *merged, attend_error *error)
{
    const int64_t rows = p->nb * p->hq * p->nq;
    const attend_dtype dtype = check_tensor_dtype(p, CHECK_LSE);
    attend_part views[PARTS_MAX] = {{.out = {0}}};
    attend_tensor out = attend_tensor_dense(array_of(dtype, rows * p->dv, NULL), dtype,
                                            p->nb, p->hq, p->nq, p->dv);
    attend_tensor lse =
        attend_tensor_dense(array_of(dtype, rows, NULL), dtype, p->nb, p->hq, p->nq, 1);

    for (int t = 0; t < count; t++) {
        views[t].out = attend_view_dense(array_of(dtype, rows * p->dv, parts[t].out),
                                         dtype, p->nb, p->hq, p->nq, p->dv);
        views[t].lse = attend_view_dense(array_of(dtype, rows, parts[t].lse), dtype,
                                         p->nb, p->hq, p->nq, 1);
    }
    const attend_status status = attend_merge(views, count, &out, &lse, error);
    *merged = (struct check_outputs){
        .out = check_memory((size_t)(rows * p->dv), sizeof *merged->out),
        .lse = check_memory((size_t)rows, sizeof *merged->lse)};
    for (int64_t at = 0; at < rows * p->dv; at++)
        merged->out[at] = check_load(out.data, dtype, at);
    for (int64_t at = 0; at < rows; at++)
        merged->lse[at] = check_load(lse.data, dtype, at);
    for (int t = 0; t < count; t++) {
        free((void *)(uintptr_t)views[t].out.data);
        free((void *)(uintptr_t)views[t].lse.data);
    }
    free(out.data);
    free(lse.data);
    return status;
}

/*
 * Part t has weight w_t = exp(lse_t - lse), known to e^+-x_t with x_t the bound of
 * lse_t and 4 u (1 + |lse_t| + |lse|) for the merge itself, and an O within B_t.  As
 * for one row, D = sum w_t (e^x_t - 1), W = sum w_t e^-x_t, and
 *     |O - O_exact|     <= sum_t (w_t e^x_t B_t + w_t (e^x_t - 1) (|O_t| + |O|)) / W
 *     |LSE - LSE_exact| <= max(ln(1 + D), -ln W) + 2 u (1 + |LSE|).
 * Overwrites the bounds of `whole`.
 */
static void merge_bound(const struct check_problem *p, struct check_expect *whole,
                        const struct check_expect *parts, int count, int model)
{
    const int64_t rows = p->nb * p->hq * p->nq;
    const attend_dtype dtype = check_tensor_dtype(p, CHECK_LSE);
    const double u = check_unit(dtype);

    for (int64_t r = 0; r < rows; r++) {
        const double lse = whole->lse.value[r];
        double w[PARTS_MAX], x[PARTS_MAX], total = 0.0, least = 0.0;
        if (whole->empty[r] || whole->lse.bound[model][r] < 0.0)
            continue;
        for (int t = 0; t < count; t++) {
            const double own = parts[t].lse.value[r];
            w[t] = exp(own - lse);
            x[t] = own == -INFINITY ? 0.0
                                    : parts[t].lse.bound[model][r] +
                                          4.0 * u * (1.0 + fabs(own) + fabs(lse));
            total += w[t] > 0.0 ? w[t] * expm1(x[t]) : 0.0;
            least += w[t] * exp(-x[t]);
        }
        whole->lse.bound[model][r] = fmax(log1p(total), -log(least)) +
                                     3.0 * u * (1.0 + fabs(lse)) + check_smallest(dtype);
        for (int64_t c = 0; c < p->dv; c++) {
            const int64_t at = r * p->dv + c;
            const double out = fabs(whole->out.value[at]);
            double bound = 0.0;
            for (int t = 0; t < count; t++)
                if (w[t] > 0.0)
                    bound += w[t] * (exp(x[t]) * parts[t].out.bound[model][at] +
                                     expm1(x[t]) * (fabs(parts[t].out.value[at]) + out));
            whole->out.bound[model][at] =
                bound / least + 2.0 * u * (out + bound) + check_smallest(dtype);
        }
    }
}

static void merge_case(struct check_run *run, struct check_problem *p,
                       struct check_random *random)
{
    const int count = (int)check_random_int(random, 2, PARTS_MAX);
    const int sink_part = (int)check_random_int(random, 0, count - 1);
    struct check_problem parts[PARTS_MAX];
    struct check_expect expects[PARTS_MAX];

    for (int t = 0, from = 0; t < count; t++) {
        /* Empty parts are made on purpose; the last part takes the rest. */
        const int end = t == count - 1 ? (int)p->nk
                        : check_random_chance(random, 0.2)
                            ? from
                            : (int)check_random_int(random, from, p->nk);
        parts[t] = check_part_of(p, from, end, t == sink_part);
        expects[t] = check_dense(&parts[t]);
        from = end;
    }
    for (int s = 0; s < run->count; s++) {
        struct check_set *const set = &run->sets[s];
        struct check_outputs outputs[PARTS_MAX] = {{.out = NULL}}, merged;
        int done = 1;
        for (int t = 0; t < count && done; t++)
            done = check_try(run, set, set->ctx, &parts[t], &outputs[t]);
        if (done) {
            struct check_expect whole = check_dense(p);
            attend_error error = {.message = ""};
            char where[320] = "";
            const attend_status status = merge(p, outputs, count, &merged, &error);
            merge_bound(p, &whole, expects, count, set->model);
            const double ratio =
                status != ATTEND_OK
                    ? INFINITY
                    : check_compare(p, &whole, set->model, &merged, where, sizeof where);
            check_note(set, ratio, p, status != ATTEND_OK ? error.message : where);
            check_outputs_free(&merged);
            check_expect_free(&whole);
        }
        for (int t = 0; t < count; t++)
            check_outputs_free(&outputs[t]);
    }
    for (int t = 0; t < count; t++) {
        check_problem_free(&parts[t]);
        check_expect_free(&expects[t]);
    }
}

void check_law_merge(struct check_run *run)
{
    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = check_law_sample(run, 46, n, 140);
        struct check_random random = {.seed = p.seed, .next = 1u << 30};

        check_causal_to_offset(&p);
        if (p.causal == ATTEND_CAUSAL_NONE)
            check_drop_positions(&p); /* its positions cannot start elsewhere */
        p.wants_lse = 1;
        p.wants_weights = 0;
        check_drop_stats(&p);
        merge_case(run, &p, &random);
        check_problem_free(&p);
    }
}
