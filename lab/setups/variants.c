/* SPDX-License-Identifier: MIT */
#include "lab/setups/variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/frames.h"
#include "lab/measure/random.h"
#include "lab/measure/trials.h"
#include "lab/setups/tokens.h"

/* The arg of a trial. */
struct row {
    int64_t n;
    double beta, sigma;
};

/* ---- Synthesizer ---------------------------------------------------------------- */

enum { SCORE_STREAM = 1, PLACE_STREAM };

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
    const struct row *const row = arg;
    const int64_t n = row->n;
    double *const key = worker->scratch, *const query = key + n * n;
    double *const weights = query + n, *const bias = weights + n,
                  *const before = bias + n;
    struct lab_problem problem =
        LAB_PROBLEM(n, n, query, key, row->beta, .weights = weights);
    uint32_t word;

    lab_random_words(worker->seed, PLACE_STREAM, trial, &word, 1);
    const int64_t place = (int64_t)(((uint64_t)word * (uint64_t)n) >> 32);
    lab_normals(worker->seed, SCORE_STREAM, 0, bias, n);
    memset(key, 0, sizeof(double) * (size_t)(n * n + n));
    query[0] = 1;
    for (int64_t i = 0; i < n; i++)
        key[i * n + (i + n - place) % n] = 1;
    attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[LAB_ATTENTION_HIT] = largest(weights, n) == place;

    problem.scale = 0;
    problem.bias = bias;
    status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[LAB_SYNTHESIZER_HIT] = largest(weights, n) == place;
    memcpy(before, weights, sizeof(double) * (size_t)n);
    for (int64_t x = 0; x < n * n; x++)
        key[x] = 1 - key[x];
    status = lab_forward(worker->ctx, &problem, &worker->err);
    values[LAB_KEY_EFFECT] = lab_most_apart(weights, before, n);
    return status;
}

int lab_synthesizer_measure(struct lab_session *session, int64_t n, double beta,
                            int64_t trials, struct lab_moments *moments)
{
    const struct row row = {.n = n, .beta = beta};

    return lab_measure_trials(session, search_trial, &row, 0, trials, LAB_SEARCH_VALUES,
                              n * n + 4 * n, moments);
}

/* ---- bottleneck ----------------------------------------------------------------- */

/* Weighs, and returns the number of entries of `weights` that the call has written. */
static int weigh(struct lab_session *session, attend_context *ctx,
                 const struct lab_problem *problem, int64_t count, double *written)
{
    for (int64_t x = 0; x < count; x++)
        problem->weights[x] = NAN;
    const int failed = lab_measure(session, ctx, problem);
    for (int64_t x = 0; x < count; x++)
        *written += !isnan(problem->weights[x]);
    return failed;
}

/* A rest below 1e-9 of the largest row counts as 0. */
static double rank_of(double *matrix, int64_t n)
{
    double largest_row = 0;

    for (int64_t i = 0; i < n; i++)
        largest_row = fmax(largest_row, lab_norm(matrix + i * n, n));
    return (double)lab_orthonormalise(matrix, n, n, 1e-9 * largest_row);
}

int lab_bottleneck_measure(struct lab_session *session, attend_context *ctx, int64_t n,
                           int64_t m, double beta, struct lab_bottleneck *map)
{
    double *const token = calloc((size_t)(4 * n * n), sizeof *token);
    double *const weights = token + n * n, *const latent = weights + n * n;
    double *const out = latent + n * n;
    struct lab_problem problem =
        LAB_PROBLEM(n, n, token, token, beta, .nq = m ? m : n, .dv = n, .v = token,
                    .out = m ? latent : out, .weights = weights);

    *map = (struct lab_bottleneck){.error = 0};
    if (!token)
        return lab_fail(session, "out of memory for %lld tokens", (long long)n);
    for (int64_t i = 0; i < n; i++)
        token[i * n + i] = 1;
    int failed = weigh(session, ctx, &problem, n * n, &map->scores);
    problem.nq = n;
    problem.nk = m;
    problem.v = latent;
    problem.out = out;
    if (m && !failed)
        failed = weigh(session, ctx, &problem, n * n, &map->scores);
    for (int64_t x = 0; x < n * n && !failed; x++) {
        const double off = out[x] - (x / n == x % n);
        map->error += off * off;
    }
    map->rank = failed ? NAN : rank_of(out, n);
    free(token);
    return failed;
}

/*
 * A latent puts p on its token and r on each other; one of the first m tokens puts u on
 * its latent and w on each other; the rest, 1/m.
 */
double lab_bottleneck_error(double n, double m, double beta)
{
    if (m == 0) {
        const double error = attend_theory_copy_error(n, beta);
        return n * error * error;
    }
    const double p = attend_theory_copy_weight(n, beta), r = (1 - p) / (n - 1);
    const double u = attend_theory_copy_weight(m, beta);
    const double w = m > 1 ? (1 - u) / (m - 1) : 0;
    const double self = u * p + (1 - u) * r - 1, peer = w * p + (1 - w) * r;
    const double mean = (p + (m - 1) * r) / m;
    const double first = self * self + (m - 1) * peer * peer + (n - m) * r * r;
    const double rest = m * mean * mean + (r - 1) * (r - 1) + (n - m - 1) * r * r;

    return m * first + (n - m) * rest;
}

/* ---- sigmoid -------------------------------------------------------------------- */

/* The engine does it as `count` rows of one key and a sink of logit 0. */
static attend_status weigh_alone(attend_context *ctx, const double *score, int64_t count,
                                 double bias, double *weights, double *ones,
                                 attend_error *err)
{
    const double sink = 0;

    for (int64_t i = 0; i < count; i++)
        ones[i] = 1;
    return lab_forward(ctx,
                       &LAB_PROBLEM(1, 1, ones, score, 1, .nb = count, .bias = &bias,
                                    .sink = &sink, .weights = weights),
                       err);
}

int lab_sigmoid_measure(struct lab_session *session, attend_context *ctx, int64_t n,
                        const double *score, double *scratch, double *sum,
                        struct lab_row_stats *stats)
{
    double *const weights = scratch;
    attend_error err;

    if (weigh_alone(ctx, score, n, -log((double)n), weights, scratch + n, &err) !=
        ATTEND_OK)
        return lab_fail(session, "%s", err.message);
    *sum = 0;
    /* Relative to their sum the weights are the softmax of their logarithms. */
    for (int64_t i = 0; i < n; i++) {
        *sum += weights[i];
        weights[i] = log(weights[i]);
    }
    return lab_measure_scores(session, ctx, n, weights, stats);
}

static attend_status noisy_trial(const void *arg, struct lab_worker *worker,
                                 uint64_t trial, double *values)
{
    const struct row *const row = arg;
    const int64_t n = row->n;
    double *const score = worker->scratch, *const weights = score + n;
    const double one = 1;
    double noise;

    lab_normals(worker->seed, worker->stream, trial, &noise, 1);
    memset(score, 0, sizeof(double) * (size_t)n);
    score[0] = row->beta * (1 + row->sigma * noise);
    score[1] = row->beta;
    attend_status status =
        lab_forward(worker->ctx, &LAB_PROBLEM(n, 1, &one, score, 1, .weights = weights),
                    &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[LAB_SOFTMAX_A] = weights[0];
    values[LAB_SOFTMAX_B] = weights[1];
    status = weigh_alone(worker->ctx, score, 2, -log((double)n), weights, weights + n,
                         &worker->err);
    values[LAB_SIGMOID_A] = weights[0];
    values[LAB_SIGMOID_B] = weights[1];
    return status;
}

int lab_noisy_weights_measure(struct lab_session *session, int64_t n, double beta,
                              double sigma2, uint64_t stream, int64_t trials,
                              struct lab_moments *moments)
{
    const struct row row = {n, beta, sqrt(sigma2)};

    return lab_measure_trials(session, noisy_trial, &row, stream, trials,
                              LAB_NOISE_VALUES, 3 * n, moments);
}
