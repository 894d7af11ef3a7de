/* SPDX-License-Identifier: MIT */
/*
 * Root mean square error of each kernel set against that of a naive attention: float
 * scores materialised, expf, plain float sums.  On bf16 inputs a set with bf16 products
 * is compared with one that rounds P likewise.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

/* One row of plain attention in float; `p` has room for nk. */
static void naive_row(const float *q, const float *k, const float *v, int64_t nk,
                      int64_t d, int64_t dv, int round_p, float *p, float *out)
{
    const float scale = 1.0f / sqrtf((float)d);
    float m = -INFINITY, l = 0.0f;

    for (int64_t j = 0; j < nk; j++) {
        float dot = 0.0f;
        for (int64_t c = 0; c < d; c++)
            dot += q[c] * k[j * d + c];
        p[j] = dot * scale;
        m = fmaxf(m, p[j]);
    }
    for (int64_t j = 0; j < nk; j++) {
        p[j] = expf(p[j] - m);
        l += p[j];
    }
    for (int64_t c = 0; c < dv; c++)
        out[c] = 0.0f;
    for (int64_t j = 0; j < nk; j++) {
        const float weight =
            round_p ? (float)check_round(ATTEND_BF16, (double)(p[j] / l)) : p[j] / l;
        for (int64_t c = 0; c < dv; c++)
            out[c] += weight * v[j * dv + c];
    }
}

static float *floats_of(const double *values, int64_t n)
{
    float *const floats = check_memory((size_t)n, sizeof *floats);

    for (int64_t at = 0; at < n; at++)
        floats[at] = (float)values[at];
    return floats;
}

/* Sum of squared errors of a naive evaluation of a problem of one head. */
static double naive_error(const struct check_problem *p,
                          const struct check_expect *expect, int round_p)
{
    float *const q = floats_of(p->q, p->nq * p->d), *const k =
                                                        floats_of(p->k, p->nk * p->d);
    float *const v = floats_of(p->v, p->nk * p->dv);
    float *const weights = check_memory((size_t)p->nk, sizeof *weights);
    float *const out = check_memory((size_t)p->dv, sizeof *out);
    double sum = 0.0;

    for (int64_t i = 0; i < p->nq; i++) {
        naive_row(q + i * p->d, k, v, p->nk, p->d, p->dv, round_p, weights, out);
        for (int64_t c = 0; c < p->dv; c++) {
            const double error = (double)out[c] - expect->out.value[i * p->dv + c];
            sum += error * error;
        }
    }
    free(q);
    free(k);
    free(v);
    free(weights);
    free(out);
    return sum;
}

/* Errors of every set over a pool of shapes, as sums of squares. */
static void pool_errors(struct check_run *run, attend_dtype dtype, double *own,
                        double *naive, double *naive_rounded)
{
    static const int64_t shapes[][3] = {
        {48, 64, 64}, {33, 300, 80}, {16, 1000, 128}, {1, 700, 64}, {65, 129, 32}};

    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        struct check_problem p =
            check_sample_shape(check_case_seed(run, 3, (int64_t)n), dtype, 1, 1, 1,
                               shapes[n][0], shapes[n][1], shapes[n][2], shapes[n][2]);
        p.out_dtype = ATTEND_F32; /* otherwise the rounding of O would dominate */
        struct check_expect expect = check_dense(&p);
        *naive += naive_error(&p, &expect, 0);
        *naive_rounded += naive_error(&p, &expect, 1);
        for (int s = 0; s < run->count; s++) {
            struct check_outputs got;
            if (!check_try(run, &run->sets[s], run->sets[s].ctx, &p, &got))
                continue;
            for (int64_t at = 0; at < p.nq * p.dv; at++) {
                const double error = got.out[at] - expect.out.value[at];
                own[s] += error * error;
            }
            check_outputs_free(&got);
        }
        check_expect_free(&expect);
        check_problem_free(&p);
    }
}

void check_test_rms(struct check_run *run)
{
    static const attend_dtype dtypes[] = {ATTEND_F32, ATTEND_F16, ATTEND_BF16};
    const double slack = 1.05; /* for statistical scatter: the pools have some 10^4
                                  elements */

    for (int t = 0; t < 3; t++) {
        double own[CHECK_SETS_MAX] = {0.0}, naive = 0.0, rounded = 0.0;
        pool_errors(run, dtypes[t], own, &naive, &rounded);
        for (int s = 0; s < run->count; s++) {
            char where[160];
            /* A set with bf16 products rounds P; the others are held to float. */
            const int rounds_p =
                dtypes[t] == ATTEND_BF16 && strstr(run->sets[s].needs, "bf16");
            const double ratio = sqrt(own[s] / (rounds_p ? rounded : naive));
            snprintf(where, sizeof where, "%s: rms error is %.3f of naive float's",
                     attend_dtype_name(dtypes[t]), ratio);
            check_note(&run->sets[s], ratio / slack, NULL, where);
        }
    }
}
