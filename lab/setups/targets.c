/* SPDX-License-Identifier: MIT */
#include "lab/setups/targets.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/forward.h"
#include "lab/measure/frames.h"
#include "lab/measure/trials.h"

/* The arg of a trial. */
struct draws {
    const struct lab_targets *targets;
    uint64_t seed, stream;
};

/* Number of other keys with a weight above the least of the targets'. */
static int64_t beaten_by(const double *weights, const struct lab_targets *p)
{
    double least = weights[0];
    int64_t count = 0;

    for (int64_t i = 1; i < p->m; i++)
        least = fmin(least, weights[i]);
    for (int64_t i = p->m; i < p->n; i++)
        count += weights[i] > least;
    return count;
}

/* Sets the first m keys and the query, their sum; the other keys are already set. */
static void axes(const struct lab_targets *p, double *key, double *query)
{
    const int64_t d = p->d;

    memset(key, 0, sizeof(double) * (size_t)(p->m * d));
    memset(query, 0, sizeof(double) * (size_t)d);
    for (int64_t i = 0; i < p->m; i++)
        key[i * d + i] = query[i] = 1;
}

/* Queries of random targets: their sum, pinv(K) 1, and each target by itself. */
static int random_queries(const struct lab_targets *p, const double *key, double *query)
{
    const int64_t d = p->d, m = p->m;
    double ones[LAB_TARGETS_MAX];

    memset(query, 0, sizeof(double) * (size_t)d);
    for (int64_t i = 0; i < m; i++) {
        ones[i] = 1;
        for (int64_t c = 0; c < d; c++)
            query[c] += key[i * d + c];
    }
    memcpy(query + 2 * d, key, sizeof(double) * (size_t)(m * d));
    return attend_theory_query_for_scores(key, m, d, ones, query + d);
}

/* Scores of the targets from the engine's results: ln p + lse, in units of beta. */
static void member_scores(const struct lab_targets *p, const double *weights,
                          const double *lse, double *values)
{
    double square = 0, widest = 0;

    for (int64_t i = 0; i < p->m; i++) {
        const double naive = (log(weights[i]) + lse[0]) / p->beta - 1;
        const double exact = (log(weights[p->n + i]) + lse[1]) / p->beta - 1;
        square += naive * naive / (double)p->m;
        widest = fmax(widest, fabs(exact));
    }
    values[LAB_SPREAD] = square;
    values[LAB_PINV_SPREAD] = widest;
}

static attend_status trial_of(const void *arg, struct lab_worker *worker, uint64_t trial,
                              double *values)
{
    const struct draws *const draws = arg;
    const struct lab_targets *const p = draws->targets;
    const int64_t n = p->n, d = p->d, m = p->m;
    double *const key = worker->scratch, *const spare = key + n * d;
    double *const query = spare + m * d, *const weights = query + (m + 2) * d;
    double *const lse = weights + (m + 2) * n;
    struct lab_problem problem =
        LAB_PROBLEM(n, d, query, key, p->beta, .lse = lse, .weights = weights);

    lab_normals(draws->seed, draws->stream, trial * (uint64_t)(n * d), key, n * d);
    for (int64_t i = 0; i < n; i++)
        lab_unit(key + i * d, d);
    memcpy(spare, key, sizeof(double) * (size_t)(m * d));
    axes(p, key, query);
    attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    const int64_t beaten = beaten_by(weights, p);
    values[LAB_SUCCESS] = beaten == 0;
    values[LAB_BEATEN] = n > m ? (double)beaten / (double)(n - m) : NAN;

    memcpy(key, spare, sizeof(double) * (size_t)(m * d));
    if (random_queries(p, key, query)) {
        for (int x = LAB_NAIVE_SUCCESS; x < LAB_TARGET_VALUES; x++)
            values[x] = NAN;
        return ATTEND_OK;
    }
    problem.nq = m + 2;
    status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[LAB_NAIVE_SUCCESS] = beaten_by(weights, p) == 0;
    values[LAB_PINV_SUCCESS] = beaten_by(weights + n, p) == 0;
    values[LAB_HEADS_SUCCESS] = 1;
    for (int64_t h = 0; h < m; h++)
        for (int64_t i = 0; i < n; i++)
            if (i != h && weights[(h + 2) * n + i] >= weights[(h + 2) * n + h])
                values[LAB_HEADS_SUCCESS] = 0;
    member_scores(p, weights, lse, values);
    return ATTEND_OK;
}

int lab_targets_measure(struct lab_session *session, const struct lab_targets *targets,
                        uint64_t stream, int64_t trials, struct lab_moments *moments)
{
    const int64_t n = targets->n, m = targets->m, queries = m + 2;
    const struct draws draws = {targets, session->seed, stream};

    return lab_measure_trials(session, trial_of, &draws, trials, LAB_TARGET_VALUES,
                              (n + m + queries) * targets->d + queries * (n + 1),
                              moments);
}
