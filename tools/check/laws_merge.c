/* SPDX-License-Identifier: MIT */
/* Splitting the keys and merging the partials by (O, LSE). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

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

void check_make_divisible(struct check_problem *p)
{
    check_causal_to_offset(p);
    if (p->causal == ATTEND_CAUSAL_NONE)
        check_drop_positions(p); /* its positions cannot start elsewhere */
    p->wants_weights = 0;
    check_drop_stats(p);
}

attend_tensor check_new_tensor(const struct check_problem *p, attend_dtype dtype,
                               int64_t columns, const double *values)
{
    const int64_t count = p->nb * p->hq * p->nq * columns;
    void *const data = check_memory((size_t)count, attend_dtype_size(dtype));

    for (int64_t at = 0; at < count && values != NULL; at++)
        check_store(data, dtype, at, values[at]);
    return attend_tensor_dense(data, dtype, p->nb, p->hq, p->nq, columns);
}

double *check_tensor_values(const attend_tensor *tensor)
{
    const int64_t count = check_count(tensor->size);
    double *const values = check_memory((size_t)count, sizeof *values);

    for (int64_t at = 0; at < count; at++)
        values[at] = check_load(tensor->data, tensor->dtype, at);
    return values;
}

/* O and LSE of the parts through attend_merge(), in the type of the LSE. */
static attend_status merge(const struct check_problem *p,
                           const struct check_outputs *parts, int count,
                           struct check_outputs *merged, attend_error *error)
{
    const attend_dtype dtype = check_tensor_dtype(p, CHECK_LSE);
    attend_tensor outs[PARTS_MAX + 1], lses[PARTS_MAX + 1]; /* the merged ones last */
    attend_part views[PARTS_MAX] = {{.out = {0}}};

    for (int t = 0; t <= count; t++) {
        outs[t] = check_new_tensor(p, dtype, p->dv, t < count ? parts[t].out : NULL);
        lses[t] = check_new_tensor(p, dtype, 1, t < count ? parts[t].lse : NULL);
    }
    for (int t = 0; t < count; t++) {
        views[t].out = attend_view_of(&outs[t]);
        views[t].lse = attend_view_of(&lses[t]);
    }
    const attend_status status =
        attend_merge(views, count, &outs[count], &lses[count], error);
    *merged = (struct check_outputs){.out = check_tensor_values(&outs[count]),
                                     .lse = check_tensor_values(&lses[count])};
    for (int t = 0; t <= count; t++) {
        free(outs[t].data);
        free(lses[t].data);
    }
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

void check_law_merge(struct check_run *run, struct check_case *c)
{
    struct check_problem *const p = &c->p;
    struct check_random *const random = &c->random;
    const int count = (int)check_random_int(random, 2, PARTS_MAX);
    const int sink_part = (int)check_random_int(random, 0, count - 1);
    struct check_problem parts[PARTS_MAX];
    struct check_expect expects[PARTS_MAX];

    check_make_divisible(p);
    p->wants_lse = 1;
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
            struct check_worst worst = {0};
            const attend_status status = merge(p, outputs, count, &merged, &error);
            merge_bound(p, &whole, expects, count, set->model);
            check_compare(p, &whole, set->model, &merged, &worst);
            if (status == ATTEND_OK)
                check_note(set, worst.ratio, p, worst.where);
            else
                check_note(set, INFINITY, p, error.message);
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
