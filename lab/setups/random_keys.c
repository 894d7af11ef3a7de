/* SPDX-License-Identifier: MIT */
#include "lab/setups/random_keys.h"

#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/frames.h"

/* ---- targets ------------------------------------------------------------------- */

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

static attend_status targets_trial(const void *arg, struct lab_worker *worker,
                                   uint64_t trial, double *values)
{
    const struct lab_targets *const p = arg;
    const int64_t n = p->n, d = p->d, m = p->m;
    double *const key = worker->scratch, *const spare = key + n * d;
    double *const query = spare + m * d, *const weights = query + (m + 2) * d;
    double *const lse = weights + (m + 2) * n;
    struct lab_problem problem =
        LAB_PROBLEM(n, d, query, key, p->beta, .lse = lse, .weights = weights);

    lab_normals(worker->seed, worker->stream, trial * (uint64_t)(n * d), key, n * d);
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

    return lab_measure_trials(
        session, targets_trial, targets, stream, trials, LAB_TARGET_VALUES,
        (n + m + queries) * targets->d + queries * (n + 1), moments);
}

/* Random keys of one trial. */
enum { RIVALS = 64 };

struct rivals {
    int64_t m, d;
};

static attend_status rivals_trial(const void *arg, struct lab_worker *worker,
                                  uint64_t number, double *values)
{
    const struct rivals *const r = arg;
    const int64_t nk = r->m + RIVALS;
    double *const k = worker->scratch, *const q = k + nk * r->d, *const w = q + r->d;

    lab_normals(worker->seed, worker->stream, number * (uint64_t)(RIVALS * r->d),
                k + r->m * r->d, RIVALS * r->d);
    memset(k, 0, (size_t)(r->m * r->d) * sizeof *k);
    memset(q, 0, (size_t)r->d * sizeof *q);
    for (int64_t i = 0; i < r->m; i++)
        k[i * r->d + i] = q[i] = 1;
    for (int64_t i = r->m; i < nk; i++)
        lab_unit(k + i * r->d, r->d);
    const attend_status status = lab_forward(
        worker->ctx, &LAB_PROBLEM(nk, r->d, q, k, 1, .weights = w), &worker->err);
    values[0] = 0;
    for (int64_t i = r->m; i < nk; i++)
        values[0] += (w[i] > w[0]) / (double)RIVALS;
    return status;
}

int lab_rivals_measure(struct lab_session *session, int64_t m, int64_t d, uint64_t stream,
                       int64_t trials, struct lab_moments *share)
{
    const struct rivals rivals = {m, d};

    return lab_measure_trials(session, rivals_trial, &rivals, stream, trials, 1,
                              (m + RIVALS) * (d + 1) + d, share);
}

/* ---- heads --------------------------------------------------------------------- */

/* Normals of a trial: directions of every head's keys, then magnitudes. */
static int64_t normals_of(const struct lab_random_heads *s)
{
    return s->n * (s->d + (s->independent ? s->h : 1));
}

/* Head h's keys [n][d/h], with the magnitudes of this trial, and its queries [scales]. */
static void make_head(const struct lab_random_heads *s, int64_t h, double *normals,
                      double *k, double *q)
{
    const int64_t dh = s->d / s->h, own = s->copies || s->h > s->m ? s->m : s->m / s->h;
    const int64_t first = own == s->m ? 0 : h * own;
    const double *const magnitudes =
        normals + s->n * s->d + (s->independent ? h * s->n : 0);

    memset(q, 0, (size_t)(s->scales * dh) * sizeof *q);
    for (int64_t i = 0; i < s->n; i++) {
        double *const mean = normals + (h * s->n + i) * dh;
        lab_unit(mean, dh);
        lab_noisy_key(mean, 1 + sqrt(s->sigma2) * magnitudes[i], 0, NULL, dh, k + i * dh);
        for (int x = 0; i >= first && i < first + own && x < s->scales; x++)
            for (int64_t c = 0; c < dh; c++)
                q[x * dh + c] += s->scale[x] * mean[c];
    }
}

static attend_status heads_trial(const void *arg, struct lab_worker *worker,
                                 uint64_t number, double *values)
{
    const struct lab_random_heads *const s = arg;
    const int64_t count = normals_of(s), scales = s->scales, dh = s->d / s->h;
    double *const normals = worker->scratch, *const k = normals + count;
    double *const q = k + s->n * dh, *const weights = q + scales * dh;
    double *const coefficient = weights + scales * s->n;

    lab_normals(worker->seed, worker->stream, number * (uint64_t)count, normals, count);
    memset(coefficient, 0, (size_t)(scales * s->n) * sizeof *coefficient);
    for (int64_t h = 0; h < s->h; h++) {
        make_head(s, h, normals, k, q);
        const attend_status status =
            lab_forward(worker->ctx,
                        &LAB_PROBLEM(s->n, dh, q, k, 1, .nq = scales, .weights = weights),
                        &worker->err);
        if (status != ATTEND_OK)
            return status;
        for (int64_t x = 0; x < scales * s->n; x++)
            coefficient[x] += weights[x] / (double)s->h;
    }
    for (int64_t x = 0; x < scales; x++) {
        values[x] = 0;
        for (int64_t i = 0; i < s->n; i++) {
            const double off =
                coefficient[x * s->n + i] - (i < s->m ? 1 / (double)s->m : 0);
            values[x] += off * off;
        }
    }
    return ATTEND_OK;
}

int lab_random_heads_measure(struct lab_session *session,
                             const struct lab_random_heads *heads, uint64_t stream,
                             int64_t trials, struct lab_moments *moments)
{
    const int64_t dh = heads->d / heads->h, n = heads->n, scales = heads->scales;

    return lab_measure_trials(session, heads_trial, heads, stream, trials, heads->scales,
                              normals_of(heads) + n * dh + scales * (dh + 2 * n),
                              moments);
}

/* ---- logits -------------------------------------------------------------------- */

int64_t lab_logits_scratch(const struct lab_logits *logits)
{
    return (logits->n + 1) * logits->d;
}

attend_status lab_logits_row(const struct lab_logits *logits, struct lab_worker *worker,
                             uint64_t trial, struct lab_row_stats *stats, double *r)
{
    const int64_t n = logits->n, d = logits->d, count = lab_logits_scratch(logits);
    double *const key = worker->scratch, *const query = key + n * d;

    lab_normals(worker->seed, worker->stream, trial * (uint64_t)count, key, count);
    for (int64_t c = 0; c < d; c++)
        query[c] = query[c] < 0 ? -1 : 1;
    const attend_status status = lab_forward(
        worker->ctx,
        &LAB_PROBLEM(n, d, query, key, logits->spread / sqrt((double)d), .stats = stats),
        &worker->err);
    if (status == ATTEND_OK)
        *r = sqrt((double)n * stats->score_variance);
    return status;
}

static attend_status logits_trial(const void *arg, struct lab_worker *worker,
                                  uint64_t trial, double *values)
{
    const struct lab_logits *const logits = arg;
    struct lab_row_stats stats;
    double r;
    const attend_status status = lab_logits_row(logits, worker, trial, &stats, &r);

    if (status != ATTEND_OK)
        return status;
    const double floor = attend_theory_entropy_floor((double)logits->n, r);
    values[LAB_LOGITS_ENTROPY] = stats.entropy;
    values[LAB_LOGITS_SQUARES] = 1 / stats.n_eff;
    values[LAB_LOGITS_BELOW_FLOOR] = fmax(0, floor - stats.entropy);
    return ATTEND_OK;
}

int lab_logits_measure(struct lab_session *session, const struct lab_logits *logits,
                       uint64_t stream, int64_t trials, struct lab_moments *moments)
{
    return lab_measure_trials(session, logits_trial, logits, stream, trials,
                              LAB_LOGITS_VALUES, lab_logits_scratch(logits), moments);
}
