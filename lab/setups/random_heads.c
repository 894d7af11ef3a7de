/* SPDX-License-Identifier: MIT */
#include "lab/setups/random_heads.h"

#include <math.h>
#include <string.h>

#include "lab/measure/forward.h"
#include "lab/measure/frames.h"
#include "lab/measure/trials.h"

/* The arg of a trial: its heads, or m targets in d dimensions, and its random numbers. */
struct draws {
    const struct lab_random_heads *heads;
    int64_t m, d;
    uint64_t seed, stream;
};

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
    const struct draws *const draws = arg;
    const struct lab_random_heads *const s = draws->heads;
    const int64_t count = normals_of(s), scales = s->scales, dh = s->d / s->h;
    double *const normals = worker->scratch, *const k = normals + count;
    double *const q = k + s->n * dh, *const weights = q + scales * dh;
    double *const coefficient = weights + scales * s->n;

    lab_normals(draws->seed, draws->stream, number * (uint64_t)count, normals, count);
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
    const struct draws draws = {.heads = heads, .seed = session->seed, .stream = stream};
    const int64_t dh = heads->d / heads->h, n = heads->n, scales = heads->scales;

    return lab_measure_trials(session, heads_trial, &draws, trials, heads->scales,
                              normals_of(heads) + n * dh + scales * (dh + 2 * n),
                              moments);
}

/* Random keys of one trial. */
enum { RIVALS = 64 };

static attend_status rivals_trial(const void *arg, struct lab_worker *worker,
                                  uint64_t number, double *values)
{
    const struct draws *const r = arg;
    const int64_t nk = r->m + RIVALS;
    double *const k = worker->scratch, *const q = k + nk * r->d, *const w = q + r->d;

    lab_normals(r->seed, r->stream, number * (uint64_t)(RIVALS * r->d), k + r->m * r->d,
                RIVALS * r->d);
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
    const struct draws draws = {.m = m, .d = d, .seed = session->seed, .stream = stream};

    return lab_measure_trials(session, rivals_trial, &draws, trials, 1,
                              (m + RIVALS) * (d + 1) + d, share);
}
