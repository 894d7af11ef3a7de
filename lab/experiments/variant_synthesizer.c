/* SPDX-License-Identifier: MIT */
/* A Synthesizer: its scores do not read the keys, so it cannot find one. */
#include <math.h>
#include <string.h>

#include "lab/measure/frames.h"
#include "lab/measure/forward.h"
#include "lab/measure/trials.h"
#include "lab/measure/random.h"
#include "lab/experiments/experiment_parts.h"

enum { SCORE_STREAM = 1, PLACE_STREAM };

/*
 * The key that matches the query stands at a place drawn anew in every trial.  The
 * Synthesizer's scores are made from the query alone: here they are its bias.
 */
enum search { ATTENTION_HIT, SYNTHESIZER_HIT, KEY_EFFECT, SEARCH_VALUES };

static int64_t largest(const double *weights, int64_t n)
{
    int64_t best = 0;

    for (int64_t i = 1; i < n; i++)
        if (weights[i] > weights[best])
            best = i;
    return best;
}

static attend_status search_trial(const void *arg, struct lab_worker *worker,
                                  uint64_t trial, double *values)
{
    const struct lab_variant *const variant = arg;
    const int64_t n = variant->n;
    double *const key = worker->scratch, *const query = key + n * n;
    double *const weights = query + n, *const bias = weights + n,
                  *const before = bias + n;
    struct lab_problem problem = {.nk = n,
                                  .d = n,
                                  .q = query,
                                  .k = key,
                                  .scale = variant->beta,
                                  .weights = weights};
    uint32_t word;

    lab_random_words(variant->seed, PLACE_STREAM, trial, &word, 1);
    const int64_t place = (int64_t)(((uint64_t)word * (uint64_t)n) >> 32);
    lab_normals(variant->seed, SCORE_STREAM, 0, bias, n);
    memset(key, 0, sizeof(double) * (size_t)(n * n + n));
    query[0] = 1;
    for (int64_t i = 0; i < n; i++)
        key[i * n + (i + n - place) % n] = 1;
    attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[ATTENTION_HIT] = largest(weights, n) == place;

    problem.scale = 0;
    problem.bias = bias;
    status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[SYNTHESIZER_HIT] = largest(weights, n) == place;
    memcpy(before, weights, sizeof(double) * (size_t)n);
    for (int64_t x = 0; x < n * n; x++)
        key[x] = 1 - key[x];
    status = lab_forward(worker->ctx, &problem, &worker->err);
    values[KEY_EFFECT] = 0;
    for (int64_t i = 0; i < n; i++)
        values[KEY_EFFECT] = fmax(values[KEY_EFFECT], fabs(weights[i] - before[i]));
    return status;
}

int lab_synthesizer_rows(struct lab_run *run, const struct lab_variant *variant)
{
    const int64_t n = variant->n;
    struct lab_moments moments[SEARCH_VALUES];

    if (lab_run_trials(run, search_trial, variant, run->trials / 8 + 1, SEARCH_VALUES,
                       n * n + 4 * n, moments))
        return -1;
    if (moments[ATTENTION_HIT].count == 0)
        return 0;
    /* At beta = 0 attention knows no key either. */
    lab_emit_estimate(run, "attention_hit", variant->beta > 0 ? 1 : 1 / (double)n,
                      lab_estimate_probability(&moments[ATTENTION_HIT]));
    lab_emit_estimate(run, "synthesizer_hit", 1 / (double)n,
                      lab_estimate_probability(&moments[SYNTHESIZER_HIT]));
    const struct lab_setting own = lab_own(run);
    lab_emit(run, "synthesizer_key_effect", &own, lab_zero(moments[KEY_EFFECT].mean, 0));
    return 0;
}
