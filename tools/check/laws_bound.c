/* SPDX-License-Identifier: MIT */
/* The laws that hold in exact arithmetic, so that both sides lie within their bounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/laws.h"

/* |a - b| over the sum of both bounds; rows, and so elements, correspond one to one. */
static double pair_ratio(const char *name, const double *a, const struct check_values *wa,
                         const double *b, const struct check_values *wb, int model,
                         double shift, int64_t count, double worst, char *where,
                         size_t where_size)
{
    for (int64_t at = 0; at < count && a != NULL && b != NULL; at++) {
        const double bound_a = wa->bound[model][at], bound_b = wb->bound[model][at];
        const double want = isnan(wa->value[at]) ? NAN : a[at] + shift;
        const double ratio = check_ratio(
            b[at], want, bound_a < 0.0 || bound_b < 0.0 ? -1.0 : bound_a + bound_b);
        if (!(ratio <= worst)) {
            worst = ratio;
            snprintf(where, where_size,
                     "%s element %lld: %.9g and %.9g, bounds %.3g and %.3g", name,
                     (long long)at, a[at], b[at], bound_a, bound_b);
        }
    }
    return worst;
}

/* O of pb must be that of pa, and its LSE that of pa plus `shift`. */
static void compare_pair(struct check_run *run, const struct check_problem *pa,
                         const struct check_problem *pb, double shift)
{
    const int64_t rows = pa->nb * pa->hq * pa->nq;
    struct check_expect ea = check_dense(pa), eb = check_dense(pb);

    for (int s = 0; s < run->count; s++) {
        struct check_set *const set = &run->sets[s];
        struct check_outputs a, b;
        char where[256] = "";
        if (!check_try(run, set, set->ctx, pa, &a))
            continue;
        if (check_try(run, set, set->ctx, pb, &b)) {
            double worst = pair_ratio("out", a.out, &ea.out, b.out, &eb.out, set->model,
                                      0.0, rows * pa->dv, 0.0, where, sizeof where);
            worst = pair_ratio("lse", a.lse, &ea.lse, b.lse, &eb.lse, set->model, shift,
                               rows, worst, where, sizeof where);
            check_note(set, worst, pa, where);
            check_outputs_free(&b);
        }
        check_outputs_free(&a);
    }
    check_expect_free(&ea);
    check_expect_free(&eb);
}

/* A sample in which keys are alike but for their contents. */
static struct check_problem unordered_sample(struct check_run *run, uint64_t salt,
                                             int64_t n)
{
    struct check_problem p = check_law_sample(run, salt, n, 140);

    check_drop_positions(&p);
    p.wants_lse = 1;
    p.wants_weights = 0;
    return p;
}

void check_law_delete(struct check_run *run)
{
    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = unordered_sample(run, 40, n);
        struct check_random random = {.seed = p.seed, .next = 1u << 30};
        int64_t *const index = check_memory((size_t)p.nk, sizeof *index);
        int64_t kept = 0;

        check_expand_mask(&p);
        const int64_t rows = check_count(p.mask_size) / p.nk;
        for (int64_t j = 0; j < p.nk; j++) {
            if (check_random_chance(&random, 0.6)) {
                index[kept++] = j;
                continue;
            }
            for (int64_t r = 0; r < rows; r++)
                p.mask[r * p.nk + j] = 0.0;
        }
        struct check_problem shorter = check_problem_keys(&p, index, kept);
        compare_pair(run, &p, &shorter, 0.0);
        check_problem_free(&shorter);
        check_problem_free(&p);
        free(index);
    }
}

void check_law_permute(struct check_run *run)
{
    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = unordered_sample(run, 41, n);
        struct check_random random = {.seed = p.seed, .next = 1u << 30};
        int64_t *const index = check_memory((size_t)p.nk, sizeof *index);

        for (int64_t j = 0; j < p.nk; j++) {
            const int64_t at = check_random_int(&random, 0, j);
            index[j] = index[at];
            index[at] = j;
        }
        struct check_problem permuted = check_problem_keys(&p, index, p.nk);
        compare_pair(run, &p, &permuted, 0.0);
        check_problem_free(&permuted);
        check_problem_free(&p);
        free(index);
    }
}

void check_law_duplicate(struct check_run *run)
{
    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = unordered_sample(run, 42, n);
        int64_t *const index = check_memory((size_t)(2 * p.nk), sizeof *index);

        free(p.sinks); /* a sink would have to be doubled as well */
        p.sinks = NULL;
        for (int64_t j = 0; j < 2 * p.nk; j++)
            index[j] = n % 2 == 0 ? j / 2 : j % p.nk;
        struct check_problem twice = check_problem_keys(&p, index, 2 * p.nk);
        compare_pair(run, &p, &twice, log(2.0));
        check_problem_free(&twice);
        check_problem_free(&p);
        free(index);
    }
}

void check_law_shift(struct check_run *run)
{
    static const double shifts[] = {3.25, -100.0, 0.5, -1e4, 700.0};

    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = check_law_sample(run, 43, n, 140);
        const double shift = shifts[n % 5];

        free(p.bias);
        p.bias = NULL;
        p.bias_dtype = ATTEND_F32;
        p.wants_weights = 0;
        struct check_problem shifted = check_problem_copy(&p);
        shifted.bias = check_memory(1, sizeof *shifted.bias);
        shifted.bias[0] = shift;
        for (int a = 0; a < 4; a++)
            shifted.bias_size[a] = 1;
        for (int64_t h = 0; h < p.hq && p.sinks != NULL; h++)
            shifted.sinks[h] += shift;
        compare_pair(run, &p, &shifted, shift);
        check_problem_free(&shifted);
        check_problem_free(&p);
    }
}

void check_law_constant(struct check_run *run)
{
    for (int64_t n = 0; n < check_cases(run, 60); n++) {
        struct check_problem p = check_law_sample(run, 44, n, 160);

        free(p.sinks); /* it would take a share of the weight */
        p.sinks = NULL;
        p.wants_lse = p.wants_weights = 0;
        for (int64_t at = 0; at < p.nb * p.hkv * p.nk * p.dv; at++)
            p.v[at] = p.v[at % p.dv];
        struct check_expect expect = check_dense(&p);
        for (int64_t at = 0; at < p.nb * p.hq * p.nq * p.dv; at++)
            if (!expect.empty[at / p.dv] && !isnan(expect.out.value[at]))
                expect.out.value[at] = p.v[at % p.dv];
        for (int s = 0; s < run->count; s++) {
            struct check_set *const set = &run->sets[s];
            struct check_outputs got;
            char where[256] = "";
            if (!check_try(run, set, set->ctx, &p, &got))
                continue;
            const double ratio =
                check_compare(&p, &expect, set->model, &got, where, sizeof where);
            check_note(set, ratio, &p, where);
            check_outputs_free(&got);
        }
        check_expect_free(&expect);
        check_problem_free(&p);
    }
}

/* NaN, infinities, and biases of either sign of infinity at attended places. */
void check_law_nonfinite(struct check_run *run)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};

    for (int64_t n = 0; n < check_cases(run, 80); n++) {
        struct check_problem p = check_law_sample(run, 45, n, 100);
        struct check_random random = {.seed = p.seed, .next = 1u << 30};
        double *const tensors[] = {p.q, p.k, p.v, p.bias};
        const int64_t counts[] = {p.nb * p.hq * p.nq * p.d, p.nb * p.hkv * p.nk * p.d,
                                  p.nb * p.hkv * p.nk * p.dv,
                                  p.bias != NULL ? check_count(p.bias_size) : 0};

        check_plain_layouts(&p);
        for (int t = 0; t < 4; t++)
            for (int many = 0; many < 2 && counts[t] > 0; many++) {
                if (!check_random_chance(&random, 0.5))
                    continue;
                const int64_t at = check_random_int(&random, 0, counts[t] - 1);
                tensors[t][at] = values[check_random_int(&random, 0, 2)];
            }
        check_all(run, &p);
        check_problem_free(&p);
    }
}
