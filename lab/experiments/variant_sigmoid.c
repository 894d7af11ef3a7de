/* SPDX-License-Identifier: MIT */
/*
 * Sigmoid attention: every key is weighed by itself, w_i = logistic(s_i - ln n).  The
 * engine does it as n rows of one key and a sink of logit 0.
 */
#include <math.h>
#include <string.h>

#include "attend/theory.h"
#include "lab/measure/frames.h"
#include "lab/measure/forward.h"
#include "lab/measure/trials.h"
#include "lab/experiments/experiment_parts.h"

enum { BETA = 2 }; /* the flag --beta */

static attend_status weigh_alone(attend_context *ctx, const double *score, int64_t count,
                                 double bias, double *weights, double *ones,
                                 attend_error *err)
{
    const double sink = 0;
    const struct lab_problem problem = {.nb = count,
                                        .nk = 1,
                                        .d = 1,
                                        .q = ones,
                                        .k = score,
                                        .bias = &bias,
                                        .sink = &sink,
                                        .scale = 1,
                                        .weights = weights};

    for (int64_t i = 0; i < count; i++)
        ones[i] = 1;
    return lab_forward(ctx, &problem, err);
}

/* ---- statistics without noise ------------------------------------------ */

/* Of two weights `high` and n - 2 weights `low`, relative to their sum. */
static struct lab_row_stats two_levels(double n, double high, double low)
{
    const double sum = 2 * high + (n - 2) * low, p = high / sum, r = low / sum;

    return (struct lab_row_stats){.top_weight = p,
                                  .entropy = -2 * p * log(p) - (n - 2) * r * log(r),
                                  .n_eff = 1 / (2 * p * p + (n - 2) * r * r)};
}

static void emit_stats(struct lab_run *run, const char *const names[3],
                       struct lab_row_stats theory, struct lab_row_stats measured)
{
    lab_emit_exact(run, names[0], theory.top_weight, measured.top_weight, 0);
    lab_emit_exact(run, names[1], theory.entropy, measured.entropy, 0);
    lab_emit_exact(run, names[2], theory.n_eff, measured.n_eff, 0);
}

/* q = beta (k_a + k_b): the scores of a and b are beta, those of the others 0. */
static int emit_statistics(struct lab_run *run, const struct lab_variant *variant)
{
    static const char *const softmax[3] = {"softmax_max", "softmax_entropy",
                                           "softmax_n_eff"};
    static const char *const sigmoid[3] = {"sigmoid_max", "sigmoid_entropy",
                                           "sigmoid_n_eff"};
    const int64_t keys = variant->n;
    const double n = (double)keys, low = attend_theory_logistic(-log(n));
    const double high = attend_theory_logistic(variant->beta - log(n));
    double *const score = lab_room(run, 3 * keys);
    double sum = 0;
    struct lab_row_stats stats;
    attend_error err;

    if (!score)
        return -1;
    double *const weights = score + keys;
    score[0] = score[1] = variant->beta;
    if (lab_measure_scores(&run->session, run->ctx, keys, score, &stats))
        return -1;
    emit_stats(run, softmax, two_levels(n, exp(variant->beta), 1), stats);
    if (weigh_alone(run->ctx, score, keys, -log(n), weights, weights + keys, &err) !=
        ATTEND_OK)
        return lab_fail(&run->session, "%s", err.message);
    /* Relative to their sum the weights are the softmax of their logarithms. */
    for (int64_t i = 0; i < keys; i++) {
        sum += weights[i];
        score[i] = log(weights[i]);
    }
    if (lab_measure_scores(&run->session, run->ctx, keys, score, &stats))
        return -1;
    emit_stats(run, sigmoid, two_levels(n, high, low), stats);
    lab_emit_exact(run, "sigmoid_sum", 2 * high + (n - 2) * low, sum, 0);
    return 0;
}

/* ---- magnitude noise of key a ------------------------------------------ */

enum value { SOFTMAX_A, SOFTMAX_B, SIGMOID_A, SIGMOID_B, VALUES };

static attend_status noisy_trial(const void *arg, struct lab_worker *worker,
                                 uint64_t trial, double *values)
{
    const struct lab_variant *const variant = arg;
    const int64_t n = variant->n;
    double *const score = worker->scratch, *const weights = score + n;
    const double one = 1;
    double noise;
    const struct lab_problem problem = {
        .nk = n, .d = 1, .q = &one, .k = score, .scale = 1, .weights = weights};

    lab_normals(variant->seed, variant->stream, trial, &noise, 1);
    memset(score, 0, sizeof(double) * (size_t)n);
    score[0] = variant->beta * (1 + sqrt(variant->sigma2) * noise);
    score[1] = variant->beta;
    attend_status status = lab_forward(worker->ctx, &problem, &worker->err);
    if (status != ATTEND_OK)
        return status;
    values[SOFTMAX_A] = weights[0];
    values[SOFTMAX_B] = weights[1];
    status = weigh_alone(worker->ctx, score, 2, -log((double)n), weights, weights + n,
                         &worker->err);
    values[SIGMOID_A] = weights[0];
    values[SIGMOID_B] = weights[1];
    return status;
}

static int measure_noisy(struct lab_run *run, const struct lab_variant *variant,
                         int64_t trials, struct lab_moments *moments)
{
    return lab_run_trials(run, noisy_trial, variant, trials, VALUES, 3 * variant->n,
                          moments);
}

static double variance_of(const struct lab_variant *variant, enum value value)
{
    const double n = (double)variant->n, beta = variant->beta;
    const attend_theory_scene scene = attend_theory_scene_exercise(n, variant->sigma2, 0);
    const attend_theory_output output = attend_theory_head(
        &scene, (attend_theory_query){.a = beta, .b = beta, .rest = 0});
    const attend_theory_law alone = {
        .mean = beta - log(n), .sd = beta * sqrt(variant->sigma2), .floor = -INFINITY};

    switch (value) {
    case SOFTMAX_A:
    case SOFTMAX_B:
        return output.variance[value == SOFTMAX_A ? ATTEND_THEORY_A : ATTEND_THEORY_B];
    case SIGMOID_A:
        return attend_theory_weight_variance(alone);
    case SIGMOID_B:
    case VALUES:
        break;
    }
    return 0;
}

static void emit_noisy(struct lab_run *run, const struct lab_variant *variant,
                       const struct lab_moments *moments)
{
    static const char *const names[VALUES] = {"softmax_var_a", "softmax_var_b",
                                              "sigmoid_var_a", "sigmoid_var_b"};
    struct lab_setting p = lab_own(run);

    p.at[BETA] = variant->beta;
    for (int x = 0; x < VALUES; x++) {
        if (moments[x].count == 0)
            continue;
        const struct lab_estimate variance =
            lab_estimate_variance_within(&moments[x], 0, 1);
        /* Nothing moves b's weight in sigmoid attention. */
        lab_emit(run, names[x], &p,
                 x == SIGMOID_B
                     ? lab_zero(variance.value, 0)
                     : lab_exact(variance_of(variant, (enum value)x), variance));
    }
}

int lab_sigmoid_rows(struct lab_run *run, const struct lab_variant *variant)
{
    struct lab_moments moments[VALUES];

    if (emit_statistics(run, variant) ||
        measure_noisy(run, variant, run->trials, moments))
        return -1;
    emit_noisy(run, variant, moments);
    return 0;
}

int lab_sigmoid_sweep(struct lab_run *run, const struct lab_variant *variant)
{
    static const double scales[] = {1, 2, 3, 4, 6, 8, 10, 15, 20};
    enum { SCALES = sizeof scales / sizeof *scales };
    static const char *const labels[VALUES] = {"softmax, a", "softmax, b", "sigmoid, a",
                                               "sigmoid, b"};
    struct lab_figure *const figure =
        lab_plot(run, "magnitude-noise", "Magnitude noise of key a: softmax and sigmoid",
                 "β (query scale)", "variance of a weight", 0,
                 "n = %lld, σ² = %g.  Softmax weights compete, so noise in key a moves "
                 "b's weight as well; sigmoid weights stand alone.",
                 (long long)variant->n, variant->sigma2);
    struct lab_moments moments[SCALES][VALUES];
    struct lab_variant at = *variant;
    int count = 0;

    for (; count < SCALES && !lab_stopped(&run->session); count++) {
        at.beta = scales[count];
        at.stream = variant->stream + 1 + (uint64_t)count;
        if (measure_noisy(run, &at, run->trials / 8 + 1, moments[count]))
            return -1;
        emit_noisy(run, &at, moments[count]);
    }
    for (int x = 0; x < VALUES; x++) {
        const struct lab_curve curve = lab_curve_add(figure, "%s", labels[x]);
        for (at.beta = 0.25; figure && at.beta <= 20; at.beta += 0.5)
            lab_series_point(curve.theory, at.beta, variance_of(&at, (enum value)x), 0);
        for (int y = 0; y < count; y++)
            lab_series_estimate(curve.measured, scales[y],
                                lab_estimate_variance(&moments[y][x]));
    }
    return 0;
}
