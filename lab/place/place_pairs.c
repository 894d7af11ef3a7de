/* SPDX-License-Identifier: MIT */
#include "lab/place/place_pairs.h"

#include <math.h>

#include "attend/theory.h"
#include "lab/measure/forward.h"
#include "lab/measure/frames.h"
#include "lab/measure/trials.h"

/* Pairs measured at a time: each has two values. */
enum { GROUP = LAB_TRIAL_VALUES_MAX / 2 };

struct group {
    const struct lab_pairs *pairs;
    int64_t first, count;
    uint64_t seed;
};

/* The share of the first key that is outside 0.1 .. 0.9 is lopsided. */
static const double lopsided = 0.1;

static attend_status trial(const void *arg, struct lab_worker *worker, uint64_t number,
                           double *values)
{
    const struct group *const group = arg;
    const struct lab_pairs *const pairs = group->pairs;
    const int64_t d = pairs->d, draws = 2 * pairs->count, keys = 2 * group->count;
    double *const k = worker->scratch, *const x = k + keys * d, *const w = x + keys;

    lab_normals(group->seed, pairs->stream,
                number * (uint64_t)draws + 2 * (uint64_t)group->first, x, keys);
    for (int64_t j = 0; j < keys; j++)
        lab_noisy_key(pairs->k + (2 * group->first + j) * d, 1 + pairs->noise * x[j], 0,
                      NULL, d, k + j * d);
    const struct lab_problem problem = {.nb = group->count,
                                        .nk = 2,
                                        .d = d,
                                        .q = pairs->q + group->first * d,
                                        .k = k,
                                        .scale = pairs->scale,
                                        .weights = w};
    const attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    for (int64_t p = 0; p < group->count && status == ATTEND_OK; p++) {
        values[2 * p] = w[2 * p + 1] > w[2 * p];
        values[2 * p + 1] = w[2 * p] < lopsided || w[2 * p] > 1 - lopsided;
    }
    return status;
}

static struct lab_pair predict(const struct lab_pairs *pairs, int64_t p)
{
    const int64_t d = pairs->d;
    const double *const q = pairs->q + p * d, *const k = pairs->k + 2 * p * d;
    const double first = pairs->scale * lab_dot(q, k, d);
    const double second = pairs->scale * lab_dot(q, k + d, d);
    const attend_theory_law law = {first - second, pairs->noise * hypot(first, second),
                                   -INFINITY};

    return (struct lab_pair){
        .margin = law.mean,
        .score_noise = law.sd,
        .swap_theory = law.sd > 0 ? attend_theory_weight_cdf(law, 0.5) : law.mean < 0,
        .outside_theory = attend_theory_weight_outside(law, lopsided)};
}

int lab_pairs_measure(struct lab_session *session, const struct lab_pairs *pairs,
                      struct lab_pair *to)
{
    for (int64_t first = 0; first < pairs->count; first += GROUP) {
        const int64_t left = pairs->count - first;
        const struct group group = {.pairs = pairs,
                                    .first = first,
                                    .count = left < GROUP ? left : GROUP,
                                    .seed = session->seed};
        const struct lab_trials plan = {.trial = trial,
                                        .arg = &group,
                                        .trials = pairs->trials,
                                        .count = (int)(2 * group.count),
                                        .scratch =
                                            (size_t)(2 * group.count * (pairs->d + 2))};
        struct lab_moments moments[LAB_TRIAL_VALUES_MAX];
        if (lab_measure_trials(session, &plan, moments))
            return -1;
        for (int64_t p = 0; p < group.count; p++) {
            to[first + p] = predict(pairs, first + p);
            to[first + p].swap = moments[2 * p];
            to[first + p].outside = moments[2 * p + 1];
        }
    }
    return 0;
}
