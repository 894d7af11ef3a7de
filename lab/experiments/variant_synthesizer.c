/* SPDX-License-Identifier: MIT */
/* A Synthesizer: its scores do not read the keys, so it cannot find one. */
#include <math.h>
#include <string.h>

#include "lab/measure/frames.h"
#include "lab/measure/forward.h"
#include "lab/measure/trials.h"
#include "lab/measure/random.h"
#include "lab/experiments/experiment_parts.h"

enum { N, LATENTS, BETA }; /* flags */
enum { SCORE_STREAM = 1, PLACE_STREAM };

/*
 * The key that matches the query stands at a place drawn anew in every trial.  The
 * Synthesizer's scores are made from the query alone: here they are its bias.
 */
enum { ATTENTION_HIT, SYNTHESIZER_HIT, KEY_EFFECT, SEARCH_VALUES };
static const struct lab_observable rows[] = {
    {"attention_hit", ATTENTION_HIT, LAB_PROBABILITY, 1},
    {"synthesizer_hit", SYNTHESIZER_HIT, LAB_PROBABILITY, 1},
    {"synthesizer_key_effect", KEY_EFFECT, LAB_MEAN, 0},
};

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
    const struct lab_draws *const draws = arg;
    const int64_t n = (int64_t)draws->at->at[N];
    double *const key = worker->scratch, *const query = key + n * n;
    double *const weights = query + n, *const bias = weights + n,
                  *const before = bias + n;
    struct lab_problem problem = {.nk = n,
                                  .d = n,
                                  .q = query,
                                  .k = key,
                                  .scale = draws->at->at[BETA],
                                  .weights = weights};
    uint32_t word;

    lab_random_words(draws->seed, PLACE_STREAM, trial, &word, 1);
    const int64_t place = (int64_t)(((uint64_t)word * (uint64_t)n) >> 32);
    lab_normals(draws->seed, SCORE_STREAM, 0, bias, n);
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

static int64_t scratch_of(const struct lab_setting *p)
{
    const int64_t n = (int64_t)p->at[N];

    return n * n + 4 * n;
}

static void theory_of(const struct lab_setting *p, const struct lab_scene *scene,
                      double *theory)
{
    (void)scene;
    /* At beta = 0 attention knows no key either. */
    theory[ATTENTION_HIT] = p->at[BETA] > 0 ? 1 : 1 / p->at[N];
    theory[SYNTHESIZER_HIT] = 1 / p->at[N];
    theory[KEY_EFFECT] = 0;
}

static void finish(const struct lab_setting *p, struct lab_sample *sample)
{
    (void)p;
    sample->found[KEY_EFFECT] = lab_zero(sample->found[KEY_EFFECT].measured, 0);
}

static const struct lab_model model = {LAB_ROWS(rows),          .theory = theory_of,
                                       .values = SEARCH_VALUES, .trial = search_trial,
                                       .scratch = scratch_of,   .finish = finish};

int lab_synthesizer_rows(struct lab_run *run)
{
    const struct lab_setting p = lab_own(run);
    struct lab_sample sample = {.histogram = NULL};

    return lab_rows_at(run, &model, &p, 0, run->trials / 8 + 1, &sample);
}
