/* SPDX-License-Identifier: MIT */
#include "lab/setups/random_logits.h"

#include <math.h>

#include "attend/theory.h"
#include "lab/measure/frames.h"
#include "lab/measure/trials.h"

int64_t lab_logits_scratch(const struct lab_logits *logits)
{
    return (logits->n + 1) * logits->d;
}

attend_status lab_logits_row(const struct lab_logits *logits, uint64_t seed,
                             uint64_t trial, attend_context *ctx, double *scratch,
                             struct lab_row_stats *stats, double *r, attend_error *err)
{
    const int64_t n = logits->n, d = logits->d, count = lab_logits_scratch(logits);
    double *const key = scratch, *const query = key + n * d;

    lab_normals(seed, logits->stream, trial * (uint64_t)count, key, count);
    for (int64_t c = 0; c < d; c++)
        query[c] = query[c] < 0 ? -1 : 1;
    const attend_status status = lab_forward(
        ctx,
        &LAB_PROBLEM(n, d, query, key, logits->spread / sqrt((double)d), .stats = stats),
        err);
    if (status == ATTEND_OK)
        *r = sqrt((double)n * stats->score_variance);
    return status;
}

/* The arg of a trial. */
struct draws {
    const struct lab_logits *logits;
    uint64_t seed;
};

static attend_status trial_of(const void *arg, struct lab_worker *worker, uint64_t trial,
                              double *values)
{
    const struct draws *const draws = arg;
    struct lab_row_stats stats;
    double r;
    const attend_status status =
        lab_logits_row(draws->logits, draws->seed, trial, worker->ctx, worker->scratch,
                       &stats, &r, &worker->err);

    if (status != ATTEND_OK)
        return status;
    const double floor = attend_theory_entropy_floor((double)draws->logits->n, r);
    values[LAB_LOGITS_ENTROPY] = stats.entropy;
    values[LAB_LOGITS_SQUARES] = 1 / stats.n_eff;
    values[LAB_LOGITS_BELOW_FLOOR] = fmax(0, floor - stats.entropy);
    return ATTEND_OK;
}

int lab_logits_measure(struct lab_session *session, const struct lab_logits *logits,
                       int64_t trials, struct lab_moments *moments)
{
    return lab_measure_trials(session, trial_of, &(struct draws){logits, session->seed},
                              trials, LAB_LOGITS_VALUES, lab_logits_scratch(logits),
                              moments);
}
