/* SPDX-License-Identifier: MIT */
#include "lab/design/design_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measure/frames.h"
#include "lab/measure/forward.h"
#include "lab/measure/trials.h"
#include "base/error.h"

/* ---- without noise -------------------------------------------------------- */

/* Heads are the rows of one problem. */
static struct lab_problem problem_of(const struct lab_design_request *r,
                                     const struct lab_design *design, const double *keys,
                                     double *weights)
{
    return LAB_PROBLEM(r->n, r->d, design->queries, keys, r->tau, .nq = design->heads,
                       .weights = weights);
}

attend_status lab_design_measure(const struct lab_design_request *request,
                                 const struct lab_design *design, double *coefficient,
                                 double *leak, attend_error *err)
{
    const int64_t n = request->n;
    const int own = request->m / design->heads;
    double *const weights = calloc((size_t)(n * design->heads), sizeof *weights);
    struct lab_session session = request->session;

    if (!weights)
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory");
    attend_context *const ctx = lab_context(&session, session.threads);
    const struct lab_problem problem =
        problem_of(request, design, request->keys, weights);
    const attend_status status =
        ctx ? lab_forward(ctx, &problem, err)
            : attendi_fail(err, ATTEND_ENOMEM, "%s", session.error);
    *leak = 0;
    for (int64_t x = 0; x < n * design->heads && status == ATTEND_OK; x++)
        coefficient[x % n] += weights[x] / design->heads;
    for (int h = 0; h < design->heads && status == ATTEND_OK; h++) {
        double outside = 0;
        for (int64_t i = 0; i < n; i++) {
            const int item = lab_design_item_of(request, i);
            if (item < h * own || item >= (h + 1) * own)
                outside += weights[h * n + i];
        }
        *leak = fmax(*leak, outside);
    }
    attend_context_destroy(ctx);
    free(weights);
    return status;
}

/* ---- with noise ----------------------------------------------------------- */

struct trial {
    const struct lab_design_request *request;
    const struct lab_design *design;
    const struct lab_design_head *heads;
};

enum { LEAK, MSE, FLIP, LOPSIDED, WEIGHT };

enum { NOISE_STREAM = 1 };

/* Normals of a trial: one for every magnitude, and every entry if there is alpha. */
static int64_t draws_of(const struct lab_design_request *r)
{
    return r->n + (r->alpha > 0 ? r->n * r->d : 0);
}

static void draw_keys(const struct lab_design_request *r, const double *normals,
                      double *keys)
{
    const double sigma = sqrt(r->sigma2), spread = sqrt(r->alpha);

    for (int64_t i = 0; i < r->n; i++) {
        const double length = lab_design_is_noisy(r, i) ? 1 + sigma * normals[i] : 1;
        lab_noisy_key(r->keys + i * r->d, length, spread,
                      r->alpha > 0 ? normals + r->n + i * r->d : NULL, r->d,
                      keys + i * r->d);
    }
}

/*
 * Whether another key outweighs an item of the head; whether two items drift apart.  By
 * scores: of two weights that underflow neither is the larger.
 */
static void judge_head(const struct trial *t, int h, const double *keys, double *flip,
                       double *lopsided)
{
    const struct lab_design_request *const r = t->request;
    const struct lab_design_head *const head = &t->heads[h];
    const double *const query = t->design->queries + h * r->d;
    double least = INFINITY, most = -INFINITY, low = INFINITY, high = -INFINITY;

    for (int64_t i = 0; i < r->n; i++) {
        const int x = lab_design_item_of(r, i);
        const double score = r->tau * lab_dot(query, keys + i * r->d, r->d);
        if (!lab_design_is_own(r, head, i)) {
            most = fmax(most, score);
            continue;
        }
        const double relative = score - (r->weights ? log(r->weights[x]) : 0);
        least = fmin(least, score);
        low = fmin(low, relative);
        high = fmax(high, relative);
    }
    if (least < most)
        *flip = 1;
    if (high - low > log(LAB_DESIGN_DRIFT))
        *lopsided = 1;
}

static attend_status run_trial(const void *arg, struct lab_worker *worker,
                               uint64_t number, double *values)
{
    const struct trial *const t = arg;
    const struct lab_design_request *const r = t->request;
    const int heads = t->design->heads;
    double *const normals = worker->scratch, *const keys = normals + draws_of(r);
    double *const weights = keys + r->n * r->d;

    lab_normals(worker->seed, worker->stream, number * (uint64_t)draws_of(r), normals,
                draws_of(r));
    draw_keys(r, normals, keys);
    const struct lab_problem problem = problem_of(r, t->design, keys, weights);
    const attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    memset(values, 0, (size_t)(WEIGHT + r->m) * sizeof *values);
    for (int h = 0; h < heads; h++)
        judge_head(t, h, keys, &values[FLIP], &values[LOPSIDED]);
    for (int64_t i = 0; i < r->n; i++) {
        const int x = lab_design_item_of(r, i);
        double coefficient = 0;
        for (int h = 0; h < heads; h++)
            coefficient += weights[h * r->n + i] / heads;
        if (x < 0) {
            values[LEAK] += coefficient;
            values[MSE] += coefficient * coefficient;
            continue;
        }
        const double off = coefficient - (r->weights ? r->weights[x] : 1.0 / r->m);
        values[MSE] += off * off;
        values[WEIGHT + x] = coefficient;
    }
    return status;
}

attend_status lab_design_measure_noise(const struct lab_design_request *request,
                                       const struct lab_design *design,
                                       const struct lab_design_head *heads,
                                       struct lab_design_noise *noise, attend_error *err)
{
    const struct trial trial = {request, design, heads};
    struct lab_session session = request->session;
    struct lab_moments moments[WEIGHT + LAB_DESIGN_ITEMS_MAX];

    if (lab_measure_trials(&session, run_trial, &trial, NOISE_STREAM, request->trials,
                           WEIGHT + request->m,
                           draws_of(request) + request->n * request->d +
                               design->heads * request->n,
                           moments))
        return attendi_fail(err, ATTEND_ENOMEM, "%s", session.error);
    noise->done = moments[LEAK].count;
    noise->leak = lab_estimate_mean_within(&moments[LEAK], 0, 1);
    noise->mse = lab_estimate_square(&moments[MSE], 0, 2);
    noise->flip = lab_estimate_probability(&moments[FLIP]);
    noise->lopsided = lab_estimate_probability(&moments[LOPSIDED]);
    for (int x = 0; x < request->m; x++) {
        noise->weight[x] = lab_estimate_mean_within(&moments[WEIGHT + x], 0, 1);
        noise->variance[x] = lab_estimate_variance_within(&moments[WEIGHT + x], 0, 1);
    }
    return ATTEND_OK;
}
